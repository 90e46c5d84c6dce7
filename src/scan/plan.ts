import type { AsOf, Snapshot } from '../catalog/store.ts';
import { noFiles, type TableFiles } from '../catalog/table-files.ts';
import { type CatalogView, nameOf, type TableInfo } from '../catalog/view.ts';
import { checkOptions, isLakeError, LakeError, type OptionKinds, showValue } from '../errors.ts';
import type { ReadSession } from '../session.ts';
import { scanColumns } from './columns.ts';
import type { ScanRead } from './parts.ts';
import type { PartList } from './read-parts.ts';
import { filePart, inlinedPart } from './table-parts.ts';
import { fieldsIn } from './where/expression.ts';
import { fileFilterOf } from './where/file-filter.ts';
import { parseWhere } from './where/parse.ts';

/** What is to be planned: a scan's options, which are looked at here, whatever their types were. */
export interface PlanRequest {
  readonly session: ReadSession;
  readonly find: (view: CatalogView) => TableInfo;
  readonly columns?: unknown;
  readonly where?: unknown;
  readonly limit?: unknown;
  readonly asOf?: AsOf | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One that isn't known may be a filter by another name: without it there would be rows that nobody asked for. */
const requestKinds: OptionKinds<PlanRequest> = {
  session: 'any',
  find: 'any',
  columns: 'any',
  where: 'any',
  limit: 'any',
  asOf: 'any',
  signal: 'any',
};

/** A scan that is known down to its files. */
export interface PlannedScan {
  readonly table: TableInfo;
  /** The version that is read. */
  readonly snapshot: Snapshot;
  readonly read: ScanRead;
  /** Those that the filter has not ruled out. */
  readonly files: TableFiles;
  readonly parts: PartList;
}

/** How often the newest snapshot may be another, and the one before it expired, when its files are asked for. */
const MAX_ATTEMPTS = 5;

/** Looks up what a scan has to read. */
export async function planScan(request: PlanRequest): Promise<PlannedScan> {
  for (let left = request.asOf === undefined ? MAX_ATTEMPTS : 1; ; left--) {
    try {
      return await planOnce(request);
    } catch (error) {
      if (left === 1 || !isLakeError(error, 'NOT_FOUND') || !error.retryable) throw error;
    }
  }
}

async function planOnce(request: PlanRequest): Promise<PlannedScan> {
  checkOptions(request, requestKinds);
  const { session, find, asOf, signal } = request;
  signal?.throwIfAborted();
  const limit = checkLimit(request.limit);
  const view = asOf === undefined ? await session.refresh() : await session.viewAt(asOf);
  const table = find(view);
  const name = nameOf(table);
  const columns = scanColumns(table, request.columns);
  const where =
    request.where === undefined
      ? undefined
      : parseWhere(request.where, { schema: name.schema, table: name.name, fields: table.fields });
  const snapshotId = view.snapshot.id;
  const read: ScanRead = { table: name, snapshotId, columns, where, limit };
  const filter = fileFilterOf(where);
  const found = limit === 0 ? noFiles : await session.readFiles({ snapshotId, tableId: table.id, ...filter.request });
  signal?.throwIfAborted();
  const files = { ...found, files: await filter.keep(found) };
  return { table, snapshot: view.snapshot, read, files, parts: partsOf(table, read, files) };
}

export function checkLimit(limit: unknown): number {
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  if (Number.isSafeInteger(limit) && (limit as number) >= 0) return limit as number;
  throw new LakeError('INVALID_ARGUMENT', `limit is ${showValue(limit)}; it must be a whole number from 0`);
}

/** What a table's files hold, then its inlined rows. */
function partsOf(table: TableInfo, { snapshotId, columns, where }: ScanRead, found: TableFiles): PartList {
  const { files, inlined } = found;
  const own = columns.flatMap((column) => (column.kind === 'field' ? [column.field] : []));
  const wanted = new Set([...own, ...(where ? fieldsIn(where) : [])].map(({ id }) => id));
  return {
    count: files.length + inlined.length,
    part(index) {
      const file = files[index];
      if (file) return filePart(table, found, file, { snapshotId, fileIndex: index });
      return inlinedPart(table, found, inlined[index - files.length]!, index, wanted);
    },
  };
}
