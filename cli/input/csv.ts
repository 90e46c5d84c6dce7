import { Readable } from 'node:stream';
import { type CastingContext, type CsvError, type Options, Parser } from 'csv-parse';
import { InputError } from '../errors.ts';
import { showType } from '../sql-types.ts';
import { type ReadContext, readText } from './bytes.ts';
import { CellError } from './cells.ts';
import { type BoundColumn, ColumnBinder } from './columns.ts';
import type { InputFile } from './file.ts';
import type { Inference } from './infer.ts';
import type { InputReader, InputRow, TargetColumn } from './reader.ts';

/** A record's cells, `null` where nothing stands between two delimiters, and the line that it ends on. */
interface CsvRecord {
  readonly cells: readonly (string | null)[];
  readonly line: number;
}

const blockRowCount = 1024;

/**
 * CSV with a header, RFC 4180. A cell with nothing in it is NULL; a cell with nothing between quotes is the empty text
 * (NULL in a column that isn't text). A blank line is a row of a table with one column, otherwise it is passed over.
 */
export class CsvReader implements InputReader {
  readonly #file: InputFile;

  constructor(file: InputFile) {
    this.#file = file;
  }

  async *rows(columns: readonly TargetColumn[], context: ReadContext): AsyncGenerator<InputRow[]> {
    const binder = new ColumnBinder(columns);
    let bound: BoundColumn[] | undefined;
    for await (const records of this.#records(context)) {
      let rows = records;
      if (bound === undefined) {
        const header = rows[0]!;
        bound = this.#header(header).map((name) => binder.find(name, () => this.#where(header.line)));
        rows = rows.slice(1);
      }
      const known = bound;
      yield rows.map((record) => this.#row(record, known));
    }
  }

  place(row: number): string {
    return `${this.#file.label}, record ${row + 1}`;
  }

  async observe(inference: Inference, context: ReadContext): Promise<number> {
    let names: string[] | undefined;
    let count = 0;
    for await (const records of this.#records(context)) {
      for (const record of records) {
        if (names === undefined) {
          names = this.#header(record);
          for (const name of names) inference.column(name);
          continue;
        }
        count += 1;
        for (let i = 0; i < names.length; i++) {
          const cell = record.cells[i];
          if (typeof cell === 'string') inference.column(names[i]!).observeCsv(cell);
        }
      }
    }
    return count;
  }

  async declared(): Promise<undefined> {
    return undefined;
  }

  #where(line: number): string {
    return `${this.#file.label}:${line}`;
  }

  #header({ cells, line }: CsvRecord): string[] {
    const names = cells.map((cell) => cell ?? '');
    const empty = names.indexOf('');
    if (empty !== -1) throw new InputError(this.#where(line), `the header has no name for column ${empty + 1}`);
    const double = names.find((name, i) => names.indexOf(name) !== i);
    if (double !== undefined) throw new InputError(this.#where(line), `the header names "${double}" twice`);
    return names;
  }

  #row({ cells, line }: CsvRecord, columns: readonly BoundColumn[]): InputRow {
    const row: InputRow = {};
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i]!;
      const value = this.#convert(column, cells[i] ?? null, line);
      if (column.name === '__proto__')
        Object.defineProperty(row, column.name, { value, enumerable: true, configurable: true, writable: true });
      else row[column.name] = value;
    }
    return row;
  }

  #convert(column: BoundColumn, cell: string | null, line: number): unknown {
    if (cell === null) return null;
    const keepsSpaces = column.type === 'varchar' || column.type === 'json' || column.type === 'blob';
    const text = keepsSpaces ? cell : cell.trim();
    if (text === '' && column.type !== 'varchar' && column.type !== 'blob') return null;
    try {
      return column.readers.fromText(text);
    } catch (error) {
      if (!(error instanceof CellError)) throw error;
      throw new InputError(this.#where(line), `column "${column.name}" (${showType(column)}): ${error.message}`);
    }
  }

  /** The header is the first record. */
  async *#records(context: ReadContext): AsyncGenerator<CsvRecord[]> {
    const parser = new Parser({
      delimiter: this.#file.delimiter,
      relax_column_count: true,
      skip_empty_lines: false,
      cast: (text: string, { quoting }: CastingContext) => (text === '' && !quoting ? null : text),
      on_record: (cells: CsvRecord['cells'], { lines }: CastingContext): CsvRecord => ({ cells, line: lines }),
    } as unknown as Options);
    const text = Readable.from(readText(this.#file, context));
    text.on('error', (error) => parser.destroy(error)).pipe(parser);
    let width: number | undefined;
    let block: CsvRecord[] = [];
    try {
      for await (const record of parser as AsyncIterable<CsvRecord>) {
        const { cells, line } = record;
        width ??= cells.length;
        if (cells.length !== width) {
          if (cells.length === 1 && cells[0] === null) continue;
          throw new InputError(this.#where(line), `${cells.length} cells, where the header has ${width}`);
        }
        block.push(record);
        if (block.length === blockRowCount) {
          yield block;
          block = [];
        }
      }
    } catch (error) {
      const { code, lines } = error as CsvError & { lines?: number };
      if (typeof code !== 'string' || !code.startsWith('CSV_')) throw error;
      throw new InputError(
        this.#where(lines ?? parser.info.lines),
        `not CSV: ${(error as Error).message} (write a quote inside quotes twice)`,
        { cause: error },
      );
    } finally {
      text.destroy();
    }
    if (block.length > 0) yield block;
    if (width === undefined) throw new InputError(this.#where(1), 'the file is empty: CSV starts with a header');
  }
}
