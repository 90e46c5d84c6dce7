import type { LiveFile, TableFiles } from '../catalog/table-files.ts';
import type { TableInfo } from '../catalog/view.ts';
import { isLakeError, LakeError } from '../errors.ts';
import type { ColumnVector, FileBinding, FileReader, ReadBatch, ReadRequest } from '../file/format.ts';
import { rowIdField, snapshotIdField } from '../file/internal-fields.ts';
import type { Field } from '../schema/field.ts';
import type { Session } from '../session.ts';
import { resolvePath } from '../spec/paths.ts';
import { type ScanColumn, unsupported } from './columns.ts';
import type { DeletedPositions } from './deleted-positions.ts';
import { loadDeletes } from './deletes.ts';
import { bindingOf } from './mapping.ts';
import { constant, gather, type Selection, selectRows, type VectorBatch } from './vectors.ts';

/** What of a table is read. */
export interface TableRead {
  readonly session: Session;
  readonly table: TableInfo;
  readonly snapshotId: number;
  readonly columns: readonly ScanColumn[];
  readonly files: TableFiles;
  readonly signal: AbortSignal | undefined;
  /** For row groups; all of them by default. */
  readonly matters?: ReadRequest['matters'];
}

/** A data file whose footer and deletes are known. */
export interface OpenFile {
  readonly live: LiveFile;
  /** Its place among the files that are read. */
  readonly index: number;
  readonly location: string;
  readonly reader: FileReader;
  readonly binding: FileBinding;
  readonly deleted: DeletedPositions;
}

/** Opens a data file and checks that it is what the catalog says. */
export async function openFile(read: TableRead, live: LiveFile, index: number): Promise<OpenFile> {
  const { session, table, files, signal } = read;
  const { file } = live;
  const location = resolvePath(table.location, file.path ?? '', file.path_is_relative);
  if (file.encryption_key !== null) throw unsupported(table, `data file ${location} is encrypted`, { location });
  if (file.file_format !== null && file.file_format.toLowerCase() !== 'parquet')
    throw unsupported(table, `data file ${location} is of format ${file.file_format}`, { location });
  const binding = bindingOf(table, files, live, location);
  const [reader, deleted] = await Promise.all([
    openReader(read, live, location),
    loadDeletes({ session, table, file: live, snapshotId: read.snapshotId, signal }),
  ]);
  return { live, index, location, reader, binding, deleted };
}

function openReader(read: TableRead, { file }: LiveFile, location: string): Promise<FileReader> {
  const { session, table, signal } = read;
  return namingFile(read, location, async () => {
    const byteLength = file.file_size_bytes ?? undefined;
    const object = await session.store.open(location, { byteLength, signal });
    const reader = await session.format.openReader(object, { footerLength: file.footer_size ?? undefined });
    if (reader.rowCount !== file.record_count)
      throw new LakeError(
        'CORRUPT',
        `data file ${location} holds ${reader.rowCount} rows; the catalog says ${file.record_count}`,
        { context: { schema: table.schema.name, table: table.name, location } },
      );
    return reader;
  });
}

/** The file's rows that are live at the snapshot. */
export async function* readFile(read: TableRead, opened: OpenFile, limit: number): AsyncGenerator<VectorBatch> {
  const { file } = opened.live;
  const isPartial = file.partial_max !== null && file.partial_max > read.snapshotId;
  const wants = (name: string): boolean => read.columns.some((one) => one.kind === 'virtual' && one.name === name);
  const fields = read.columns.flatMap((column) => (column.kind === 'field' ? [column.field] : []));
  const own = fields.length;
  const indexOf = (field: Field, isRead: boolean): number => (isRead ? fields.push(field) - 1 : -1);
  const rowIdAt = indexOf(rowIdField, wants('rowid'));
  const snapshotAt = indexOf(snapshotIdField, isPartial || wants('snapshot_id'));
  // Only where every row is kept do so many suffice.
  const isWhole = !isPartial && opened.deleted.count === 0;
  const batches = opened.reader.read({
    fields,
    binding: opened.binding,
    signal: read.signal,
    matters: read.matters,
    limit: isWhole && limit !== Number.POSITIVE_INFINITY ? limit : undefined,
  });
  const iterator = batches[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await namingFile(read, opened.location, () => iterator.next());
      if (next.done) return;
      const batch = next.value;
      const snapshots = snapshotAt < 0 ? undefined : batch.columns[snapshotAt];
      const selection = isWhole ? undefined : keptRows(read, opened, batch, isPartial ? snapshots : undefined);
      if (selection?.length === 0) continue;
      let field = 0;
      const columns = read.columns.map((column): ColumnVector => {
        const vector =
          column.kind === 'field'
            ? batch.columns[field++]!
            : virtualColumn(column.name, opened, batch, batch.columns[rowIdAt], snapshots);
        return selection ? gather(vector, selection) : vector;
      });
      if (field !== own) throw new Error('a batch has not the columns that were asked for');
      yield { rowCount: selection ? selection.length : batch.rowCount, columns };
    }
  } finally {
    await iterator.return?.();
  }
}

function keptRows(
  { snapshotId }: TableRead,
  { deleted, location }: OpenFile,
  { rowCount, firstPosition }: ReadBatch,
  snapshots: ColumnVector | undefined,
): Selection | undefined {
  const kept = deleted.keptRows(firstPosition, rowCount);
  if (!snapshots) return kept;
  const isVisible = (row: number): boolean => {
    const snapshot = snapshots.values[row];
    if (snapshot === null || snapshot === undefined)
      throw new LakeError('CORRUPT', `data file ${location} does not say of which snapshot its rows are`, {
        context: { location },
      });
    return Number(snapshot) <= snapshotId;
  };
  return kept ? kept.filter(isVisible) : selectRows(rowCount, isVisible);
}

function virtualColumn(
  name: ScanColumn['name'],
  { live: { file }, index, location }: OpenFile,
  { rowCount, firstPosition }: ReadBatch,
  rowIds: ColumnVector | undefined,
  snapshots: ColumnVector | undefined,
): ColumnVector {
  switch (name) {
    case 'rowid':
      return numbered(rowCount, (row) => {
        const own = rowIds?.values[row];
        if (own !== null && own !== undefined) return BigInt(own as bigint);
        if (file.row_id_start === null)
          throw new LakeError('CORRUPT', `data file ${location} has no row ids, in it or in the catalog`, {
            context: { location },
          });
        return BigInt(file.row_id_start + firstPosition + row);
      });
    case 'snapshot_id':
      return numbered(rowCount, (row) => {
        const own = snapshots?.values[row];
        return own === null || own === undefined ? BigInt(file.begin_snapshot ?? 0) : BigInt(own as bigint);
      });
    case 'filename':
      return constant(location, rowCount);
    case 'file_row_number':
      return numbered(rowCount, (row) => BigInt(firstPosition + row));
    default:
      return constant(BigInt(index), rowCount);
  }
}

function numbered(rowCount: number, value: (row: number) => bigint): ColumnVector {
  return { values: BigInt64Array.from({ length: rowCount }, (_, row) => value(row)), decode: undefined };
}

/** Errors of stores and of the format know neither the table nor, some, the file. */
async function namingFile<T>({ table, signal }: TableRead, location: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (signal?.aborted || !isLakeError(error) || error.context.location === location) throw error;
    throw new LakeError(error.code, `data file ${location}: ${error.message}`, {
      retryable: error.retryable,
      context: { ...error.context, schema: table.schema.name, table: table.name, location },
      cause: error,
    });
  }
}
