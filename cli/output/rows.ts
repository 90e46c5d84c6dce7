import { stringify } from 'csv-stringify/sync';
import type { RowBatch } from 'edgemere';
import type { TargetColumn } from '../input/reader.ts';
import { renderTable } from './render.ts';
import { type ValueWriter, valueWriter } from './values.ts';

export type RowFormat = 'table' | 'ndjson' | 'csv' | 'json';
export const rowFormats: readonly RowFormat[] = ['table', 'ndjson', 'csv', 'json'];

/** Rows of a piece of text: a batch may be a row group of millions. */
const pieceRowCount = 1024;

/** Turns batches of rows into text. The texts in their order are the output. */
export interface RowRenderer {
  begin(): string;
  batch(batch: RowBatch): Iterable<string>;
  end(): string;
}

export function rowRenderer(format: RowFormat, columns: readonly TargetColumn[]): RowRenderer {
  const outputs = columns.map((column) => ({ ...column, writer: valueWriter(column) }));
  switch (format) {
    case 'ndjson':
      return new JsonRows(outputs, { begin: '', between: '\n', end: '\n', none: '' });
    case 'json':
      return new JsonRows(outputs, { begin: '[\n', between: ',\n', end: '\n]\n', none: '[]\n' });
    case 'csv':
      return new CsvRows(outputs);
    case 'table':
      return new TableRows(outputs);
  }
}

interface OutputColumn extends TargetColumn {
  readonly writer: ValueWriter;
}

/** The texts around and between rows. */
interface Frame {
  readonly begin: string;
  readonly between: string;
  readonly end: string;
  /** The whole of it when there are no rows. */
  readonly none: string;
}

class JsonRows implements RowRenderer {
  readonly #columns: readonly (OutputColumn & { readonly key: string })[];
  readonly #frame: Frame;
  #count = 0;

  constructor(columns: readonly OutputColumn[], frame: Frame) {
    this.#columns = columns.map((column) => ({ ...column, key: `${JSON.stringify(column.name)}:` }));
    this.#frame = frame;
  }

  begin(): string {
    return '';
  }

  *batch({ rowCount, columns }: RowBatch): Generator<string> {
    const { begin, between } = this.#frame;
    const cells = this.#columns.map(({ name }) => columns[name]!);
    let text = '';
    for (let i = 0; i < rowCount; i++) {
      if (i % pieceRowCount === 0) {
        yield text;
        text = '';
      }
      let row = '';
      for (let c = 0; c < cells.length; c++) {
        const value = cells[c]![i];
        const { key, writer } = this.#columns[c]!;
        row += `${c === 0 ? '' : ','}${key}${value === null || value === undefined ? 'null' : writer.json(value)}`;
      }
      text += `${this.#count++ === 0 ? begin : between}{${row}}`;
    }
    yield text;
  }

  end(): string {
    return this.#count === 0 ? this.#frame.none : this.#frame.end;
  }
}

/** RFC 4180 but for its line ends: NULL is a cell with nothing in it, the empty text a pair of quotes. */
class CsvRows implements RowRenderer {
  readonly #columns: readonly OutputColumn[];

  constructor(columns: readonly OutputColumn[]) {
    this.#columns = columns;
  }

  begin(): string {
    return csvLines([this.#columns.map(({ name }) => name)]);
  }

  *batch({ rowCount, columns }: RowBatch): Generator<string> {
    const cells = this.#columns.map(({ name }) => columns[name]!);
    for (let start = 0; start < rowCount; start += pieceRowCount) {
      const rows: (string | null)[][] = [];
      for (let i = start; i < Math.min(rowCount, start + pieceRowCount); i++)
        rows.push(
          cells.map((values, c) => {
            const value = values[i];
            return value === null || value === undefined ? null : this.#columns[c]!.writer.text(value);
          }),
        );
      yield csvLines(rows);
    }
  }

  end(): string {
    return '';
  }
}

function csvLines(rows: (string | null)[][]): string {
  return stringify(rows, {
    cast: {
      // Also where CSV needs no quotes but readers differ: line ends of other systems, spaces at the ends, a byte order mark.
      string: (value) => ({ value, quoted: /[\r\n",]|^[\s\ufeff]|\s$/.test(value), quoted_empty: value === '' }),
    },
  });
}

class TableRows implements RowRenderer {
  readonly #columns: readonly OutputColumn[];
  readonly #rows: string[][] = [];

  constructor(columns: readonly OutputColumn[]) {
    this.#columns = columns;
  }

  begin(): string {
    return '';
  }

  batch({ rowCount, columns }: RowBatch): string[] {
    for (let i = 0; i < rowCount; i++)
      this.#rows.push(
        this.#columns.map(({ name, writer }) => {
          const value = columns[name]![i];
          return value === null || value === undefined ? 'NULL' : writer.text(value);
        }),
      );
    return [];
  }

  end(): string {
    const numeric = this.#columns.map(({ type }) => /^(u?int|float|decimal)/.test(type));
    return `${renderTable(
      this.#columns.map(({ name }) => name),
      this.#rows,
      numeric,
    )}\n`;
  }
}
