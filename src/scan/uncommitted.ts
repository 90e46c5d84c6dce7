import type { PendingChange } from '../catalog/pending.ts';
import { columnRows, plan } from '../catalog/plan.ts';
import type { CatalogOp, Snapshot } from '../catalog/store.ts';
import {
  type FilesRequest,
  type InlinedRow,
  type InlinedRows,
  type LiveFile,
  noFiles,
  type TableFiles,
} from '../catalog/table-files.ts';
import { type CatalogRow, type CatalogTable, cellsOf, NEXT, type RowOf } from '../spec/rows.ts';

/** What DuckDB calls inlined rows that are not committed. */
const localRows = '__ducklake_inlined_transaction_local_data';

/**
 * A table's files with what a transaction has added and not committed: rows as the commit would write them, with relative ids.
 */
export function withUncommitted(
  committed: TableFiles | undefined,
  appends: readonly Extract<PendingChange, { readonly kind: 'append' }>[],
  base: Snapshot,
  wanted: FilesRequest['stats'],
): TableFiles {
  const found = committed ?? noFiles;
  const { ops } = appends.length > 0 ? plan(appends, base, {}, 'none') : { ops: [] };
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
  const inlined = inlinedOf(ops);
  const fields = inlined && columnRows(appends[0]!.fields, appends[0]!.tableId);
  return {
    ...found,
    files: [...found.files, ...files],
    inlined: [...found.inlined, ...(inlined ? [inlined] : [])],
    inlinedFields: fields
      ? new Map([...found.inlinedFields, [NEXT, fields.map((row) => filled('ducklake_column', row))]])
      : found.inlinedFields,
  };
}

function inlinedOf(ops: readonly CatalogOp[]): InlinedRows | undefined {
  const inserts = ops.filter((op) => op.kind === 'insertInlined');
  const rows = inserts.flatMap(({ rowIdStart, rows }) =>
    rows.map((cells, i): InlinedRow => ({ rowId: rowIdStart - i, beginSnapshot: NEXT, endSnapshot: null, cells })),
  );
  const [first] = inserts;
  if (!first) return undefined;
  return { tableName: localRows, schemaVersion: NEXT, columns: first.columns.map(({ name }) => name), rows };
}

function rowsOf<Table extends CatalogTable>(ops: readonly CatalogOp[], table: Table): RowOf<Table>[] {
  return ops.flatMap((op) =>
    op.kind === 'insert' && op.table === table ? op.rows.map((row) => filled(table, row)) : [],
  );
}

/** With the columns that were left out. */
function filled<Table extends CatalogTable>(table: Table, row: CatalogRow): RowOf<Table> {
  return Object.fromEntries(cellsOf(table).map(([name]) => [name, row[name] ?? null])) as RowOf<Table>;
}
