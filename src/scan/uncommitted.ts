import type { PendingChange } from '../catalog/pending.ts';
import { plan } from '../catalog/plan.ts';
import type { CatalogOp, Snapshot } from '../catalog/store.ts';
import type { FilesRequest, LiveFile, TableFiles } from '../catalog/table-files.ts';
import { type CatalogRow, type CatalogTable, cellsOf, type RowOf } from '../spec/rows.ts';

/**
 * A table's files with those that a transaction has added and not committed: their rows are what the commit would write, with
 * relative ids.
 */
export function withUncommitted(
  committed: TableFiles | undefined,
  appends: readonly PendingChange[],
  base: Snapshot,
  wanted: FilesRequest['stats'],
): TableFiles {
  const { ops } = plan(appends, base, {}, 'none');
  const isWanted = (columnId: number): boolean => wanted === 'all' || (wanted !== 'none' && wanted.includes(columnId));
  const stats = Map.groupBy(
    rowsOf(ops, 'ducklake_file_column_stats').filter((row) => isWanted(row.column_id ?? -1)),
    (row) => row.data_file_id,
  );
  const files = rowsOf(ops, 'ducklake_data_file').map(
    (file): LiveFile => ({
      file,
      deletes: [],
      inlinedDeletes: [],
      partitionValues: [],
      stats: stats.get(file.data_file_id) ?? [],
    }),
  );
  return { ...nothing, ...committed, files: [...(committed?.files ?? []), ...files] };
}

function rowsOf<Table extends CatalogTable>(ops: readonly CatalogOp[], table: Table): RowOf<Table>[] {
  const names = cellsOf(table).map(([name]) => name);
  return ops.flatMap((op) => {
    if (op.kind !== 'insert' || op.table !== table) return [];
    return op.rows.map(
      (row: CatalogRow) => Object.fromEntries(names.map((name) => [name, row[name] ?? null])) as RowOf<Table>,
    );
  });
}

const nothing: TableFiles = { files: [], inlined: [], inlinedFields: new Map(), mappings: [], nameMappings: [] };
