import { oneAhead } from '../storage/ahead.ts';
import type { ScanColumn } from './columns.ts';
import { type FetchedRows, fetchFile, type OpenFile, openFile, type PartRead } from './data-file.ts';
import { inlinedBatch } from './inlined-batch.ts';
import type { DataFiles, InlinedPart, ScanPart, ScanRead } from './parts.ts';
import type { RowBatch } from './rows.ts';
import { decoded, firstRows, type VectorBatch } from './vectors.ts';

/** How many files are opened while another is read: their footers cost a round trip each. */
const FILES_AHEAD = 3;

/** Parts, each made when it is read: some can't be, and whoever stops early doesn't care. */
export interface PartList {
  readonly count: number;
  readonly part: (index: number) => ScanPart;
}

/** A read that is known down to its parts. */
export interface PlannedRead {
  readonly read: ScanRead;
  readonly parts: PartList;
  readonly from: DataFiles;
}

/** The rows of the parts, one part after the other, as stored: `read.columns`, in batches that are never empty. */
export async function* readParts({ read: wanted, parts, from }: PlannedRead): AsyncGenerator<VectorBatch> {
  const { table, snapshotId, columns, where, limit } = wanted;
  const filter = where && (await import('./where/filter.ts')).filterOf(where, columns);
  const read: PartRead = {
    ...from,
    table,
    snapshotId,
    columns: filter?.columns ?? columns,
    matters: filter?.matters,
  };
  let rest = limit;
  if (rest === 0) return;
  for await (const found of batchesOf(read, parts, filter ? Number.POSITIVE_INFINITY : rest)) {
    const batch = filter ? filter.keep(found) : found;
    if (batch.rowCount === 0) continue;
    const rowCount = Math.min(batch.rowCount, rest);
    rest -= rowCount;
    if (rowCount === batch.rowCount) yield batch;
    else yield { rowCount, columns: batch.columns.map((vector) => firstRows(vector, rowCount)) };
    if (rest === 0) return;
  }
}

/** As callers get it: a record that also holds columns with names such as `__proto__` as keys of its own. */
export function decodedBatch(columns: readonly ScanColumn[], { rowCount, columns: vectors }: VectorBatch): RowBatch {
  return { rowCount, columns: Object.fromEntries(columns.map(({ name }, c) => [name, decoded(vectors[c]!)])) };
}

/**
 * Batches of the parts, one after the other. The bytes of the next one, of the next file even, come while one is decoded and used.
 * `limit`: rows after which no more will be asked for.
 */
async function* batchesOf(read: PartRead, parts: PartList, limit: number): AsyncGenerator<VectorBatch> {
  const stopped = new AbortController();
  const signal = read.signal ? AbortSignal.any([read.signal, stopped.signal]) : stopped.signal;
  let left = limit;
  async function* fetching(): AsyncGenerator<FetchedRows> {
    for await (const fetched of fetchParts({ ...read, signal }, parts, limit)) {
      left -= fetched.rowCount;
      yield fetched;
    }
  }
  try {
    for await (const { decode } of oneAhead(fetching(), () => left > 0)) {
      const batch = await decode();
      if (batch) yield batch;
    }
  } finally {
    // Whoever stops early has requests under way that nobody waits for.
    stopped.abort();
  }
}

type Opened = InlinedPart | OpenFile;

async function* fetchParts(read: PartRead, parts: PartList, limit: number): AsyncGenerator<FetchedRows> {
  const opening: Promise<Opened>[] = [];
  let next = 0;
  const ahead = limit === Number.POSITIVE_INFINITY ? FILES_AHEAD : 0;
  const open = async (index: number): Promise<Opened> => {
    const part = parts.part(index);
    return part.kind === 'file' ? openFile(read, part) : part;
  };
  for (let index = 0; index < parts.count; index++) {
    read.signal?.throwIfAborted();
    for (; next < parts.count && next <= index + ahead; next++) {
      const opened = open(next);
      // Whoever stops early leaves some that nobody waits for.
      opened.catch(() => undefined);
      opening.push(opened);
    }
    const part = await opening.shift()!;
    if ('reader' in part) yield* fetchFile(read, part, limit);
    else if (part.rows.length > 0)
      yield { rowCount: part.rows.length, byteLength: 0, decode: async () => inlinedBatch(read, part) };
  }
}
