import type { CatalogRow, Cell, RowOf } from '../../spec/rows.ts';
import { instantMicros, microsOf } from '../instant.ts';
import type { Snapshot, SnapshotRecord } from '../store.ts';
import type { TableFiles } from '../table-files.ts';
import type { HistoryRequest, TableHistory } from '../table-history.ts';
import { inlinedOf } from './inlined.ts';
import { copies, type Tables } from './rows.ts';

/** `snapshots`: all of them. `undefined` when the range's first isn't among them. */
export function historyOf(
  tables: Tables,
  snapshots: readonly SnapshotRecord[],
  { tableId, from, to }: HistoryRequest,
): TableHistory | undefined {
  const first =
    'snapshot' in from ? snapshots.find(({ id }) => id === from.snapshot) : firstSince(snapshots, from.time);
  if (first === undefined) return undefined;
  const before = snapshots.find(({ id }) => id === first.id - 1);
  const isWithin = (id: Cell): boolean => id !== null && first.id <= Number(id) && Number(id) <= to;
  const ofTable = (row: CatalogRow): boolean => row['table_id'] === tableId && Number(row['begin_snapshot']) <= to;
  const deletes = copies(tables, 'ducklake_delete_file', ofTable);
  // Files are numbered as they come: one that was there before the range deletes nothing in it.
  const isNew = (row: RowOf<'ducklake_delete_file'>): boolean => row.delete_file_id >= (before?.nextFileId ?? 0);
  const deletedFrom = new Set(deletes.filter(isNew).map((row) => row.data_file_id));
  const files = copies(tables, 'ducklake_data_file', ofTable)
    .filter(
      (row) =>
        Math.max(row.begin_snapshot ?? 0, row.partial_max ?? 0) >= first.id ||
        isWithin(row.end_snapshot) ||
        deletedFrom.has(row.data_file_id),
    )
    .sort((a, b) => a.data_file_id - b.data_file_id);
  return {
    from: first.id,
    snapshotCount: snapshots.filter(({ id }) => isWithin(id)).length,
    hasBefore: before !== undefined,
    changes: new Map(
      snapshots
        .filter(({ id, changes }) => id === first.id || (isWithin(id) && changes.includes(`rewrite_delete:${tableId}`)))
        .map(({ id, changes }) => [id, changes]),
    ),
    files: files.map((file) => ({
      file,
      deletes: deletes.filter((row) => row.data_file_id === file.data_file_id),
      inlinedDeletes: [],
    })),
    ...inlinedOf(tables, tableId, (row) => isWithin(row.beginSnapshot) || isWithin(row.endSnapshot)),
    ...mappingsOf(tables, files),
  };
}

/** The name mappings and partitions that files refer to. */
export function mappingsOf(
  tables: Tables,
  files: readonly RowOf<'ducklake_data_file'>[],
): Pick<TableFiles, 'mappings' | 'nameMappings' | 'partitionColumns'> {
  const ids = new Set(files.map((file) => file.mapping_id));
  const partitionIds = new Set(files.map((file) => file.partition_id));
  const isMeant = (row: CatalogRow): boolean => ids.has(Number(row['mapping_id']));
  return {
    mappings: copies(tables, 'ducklake_column_mapping', isMeant),
    nameMappings: copies(tables, 'ducklake_name_mapping', isMeant),
    partitionColumns: copies(tables, 'ducklake_partition_column', (row) =>
      partitionIds.has(Number(row['partition_id'])),
    ),
  };
}

/** By their times, which need not be in the order of their ids: several processes gave them. */
function firstSince<S extends Snapshot>(snapshots: readonly S[], time: Date): S | undefined {
  const micros = microsOf(time);
  return snapshots
    .filter((snapshot) => instantMicros(snapshot.time) >= micros)
    .sort((a, b) => instantMicros(a.time) - instantMicros(b.time) || a.id - b.id)[0];
}
