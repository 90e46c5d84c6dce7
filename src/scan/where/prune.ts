import type { ValueBounds } from '../../file/format.ts';
import type { Field } from '../../schema/field.ts';
import type { Physical } from '../../spec/values/codec.ts';
import { compareUtf8 } from '../../spec/values/text.ts';
import { hasBounds, isFloat } from '../../stats/bounds.ts';
import type { Comparison, Expression } from './expression.ts';
import { likePrefix } from './like.ts';
import { compareOf, outcomesOf } from './order.ts';

/** Bounds leave NaN out. Where nobody says that there is none, there may be. */
export interface KnownBounds extends ValueBounds {
  readonly containsNan?: boolean | undefined;
}

/**
 * Whether the expression may be true for a row of a part of a file, by what is known of its columns. What is not known, is possible:
 * `false` is certain.
 */
export function matters(expression: Expression, boundsOf: (field: Field) => KnownBounds | undefined): boolean {
  return (possible(expression, boundsOf) & TRUE) !== 0;
}

/** Whether the expression is true for all rows of a part of a file, whatever is not known of it. `true` is certain. */
export function isCertain(expression: Expression, boundsOf: (field: Field) => KnownBounds | undefined): boolean {
  return possible(expression, boundsOf) === TRUE;
}

/** Truth values that rows may have, as a set of bits. */
const TRUE = 1;
const FALSE = 2;
const UNKNOWN = 4;

function possible(expression: Expression, boundsOf: (field: Field) => KnownBounds | undefined): number {
  switch (expression.op) {
    case 'not':
      return negated(possible(expression.part, boundsOf));
    case 'and':
      return expression.parts.reduce((all, part) => both(all, possible(part, boundsOf)), TRUE);
    case 'or':
      // Neither of two is false where not both are not so.
      return negated(expression.parts.reduce((all, part) => both(all, negated(possible(part, boundsOf))), TRUE));
    default: {
      const bounds = boundsOf(expression.field);
      const { nullCount, rowCount } = bounds ?? { nullCount: undefined, rowCount: 1 };
      const hasNull = nullCount === undefined || nullCount > 0;
      const hasValue = nullCount === undefined || nullCount < rowCount;
      if (expression.op === 'isNull') return (hasNull ? TRUE : 0) | (hasValue ? FALSE : 0);
      return (hasNull ? UNKNOWN : 0) | (hasValue ? ofValues(expression, bounds) : 0);
    }
  }
}

const negated = (set: number): number => (set & UNKNOWN) | (set & TRUE ? FALSE : 0) | (set & FALSE ? TRUE : 0);

/** AND of each of one with each of the other. */
function both(a: number, b: number): number {
  const isTrue = a & b & TRUE;
  const isFalse = (a !== 0 && b !== 0 ? a | b : 0) & FALSE;
  const isUnknown = (a & UNKNOWN && b & (UNKNOWN | TRUE)) || (b & UNKNOWN && a & (UNKNOWN | TRUE));
  return isTrue | isFalse | (isUnknown ? UNKNOWN : 0);
}

type Leaf = Exclude<Expression, { readonly op: 'and' | 'or' | 'not' | 'isNull' }>;

/** What the values that are not NULL may make of it. */
function ofValues(leaf: Leaf, bounds: KnownBounds | undefined): number {
  switch (leaf.op) {
    case 'constant':
      return leaf.holds ? TRUE : FALSE;
    case 'in': {
      const outside = leaf.hasNull ? UNKNOWN : FALSE;
      const isFound = leaf.values.some((value) => compared('eq', leaf.field, value, bounds) & TRUE);
      return isFound ? TRUE | outside : outside;
    }
    case 'like':
    case 'startsWith': {
      const prefix = leaf.op === 'like' ? likePrefix(leaf.text) : leaf.text;
      return mayStartWith(prefix, bounds) ? TRUE | FALSE : FALSE;
    }
    default:
      return compared(leaf.op, leaf.field, leaf.value, bounds);
  }
}

function mayStartWith(prefix: string, bounds: KnownBounds | undefined): boolean {
  const { min, max } = bounds ?? {};
  const isBelow = typeof max === 'string' && compareUtf8(max, prefix) < 0;
  const isAbove = typeof min === 'string' && compareUtf8(min, prefix) > 0 && !min.startsWith(prefix);
  return !isBelow && !isAbove;
}

function compared(op: Comparison, field: Field, constant: Physical, bounds: KnownBounds | undefined): number {
  const [less, equal, greater] = outcomesOf(op, TRUE, FALSE);
  if (bounds === undefined || !hasBounds(field.type)) return TRUE | FALSE;
  const { min, max, containsNan } = bounds;
  const compare = compareOf(field.type);
  const low = min === undefined ? -1 : compare(min, constant);
  const high = max === undefined ? 1 : compare(max, constant);
  const mayEqual = low <= 0 && high >= 0 && bounds.mayContain?.(constant) !== false;
  let set = (low < 0 ? less : 0) | (mayEqual ? equal : 0) | (high > 0 ? greater : 0);
  if (isFloat(field.type) && containsNan !== false)
    set |= typeof constant === 'number' && Number.isNaN(constant) ? equal : greater;
  return set;
}
