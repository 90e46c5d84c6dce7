import type { ColumnVector } from '../../file/format.ts';
import type { Field } from '../../schema/field.ts';
import type { Physical } from '../../spec/values/codec.ts';
import type { Comparison, Expression } from './expression.ts';
import { likeMatcher } from './like.ts';
import { compareOf, keyOf, outcomesOf } from './order.ts';

/** Truth values in an order in which AND is the lesser and OR the greater of two. */
const FALSE = 0;
const UNKNOWN = 1;
const TRUE = 2;

/** The stored values of a field in a batch. */
export type VectorOf = (field: Field) => ColumnVector;

/** Indices of the rows, ascending, for which the expression is true. */
export function selectRows(expression: Expression, vectorOf: VectorOf, rowCount: number): Uint32Array {
  const truth = evaluate(expression, vectorOf, rowCount);
  const selected = new Uint32Array(rowCount);
  let count = 0;
  for (let i = 0; i < rowCount; i++) {
    selected[count] = i;
    count += truth[i]! >> 1;
  }
  return selected.subarray(0, count);
}

function evaluate(expression: Expression, vectorOf: VectorOf, rowCount: number): Uint8Array {
  const truth = new Uint8Array(rowCount);
  switch (expression.op) {
    case 'and':
    case 'or': {
      const isAnd = expression.op === 'and';
      truth.fill(isAnd ? TRUE : FALSE);
      for (const part of expression.parts) {
        const other = evaluate(part, vectorOf, rowCount);
        if (isAnd) for (let i = 0; i < rowCount; i++) truth[i] = Math.min(other[i]!, truth[i]!);
        else for (let i = 0; i < rowCount; i++) truth[i] = Math.max(other[i]!, truth[i]!);
      }
      return truth;
    }
    case 'not': {
      const other = evaluate(expression.part, vectorOf, rowCount);
      for (let i = 0; i < rowCount; i++) truth[i] = TRUE - other[i]!;
      return truth;
    }
    case 'isNull': {
      const { values } = vectorOf(expression.field);
      if (!ArrayBuffer.isView(values)) each(values, truth, TRUE, () => FALSE);
      return truth;
    }
    case 'constant': {
      const holds = expression.holds ? TRUE : FALSE;
      each(vectorOf(expression.field).values, truth, UNKNOWN, () => holds);
      return truth;
    }
    case 'like':
    case 'startsWith': {
      const { text } = expression;
      const matches = expression.op === 'like' ? likeMatcher(text) : (value: string): boolean => value.startsWith(text);
      each(vectorOf(expression.field).values, truth, UNKNOWN, (value) => (matches(value as string) ? TRUE : FALSE));
      return truth;
    }
    case 'in': {
      const key = keyOf(expression.field.type);
      const wanted = new Set<unknown>(key ? expression.values.map(key) : expression.values);
      const outside = expression.hasNull ? UNKNOWN : FALSE;
      each(
        vectorOf(expression.field).values,
        truth,
        UNKNOWN,
        key ? (value) => (wanted.has(key(value)) ? TRUE : outside) : (value) => (wanted.has(value) ? TRUE : outside),
      );
      return truth;
    }
    default:
      compareAll(expression.op, expression.field, expression.value, vectorOf(expression.field).values, truth);
      return truth;
  }
}

function each(values: ArrayLike<unknown>, truth: Uint8Array, ofNull: number, test: (value: Physical) => number): void {
  for (let i = 0; i < truth.length; i++) {
    const value = values[i];
    truth[i] = value === null || value === undefined ? ofNull : test(value as Physical);
  }
}

function compareAll(
  op: Comparison,
  field: Field,
  constant: Physical,
  values: ArrayLike<unknown>,
  truth: Uint8Array,
): void {
  const [less, equal, greater] = outcomesOf(op, TRUE, FALSE);
  if (typeof constant === 'number' && !Number.isNaN(constant)) {
    const numbers = values as ArrayLike<number | null>;
    if (ArrayBuffer.isView(values)) {
      const typed = values as unknown as ArrayLike<number>;
      // NaN is neither less nor equal, and above everything: it falls to the last.
      for (let i = 0; i < truth.length; i++) {
        const value = typed[i]!;
        truth[i] = value < constant ? less : value === constant ? equal : greater;
      }
      return;
    }
    for (let i = 0; i < truth.length; i++) {
      const value = numbers[i];
      truth[i] =
        value === null || value === undefined
          ? UNKNOWN
          : value < constant
            ? less
            : value === constant
              ? equal
              : greater;
    }
    return;
  }
  if (typeof constant === 'bigint') {
    const integers = values as ArrayLike<bigint | null>;
    for (let i = 0; i < truth.length; i++) {
      const value = integers[i];
      truth[i] =
        value === null || value === undefined
          ? UNKNOWN
          : value < constant
            ? less
            : value === constant
              ? equal
              : greater;
    }
    return;
  }
  if (typeof constant === 'string' && (op === 'eq' || op === 'ne')) {
    each(values, truth, UNKNOWN, (value) => (value === constant ? equal : less));
    return;
  }
  const compare = compareOf(field.type);
  each(values, truth, UNKNOWN, (value) => {
    const order = compare(value, constant);
    return order < 0 ? less : order === 0 ? equal : greater;
  });
}
