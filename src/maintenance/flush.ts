import { commitOnce } from '../catalog/commit.ts';
import { instantText } from '../catalog/instant.ts';
import type { StagedFile } from '../catalog/pending.ts';
import { statsRows } from '../catalog/plan.ts';
import type { CatalogOp, CommitBatch, CommitWitness, Snapshot } from '../catalog/store.ts';
import type { CatalogView, TableInfo } from '../catalog/view.ts';
import { checkOptions, isLakeError, LakeError, showValue } from '../errors.ts';
import { rowIdField, snapshotIdField } from '../file/internal-fields.ts';
import type { Session } from '../session.ts';
import { type Change, type IdChange, sortChanges } from '../spec/changes.ts';
import { type CatalogRow, type CatalogTable, type RowOf, relativeId } from '../spec/rows.ts';
import { setting } from '../spec/settings.ts';
import { deltaOf } from '../stats/merge.ts';
import { concurrently } from '../storage/concurrently.ts';
import { pause } from '../util/pause.ts';
import { type FlushedDeletes, type FlushedRows, FlushWriter, type StagedDeletes } from './flush-files.ts';

export interface FlushOptions {
  /** Only tables of this schema; with `table`, the schema that it is in, `main` by default. */
  readonly schema?: string | undefined;
  /** Only this table. */
  readonly table?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What of one table went into files. */
export interface FlushedTable {
  readonly schema: string;
  readonly name: string;
  /** Rows, ended ones included: older snapshots have them. */
  readonly rowCount: number;
  /** Deletes of rows in files that were inlined. */
  readonly deleteCount: number;
}

export interface FlushResult {
  /** `undefined` when there was nothing to flush. */
  readonly snapshotId: number | undefined;
  readonly tables: readonly FlushedTable[];
}

/** What one table has inlined, in files. */
interface Flushed {
  readonly table: TableInfo;
  readonly rows: readonly FlushedRows[];
  readonly deletes: readonly FlushedDeletes[];
  /** Catalog tables of rows that nobody adds to any more. */
  readonly superseded: readonly string[];
}

/** See `Maintenance.flushInlined`. */
export async function flushInlined(session: Session, options: FlushOptions): Promise<FlushResult> {
  checkOptions<FlushOptions>(options, { schema: 'any', table: 'any', signal: 'any' });
  for (const [key, name] of Object.entries({ schema: options.schema, table: options.table }))
    if (name !== undefined && typeof name !== 'string')
      throw new LakeError('INVALID_ARGUMENT', `the option ${key} is ${showValue(name)}; expected a name`, {
        context: { value: showValue(name) },
      });
  const { maxRetries, retryWaitMs, retryBackoff } = session.retry;
  for (let attempt = 0; ; attempt++) {
    const view = await session.reload();
    const writers: FlushWriter[] = [];
    const remove = (): Promise<unknown> => Promise.all(writers.map((writer) => writer.remove()));
    try {
      const found = await stage(session, view, options, writers);
      if (found.length === 0) return { snapshotId: undefined, tables: [] };
      const outcome = await commitOnce(session.catalog, batchOf(session, view.snapshot, found));
      if (outcome.status === 'committed') {
        session.markStale();
        return { snapshotId: outcome.snapshot.id, tables: found.map(summary) };
      }
    } catch (error) {
      // What may have been committed stays.
      if (!isLakeError(error, 'COMMIT_UNKNOWN')) await remove();
      throw error;
    }
    await remove();
    if (attempt >= maxRetries)
      throw new LakeError(
        'RETRIES_EXHAUSTED',
        `others deleted from the tables or flushed them ${attempt + 1} times in a row meanwhile`,
        { retryable: true },
      );
    await pause(Math.random() * retryWaitMs * retryBackoff ** attempt, options.signal);
  }
}

async function stage(
  session: Session,
  view: CatalogView,
  options: FlushOptions,
  writers: FlushWriter[],
): Promise<Flushed[]> {
  const found: Flushed[] = [];
  await concurrently(tablesOf(view, options), 4, async (table) => {
    const files = await session.catalog.readFiles({
      snapshotId: view.snapshot.id,
      tableId: table.id,
      stats: 'none',
      toFlush: true,
    });
    if (files.inlined.length === 0 && files.files.length === 0) return;
    const writer = new FlushWriter(session, view, table, options.signal);
    writers.push(writer);
    const rows: FlushedRows[] = [];
    for (const inlined of files.inlined) rows.push(await writer.rows(files, inlined));
    const deletes: FlushedDeletes[] = [];
    for (const file of files.files) deletes.push(await writer.deletes(file));
    const superseded = files.inlined.map(({ tableName }) => tableName).filter((name) => name !== table.inlinedTable);
    found.push({ table, rows, deletes, superseded: table.inlinedTable === undefined ? [] : superseded });
  });
  return found.sort((a, b) => a.table.id - b.table.id);
}

function tablesOf(view: CatalogView, { schema, table }: FlushOptions): TableInfo[] {
  if (table !== undefined) {
    const found = view.findTable({ schema: schema ?? 'main', name: table });
    if (found) return [found];
    throw new LakeError('NOT_FOUND', `table "${schema ?? 'main'}"."${table}" does not exist`, {
      context: { schema: schema ?? 'main', table },
    });
  }
  const within = schema === undefined ? undefined : view.findSchema(schema);
  if (schema !== undefined && !within)
    throw new LakeError('NOT_FOUND', `schema "${schema}" does not exist`, { context: { schema } });
  return view.tables.filter(
    ({ id, schema: { id: schemaId } }) =>
      (within === undefined || schemaId === within.id) &&
      (setting(view.metadata, 'auto_compact', { schemaId, tableId: id }) ?? 'true') === 'true',
  );
}

const summary = ({ table, rows, deletes }: Flushed): FlushedTable => ({
  schema: table.schema.name,
  name: table.name,
  rowCount: rows.reduce((sum, { inlined }) => sum + inlined.rows.length, 0),
  deleteCount: deletes.reduce((sum, { count }) => sum + count, 0),
});

/** What others may not do meanwhile: to the inlined rows, and to the files whose deletes are flushed. Inserts may go on. */
const againstRows: readonly IdChange[] = ['dropped_table', 'inlined_delete', 'inline_flush'];
const againstDeletes: readonly IdChange[] = ['deleted_from_table', 'merge_adjacent', 'rewrite_delete'];

/** Adds no row and removes none: other snapshots than the new one are what they were, and it is what the one before it is. */
function batchOf(session: Session, base: Snapshot, found: readonly Flushed[]): CommitBatch {
  const rows = new Map<CatalogTable, CatalogRow[]>();
  const add = (table: CatalogTable, row: CatalogRow): void => {
    const known = rows.get(table);
    if (known) known.push(row);
    else rows.set(table, [row]);
  };
  const ops: CatalogOp[] = [];
  const changes: Change[] = [];
  const forbidden: (Change & { readonly id: number })[] = [];
  const deleteFiles: {
    readonly tableId: number;
    readonly dataFileId: number;
    readonly staged: StagedDeletes;
    readonly partialMax: number | null;
  }[] = [];
  let fileIdCount = 0;
  for (const { table, rows: flushed, deletes, superseded } of found) {
    const tableId = table.id;
    for (const one of flushed) {
      const id = relativeId(fileIdCount++);
      add('ducklake_data_file', dataFileRow(id, tableId, one));
      for (const row of statsRows(tableColumns(one.file), id, tableId)) add('ducklake_file_column_stats', row);
      if (one.deletes) deleteFiles.push({ tableId, dataFileId: id, staged: one.deletes, partialMax: null });
      ops.push({ kind: 'deleteInlined', name: one.inlined.tableName, upTo: base.id });
    }
    for (const { dataFileId, deletes: staged, replaced } of deletes) {
      for (const row of replaced) {
        ops.push({ kind: 'delete', table: 'ducklake_delete_file', match: { delete_file_id: row.delete_file_id } });
        add('ducklake_files_scheduled_for_deletion', scheduledRow(session, table, row));
      }
      deleteFiles.push({ tableId, dataFileId, staged, partialMax: staged.last });
    }
    if (deletes.length > 0) {
      ops.push({ kind: 'deleteInlined', name: `ducklake_inlined_delete_${tableId}`, upTo: base.id });
      changes.push({ kind: 'deleted_from_table', id: tableId });
    }
    if (flushed.length > 0) {
      changes.push({ kind: 'inline_flush', id: tableId });
      // Bounds have the values already. In files, leaves below a NULL count as NULL.
      const ofFiles = flushed.map(({ file }) => file.columns);
      const columns = deltaOf(ofFiles, table.fields).map((delta) => ({ ...delta, bounds: 'none' as const }));
      const byteLength = flushed.reduce((sum, { file }) => sum + file.byteLength, 0);
      ops.push({ kind: 'addStats', stats: { tableId, recordCount: 0, rowIdCount: 0, byteLength, columns } });
    }
    for (const name of superseded) ops.push({ kind: 'dropInlined', name });
    for (const kind of [...againstRows, ...(deletes.length > 0 ? againstDeletes : [])])
      forbidden.push({ kind, id: tableId });
  }
  for (const { tableId, dataFileId, staged, partialMax } of deleteFiles)
    add('ducklake_delete_file', deleteFileRow(relativeId(fileIdCount++), tableId, dataFileId, staged, partialMax));
  const inserts = [...rows].map(([table, some]): CatalogOp => ({ kind: 'insert', table, rows: some }));
  return {
    base,
    fence: { kind: 'unless', changes: forbidden, sameSchema: false },
    changesSchema: false,
    catalogIdCount: 0,
    fileIdCount,
    changes: sortChanges(changes),
    author: null,
    message: null,
    extraInfo: null,
    ops: [...ops, ...inserts],
    witness: witnessOf(found),
  };
}

/** Without the columns that are DuckLake's own. */
function tableColumns(file: StagedFile): StagedFile {
  const own = [rowIdField.id, snapshotIdField.id];
  return { ...file, columns: file.columns.filter(({ fieldId }) => !own.includes(fieldId)) };
}

function witnessOf(found: readonly Flushed[]): CommitWitness {
  const [first] = found.flatMap(({ rows }) => rows);
  if (first) return { table: 'ducklake_data_file', column: 'path', value: first.file.path };
  const [{ deletes }] = found.flatMap((one) => one.deletes) as [FlushedDeletes];
  return { table: 'ducklake_delete_file', column: 'path', value: deletes.file.path };
}

function dataFileRow(id: number, tableId: number, { inlined: { rows }, file }: FlushedRows): CatalogRow {
  const begins = rows.map(({ beginSnapshot }) => beginSnapshot);
  return {
    data_file_id: id,
    table_id: tableId,
    begin_snapshot: Math.min(...begins),
    path: file.path,
    path_is_relative: true,
    file_format: 'parquet',
    record_count: file.rowCount,
    file_size_bytes: file.byteLength,
    footer_size: file.footerLength,
    row_id_start: Math.min(...rows.map(({ rowId }) => rowId)),
    partial_max: Math.max(...begins),
  };
}

function deleteFileRow(
  id: number,
  tableId: number,
  dataFileId: number,
  { file, count, first }: StagedDeletes,
  partialMax: number | null,
): CatalogRow {
  return {
    delete_file_id: id,
    table_id: tableId,
    begin_snapshot: first,
    data_file_id: dataFileId,
    path: file.path,
    path_is_relative: true,
    format: 'parquet',
    delete_count: count,
    file_size_bytes: file.byteLength,
    footer_size: file.footerLength,
    partial_max: partialMax,
  };
}

/** Of a delete file whose deletes are in another one now. */
function scheduledRow(session: Session, table: TableInfo, row: RowOf<'ducklake_delete_file'>): CatalogRow {
  const location = row.path_is_relative === false ? row.path! : table.location + row.path;
  const isRelative = location.startsWith(session.dataPath);
  return {
    data_file_id: row.delete_file_id,
    path: isRelative ? location.slice(session.dataPath.length) : location,
    path_is_relative: isRelative,
    schedule_start: instantText(Date.now() * 1000),
  };
}
