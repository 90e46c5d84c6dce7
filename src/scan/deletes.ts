import type { LiveFile } from '../catalog/table-files.ts';
import type { TableInfo } from '../catalog/view.ts';
import { LakeError } from '../errors.ts';
import { readDeletionVector } from '../file/deletion-vector.ts';
import type { FileBinding } from '../file/format.ts';
import { positionField, snapshotIdField } from '../file/internal-fields.ts';
import type { Session } from '../session.ts';
import { resolvePath } from '../spec/paths.ts';
import type { RowOf } from '../spec/rows.ts';
import { DeletedPositions, mergeAscending } from './deleted-positions.ts';

type DeleteRow = RowOf<'ducklake_delete_file'>;

export interface DeletesRequest {
  readonly session: Pick<Session, 'store' | 'format'>;
  readonly table: TableInfo;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The rows of a data file that are deleted at a snapshot: by its delete files and by the catalog's inlined deletes. Nothing is read
 * where there are no delete files. A delete file that can't be read is an error that names it: NOT_FOUND, CORRUPT, UNSUPPORTED
 * when it is encrypted.
 */
export async function loadDeletes({
  file,
  snapshotId,
  ...request
}: DeletesRequest & {
  readonly file: Pick<LiveFile, 'deletes' | 'inlinedDeletes'>;
  readonly snapshotId: number;
}): Promise<DeletedPositions> {
  const files = await Promise.all(file.deletes.map((row) => readDeleteFile(row, request)));
  const sets = files.map(({ positions, snapshots }) =>
    snapshots ? positions.filter((_, i) => snapshots[i]! <= snapshotId) : positions,
  );
  return new DeletedPositions(mergeAscending([...sets, Uint32Array.from(file.inlinedDeletes).sort()]));
}

/** Deleted positions of a data file, ascending, and the snapshot that deleted each. */
export interface DeleteTimes {
  readonly positions: Uint32Array;
  readonly snapshots: Float64Array;
}

/**
 * When rows of a data file were deleted, from all the delete files it ever had and its inlined deletes. A position that several
 * of them hold was deleted by the first.
 */
export async function loadDeleteTimes({
  deletes,
  inlined,
  ...request
}: DeletesRequest & {
  readonly deletes: readonly DeleteRow[];
  readonly inlined: readonly { readonly position: number; readonly beginSnapshot: number }[];
}): Promise<DeleteTimes> {
  const first = new Map<number, number>();
  const add = (position: number, snapshot: number): void => {
    const known = first.get(position);
    if (known === undefined || snapshot < known) first.set(position, snapshot);
  };
  const files = await Promise.all(deletes.map((row) => readDeleteFile(row, request)));
  for (const [f, { positions, snapshots }] of files.entries()) {
    const begin = deletes[f]!.begin_snapshot ?? 0;
    for (let i = 0; i < positions.length; i++) add(positions[i]!, snapshots ? snapshots[i]! : begin);
  }
  for (const { position, beginSnapshot } of inlined) add(position, beginSnapshot);
  const positions = Uint32Array.from(first.keys()).sort();
  return { positions, snapshots: Float64Array.from(positions, (position) => first.get(position)!) };
}

interface DeleteFile {
  /** Ascending. */
  readonly positions: Uint32Array;
  /** The snapshot that deleted each, where the file says so. */
  readonly snapshots?: readonly number[] | undefined;
}

async function readDeleteFile(row: DeleteRow, request: DeletesRequest): Promise<DeleteFile> {
  const { table, session, signal } = request;
  const location = resolvePath(table.location, row.path ?? '', row.path_is_relative);
  const context = { schema: table.schema.name, table: table.name, location };
  const format = row.format?.toLowerCase() ?? 'parquet';
  if (format !== 'parquet' && format !== 'puffin')
    throw new LakeError('UNSUPPORTED', `table "${table.name}": delete file ${location} is of format ${row.format}`, {
      context,
    });
  // DuckDB encrypts no deletion vectors, whatever the catalog has as their keys.
  if (row.encryption_key !== null && format === 'parquet')
    throw new LakeError('UNSUPPORTED', `table "${table.name}": delete file ${location} is encrypted`, { context });
  try {
    const object = await session.store.open(location, { byteLength: row.file_size_bytes ?? undefined, signal });
    if (format === 'puffin') return { positions: readDeletionVector(new Uint8Array(await object.slice(0))) };
    return await readPositions(object, row, request);
  } catch (error) {
    if (!(error instanceof LakeError) || error.context.table !== undefined) throw error;
    const message = `table "${table.name}": delete file ${location}: ${error.message}`;
    throw new LakeError(error.code, message, {
      retryable: error.retryable,
      context: { ...error.context, ...context },
      cause: error,
    });
  }
}

/** By name, since files of other writers have other ids; the path in it is where the data file once was. */
const binding: FileBinding = {
  kind: 'names',
  names: [positionField, snapshotIdField].map(({ name, id }) => ({ sourceName: name, fieldId: id, children: [] })),
};

async function readPositions(
  object: Awaited<ReturnType<Session['store']['open']>>,
  row: DeleteRow,
  { session, signal }: DeletesRequest,
): Promise<DeleteFile> {
  const reader = await session.format.openReader(object, { footerLength: row.footer_size ?? undefined });
  const positions = new Uint32Array(reader.rowCount);
  const snapshots: number[] = [];
  let at = 0;
  let last = -1;
  for await (const batch of reader.read({ fields: [positionField, snapshotIdField], binding, signal })) {
    const [found, by] = batch.columns.map(({ values }) => values as ArrayLike<bigint | null>);
    for (let i = 0; i < batch.rowCount; i++) {
      const value = found![i];
      if (value === null || value === undefined) throw new LakeError('CORRUPT', 'it has rows without a position');
      const position = Number(value);
      if (position <= last) throw new LakeError('CORRUPT', `its positions do not ascend: ${position} follows ${last}`);
      if (position > 0xffffffff)
        throw new LakeError('UNSUPPORTED', `it deletes row ${position}: files of so many rows cannot be read`);
      positions[at++] = position;
      last = position;
      const snapshot = by![i];
      if (snapshot !== null && snapshot !== undefined) snapshots.push(Number(snapshot));
    }
  }
  if (at !== reader.rowCount) throw new LakeError('CORRUPT', `${at} of its ${reader.rowCount} rows were read`);
  if (snapshots.length === 0) return { positions };
  if (snapshots.length < at) throw new LakeError('CORRUPT', 'it has rows without the snapshot that others have');
  return { positions, snapshots };
}
