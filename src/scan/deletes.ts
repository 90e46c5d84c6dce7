import { nameOf, type TableInfo, type TableName } from '../catalog/view.ts';
import { LakeError } from '../errors.ts';
import { readDeletionVector } from '../file/deletion-vector.ts';
import type { FileBinding, FileReader, ReadRequest, ReadSurvey } from '../file/format.ts';
import { positionField, snapshotIdField } from '../file/internal-fields.ts';
import type { RowOf } from '../spec/rows.ts';
import type { ObjectReader } from '../storage/object-store.ts';
import { DeletedPositions, mergeAscending } from './deleted-positions.ts';
import type { DataFiles, DeleteFile, FileDeletes } from './parts.ts';
import { deleteFileOf } from './table-parts.ts';

type DeleteRow = RowOf<'ducklake_delete_file'>;

/**
 * The rows of a data file that are deleted at a snapshot: by its delete files and by the catalog's inlined deletes. Nothing is read
 * where there are no delete files. A delete file that can't be read is an error that names it: NOT_FOUND, CORRUPT.
 */
export async function loadDeletes(
  { snapshotId, ...from }: DeletesFrom & { readonly snapshotId: number },
  { files, positions }: FileDeletes,
): Promise<DeletedPositions> {
  const found = await Promise.all(files.map((file) => readDeleteFile(file, from)));
  const sets = found.map(({ positions, snapshots }) =>
    snapshots ? positions.filter((_, i) => snapshots[i]! <= snapshotId) : positions,
  );
  return new DeletedPositions(mergeAscending([...sets, Uint32Array.from(positions).sort()]));
}

/** What that takes beside the requests that opened the files, without reading them. */
export async function surveyDeletes(
  from: DeletesFrom,
  { files }: FileDeletes,
): Promise<Pick<ReadSurvey, 'requestCount' | 'byteLength'>> {
  const surveys = await Promise.all(
    files.map(async (file) => {
      // Read whole.
      if (file.format === 'puffin') return { requestCount: 1, byteLength: file.byteLength ?? 0 };
      return namingFile(from, file, async (object) => (await positionsReader(object, file, from)).survey(deletedRows));
    }),
  );
  return {
    requestCount: surveys.reduce((sum, { requestCount }) => sum + requestCount, 0),
    byteLength: surveys.reduce((sum, { byteLength }) => sum + byteLength, 0),
  };
}

interface DeletesFrom extends DataFiles {
  readonly table: TableName;
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
  session,
  table,
  signal,
  deletes,
  inlined,
}: {
  readonly session: Pick<DataFiles, 'store' | 'format'>;
  readonly table: TableInfo;
  readonly signal?: AbortSignal | undefined;
  readonly deletes: readonly DeleteRow[];
  readonly inlined: readonly { readonly position: number; readonly beginSnapshot: number }[];
}): Promise<DeleteTimes> {
  const first = new Map<number, number>();
  const add = (position: number, snapshot: number): void => {
    const known = first.get(position);
    if (known === undefined || snapshot < known) first.set(position, snapshot);
  };
  const { store, format } = session;
  const from: DeletesFrom = { store, format, signal, table: nameOf(table) };
  const files = await Promise.all(
    deletes.map((row) => readDeleteFile(deleteFileOf(from.table, table.location, row), from)),
  );
  for (const [f, { positions, snapshots }] of files.entries()) {
    const begin = deletes[f]!.begin_snapshot ?? 0;
    for (let i = 0; i < positions.length; i++) add(positions[i]!, snapshots ? snapshots[i]! : begin);
  }
  for (const { position, beginSnapshot } of inlined) add(position, beginSnapshot);
  const positions = Uint32Array.from(first.keys()).sort();
  return { positions, snapshots: Float64Array.from(positions, (position) => first.get(position)!) };
}

interface DeletedRows {
  /** Ascending. */
  readonly positions: Uint32Array;
  /** The snapshot that deleted each, where the file says so. */
  readonly snapshots?: readonly number[] | undefined;
}

function readDeleteFile(file: DeleteFile, from: DeletesFrom): Promise<DeletedRows> {
  return namingFile(from, file, async (object) => {
    if (file.format === 'puffin') return { positions: readDeletionVector(new Uint8Array(await object.slice(0))) };
    return readPositions(object, file, from);
  });
}

/** Runs something on an open delete file, so that its errors name it. */
async function namingFile<T>(
  { table, store, signal }: DeletesFrom,
  { location, byteLength }: DeleteFile,
  run: (object: ObjectReader) => Promise<T>,
): Promise<T> {
  try {
    return await run(await store.open(location, { byteLength: byteLength ?? undefined, signal }));
  } catch (error) {
    if (!(error instanceof LakeError) || error.context.table !== undefined) throw error;
    const message = `table "${table.name}": delete file ${location}: ${error.message}`;
    throw new LakeError(error.code, message, {
      retryable: error.retryable,
      context: { ...error.context, schema: table.schema, table: table.name, location },
      cause: error,
    });
  }
}

/** By name, since files of other writers have other ids; the path in it is where the data file once was. */
const binding: FileBinding = {
  kind: 'names',
  names: [positionField, snapshotIdField].map(({ name, id }) => ({ sourceName: name, fieldId: id, children: [] })),
};

const deletedRows: ReadRequest = { fields: [positionField, snapshotIdField], binding };

function positionsReader(
  object: ObjectReader,
  { footerLength }: DeleteFile,
  { format }: DeletesFrom,
): Promise<FileReader> {
  return format.openReader(object, { footerLength: footerLength ?? undefined });
}

async function readPositions(object: ObjectReader, file: DeleteFile, from: DeletesFrom): Promise<DeletedRows> {
  const reader = await positionsReader(object, file, from);
  const positions = new Uint32Array(reader.rowCount);
  const snapshots: number[] = [];
  let at = 0;
  let last = -1;
  for await (const batch of reader.read({ ...deletedRows, signal: from.signal })) {
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
