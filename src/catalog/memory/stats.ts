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
  else stage.update('ducklake_table_stats', (row) => (ofTable(row) ? added : undefined));

  const deltas = new Map(delta.columns.map((column) => [column.columnId, column]));
  stage.update('ducklake_table_column_stats', (row) => {
    const current = row as RowOf<'ducklake_table_column_stats'>;
    const column = ofTable(row) ? deltas.get(current.column_id ?? -1) : undefined;
    if (column === undefined) return undefined;
    deltas.delete(column.columnId);
    // Looked up only where it matters: the files' statistics are many.
    const isOpen = current.min_value === null && current.max_value === null && typeof column.bounds === 'object';
    return mergeColumnStats(current, column, { tableId, hadValues: isOpen && hadValues(stage, current) });
  });
  // Of a column that was added to a table with rows nothing is known, as DuckDB leaves it: those rows have its default.
  if (totals !== undefined) return;
  for (const column of deltas.values())
    stage.insert('ducklake_table_column_stats', mergeColumnStats(undefined, column, { tableId, hadValues: false }));
}

/**
 * Whether a file holds values of the column: NULL bounds of the table then mean "not known", else "none yet". Files whose only
 * values are NaN have no bounds either.
 */
function hadValues(
  stage: Stage,
  { table_id: tableId, column_id: columnId }: RowOf<'ducklake_table_column_stats'>,
): boolean {
  return stage
    .before('ducklake_file_column_stats')
    .some(
      (row) =>
        row['table_id'] === tableId &&
        row['column_id'] === columnId &&
        row['value_count'] !== 0 &&
        !(row['contains_nan'] === true && row['min_value'] === null),
    );
}
