import { LakeError, showValue } from '../errors.ts';
import type { ColumnBatch } from '../file/format.ts';
import type { Field } from '../schema/field.ts';
import { sameName } from '../spec/names.ts';
import { RowCells } from './row-cells.ts';

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
  readonly #cells: RowCells;
  readonly #columns: unknown[][];

  constructor(target: TargetTable) {
    this.#target = target;
    this.#names = target.columns.map(({ field }) => field.name);
    this.#cells = new RowCells(this.#names);
    this.#columns = this.#names.map(() => []);
  }

  /** Rows `start` to `end` of `rows`, at most `blockRowCount`. `firstRow` is the index of `rows[0]` for errors. */
  gather(rows: ArrayLike<unknown>, start: number, end: number, firstRow: number): ColumnBatch {
    const rowCount = end - start;
    const columns = this.#columns;
    if (columns.length > 0 && columns[0]!.length < rowCount)
      for (let c = 0; c < columns.length; c++) columns[c] = new Array(rowCount).fill(undefined);
    const read = this.#cells.read(rows, start, end, columns);
    if (read < end) throw this.#misfit(rows[read], firstRow + read);
    for (let c = 0; c < columns.length; c++) fillDefaults(this.#target, c, columns[c]!, rowCount, firstRow + start);
    return { rowCount, firstRow: firstRow + start, columns };
  }

  #misfit(row: unknown, index: number): LakeError {
    if (typeof row === 'object' && row !== null && !Array.isArray(row))
      for (const key in row)
        if (!this.#names.includes(key)) return unknownColumn(this.#target, key, index, (row as never)[key]);
    return notRow(this.#target, row, index);
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
