/** Reads one column's cells of a block of rows: `cells[i] = rows[start + i][name]`. */
type Reader = (rows: ArrayLike<unknown>, start: number, count: number, name: string, cells: unknown[]) => void;

type Row = Readonly<Record<string, unknown>>;

/**
 * The same loop, once for each of the first columns. Engines remember at each place in the source which property was read there
 * last: a loop that serves one column reads three times as fast as one that serves them all. A table with more columns, or
 * another table, goes round and is as slow as with one loop.
 */
const readers: readonly Reader[] = [
  (rows, start, count, name, cells) => {
    for (let i = 0; i < count; i++) cells[i] = (rows[start + i] as Row)[name];
  },
  (rows, start, count, name, cells) => {
    for (let i = 0; i < count; i++) cells[i] = (rows[start + i] as Row)[name];
  },
  (rows, start, count, name, cells) => {
    for (let i = 0; i < count; i++) cells[i] = (rows[start + i] as Row)[name];
  },
  (rows, start, count, name, cells) => {
    for (let i = 0; i < count; i++) cells[i] = (rows[start + i] as Row)[name];
  },
  (rows, start, count, name, cells) => {
    for (let i = 0; i < count; i++) cells[i] = (rows[start + i] as Row)[name];
  },
  (rows, start, count, name, cells) => {
    for (let i = 0; i < count; i++) cells[i] = (rows[start + i] as Row)[name];
  },
  (rows, start, count, name, cells) => {
    for (let i = 0; i < count; i++) cells[i] = (rows[start + i] as Row)[name];
  },
  (rows, start, count, name, cells) => {
    for (let i = 0; i < count; i++) cells[i] = (rows[start + i] as Row)[name];
  },
  (rows, start, count, name, cells) => {
    for (let i = 0; i < count; i++) cells[i] = (rows[start + i] as Row)[name];
  },
  (rows, start, count, name, cells) => {
    for (let i = 0; i < count; i++) cells[i] = (rows[start + i] as Row)[name];
  },
  (rows, start, count, name, cells) => {
    for (let i = 0; i < count; i++) cells[i] = (rows[start + i] as Row)[name];
  },
  (rows, start, count, name, cells) => {
    for (let i = 0; i < count; i++) cells[i] = (rows[start + i] as Row)[name];
  },
];

/** Reads column `column`, called `name`, of rows `start` to `start + count` into `cells`. The rows are objects. */
export function readCells(
  rows: ArrayLike<unknown>,
  start: number,
  count: number,
  column: number,
  name: string,
  cells: unknown[],
): void {
  readers[column % readers.length]!(rows, start, count, name, cells);
}

/** Finds rows that don't fit a table: that are no objects, or have a key that is no column's name. */
export class RowCheck {
  readonly #names: ReadonlySet<string>;
  /** The keys of a row that fitted: most rows have the same, in the same order. */
  #usual: readonly string[];

  constructor(names: readonly string[]) {
    this.#names = new Set(names);
    this.#usual = names;
  }

  /** The index of the first row from `start` to `end` that doesn't fit; `end` when all do. */
  find(rows: ArrayLike<unknown>, start: number, end: number): number {
    let usual = this.#usual;
    for (let i = start; i < end; i++) {
      const row = rows[i];
      if (typeof row !== 'object' || row === null || Array.isArray(row)) return i;
      let at = 0;
      let isUsual = true;
      for (const key in row) {
        if (key === usual[at]) at++;
        else if (this.#names.has(key)) isUsual = false;
        else return i;
      }
      // A Map, a Promise or a Date has no keys either, and is no row of NULLs.
      if (isUsual && at === 0 && Object.prototype.toString.call(row) !== '[object Object]') return i;
      if (!isUsual) {
        usual = Object.keys(row);
        this.#usual = usual;
      }
    }
    return end;
  }
}
