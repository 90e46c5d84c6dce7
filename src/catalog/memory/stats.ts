import type { CatalogRow, RowOf } from '../../spec/rows.ts';
import { mergeColumnStats } from '../../stats/merge.ts';
import type { TableStatsDelta } from '../store.ts';
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
