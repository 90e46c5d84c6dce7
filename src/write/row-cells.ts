/** A row as an object with the columns' names as keys. */
type Row = Readonly<Record<string, unknown>>;

function isPlain(row: object): boolean {
  return Object.getPrototypeOf(row) === Object.prototype;
}

/**
 * Reads row objects into columns, a block at a time. A row is walked once, which both reads its cells and finds keys that are no
 * column's: engines walk objects of one shape faster than they look up properties by names that change.
 */
export class RowCells {
  readonly #names: readonly string[];
  readonly #positions: ReadonlyMap<string, number>;
  /** Columns that every object has a property of: `constructor`, for example. */
  readonly #inherited: readonly boolean[];
  /** The keys that rows are expected to have, in their order; the columns of these; and those that such rows lack. */
  #keys: readonly string[];
  #columns: readonly number[];
  #lacking: readonly number[] = [];

  constructor(names: readonly string[]) {
    this.#names = names;
    this.#positions = new Map(names.map((name, c) => [name, c]));
    this.#inherited = names.map((name) => name in {});
    this.#keys = names;
    this.#columns = names.map((_, c) => c);
  }

  /**
   * Reads rows `start` to `end` into the first cells of `columns`, `undefined` for what a row lacks. Returns the index of the first
   * row that doesn't fit, being no object or having a key that is no column's name; `end` when all do.
   */
  read(rows: ArrayLike<unknown>, start: number, end: number, columns: readonly unknown[][]): number {
    let keys = this.#keys;
    let cells = this.#columns.map((c) => columns[c]!);
    let lacking = this.#lacking.map((c) => columns[c]!);
    let hasLearnt = false;
    for (let i = start, to = 0; i < end; i++, to++) {
      const row = rows[i];
      if (typeof row !== 'object' || row === null) return i;
      let at = 0;
      for (const key in row) {
        if (key !== keys[at]) {
          at = -1;
          break;
        }
        cells[at++]![to] = (row as Row)[key];
      }
      if (at === keys.length && (isPlain(row) || (lacking.length === 0 && !Array.isArray(row)))) {
        for (let c = 0; c < lacking.length; c++) lacking[c]![to] = undefined;
        continue;
      }
      if (!this.#readOther(row as Row, to, columns)) return i;
      // Once a block: where each row has other keys, learning would cost more than it gains.
      if (hasLearnt) continue;
      hasLearnt = true;
      this.#learn(row as Row);
      keys = this.#keys;
      cells = this.#columns.map((c) => columns[c]!);
      lacking = this.#lacking.map((c) => columns[c]!);
    }
    return end;
  }

  /** Reads a row that has other keys than expected. False when it doesn't fit. */
  #readOther(row: Row, to: number, columns: readonly unknown[][]): boolean {
    if (Array.isArray(row)) return false;
    for (let c = 0; c < columns.length; c++) columns[c]![to] = undefined;
    let isEmpty = true;
    for (const key in row) {
      const c = this.#positions.get(key);
      if (c === undefined) return false;
      columns[c]![to] = row[key];
      isEmpty = false;
    }
    if (isPlain(row)) return true;
    // A Map, a Promise or a Date has no keys either, and is no row of NULLs.
    if (isEmpty && Object.prototype.toString.call(row) !== '[object Object]') return false;
    // Classes may have their columns as getters, which no walk finds.
    for (let c = 0; c < columns.length; c++)
      if (columns[c]![to] === undefined && !this.#inherited[c]) columns[c]![to] = row[this.#names[c]!];
    return true;
  }

  #learn(row: Row): void {
    const keys: string[] = [];
    for (const key in row) keys.push(key);
    this.#keys = keys;
    this.#columns = keys.map((key) => this.#positions.get(key)!);
    const known = new Set(this.#columns);
    this.#lacking = this.#names.flatMap((_, c) => (known.has(c) ? [] : [c]));
  }
}
