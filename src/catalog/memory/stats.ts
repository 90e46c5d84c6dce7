import type { CatalogRow, RowOf } from '../../spec/rows.ts';
import type { BoundsOrder, ColumnStatsDelta, TableStatsDelta } from '../store.ts';
import type { Stage } from './rows.ts';

/** Adds what a batch brings to a table's totals and to its columns' bounds. `delta.tableId` is resolved. */
export function addStats(stage: Stage, delta: TableStatsDelta): void {
  const { tableId } = delta;
  const ofTable = (row: CatalogRow): boolean => row['table_id'] === tableId;
  const totals = stage.rows('ducklake_table_stats').find(ofTable) as RowOf<'ducklake_table_stats'> | undefined;
  const added = {
    table_id: tableId,
    record_count: (totals?.record_count ?? 0) + delta.recordCount,
    next_row_id: (totals?.next_row_id ?? 0) + delta.rowIdCount,
    file_size_bytes: (totals?.file_size_bytes ?? 0) + delta.byteLength,
  };
  if (totals === undefined) stage.insert('ducklake_table_stats', added);
  else stage.replace('ducklake_table_stats', ofTable, () => added);

  for (const column of delta.columns) {
    const ofColumn = (row: CatalogRow): boolean => ofTable(row) && row['column_id'] === column.columnId;
    const current = stage.rows('ducklake_table_column_stats').find(ofColumn) as ColumnRow | undefined;
    const merged = mergeColumnStats(current, column, { tableId, hadValues: hadValues(stage, ofTable, ofColumn) });
    if (current === undefined) stage.insert('ducklake_table_column_stats', merged);
    else stage.replace('ducklake_table_column_stats', ofColumn, () => merged);
  }
}

type ColumnRow = RowOf<'ducklake_table_column_stats'>;

/** Whether the column held a value before the batch: NULL bounds then mean "not known", else "none yet". */
function hadValues(
  stage: Stage,
  ofTable: (row: CatalogRow) => boolean,
  ofColumn: (row: CatalogRow) => boolean,
): boolean {
  return (
    stage.before('ducklake_inlined_data_tables').some(ofTable) ||
    stage.before('ducklake_file_column_stats').some((row) => ofColumn(row) && row['value_count'] !== 0)
  );
}

// Stands in for src/stats/merge.ts until that exists.
function mergeColumnStats(
  current: ColumnRow | undefined,
  delta: ColumnStatsDelta,
  { tableId, hadValues }: { readonly tableId: number; readonly hadValues: boolean },
): ColumnRow {
  const { bounds } = delta;
  let [min, max] = [current?.min_value ?? null, current?.max_value ?? null];
  if (bounds === 'unknown') [min, max] = [null, null];
  else if (bounds !== 'none') {
    if (min !== null && max !== null) {
      if (compare(bounds.min, min, delta.order) < 0) min = bounds.min;
      if (compare(bounds.max, max, delta.order) > 0) max = bounds.max;
    } else if (!hadValues) [min, max] = [bounds.min, bounds.max];
  }
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
