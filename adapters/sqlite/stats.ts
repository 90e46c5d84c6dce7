import type { BoundsOrder, ColumnStatsDelta } from '../../src/catalog/store.ts';
import type { RowOf } from '../../src/spec/rows.ts';

type ColumnRow = RowOf<'ducklake_table_column_stats'>;

// Stands in for src/stats/merge.ts until that exists.
export function mergeColumnStats(
  current: ColumnRow | undefined,
  delta: ColumnStatsDelta,
  { tableId, hadValues }: { readonly tableId: number; readonly hadValues: () => boolean },
): ColumnRow {
  const { bounds } = delta;
  const widen = (before: string | null, added: string, sign: number): string | null => {
    if (before === null) return hadValues() ? null : added;
    return compare(added, before, delta.order) * sign < 0 ? added : before;
  };
  let [min, max] = [current?.min_value ?? null, current?.max_value ?? null];
  if (bounds === 'unknown') [min, max] = [null, null];
  else if (bounds !== 'none') [min, max] = [widen(min, bounds.min, 1), widen(max, bounds.max, -1)];
  return {
    table_id: tableId,
    column_id: delta.columnId,
    contains_null: current === undefined ? delta.containsNull : current.contains_null || delta.containsNull,
    contains_nan:
      current === undefined
        ? delta.containsNan
        : current.contains_nan === null
          ? null
          : current.contains_nan || delta.containsNan,
    min_value: min,
    max_value: max,
    extra_stats: current?.extra_stats ?? null,
  };
}

function compare(a: string, b: string, order: BoundsOrder): number {
  if (order === 'number') return Number(a) - Number(b);
  return a < b ? -1 : a > b ? 1 : 0;
}
