import { InputError } from '../errors.ts';
import { showType } from '../sql-types.ts';
import { type ReadContext, readText } from './bytes.ts';
import { CellError } from './cells.ts';
import { type BoundColumn, ColumnBinder } from './columns.ts';
import type { InputFile } from './file.ts';
import type { Inference } from './infer.ts';
import { JsonSplitter } from './json-splitter.ts';
import { mayLoseDigits, memberSources } from './json-text.ts';
import type { InputReader, InputRow, TargetColumn } from './reader.ts';

/** A record's JSON text and its number: the line in NDJSON, the record in JSON, from 1. */
interface JsonRecord {
  readonly text: string;
  readonly at: number;
}

const blockRowCount = 1024;
/** Characters of one record; beyond them the file is something else than it says. */
const maxRecordLength = 1 << 28;

/**
 * NDJSON (one object a line) and JSON (an array of objects, or objects after one another).
 */
export class JsonReader implements InputReader {
  readonly #file: InputFile;
  readonly #byLine: boolean;
  /** The rows after which the line's number is no longer the row's, with by how much more: blank lines. */
  readonly #skips: { row: number; lines: number }[] = [];

  constructor(file: InputFile) {
    this.#file = file;
    this.#byLine = file.format === 'ndjson';
  }

  async *rows(columns: readonly TargetColumn[], context: ReadContext): AsyncGenerator<InputRow[]> {
    const binder = new ColumnBinder(columns);
    const sourcesFor = binder.columns.some(({ readers }) => readers.needsSource);
    for await (const records of this.#records(context)) {
      yield records.map((record) => {
        const row = this.#parse(record);
        const sources = sourcesFor || mayLoseDigits(record.text) ? memberSources(record.text) : undefined;
        return this.#fit(row, sources, binder, record);
      });
    }
  }

  place(row: number): string {
    let lines = 0;
    for (const skip of this.#skips) {
      if (skip.row > row) break;
      lines = skip.lines;
    }
    return this.#where(row + 1 + lines);
  }

  async observe(inference: Inference, context: ReadContext): Promise<number> {
    let count = 0;
    for await (const records of this.#records(context)) {
      count += records.length;
      for (const record of records) {
        const row = this.#parse(record);
        const sources = mayLoseDigits(record.text) ? memberSources(record.text) : undefined;
        for (const name of Object.keys(row)) inference.column(name).observeJson(row[name], sources?.get(name));
      }
    }
    return count;
  }

  async declared(): Promise<undefined> {
    return undefined;
  }

  #where(at: number): string {
    return this.#byLine ? `${this.#file.label}:${at}` : `${this.#file.label}, record ${at}`;
  }

  #parse(record: JsonRecord): InputRow {
    let value: unknown;
    try {
      value = JSON.parse(record.text);
    } catch (cause) {
      const hint =
        this.#byLine && /^\s*[[{]\s*$/.test(record.text) ? ' (is it one JSON document? then --format json)' : '';
      throw new InputError(this.#where(record.at), `not JSON: ${(cause as Error).message}${hint}`, { cause });
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      const hint = this.#byLine && Array.isArray(value) ? ' (an array of objects is --format json)' : '';
      throw new InputError(this.#where(record.at), `expected an object, one for each row${hint}`);
    }
    return value as InputRow;
  }

  /** Turns the values of a parsed record into the columns', in place. */
  #fit(row: InputRow, sources: Map<string, string> | undefined, binder: ColumnBinder, record: JsonRecord): InputRow {
    for (const key of Object.keys(row)) {
      const column = binder.find(key, () => this.#where(record.at));
      const value = row[key];
      const fitted = value === null ? null : this.#convert(column, value, sources?.get(key), record);
      if (column.name === key) row[key] = fitted;
      else {
        if (Object.hasOwn(row, column.name))
          throw new InputError(this.#where(record.at), `"${key}" and "${column.name}" are the same column`);
        delete row[key];
        Object.defineProperty(row, column.name, {
          value: fitted,
          enumerable: true,
          configurable: true,
          writable: true,
        });
      }
    }
    return row;
  }

  #convert(column: BoundColumn, value: unknown, source: string | undefined, record: JsonRecord): unknown {
    try {
      return column.readers.fromJson(value, source);
    } catch (error) {
      if (!(error instanceof CellError)) throw error;
      throw new InputError(this.#where(record.at), `column "${column.name}" (${showType(column)}): ${error.message}`);
    }
  }

  #records(context: ReadContext): AsyncGenerator<JsonRecord[]> {
    return this.#byLine ? this.#lines(context) : this.#values(context);
  }

  async *#lines(context: ReadContext): AsyncGenerator<JsonRecord[]> {
    this.#skips.length = 0;
    let block: JsonRecord[] = [];
    let rest = '';
    let line = 0;
    let rows = 0;
    const take = (text: string): void => {
      line += 1;
      if (/^\s*$/.test(text)) {
        const last = this.#skips.at(-1);
        if (last?.row === rows) last.lines = line - rows;
        else this.#skips.push({ row: rows, lines: line - rows });
        return;
      }
      rows += 1;
      block.push({ text, at: line });
    };
    for await (const chunk of readText(this.#file, context)) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop()!;
      this.#checkLength(rest.length, line + 1);
      for (const text of lines) take(text);
      if (block.length >= blockRowCount) {
        yield block;
        block = [];
      }
    }
    if (rest !== '') take(rest);
    if (block.length > 0) yield block;
  }

  async *#values(context: ReadContext): AsyncGenerator<JsonRecord[]> {
    const splitter = new JsonSplitter();
    let count = 0;
    const split = <T>(step: () => T): T => {
      try {
        return step();
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        throw new InputError(this.#where(count), `not JSON: ${error.message}`, { cause: error });
      }
    };
    for await (const chunk of readText(this.#file, context)) {
      const texts = split(() => splitter.push(chunk));
      this.#checkLength(splitter.pending, count + texts.length + 1);
      if (texts.length > 0) yield texts.map((text) => ({ text, at: ++count }));
    }
    const last = split(() => splitter.end());
    if (last !== undefined) yield [{ text: last, at: ++count }];
  }

  #checkLength(length: number, at: number): void {
    if (length <= maxRecordLength) return;
    const hint = this.#byLine ? ': is the file one JSON document? then --format json' : '';
    throw new InputError(this.#where(at), `a record of more than ${maxRecordLength} characters${hint}`);
  }
}
