import type { ColumnVector } from '../file/format.ts';

/** Rows of a batch that are kept, ascending. */
export type Selection = Uint32Array;

/** Columns of rows, still as stored. */
export interface VectorBatch {
  readonly rowCount: number;
  readonly columns: readonly ColumnVector[];
}

/** Of `rowCount` rows those that `keeps`; `undefined` when that is all of them. */
export function selectRows(rowCount: number, keeps: (row: number) => boolean): Selection | undefined {
  const selection = new Uint32Array(rowCount);
  let count = 0;
  for (let row = 0; row < rowCount; row++) if (keeps(row)) selection[count++] = row;
  return count === rowCount ? undefined : selection.subarray(0, count);
}

/** The selected rows' values, in an array of the same kind. */
export function gather({ values, decode }: ColumnVector, selection: Selection): ColumnVector {
  const gathered = emptyLike(values, selection.length);
  for (let i = 0; i < selection.length; i++) gathered[i] = values[selection[i]!];
  return { values: gathered, decode };
}

/** The first rows' values. */
export function firstRows({ values, decode }: ColumnVector, rowCount: number): ColumnVector {
  if (values.length <= rowCount) return { values, decode };
  const typed = values as Uint8Array;
  return { values: ArrayBuffer.isView(values) ? typed.subarray(0, rowCount) : typed.slice(0, rowCount), decode };
}

function emptyLike(values: ArrayLike<unknown>, length: number): { [index: number]: unknown; readonly length: number } {
  if (!ArrayBuffer.isView(values)) return new Array<unknown>(length);
  const array = values as unknown as { readonly constructor: new (length: number) => unknown[] };
  return new array.constructor(length);
}

/** What callers get. */
export function decoded({ values, decode }: ColumnVector): ArrayLike<unknown> {
  if (!decode) return values;
  const { length } = values;
  const out = new Array<unknown>(length);
  for (let i = 0; i < length; i++) {
    const value = values[i];
    out[i] = value === null ? null : decode(value as never);
  }
  return out;
}

export function constant(value: unknown, rowCount: number): ColumnVector {
  return { values: new Array<unknown>(rowCount).fill(value), decode: undefined };
}
