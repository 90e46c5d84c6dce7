import { piecesOf, type RowBatch } from './rows.ts';

/** What a web stream of rows reads from. */
export function rowSource<Row>(read: ReadBatches, signal: AbortSignal | undefined): UnderlyingDefaultSource<Row> {
  return sourceOf((stop) => piecesOf<Row>(read(stop)), signal);
}

/** The same of batches. */
export function batchSource(read: ReadBatches, signal: AbortSignal | undefined): UnderlyingDefaultSource<RowBatch> {
  return sourceOf((stop) => singly(read(stop)), signal);
}

type ReadBatches = (signal: AbortSignal) => AsyncIterable<RowBatch>;

async function* singly<T>(items: AsyncIterable<T>): AsyncGenerator<[T]> {
  for await (const item of items) yield [item];
}

/**
 * Reads chunk by chunk. A chunk, of one item at least, is read when the one before was taken, and its items are all that is held.
 * Cancelling stops the reads, and so does the signal, with its reason as the stream's error.
 */
function sourceOf<T>(
  read: (signal: AbortSignal) => AsyncGenerator<readonly T[]>,
  signal: AbortSignal | undefined,
): UnderlyingDefaultSource<T> {
  const cancelled = new AbortController();
  const chunks = read(signal ? AbortSignal.any([signal, cancelled.signal]) : cancelled.signal);
  let release = (): void => {};
  // What is being read ends with the signal's reason, which is nobody's error then.
  const end = (): Promise<unknown> => chunks.return(undefined).catch(() => undefined);
  return {
    start(controller) {
      if (!signal) return;
      const abort = (): void => {
        controller.error(signal.reason);
        end();
      };
      if (signal.aborted) return abort();
      signal.addEventListener('abort', abort, { once: true });
      release = () => signal.removeEventListener('abort', abort);
    },
    async pull(controller) {
      try {
        const { value, done } = await chunks.next();
        if (cancelled.signal.aborted || signal?.aborted) return;
        if (!done) for (const item of value) controller.enqueue(item);
        else {
          release();
          controller.close();
        }
      } catch (error) {
        release();
        controller.error(error);
      }
    },
    async cancel(reason) {
      release();
      cancelled.abort(reason);
      await end();
    },
  };
}
