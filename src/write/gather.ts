import { LakeError, showValue } from '../errors.ts';
import type { ColumnBatch } from '../file/format.ts';
import type { Field } from '../schema/field.ts';
import { sameName } from '../spec/names.ts';

/** A column of the table being written, with what a row that leaves it out gets. */
export interface TargetColumn {
  readonly field: Field;
  /** `undefined`: NULL. */
  readonly defaultValue: unknown;
  /** The default is SQL that isn't evaluated here: leaving the column out is an error. */
  readonly isComputed: boolean;
}

export interface TargetTable {
  readonly schema: string;
  readonly table: string;
  readonly columns: readonly TargetColumn[];
}

/** Rows a block holds: few enough that a block's cells stay in the cache, enough to make the calls around it free. */
export const blockRowCount = 1024;

/** Turns row objects into columns, a block at a time, in arrays that are used again for each block. */
export class Gatherer {
  readonly #target: TargetTable;
  readonly #names: readonly string[];
  readonly #known: ReadonlySet<string>;
  readonly #columns: unknown[][];
  /** Columns that a plain property access would find on every object: `constructor`, `__proto__`, … */
  readonly #inherited: readonly boolean[];

  constructor(target: TargetTable) {
    this.#target = target;
    this.#names = target.columns.map(({ field }) => field.name);
    this.#known = new Set(this.#names);
    this.#columns = this.#names.map(() => new Array(blockRowCount).fill(undefined));
    this.#inherited = this.#names.map((name) => name in {});
  }

  /** Rows `start` to `end` of `rows`, at most `blockRowCount`. `firstRow` is the index of `rows[0]` for errors. */
  gather(rows: ArrayLike<unknown>, start: number, end: number, firstRow: number): ColumnBatch {
    const rowCount = end - start;
    for (let i = start; i < end; i++) this.#checkRow(rows[i], firstRow + i);
    for (let c = 0; c < this.#names.length; c++) {
      const name = this.#names[c]!;
      const cells = this.#columns[c]!;
      if (this.#inherited[c]) {
        for (let i = 0; i < rowCount; i++) {
          const row = rows[start + i] as Record<string, unknown>;
          cells[i] = Object.hasOwn(row, name) ? row[name] : undefined;
        }
      } else {
        for (let i = 0; i < rowCount; i++) cells[i] = (rows[start + i] as Record<string, unknown>)[name];
      }
      fillDefaults(this.#target, c, cells, rowCount, firstRow + start);
    }
    return { rowCount, firstRow: firstRow + start, columns: this.#columns };
  }

  #checkRow(row: unknown, index: number): void {
    if (typeof row !== 'object' || row === null || Array.isArray(row)) throw notRow(this.#target, row, index);
    let isEmpty = true;
    for (const key in row) {
      isEmpty = false;
      if (!this.#known.has(key)) throw unknownColumn(this.#target, key, index, (row as never)[key]);
    }
    // A Map, a Promise or a Date has no keys either, and is no row of NULLs.
    if (isEmpty && Object.prototype.toString.call(row) !== '[object Object]') throw notRow(this.#target, row, index);
  }
}

function notRow({ schema, table }: TargetTable, row: unknown, index: number): LakeError {
  return new LakeError(
    'INVALID_VALUE',
    `row ${index} for table "${table}" is ${showValue(row)}; expected an object with the columns as keys`,
    { context: { schema, table, row: index, value: showValue(row) } },
  );
}

/** Puts a column's default where a row left it out. `cells` is changed in place. */
export function fillDefaults(
  target: TargetTable,
  column: number,
  cells: unknown[],
  rowCount: number,
  firstRow: number,
): void {
  const { defaultValue, isComputed, field } = target.columns[column]!;
  if (isComputed) {
    // Not indexOf, which passes over the holes of sparse arrays.
    for (let i = 0; i < rowCount; i++) if (cells[i] === undefined) throw computedDefault(target, field, firstRow + i);
  } else if (defaultValue !== undefined) {
    for (let i = 0; i < rowCount; i++) if (cells[i] === undefined) cells[i] = defaultValue;
  }
}

export function computedDefault({ schema, table }: TargetTable, field: Field, row: number): LakeError {
  return new LakeError(
    'UNSUPPORTED',
    `row ${row} leaves out column "${field.name}" of table "${table}", whose default is the expression ${field.defaultValue}: give it a value`,
    { context: { schema, table, column: field.name, row } },
  );
}

export function unknownColumn(target: TargetTable, name: string, row: number | undefined, value: unknown): LakeError {
  const { schema, table, columns } = target;
  const near = columns.find(({ field }) => sameName(field.name, name))?.field.name;
  const hint =
    near === undefined
      ? `its columns are ${columns.map(({ field }) => JSON.stringify(field.name)).join(', ')}`
      : `did you mean "${near}"?`;
  const place = row === undefined ? '' : ` (row ${row})`;
  return new LakeError('INVALID_VALUE', `table "${table}" has no column "${name}"${place}; ${hint}`, {
    context: { schema, table, column: name, ...(row === undefined ? {} : { row }), value: showValue(value) },
  });
}
