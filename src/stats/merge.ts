import type { Field } from '../schema/field.ts';
import type { RowOf } from '../spec/rows.ts';
import type { ColumnStats, ColumnStatsDelta } from './column-stats.ts';
import { boundsOrder, compareBounds } from './order.ts';

export { boundsOrder, compareBounds } from './order.ts';

type ColumnStatsRow = RowOf<'ducklake_table_column_stats'>;

/** A column's bounds in a catalog row: NULL when they are not known, or there is no value yet. */
export interface TableBounds {
  readonly min: string | null;
  readonly max: string | null;
}

export interface MergeContext {
  /** The table's id, resolved. */
  readonly tableId: number;
  /** Whether the column held a value before: NULL bounds are then unknown and stay so, instead of being the first. */
  readonly hadValues: boolean;
}

/** The row of `ducklake_table_column_stats` after an append. `current` is the row before it, if there is one. */
export function mergeColumnStats(
  current: ColumnStatsRow | undefined,
  delta: ColumnStatsDelta,
  { tableId, hadValues }: MergeContext,
): ColumnStatsRow {
  const before: TableBounds = { min: current?.min_value ?? null, max: current?.max_value ?? null };
  const { min, max } = mergeBounds(before, delta, hadValues);
  return {
    table_id: tableId,
    column_id: delta.columnId,
    contains_null: mergeContainsNull(current ? current.contains_null : false, delta.containsNull),
    contains_nan: current ? mergeContainsNan(current.contains_nan, delta.containsNan) : delta.containsNan,
    min_value: min,
    max_value: max,
    extra_stats: current?.extra_stats ?? null,
  };
}

/**
 * A table's bounds after an append. Bounds that can't be compared become unknown: a wrong bound is a wrong answer in
 * DuckDB, an unknown one is only slower.
 */
export function mergeBounds(
  current: TableBounds,
  { bounds, order }: ColumnStatsDelta,
  hadValues: boolean,
): TableBounds {
  if (bounds === 'none') return current;
  if (bounds === 'unknown') return { min: null, max: null };
  if (current.min === null && current.max === null && !hadValues) return { min: bounds.min, max: bounds.max };
  return {
    min: current.min === null ? null : outer(current.min, bounds.min, -1),
    max: current.max === null ? null : outer(current.max, bounds.max, 1),
  };

  /** The one further out; the one that was there, when they are equal. */
  function outer(there: string, added: string, direction: -1 | 1): string | null {
    const compared = compareBounds(added, there, order);
    return compared === undefined ? null : compared * direction > 0 ? added : there;
  }
}

/** Known to be true once a NULL was seen, even when it was not known before. */
function mergeContainsNull(current: boolean | null, added: boolean): boolean | null {
  return current || added ? true : current;
}

/** NULL (not known, or a type without NaN) stays NULL, as in DuckDB. */
function mergeContainsNan(current: boolean | null, added: boolean | null): boolean | null {
  return current === null || added === null ? null : current || added;
}

/** What files add to the statistics of their table: one for each leaf of `fields`. `files` holds each file's columns. */
export function deltaOf(files: readonly (readonly ColumnStats[])[], fields: readonly Field[]): ColumnStatsDelta[] {
  const byField = Map.groupBy(files.flat(), (column) => column.fieldId);
  return leaves(fields).map((field) => {
    const start: ColumnStatsDelta = {
      columnId: field.id,
      containsNull: false,
      containsNan: null,
      bounds: 'none',
      order: boundsOrder(field.type),
    };
    return (byField.get(field.id) ?? []).reduce(addFile, start);
  });
}

/** What two appends add together; both have the same columns. */
export function addDeltas(first: readonly ColumnStatsDelta[], second: readonly ColumnStatsDelta[]): ColumnStatsDelta[] {
  return first.map((a, i) => {
    const b = second[i]!;
    return {
      ...a,
      containsNull: a.containsNull || b.containsNull,
      containsNan: mergeContainsNan(a.containsNan, b.containsNan),
      bounds: a.bounds === 'unknown' || b.bounds === 'none' ? a.bounds : widenBounds(a, b.bounds),
    };
  });
}

function addFile(delta: ColumnStatsDelta, column: ColumnStats): ColumnStatsDelta {
  return {
    ...delta,
    containsNull: delta.containsNull || column.nullCount > 0,
    containsNan: column.containsNan === undefined ? null : delta.containsNan || column.containsNan,
    bounds: widen(delta, column),
  };
}

function widen(delta: ColumnStatsDelta, column: ColumnStats): ColumnStatsDelta['bounds'] {
  const { valueCount, min, max } = column;
  if (valueCount === 0 || delta.bounds === 'unknown') return delta.bounds;
  // Every float but NaN has bounds: where they lack there is nothing but NaN, which stays out of them.
  if (min === undefined || max === undefined) return column.containsNan ? delta.bounds : 'unknown';
  return widenBounds(delta, { min, max });
}

function widenBounds(
  delta: ColumnStatsDelta,
  bounds: Exclude<ColumnStatsDelta['bounds'], 'none'>,
): ColumnStatsDelta['bounds'] {
  if (delta.bounds === 'none' || bounds === 'unknown') return bounds;
  if (delta.bounds === 'unknown') return 'unknown';
  const merged = mergeBounds(delta.bounds, { ...delta, bounds }, true);
  return merged.min === null || merged.max === null ? 'unknown' : { min: merged.min, max: merged.max };
}

function leaves(fields: readonly Field[]): Field[] {
  return fields.flatMap((field) => (field.children.length === 0 ? [field] : leaves(field.children)));
}
