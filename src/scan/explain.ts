import type { LiveFile } from '../catalog/table-files.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { surveyFile } from './data-file.ts';
import { surveyDeletes } from './deletes.ts';
import { type ExplainedFile, type PrunedFiles, ScanExplanation } from './explanation.ts';
import type { FilePart, ScanRead } from './parts.ts';
import { type PlanRequest, planScan } from './plan.ts';
import { neededParts } from './tasks.ts';
import type { Expression } from './where/expression.ts';
import { expressionText } from './where/expression-text.ts';
import { boundsOfStats } from './where/file-bounds.ts';
import { fileBounds, fileFilterOf } from './where/file-filter.ts';
import { filterOf } from './where/filter.ts';
import { matters } from './where/prune.ts';

/** Files whose footers are read at once. */
const AT_ONCE = 8;

/** Plans a scan, and looks at what the plan leaves out; reads the footers of the files that are left. */
export async function explainScan(request: PlanRequest): Promise<ScanExplanation> {
  const planned = await planScan(request);
  const { table, read, files } = planned;
  const { where, snapshotId } = read;
  const needed = [...neededParts(planned)];
  const parts = needed.filter((part) => part.kind === 'file');
  const all = where
    ? await request.session.readFiles({ snapshotId, tableId: table.id, stats: fileFilterOf(where).request.stats })
    : files;
  const planIds = new Set(files.files.map(({ file }) => file.data_file_id));
  const pruned = new Map<string, PrunedFiles>();
  const left = all.files.filter(({ file }) => !planIds.has(file.data_file_id));
  const boundsOf = left.length > 0 ? await fileBounds(all) : boundsOfStats;
  for (const live of left) {
    const { by, filter } = reasonOf(where!, live, boundsOf);
    add(pruned, live, by, filter);
  }
  for (const live of files.files.slice(parts.length)) add(pruned, live, 'limit', '');
  const explained: ExplainedFile[] = [];
  for (let i = 0; i < parts.length; i += AT_ONCE) {
    request.signal?.throwIfAborted();
    const some = parts.slice(i, i + AT_ONCE);
    explained.push(...(await Promise.all(some.map((part) => explainFile(request, planned.read, part)))));
  }
  return new ScanExplanation({
    table: read.table,
    snapshotId,
    columns: read.columns.map(({ name }) => name),
    where: where ? expressionText(where) : null,
    limit: read.limit === Number.POSITIVE_INFINITY ? null : read.limit,
    files: explained,
    pruned: [...pruned.values()],
    inlinedRowCount: needed.reduce((sum, part) => sum + (part.kind === 'inlined' ? part.rows.length : 0), 0),
  });
}

function add(pruned: Map<string, PrunedFiles>, { file }: LiveFile, by: PrunedFiles['by'], filter: string): void {
  const key = `${by} ${filter}`;
  const { fileCount = 0, rowCount = 0, byteLength = 0 } = pruned.get(key) ?? {};
  pruned.set(key, {
    by,
    filter,
    fileCount: fileCount + 1,
    rowCount: rowCount + (file.record_count ?? 0),
    byteLength: byteLength + (file.file_size_bytes ?? 0),
  });
}

/** The first of the conditions that all have to hold which does so for no row of the file, by its statistics, else by its partition. */
function reasonOf(
  where: Expression,
  live: LiveFile,
  boundsOf: Awaited<ReturnType<typeof fileBounds>>,
): Pick<PrunedFiles, 'by' | 'filter'> {
  const all = conditions(where);
  const failing = (bounds: ReturnType<typeof boundsOf>): Expression | undefined =>
    [...all, where].find((part) => !matters(part, bounds));
  const byStats = failing(boundsOfStats(live));
  const byPartition = byStats ? undefined : failing(boundsOf(live));
  return { by: byPartition ? 'partition' : 'statistics', filter: expressionText(byStats ?? byPartition ?? where) };
}

function conditions(where: Expression): readonly Expression[] {
  return where.op === 'and' ? where.parts.flatMap(conditions) : [where];
}

async function explainFile(
  { session, signal }: PlanRequest,
  { table, snapshotId, columns, where }: ScanRead,
  part: FilePart,
): Promise<ExplainedFile> {
  const seen = { requestCount: 0, byteLength: 0 };
  const filter = where && filterOf(where, columns);
  const read = {
    store: counting(session.store, seen),
    format: session.format,
    signal,
    table,
    snapshotId,
    columns: filter?.columns ?? columns,
    matters: filter?.matters,
  };
  const [survey, deletes] = await Promise.all([surveyFile(read, part), surveyDeletes(read, part.deletes)]);
  return {
    location: part.location,
    rowCount: part.rowCount ?? 0,
    byteLength: part.byteLength ?? 0,
    rowGroupCount: survey.rowGroupCount,
    readRowGroupCount: survey.readRowGroupCount,
    readRowCount: survey.readRowCount,
    deleteFileCount: part.deletes.files.length,
    deletedCount: part.deletes.positions.length,
    requestCount: seen.requestCount + survey.requestCount + deletes.requestCount,
    readByteLength: seen.byteLength + survey.byteLength + deletes.byteLength,
  };
}

type Readable = Pick<ObjectStore, 'open'>;

function counting(store: Readable, seen: { requestCount: number; byteLength: number }): Readable {
  return {
    async open(location, options) {
      const object = await store.open(location, options);
      return {
        byteLength: object.byteLength,
        async slice(start, end = object.byteLength) {
          seen.requestCount++;
          seen.byteLength += end - start;
          return object.slice(start, end);
        },
      };
    },
  };
}
