import { type OpenFile, openFile, readFile, type TableRead } from './data-file.ts';
import { inlinedBatch } from './inlined-batch.ts';
import type { VectorBatch } from './vectors.ts';

/** How many files are opened while another is read: their footers cost a round trip each. */
const FILES_AHEAD = 3;

/** What a table's files hold, then its inlined rows. */
export async function* batchesOf(read: TableRead, limit: number): AsyncGenerator<VectorBatch> {
  const { files, inlined } = read.files;
  const opening: Promise<OpenFile>[] = [];
  let next = 0;
  const ahead = limit === Number.POSITIVE_INFINITY ? FILES_AHEAD : 0;
  for (let index = 0; index < files.length; index++) {
    read.signal?.throwIfAborted();
    for (; next < files.length && next <= index + ahead; next++) {
      const opened = openFile(read, files[next]!, next);
      // Whoever stops early leaves some that nobody waits for.
      opened.catch(() => undefined);
      opening.push(opened);
    }
    yield* readFile(read, await opening.shift()!, limit);
  }
  for (const [i, rows] of inlined.entries()) {
    read.signal?.throwIfAborted();
    const batch = inlinedBatch(read, rows, files.length + i);
    if (batch.rowCount > 0) yield batch;
  }
}
