import type {
  CatalogOp,
  CatalogStore,
  ColumnStatsDelta,
  CommitBatch,
  CommitOutcome,
  LakeInit,
  Snapshot,
} from '../../catalog/store.ts';
import { type Change, changeText } from '../../spec/changes.ts';
import { type CatalogRow, type CatalogTable, NEXT, relativeId } from '../../spec/rows.ts';
import { check, equal } from '../case.ts';

/** A place for a catalog, empty at first. */
export interface CatalogTarget {
  /** Opens the place: each call is a client of its own. */
  open(): Promise<CatalogStore>;
}

export function newLake(dataPath: string = 'memory://conformance/'): LakeInit {
  return { dataPath, createdBy: 'edgemere conformance', schemaUuid: crypto.randomUUID() };
}

/** Opens the place and makes a lake there unless it has one. */
export async function openLake(target: CatalogTarget): Promise<CatalogStore> {
  const catalog = await target.open();
  await catalog.initialize(newLake());
  return catalog;
}

/** A batch with nothing in it but `parts`, on top of `base` alone. */
export function batchOn(base: Snapshot, parts: Partial<CommitBatch>): CommitBatch {
  const changes = parts.changes ?? [];
  return {
    base,
    fence: { kind: 'exact' },
    changesSchema: false,
    catalogIdCount: 0,
    fileIdCount: 0,
    changes,
    author: null,
    message: null,
    extraInfo: null,
    ops: [],
    witness: {
      table: 'ducklake_snapshot_changes',
      column: 'changes_made',
      value: changes.map((change) => changeText(change)).join(','),
    },
    ...parts,
  };
}

/** The snapshot of a batch that must have been committed. */
export function committed(outcome: CommitOutcome, what: string = 'the batch'): Snapshot {
  check(outcome.status === 'committed', `${what} should have been committed, but was superseded`);
  return outcome.snapshot;
}

export async function commitOnHead(catalog: CatalogStore, parts: Partial<CommitBatch>): Promise<Snapshot> {
  const { snapshot } = await catalog.readHead();
  return committed(await catalog.commit(batchOn(snapshot, parts)));
}

export function insert(table: CatalogTable, ...rows: CatalogRow[]): CatalogOp {
  return { kind: 'insert', table, rows };
}

/** A column as the catalog describes it, and how it is named in tests: `c1`, `c2` … unless told. */
export function columnRow(tableId: number, columnId: number, more: CatalogRow = {}): CatalogRow {
  return {
    column_id: columnId,
    begin_snapshot: NEXT,
    table_id: tableId,
    column_order: columnId,
    column_name: `c${columnId}`,
    column_type: 'int64',
    default_value: 'NULL',
    nulls_allowed: true,
    default_value_type: 'literal',
    default_value_dialect: 'duckdb',
    ...more,
  };
}

export interface NewTable {
  /** May be relative. */
  readonly id: number;
  readonly schemaId?: number;
  readonly schema?: string;
  readonly name: string;
  readonly uuid?: string;
  readonly columns?: readonly CatalogRow[];
}

export function tableOps({ id, schemaId = 0, name, uuid, columns }: NewTable): CatalogOp[] {
  const tableUuid = uuid ?? crypto.randomUUID();
  return [
    insert('ducklake_table', {
      table_id: id,
      table_uuid: tableUuid,
      begin_snapshot: NEXT,
      schema_id: schemaId,
      table_name: name,
      path: `${tableUuid}/`,
      path_is_relative: true,
    }),
    insert('ducklake_column', ...(columns ?? [columnRow(id, 1)])),
    insert('ducklake_schema_versions', { begin_snapshot: NEXT, schema_version: NEXT, table_id: id }),
  ];
}

/** Creates tables in `main`, in one commit; returns their ids. */
export async function createTables(catalog: CatalogStore, ...names: string[]): Promise<number[]> {
  const { snapshot } = await catalog.readHead();
  const outcome = await catalog.commit(
    batchOn(snapshot, {
      changesSchema: true,
      catalogIdCount: names.length,
      changes: names.map((name): Change => ({ kind: 'created_table', schema: 'main', name })),
      ops: names.flatMap((name, k) => tableOps({ id: relativeId(k), name })),
    }),
  );
  committed(outcome);
  return names.map((_, k) => snapshot.nextCatalogId + k);
}

/** A data file's row; `id` and `rowIdStart` may be relative. */
export function fileRow(tableId: number, id: number, rowIdStart: number, more: CatalogRow = {}): CatalogRow {
  return {
    data_file_id: id,
    table_id: tableId,
    begin_snapshot: NEXT,
    path: `${crypto.randomUUID()}.parquet`,
    path_is_relative: true,
    file_format: 'parquet',
    record_count: 10,
    file_size_bytes: 1000,
    footer_size: 100,
    row_id_start: rowIdStart,
    ...more,
  };
}

export function statsRow(tableId: number, fileId: number, columnId: number, more: CatalogRow = {}): CatalogRow {
  return {
    data_file_id: fileId,
    table_id: tableId,
    column_id: columnId,
    column_size_bytes: 80,
    value_count: 10,
    null_count: 0,
    min_value: '1',
    max_value: '10',
    ...more,
  };
}

export const numbers: ColumnStatsDelta = {
  columnId: 1,
  containsNull: false,
  containsNan: null,
  bounds: { min: '1', max: '10' },
  order: 'number',
};

/** What a batch holds that appends `fileCount` files of ten rows and one column to a table. */
export function appendParts(tableId: number, fileCount: number = 1): Partial<CommitBatch> {
  const files = Array.from({ length: fileCount }, (_, k) => fileRow(tableId, relativeId(k), relativeId(k * 10)));
  return {
    fileIdCount: fileCount,
    changes: [{ kind: 'inserted_into_table', id: tableId }],
    ops: [
      insert('ducklake_data_file', ...files),
      insert('ducklake_file_column_stats', ...files.map((_, k) => statsRow(tableId, relativeId(k), 1))),
      {
        kind: 'addStats',
        stats: {
          tableId,
          recordCount: fileCount * 10,
          rowIdCount: fileCount * 10,
          byteLength: fileCount * 1000,
          columns: [numbers],
        },
      },
    ],
    witness: { table: 'ducklake_data_file', column: 'path', value: String(files[0]?.['path']) },
  };
}

/** An append that may be put on any later head that didn't drop, alter or delete from the table. */
export function appendUnless(base: Snapshot, tableId: number, fileCount: number = 1): CommitBatch {
  return batchOn(base, {
    ...appendParts(tableId, fileCount),
    fence: {
      kind: 'unless',
      changes: [
        { kind: 'dropped_table', id: tableId },
        { kind: 'altered_table', id: tableId },
        { kind: 'deleted_from_table', id: tableId },
        { kind: 'inlined_delete', id: tableId },
      ],
      sameSchema: false,
    },
  });
}

/** Everything that the seam shows of a lake at its head, for comparing before and after. */
export async function everything(catalog: CatalogStore): Promise<unknown> {
  const rows = await catalog.readCatalog();
  check(rows !== undefined, 'the lake is gone');
  const tables = [];
  for (const { table_id: tableId } of rows.tables) {
    check(tableId !== null, 'a table has no id');
    tables.push({
      files: (await catalog.readFiles({ snapshotId: rows.snapshot.id, tableId, stats: 'all' })).files,
      stats: await catalog.readTableStats(tableId),
    });
  }
  const snapshots = [];
  for await (const snapshot of catalog.readSnapshots()) snapshots.push(snapshot);
  return { rows, tables, snapshots };
}

/** Runs an attempt that must leave the lake as it was. */
export async function leavesNothing<T>(catalog: CatalogStore, attempt: () => Promise<T>): Promise<T> {
  const before = await everything(catalog);
  const result = await attempt();
  equal(await everything(catalog), before, 'the lake afterwards');
  return result;
}

export const bySnapshot = async (catalog: CatalogStore, id: number): Promise<string> => {
  for await (const { changes } of catalog.readSnapshots({ from: id, to: id })) return changes;
  throw new Error(`no snapshot ${id}`);
};

/** Lets the clock move on, so that the next snapshot has another millisecond. Timers may be early by one. */
export async function tick(): Promise<void> {
  const until = Date.now() + 3;
  do await new Promise((resolve) => setTimeout(resolve, 1));
  while (Date.now() < until);
}

/** Milliseconds since 1970, rounded down, of a snapshot's time. */
export function millis({ time }: Snapshot): number {
  return Date.parse(time.replace(' ', 'T').replace(/\+00$/, 'Z'));
}
