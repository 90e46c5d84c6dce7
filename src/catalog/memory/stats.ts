import type { CatalogRow, RowOf } from '../../spec/rows.ts';
import { mergeColumnStats } from '../../stats/merge.ts';
import type { TableStatsDelta } from '../store.ts';
import type { Stage } from './rows.ts';

/** Adds what a batch brings to a table's totals and to its columns' bounds. `delta.tableId` is resolved. */
export function addStats(stage: Stage, delta: TableStatsDelta): void {
  const { tableId } = delta;
  const ofTable = (row: CatalogRow): boolean => row['table_id'] === tableId;
  const totals = stage.before('ducklake_table_stats').find(ofTable) as RowOf<'ducklake_table_stats'> | undefined;
  const added = {
    table_id: tableId,
    record_count: (totals?.record_count ?? 0) + delta.recordCount,
    next_row_id: (totals?.next_row_id ?? 0) + delta.rowIdCount,
    file_size_bytes: (totals?.file_size_bytes ?? 0) + delta.byteLength,
  };
  if (totals === undefined) stage.insert('ducklake_table_stats', added);
  else stage.update('ducklake_table_stats', ofTable, added);

  for (const column of delta.columns) {
    const ofColumn = (row: CatalogRow): boolean => ofTable(row) && row['column_id'] === column.columnId;
    const current = stage.before('ducklake_table_column_stats').find(ofColumn) as ColumnRow | undefined;
    // Of a column that was added to a table with rows nothing is known, as DuckDB leaves it: those rows have its default.
    if (current === undefined && totals !== undefined) continue;
    // Looked up only where it matters: the files' statistics are many.
    const isOpen = current?.min_value === null && current.max_value === null && typeof column.bounds === 'object';
    const hadValues = isOpen && stage.before('ducklake_file_column_stats').some(hasValues(ofColumn));
    const merged = mergeColumnStats(current, column, { tableId, hadValues });
    if (current === undefined) stage.insert('ducklake_table_column_stats', merged);
    else stage.update('ducklake_table_column_stats', ofColumn, merged);
  }
}

type ColumnRow = RowOf<'ducklake_table_column_stats'>;

/**
 * Whether a file holds values of the column: NULL bounds of the table then mean "not known", else "none yet". Files whose only
 * values are NaN have no bounds either.
 */
const hasValues =
  (ofColumn: (row: CatalogRow) => boolean) =>
  (row: CatalogRow): boolean =>
    ofColumn(row) && row['value_count'] !== 0 && !(row['contains_nan'] === true && row['min_value'] === null);
