import { checkOptions, LakeError, showValue } from '../errors.ts';
import type { InliningLimits } from '../spec/inlining.ts';
import { type CatalogRow, type CatalogTable, catalogTables, type RowOf, resolveId } from '../spec/rows.ts';
import { isOutside } from './bounds.ts';
import { noFirstSnapshot } from './first-snapshot.ts';
import { ambiguousCommit } from './inlining.ts';
import { instantMicros, instantText, microsOf } from './instant.ts';
import { historyOf, mappingsOf } from './memory/history.ts';
import { inlinedOf } from './memory/inlined.ts';
import { copies, Stage, Tables, type Where } from './memory/rows.ts';
import { addStats } from './memory/stats.ts';
import { goesOnTop, nextSnapshot, Resolver } from './resolve.ts';
import type {
  AsOf,
  CatalogOp,
  CatalogRows,
  CatalogStore,
  CommitBatch,
  CommitOutcome,
  CommitTrace,
  ForgetKeysRequest,
  Head,
  InsertInlined,
  LakeInit,
  Snapshot,
  SnapshotRecord,
  TableStats,
  UsedKey,
} from './store.ts';
import type { FilesRequest, SeenSnapshot, TableFiles } from './table-files.ts';
import type { HistoryRequest, TableHistory } from './table-history.ts';

/** Options for {@link memoryCatalog}. */
export interface MemoryCatalogOptions {
  /** Opens the rows of another catalog in memory, as a second client of one database. They outlive its disposal. */
  readonly sharedWith?: MemoryCatalog;
}

/** A {@link CatalogStore} in memory. */
export interface MemoryCatalog extends CatalogStore {
  /** All rows of all catalog tables, under the specification's names: copies. */
  dump(): { readonly [Table in CatalogTable]: RowOf<Table>[] };
}

/**
 * A catalog in memory: for tests, and for lakes that live as long as the process. It keeps the promises of a database:
 * a commit happens as a whole or not at all, and what was read never changes.
 *
 * @example
 * ```ts
 * import { openLake } from 'edgemere';
 * import { memoryCatalog, memoryStore } from 'edgemere/memory';
 *
 * const catalog = memoryCatalog();
 * await using lake = await openLake({ catalog, store: memoryStore(), dataPath: 'memory://lake/' });
 * console.log(catalog.dump().ducklake_schema.map((row) => row.schema_name)); // [ 'main' ]
 * ```
 */
export function memoryCatalog(options: MemoryCatalogOptions = {}): MemoryCatalog {
  checkOptions<MemoryCatalogOptions>(options, { sharedWith: 'any' });
  const shared = options.sharedWith === undefined ? undefined : tablesOf.get(options.sharedWith);
  if (options.sharedWith !== undefined && shared === undefined)
    throw new LakeError('INVALID_ARGUMENT', 'sharedWith must be a catalog that memoryCatalog() made');
  return new Memory(shared ?? new Tables());
}

const tablesOf = new WeakMap<MemoryCatalog, Tables>();

type SnapshotRow = RowOf<'ducklake_snapshot'>;

/** Every method does its work before its first await: that is what makes each of them one atomic step. */
class Memory implements MemoryCatalog {
  readonly name: string = 'memory';
  readonly inlining: InliningLimits = {
    maxNameByteLength: Number.MAX_SAFE_INTEGER,
    maxColumnCount: Number.MAX_SAFE_INTEGER,
    reservedNames: [],
  };
  readonly #tables: Tables;
  #closed = false;

  constructor(tables: Tables) {
    this.#tables = tables;
    tablesOf.set(this, tables);
  }

  async initialize(init: LakeInit): Promise<boolean> {
    this.#checkOpen();
    if (this.#tables.of('ducklake_snapshot').length > 0) return false;
    const stage = new Stage(this.#tables);
    for (const [key, value] of Object.entries({
      version: '1.0',
      created_by: init.createdBy,
      data_path: init.dataPath,
      encrypted: 'false',
    }))
      stage.insert('ducklake_metadata', { key, value });
    stage.insert('ducklake_snapshot', {
      snapshot_id: 0,
      snapshot_time: instantText(Date.now() * 1000),
      schema_version: 0,
      next_catalog_id: 1,
      next_file_id: 0,
    });
    stage.insert('ducklake_snapshot_changes', { snapshot_id: 0, changes_made: 'created_schema:"main"' });
    stage.insert('ducklake_schema', {
      schema_id: 0,
      schema_uuid: init.schemaUuid,
      begin_snapshot: 0,
      schema_name: 'main',
      path: 'main/',
      path_is_relative: true,
    });
    stage.publish();
    return true;
  }

  async readCatalog(asOf?: AsOf): Promise<CatalogRows | undefined> {
    this.#checkOpen();
    if (this.#tables.of('ducklake_snapshot').length === 0) return undefined;
    const snapshot = asOf === undefined ? this.#head() : this.#at(asOf);
    const tables = this.#live('ducklake_table', snapshot.id);
    const tableIds = new Set(tables.map((row) => row.table_id));
    const partitionIds = new Set(this.#rows('ducklake_partition_column').map((row) => row.partition_id));
    return {
      snapshot,
      metadata: this.#rows('ducklake_metadata'),
      schemas: this.#live('ducklake_schema', snapshot.id),
      tables,
      views: this.#live('ducklake_view', snapshot.id),
      columns: this.#live('ducklake_column', snapshot.id),
      inlinedTables: this.#rows(
        'ducklake_inlined_data_tables',
        // Those that an alteration came after take no more rows.
        ({ table_id: id, schema_version: version }) =>
          tableIds.has(Number(id)) &&
          !this.#tables
            .of('ducklake_schema_versions')
            .some((row) => row['table_id'] === id && Number(row['schema_version']) > Number(version)),
      ),
      // RESET PARTITIONED BY leaves a live row without columns.
      partitions: this.#live('ducklake_partition_info', snapshot.id, (row) =>
        partitionIds.has(Number(row['partition_id'])),
      ),
      macros: this.#live('ducklake_macro', snapshot.id),
    };
  }

  async readHead(since?: number): Promise<Head> {
    this.#checkOpen();
    return { snapshot: this.#head(), since: since === undefined ? [] : this.#records(since + 1) };
  }

  async *readSnapshots(range: { readonly from?: number; readonly to?: number } = {}): AsyncGenerator<SnapshotRecord> {
    this.#checkOpen();
    yield* this.#records(range.from, range.to);
  }

  async readFiles(request: FilesRequest): Promise<TableFiles> {
    const { snapshotId, tableId, stats, within = [], fromFileId = 0, since, toFlush = false } = request;
    this.#checkOpen();
    const ofTable = (row: CatalogRow): boolean => row['table_id'] === tableId;
    const byFile = <Row extends { readonly data_file_id: number | null }>(rows: Row[]): Map<number | null, Row[]> =>
      Map.groupBy(rows, (row) => row.data_file_id);
    const isAskedFor = (row: CatalogRow): boolean =>
      ofTable(row) && (stats === 'all' || (stats !== 'none' && stats.includes(Number(row['column_id']))));
    const deletes = byFile(this.#live('ducklake_delete_file', snapshotId, ofTable));
    const values = byFile(this.#rows('ducklake_file_partition_value', ofTable));
    const columns = byFile(stats === 'none' ? [] : this.#rows('ducklake_file_column_stats', isAskedFor));
    const bounds =
      within.length === 0
        ? new Map<number | null, RowOf<'ducklake_file_column_stats'>[]>()
        : byFile(this.#rows('ducklake_file_column_stats', ofTable));
    const isInside = (file: RowOf<'ducklake_data_file'>): boolean =>
      !within.some((range) =>
        bounds.get(file.data_file_id)?.some((row) => row.column_id === range.columnId && isOutside(row, range, file)),
      );
    const files = this.#live(
      'ducklake_data_file',
      snapshotId,
      // There are no inlined deletes here.
      (row) => !toFlush && ofTable(row) && Number(row['data_file_id']) >= fromFileId,
    )
      .filter(isInside)
      .sort((a, b) => a.data_file_id - b.data_file_id);
    return {
      files: files.map((file) => ({
        file,
        deletes: deletes.get(file.data_file_id) ?? [],
        inlinedDeletes: [],
        partitionValues: values.get(file.data_file_id) ?? [],
        stats: columns.get(file.data_file_id) ?? [],
      })),
      ...inlinedOf(
        this.#tables,
        tableId,
        (row) =>
          row.beginSnapshot <= snapshotId && (toFlush || row.endSnapshot === null || row.endSnapshot > snapshotId),
      ),
      ...mappingsOf(this.#tables, files),
      ...(since === undefined ? {} : { since: this.#seen(since) }),
    };
  }

  #seen(since: number): SeenSnapshot[] {
    return this.#records(since).map(({ id, time, nextFileId, changes }) => ({
      id,
      time,
      nextFileId,
      changes: changes === '' ? undefined : changes,
    }));
  }

  async readHistory(request: HistoryRequest): Promise<TableHistory> {
    this.#checkOpen();
    const history = historyOf(this.#tables, this.#records(), request);
    if (history === undefined) throw noFirstSnapshot(request.from);
    return history;
  }

  async readTableStats(tableId: number): Promise<TableStats> {
    this.#checkOpen();
    return {
      table: this.#rows('ducklake_table_stats', (row) => row['table_id'] === tableId)[0],
      columns: this.#rows('ducklake_table_column_stats', (row) => row['table_id'] === tableId),
    };
  }

  async commit(batch: CommitBatch): Promise<CommitOutcome> {
    this.#checkOpen();
    const head = this.#head();
    const keys = (batch.keys ?? []).map(({ key }) => key);
    if (new Set(keys).size < keys.length) throw new LakeError('INVALID_ARGUMENT', 'a batch has the same key twice');
    const used = this.#used(keys);
    if (used.length > 0) return { status: 'used', keys: used };
    const inlined = batch.ops.filter((op) => op.kind === 'insertInlined');
    const isMissing = ({ name }: InsertInlined): boolean => name !== undefined && !this.#tables.inlined.has(name);
    if (!this.#mayPut(batch, head) || inlined.some(isMissing)) return { status: 'superseded' };
    const time = Math.max(Date.now() * 1000, instantMicros(head.time) + 1);
    const snapshot = nextSnapshot(batch, head, instantText(time));
    const resolver = new Resolver(batch, head, snapshot, (tableId) => this.#nextRowId(tableId));
    const stage = new Stage(this.#tables);
    stage.insert('ducklake_snapshot', {
      snapshot_id: snapshot.id,
      snapshot_time: snapshot.time,
      schema_version: snapshot.schemaVersion,
      next_catalog_id: snapshot.nextCatalogId,
      next_file_id: snapshot.nextFileId,
    });
    stage.insert('ducklake_snapshot_changes', {
      snapshot_id: snapshot.id,
      changes_made: batch.changes.map((change) => resolver.change(change)).join(',') || null,
      author: batch.author,
      commit_message: batch.message,
      commit_extra_info: batch.extraInfo,
    });
    for (const op of batch.ops) run(op, stage, resolver, snapshot.id);
    const rowIds = inlined.map((op) => resolveId(op.rowIdStart, this.#nextRowId(resolver.catalogId(op.tableId))));
    stage.publish();
    for (const op of batch.ops) {
      if (op.kind === 'createInlined') this.#tables.inlined.create(resolver.inlinedTable(op), op);
      else if (op.kind === 'deleteInlined') this.#tables.inlined.delete(op);
      else if (op.kind === 'dropInlined' && this.#tables.inlined.drop(op.name))
        this.#tables.remove('ducklake_inlined_data_tables', (row) => row['table_name'] === op.name);
    }
    for (const [n, op] of inlined.entries())
      this.#tables.inlined.insert(resolver.inlinedTable(op), op, snapshot.id, rowIds[n]!);
    for (const { key, scope, result } of batch.keys ?? [])
      this.#tables.usedKeys.set(key, { key, scope, result, snapshotId: snapshot.id, micros: time });
    return { status: 'committed', snapshot };
  }

  async findCommit({ witness, base }: CommitTrace): Promise<Snapshot | undefined> {
    this.#checkOpen();
    const { table, column, value } = witness;
    if ('isShared' in witness && witness.isShared) {
      if (this.#records(base.id + 1).some(({ changes }) => changes === value)) throw ambiguousCommit(value);
      return undefined;
    }
    const rows = this.#tables.of(table).filter((row) => row[column] === value);
    // Changes are not unique: only those of the snapshot right after the base are the batch's.
    const ids = rows.map((row) => Number(row['begin_snapshot'] ?? row['snapshot_id']));
    const id = column === 'changes_made' ? ids.find((id) => id === base.id + 1) : ids[0];
    if (id === undefined) return undefined;
    const [snapshot] = this.#snapshots(id, id);
    if (snapshot === undefined)
      throw new LakeError('COMMIT_UNKNOWN', `the batch was committed as snapshot ${id}, which has been expired since`, {
        context: { snapshotId: id },
      });
    return snapshot;
  }

  async findKeys(keys: readonly string[]): Promise<readonly UsedKey[]> {
    this.#checkOpen();
    return this.#used(keys);
  }

  async forgetKeys({ usedBefore, exceptScopes }: ForgetKeysRequest): Promise<number> {
    this.#checkOpen();
    const { usedKeys } = this.#tables;
    const old = [...usedKeys.values()].filter(
      ({ micros, scope }) => micros < Number(microsOf(usedBefore)) && !exceptScopes.includes(scope),
    );
    for (const { key } of old) usedKeys.delete(key);
    return old.length;
  }

  dump(): { readonly [Table in CatalogTable]: RowOf<Table>[] } {
    return Object.fromEntries(
      (Object.keys(catalogTables) as CatalogTable[]).map((table) => [table, this.#rows(table)]),
    ) as never;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
  }

  #checkOpen(): void {
    if (this.#closed) throw new LakeError('CLOSED', 'the catalog was closed: open another one');
  }

  /** A table's rows, copied: callers may do with them what they like. */
  #rows<Table extends CatalogTable>(table: Table, where: Where = () => true): RowOf<Table>[] {
    return copies(this.#tables, table, where);
  }

  #live<Table extends VersionedTable>(table: Table, snapshotId: number, where: Where = () => true): RowOf<Table>[] {
    const isLive = ({ begin_snapshot: begin, end_snapshot: end }: CatalogRow): boolean =>
      begin != null && Number(begin) <= snapshotId && (end == null || Number(end) > snapshotId);
    return this.#rows(table, (row) => isLive(row) && where(row));
  }

  /** Oldest first. */
  #snapshots(from: number = 0, to: number = Number.POSITIVE_INFINITY): Snapshot[] {
    return this.#rows('ducklake_snapshot', isWithin(from, to))
      .map(snapshotOf)
      .sort((a, b) => a.id - b.id);
  }

  #head(): Snapshot {
    const rows = this.#tables.of('ducklake_snapshot') as readonly SnapshotRow[];
    const head = rows.reduce<SnapshotRow | undefined>(
      (newest, row) => (newest && newest.snapshot_id > row.snapshot_id ? newest : row),
      undefined,
    );
    if (head === undefined) throw new LakeError('NOT_FOUND', 'there is no lake in this catalog: create it first');
    return snapshotOf(head);
  }

  #at(asOf: AsOf): Snapshot {
    if ('snapshot' in asOf) {
      const snapshotId = Number(asOf.snapshot);
      const [found] = this.#snapshots(snapshotId, snapshotId);
      if (found !== undefined) return found;
      throw new LakeError('NOT_FOUND', `the lake has no snapshot ${snapshotId}`, { context: { snapshotId } });
    }
    const micros = microsOf(asOf.time);
    const found = this.#snapshots().findLast(({ time }) => instantMicros(time) <= micros);
    if (found !== undefined) return found;
    throw new LakeError('NOT_FOUND', `the lake has no snapshot as old as ${showValue(asOf.time)}`);
  }

  #records(from?: number, to?: number): SnapshotRecord[] {
    const snapshots = this.#snapshots(from, to);
    const rows = this.#rows('ducklake_snapshot_changes', isWithin(from, to));
    const changes = new Map(rows.map((row) => [row.snapshot_id, row]));
    return snapshots.map((snapshot) => {
      const row = changes.get(snapshot.id);
      return {
        ...snapshot,
        changes: row?.changes_made ?? '',
        author: row?.author ?? null,
        message: row?.commit_message ?? null,
        extraInfo: row?.commit_extra_info ?? null,
      };
    });
  }

  #mayPut({ base, fence }: CommitBatch, head: Snapshot): boolean {
    if (fence.kind === 'exact' || base.id >= head.id) return base.id === head.id;
    if (fence.sameSchema && base.schemaVersion !== head.schemaVersion) return false;
    // With the base, or a snapshot since, expired there is no telling what changed.
    const since = this.#records(base.id, head.id);
    if (since.length !== head.id - base.id + 1) return false;
    if (!since.slice(1).every(({ changes }) => goesOnTop(fence.changes, changes))) return false;
    const live = this.#live('ducklake_table', head.id);
    return (fence.tables ?? []).every(({ id, name }) =>
      live.some((row) => row.table_id === id && row.table_name === name),
    );
  }

  #used(keys: readonly string[]): UsedKey[] {
    return keys.flatMap((key) => {
      const found = this.#tables.usedKeys.get(key);
      if (!found) return [];
      const { micros, ...used } = found;
      return [used];
    });
  }

  #nextRowId(tableId: number): number {
    const totals = this.#tables.of('ducklake_table_stats').find((row) => row['table_id'] === tableId);
    return Number(totals?.['next_row_id'] ?? 0);
  }
}

const isWithin =
  (from: number = 0, to: number = Number.POSITIVE_INFINITY): Where =>
  ({ snapshot_id: id }) =>
    from <= Number(id) && Number(id) <= to;

/** Catalog tables whose rows have a life: `begin_snapshot` and `end_snapshot`. */
type VersionedTable = {
  [Table in CatalogTable]: 'end_snapshot' extends keyof RowOf<Table> ? Table : never;
}[CatalogTable];

function snapshotOf(row: SnapshotRow): Snapshot {
  return {
    id: row.snapshot_id,
    time: row.snapshot_time!,
    schemaVersion: row.schema_version!,
    nextCatalogId: row.next_catalog_id!,
    nextFileId: row.next_file_id!,
  };
}

function run(op: CatalogOp, stage: Stage, resolver: Resolver, snapshotId: number): void {
  if (op.kind === 'insert') {
    for (const row of op.rows) stage.insert(op.table, resolver.row(op.table, row));
  } else if (op.kind === 'end') {
    const match = Object.entries(resolver.row(op.table, op.match));
    const isMeant = (row: CatalogRow): boolean =>
      row['end_snapshot'] === null && match.every(([name, cell]) => row[name] === cell);
    stage.update(op.table, (row) => (isMeant(row) ? { end_snapshot: snapshotId } : undefined));
  } else if (op.kind === 'delete') {
    const match = Object.entries(resolver.row(op.table, op.match));
    stage.remove(op.table, (row) => match.every(([name, cell]) => row[name] === cell));
  } else if (op.kind === 'createInlined') {
    stage.insert('ducklake_inlined_data_tables', resolver.inlinedTableRow(op));
  } else if (op.kind === 'addStats') {
    addStats(stage, { ...op.stats, tableId: resolver.catalogId(op.stats.tableId) });
  }
}
