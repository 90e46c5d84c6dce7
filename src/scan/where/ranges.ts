import type { BoundsComparison, ColumnRange } from '../../catalog/table-files.ts';
import type { Field } from '../../schema/field.ts';
import type { ColumnType } from '../../spec/types.ts';
import { codecFor, type Physical } from '../../spec/values/codec.ts';
import { infinity } from '../../spec/values/timestamp.ts';
import { hasBounds, isFloat } from '../../stats/bounds.ts';
import { boundsOrder } from '../../stats/order.ts';
import type { Comparison, Expression } from './expression.ts';
import { widened } from './file-bounds.ts';
import { likePrefix } from './like.ts';
import { compareOf } from './order.ts';

/**
 * Within which ranges rows have to lie for the expression to be true, for the catalog to leave out files by. Bounds that files from
 * before a column was changed have are text of another type, which sorts differently when it isn't numbers or ISO dates.
 */
export function rangesOf(expression: Expression): readonly ColumnRange[] {
  const ranges = spans(expression, false);
  if (ranges === 'never') return [];
  return [...ranges.values()].flatMap((span) => {
    const { field, nan } = span;
    const comparison = comparisonOf(field.type);
    // Of these DuckDB does not even count the values.
    if (!hasBounds(field.type) || field.children.length > 0) return [];
    // Hexadecimal digits may be in either case.
    const isComparable = field.type.name !== 'blob';
    const min = isComparable ? endText(field.type, span.min, -1) : undefined;
    const max = isComparable ? endText(field.type, span.max, 1) : undefined;
    const fromSnapshot = comparison === 'bytes' ? field.beginSnapshot : undefined;
    return [{ columnId: field.id, comparison, min, max, includesNan: nan, fromSnapshot }];
  });
}

/** Values of a column, NULL never among them. An end that is left out is open. */
interface Span {
  readonly field: Field;
  readonly min: Physical | undefined;
  readonly max: Physical | undefined;
  readonly nan: boolean;
}

/** By field id. Columns that are missing may have any value or NULL. */
type Spans = ReadonlyMap<number, Span>;

function spans(expression: Expression, isNegated: boolean): Spans | 'never' {
  switch (expression.op) {
    case 'not':
      return spans(expression.part, !isNegated);
    case 'and':
    case 'or': {
      const parts = expression.parts.map((part) => spans(part, isNegated));
      return (expression.op === 'and') === isNegated ? either(parts) : together(parts);
    }
    case 'isNull':
      return isNegated ? one(expression.field, undefined, undefined, true) : new Map();
    case 'constant':
      return expression.holds === isNegated ? 'never' : one(expression.field, undefined, undefined, true);
    case 'in': {
      const { field, values, hasNull } = expression;
      if (isNegated) return hasNull ? 'never' : one(field, undefined, undefined, true);
      return either(values.map((value) => compared('eq', field, value)));
    }
    case 'like':
    case 'startsWith': {
      const { field, text, op } = expression;
      const prefix = op === 'like' ? likePrefix(text) : text;
      if (isNegated || prefix === '') return one(field, undefined, undefined, false);
      return one(field, prefix, afterPrefix(prefix), false);
    }
    default: {
      const op = isNegated ? opposite[expression.op] : expression.op;
      return compared(op, expression.field, expression.value);
    }
  }
}

const opposite: Readonly<Record<Comparison, Comparison>> = {
  eq: 'ne',
  ne: 'eq',
  lt: 'gte',
  lte: 'gt',
  gt: 'lte',
  gte: 'lt',
};

function one(field: Field, min: Physical | undefined, max: Physical | undefined, nan: boolean): Spans {
  return new Map([[field.id, { field, min, max, nan: nan && isFloat(field.type) }]]);
}

function compared(op: Comparison, field: Field, value: Physical): Spans {
  if (op === 'ne' || (typeof value === 'number' && Number.isNaN(value))) return one(field, undefined, undefined, true);
  if (op === 'eq') return one(field, value, value, false);
  // NaN is above everything.
  return op === 'lt' || op === 'lte' ? one(field, undefined, value, false) : one(field, value, undefined, true);
}

function together(parts: readonly (Spans | 'never')[]): Spans | 'never' {
  const all = new Map<number, Span>();
  for (const part of parts) {
    if (part === 'never') return 'never';
    for (const [id, span] of part) {
      const other = all.get(id);
      all.set(id, other ? combined(other, span, true) : span);
    }
  }
  return all;
}

function either(parts: readonly (Spans | 'never')[]): Spans | 'never' {
  const [first, ...rest] = parts.filter((part) => part !== 'never');
  if (!first) return 'never';
  const all = new Map(first);
  for (const part of rest)
    for (const [id, span] of all) {
      const other = part.get(id);
      if (other) all.set(id, combined(span, other, false));
      else all.delete(id);
    }
  return all;
}

/** What two spans share, or the least one that holds both. */
function combined(a: Span, b: Span, isShared: boolean): Span {
  const end = (x: Physical | undefined, y: Physical | undefined, isMin: boolean): Physical | undefined => {
    if (x === undefined || y === undefined) return isShared ? (x ?? y) : undefined;
    // Not before: nested columns have no order, and no ends.
    return compareOf(a.field.type)(x, y) > 0 === (isMin === isShared) ? x : y;
  };
  return {
    field: a.field,
    min: end(a.min, b.min, true),
    max: end(a.max, b.max, false),
    nan: isShared ? a.nan && b.nan : a.nan || b.nan,
  };
}

/** Something above all text that starts so; `undefined` when there is no such. */
function afterPrefix(prefix: string): string | undefined {
  const characters = Array.from(prefix);
  while (characters.length > 0) {
    const last = characters.pop()!.codePointAt(0)!;
    if (last === 0x10ffff) continue;
    // Surrogates are no characters.
    const next = last === 0xd7ff ? 0xe000 : last + 1;
    return characters.join('') + String.fromCodePoint(next);
  }
  return undefined;
}

function comparisonOf(type: ColumnType): BoundsComparison {
  const order = boundsOrder(type);
  return order === 'temporal' ? 'iso' : order;
}

function endText(type: ColumnType, value: Physical | undefined, side: 1 | -1): string | undefined {
  if (value === undefined) return undefined;
  if (/^timestamp(tz|_s|_ms)?$/.test(type.name)) return codecFor(type).text(nextTick(value as bigint, side));
  if (!isFloat(type)) return codecFor(type).text(value);
  // Wherever the column's type was changed, bounds are text of a narrower one.
  return codecFor({ name: 'float64' }).text(widened(value as number, side));
}

/** Files that others wrote may hold finer ticks than the column's, and so their bounds: what is read of them is rounded by less than one. */
function nextTick(ticks: bigint, side: 1 | -1): bigint {
  return ticks === infinity || ticks === -infinity ? ticks : ticks + BigInt(side);
}
