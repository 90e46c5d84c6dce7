import type { LiveFile } from '../catalog/table-files.ts';
import { loadDeletes } from './deletes.ts';
import type { DataFiles, FilePart, ScanRead } from './parts.ts';
import { type PlanRequest, planScan } from './plan.ts';
import { readParts } from './read-parts.ts';
import { boundsOfStats } from './where/file-bounds.ts';
import { isCertain } from './where/prune.ts';

/** How many rows there are, or are kept by `where`: what the catalog tells for certain isn't read. */
export async function countRows(request: Omit<PlanRequest, 'columns' | 'limit'>): Promise<number> {
  const { session, signal } = request;
  const { snapshot, read, files, parts } = await planScan({ ...request, columns: [] });
  const from: DataFiles = { store: session.store, format: session.format, signal };
  const unread: number[] = [];
  let count = 0;
  for (let i = 0; i < parts.count; i++) {
    const live = files.files[i];
    // Encrypted files have their counts, too.
    const known = live && knownCount(live, read, snapshot.nextFileId);
    if (known !== undefined) count += known;
    else if (live && areRowsKnown(live, read)) {
      signal?.throwIfAborted();
      const { rowCount, deletes } = parts.part(i) as FilePart;
      count += (rowCount ?? 0) - (await loadDeletes({ ...read, ...from }, deletes)).count;
    } else unread.push(i);
  }
  const rest = { count: unread.length, part: (i: number) => parts.part(unread[i]!) };
  for await (const { rowCount } of readParts({ read, parts: rest, from })) count += rowCount;
  return count;
}

/** Whether all rows of the file that aren't deleted count. */
function areRowsKnown(live: LiveFile, { where, snapshotId }: ScanRead): boolean {
  const { record_count, partial_max } = live.file;
  if (record_count === null || (partial_max !== null && partial_max > snapshotId)) return false;
  return where === undefined || isCertain(where, boundsOfStats(live));
}

/** How many those are, where the catalog counts the deleted ones as of this snapshot. */
function knownCount(live: LiveFile, read: ScanRead, nextFileId: number): number | undefined {
  if (!areRowsKnown(live, read)) return undefined;
  const { file, deletes, inlinedDeletes } = live;
  const rowCount = file.record_count!;
  const [row, ...more] = deletes;
  if (!row) return rowCount - new Set(inlinedDeletes).size;
  // A position may be in two of them, and a file may hold those of later snapshots.
  if (more.length > 0 || inlinedDeletes.length > 0) return undefined;
  // Not only when partial_max says so: a flush writes the deletes of several snapshots, and says nothing. Files are numbered as they come.
  if (row.delete_file_id >= nextFileId) return undefined;
  return row.delete_count === null || row.delete_count > rowCount ? undefined : rowCount - row.delete_count;
}
