import type { TableName } from '../catalog/view.ts';
import { isLakeError, LakeError } from '../errors.ts';
import type { ColumnVector, FileReader, ReadBatch, ReadRequest, ReadSurvey } from '../file/format.ts';
import { rowIdField, snapshotIdField } from '../file/internal-fields.ts';
import { RefusedValue } from '../file/refused-value.ts';
import type { Field } from '../schema/field.ts';
import { oneAhead } from '../storage/ahead.ts';
import type { ScanColumn } from './columns.ts';
import type { DeletedPositions } from './deleted-positions.ts';
import { loadDeletes } from './deletes.ts';
import type { DataFiles, FilePart } from './parts.ts';
import { rowIdOf } from './row-ids.ts';
import { constant, gather, type Selection, selectRows, type VectorBatch } from './vectors.ts';

/** What of a table is read, and from where. */
export interface PartRead extends DataFiles {
  readonly table: TableName;
  readonly snapshotId: number;
  readonly columns: readonly ScanColumn[];
  /** For row groups; all of them by default. */
  readonly matters?: ReadRequest['matters'];
}

/** A data file whose footer and deletes are known. */
export interface OpenFile {
  readonly part: FilePart;
  readonly reader: FileReader;
  readonly deleted: DeletedPositions;
}

/** Opens a data file and checks that it is what the catalog says. */
export async function openFile(read: PartRead, part: FilePart): Promise<OpenFile> {
  const [reader, deleted] = await Promise.all([openReader(read, part), loadDeletes(read, part.deletes)]);
  return { part, reader, deleted };
}

function openReader(read: PartRead, part: FilePart): Promise<FileReader> {
  const { store, format, table, signal } = read;
  const { location, byteLength, footerLength, rowCount } = part;
  return namingFile(read, location, async () => {
    const object = await store.open(location, { byteLength: byteLength ?? undefined, signal });
    const reader = await format.openReader(object, { footerLength: footerLength ?? undefined });
    if (reader.rowCount !== rowCount)
      throw new LakeError(
        'CORRUPT',
        `data file ${location} holds ${reader.rowCount} rows; the catalog says ${rowCount}`,
        { context: { schema: table.schema, table: table.name, location } },
      );
    return reader;
  });
}

/** Which rows of a file are read. */
export interface RowChoice {
  /** Whether `select` needs to know which snapshot each row is of. */
  readonly needsSnapshots: boolean;
  /** Rows of a batch, ascending; `undefined`: all of them. */
  readonly select: (batch: ReadBatch, snapshots: ColumnVector | undefined) => Selection | undefined;
  /** Row groups at other positions are not read. */
  readonly positions?: ReadRequest['positions'];
  /** Rows of the file after which reading may stop. */
  readonly limit?: number | undefined;
}

/** Rows that have come: of `rowCount` in the file those that are chosen, `undefined` where none is. */
export interface FetchedRows {
  readonly rowCount: number;
  readonly byteLength: number;
  /** To be called once. */
  readonly decode: () => Promise<VectorBatch | undefined>;
}

/** The file's rows that are live at the snapshot. */
export function fetchFile(read: PartRead, opened: OpenFile, limit: number): AsyncGenerator<FetchedRows> {
  const { isPartial } = opened.part;
  // Only where every row is kept do so many suffice.
  const isWhole = !isPartial && opened.deleted.count === 0;
  return fetchRows(read, opened, {
    needsSnapshots: isPartial,
    select: (batch, snapshots) =>
      isWhole ? undefined : keptRows(read, opened, batch, isPartial ? snapshots : undefined),
    limit: isWhole && limit !== Number.POSITIVE_INFINITY ? limit : undefined,
  });
}

/** What a read takes of a file whose deletes nobody has looked at. UNSUPPORTED for columns that can't be read. */
export async function surveyFile(read: PartRead, part: FilePart): Promise<ReadSurvey> {
  const reader = await openReader(read, part);
  const { request } = fileRequest(read, part, { needsSnapshots: part.isPartial });
  return namingFile(read, part.location, async () => reader.survey(request));
}

/** The file's rows that are chosen, with the columns that are read. */
export async function* readRows(
  read: PartRead,
  opened: Pick<OpenFile, 'part' | 'reader'>,
  choice: RowChoice,
): AsyncGenerator<VectorBatch> {
  for await (const { decode } of oneAhead(fetchRows(read, opened, choice))) {
    const batch = await decode();
    if (batch) yield batch;
  }
}

async function* fetchRows(
  read: PartRead,
  { part, reader }: Pick<OpenFile, 'part' | 'reader'>,
  choice: RowChoice,
): AsyncGenerator<FetchedRows> {
  const found = fileRequest(read, part, choice);
  const batches = reader.fetch(found.request);
  try {
    for (;;) {
      const next = await namingFile(read, part.location, () => batches.next());
      if (next.done) return;
      const { rowCount, byteLength, decode } = next.value;
      yield {
        rowCount,
        byteLength,
        decode: async () => chosenRows(read, part, await namingFile(read, part.location, decode), found, choice),
      };
    }
  } finally {
    await batches.return(undefined);
  }
}

/** `undefined` where no row is chosen. */
function chosenRows(
  read: PartRead,
  part: FilePart,
  batch: ReadBatch,
  { own, rowIdAt, snapshotAt }: FileRequest,
  { select }: RowChoice,
): VectorBatch | undefined {
  const snapshots = snapshotAt < 0 ? undefined : batch.columns[snapshotAt];
  const selection = select(batch, snapshots);
  if (selection?.length === 0) return undefined;
  let field = 0;
  const columns = read.columns.map((column): ColumnVector => {
    const vector =
      column.kind === 'field'
        ? batch.columns[field++]!
        : virtualColumn(column.name, part, batch, batch.columns[rowIdAt], snapshots);
    const kept = selection ? gather(vector, selection) : vector;
    if (vector.mayRefuse) checkHeld(kept, read, part.location);
    return kept;
  });
  if (field !== own) throw new Error('a batch has not the columns that were asked for');
  return { rowCount: selection ? selection.length : batch.rowCount, columns };
}

interface FileRequest {
  /** For the columns of the read, then row ids and snapshots where they are needed. */
  readonly request: ReadRequest;
  /** How many those columns are. */
  readonly own: number;
  /** Where the others are; −1 where they aren't needed. */
  readonly rowIdAt: number;
  readonly snapshotAt: number;
}

function fileRequest(
  { columns, signal, matters }: PartRead,
  { binding, range }: FilePart,
  { needsSnapshots, positions, limit }: Omit<RowChoice, 'select'>,
): FileRequest {
  const wants = (name: string): boolean => columns.some((one) => one.kind === 'virtual' && one.name === name);
  const fields = columns.flatMap((column) => (column.kind === 'field' ? [column.field] : []));
  const own = fields.length;
  const indexOf = (field: Field, isRead: boolean): number => (isRead ? fields.push(field) - 1 : -1);
  const rowIdAt = indexOf(rowIdField, wants('rowid'));
  const snapshotAt = indexOf(snapshotIdField, needsSnapshots || wants('snapshot_id'));
  return {
    request: { fields, binding, range: range ?? undefined, signal, matters, positions, limit },
    own,
    rowIdAt,
    snapshotAt,
  };
}

/** Rows that are left must fit the column as it is now. */
function checkHeld({ values }: ColumnVector, read: PartRead, location: string): void {
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value instanceof RefusedValue) throw inFile(value.error, read, location);
  }
}

function keptRows(
  { snapshotId }: PartRead,
  { deleted, part: { location } }: OpenFile,
  { rowCount, firstPosition }: ReadBatch,
  snapshots: ColumnVector | undefined,
): Selection | undefined {
  const kept = deleted.keptRows(firstPosition, rowCount);
  if (!snapshots) return kept;
  const snapshotOf = snapshotsOf(snapshots, location);
  const isVisible = (row: number): boolean => snapshotOf(row) <= snapshotId;
  return kept ? kept.filter(isVisible) : selectRows(rowCount, isVisible);
}

/** The snapshot of a row of a batch; CORRUPT where the file doesn't say. */
export function snapshotsOf(snapshots: ColumnVector | undefined, location: string): (row: number) => number {
  return (row) => {
    const snapshot = snapshots?.values[row];
    if (snapshot === null || snapshot === undefined)
      throw new LakeError('CORRUPT', `data file ${location} does not say of which snapshot its rows are`, {
        context: { location },
      });
    return Number(snapshot);
  };
}

function virtualColumn(
  name: ScanColumn['name'],
  { rowIdStart, beginSnapshot, location, fileIndex }: FilePart,
  { rowCount, firstPosition }: ReadBatch,
  rowIds: ColumnVector | undefined,
  snapshots: ColumnVector | undefined,
): ColumnVector {
  switch (name) {
    case 'rowid':
      return numbered(rowCount, (row) => {
        const own = rowIds?.values[row];
        if (own !== null && own !== undefined) return BigInt(own as bigint);
        if (rowIdStart === null)
          throw new LakeError('CORRUPT', `data file ${location} has no row ids, in it or in the catalog`, {
            context: { location },
          });
        return rowIdOf(rowIdStart, firstPosition + row);
      });
    case 'snapshot_id':
      if (beginSnapshot !== null && beginSnapshot < 0) return constant(null, rowCount);
      return numbered(rowCount, (row) => {
        const own = snapshots?.values[row];
        return own === null || own === undefined ? BigInt(beginSnapshot ?? 0) : BigInt(own as bigint);
      });
    case 'filename':
      return constant(location, rowCount);
    case 'file_row_number':
      return numbered(rowCount, (row) => BigInt(firstPosition + row));
    default:
      return constant(BigInt(fileIndex), rowCount);
  }
}

function numbered(rowCount: number, value: (row: number) => bigint): ColumnVector {
  return { values: BigInt64Array.from({ length: rowCount }, (_, row) => value(row)), decode: undefined };
}

/** Errors of stores and of the format know neither the table nor, some, the file. */
async function namingFile<T>(read: PartRead, location: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (read.signal?.aborted || !isLakeError(error) || error.context.location === location) throw error;
    throw inFile(error, read, location);
  }
}

function inFile(error: LakeError, { table }: PartRead, location: string): LakeError {
  return new LakeError(error.code, `data file ${location}: ${error.message}`, {
    retryable: error.retryable,
    context: { ...error.context, schema: table.schema, table: table.name, location },
    cause: error,
  });
}
