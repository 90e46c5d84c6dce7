import { LakeError } from '../errors.ts';
import type { ObjectWriter } from './object-store.ts';

/** What a store does for one object. Calls never overlap: the next comes when the last has settled. */
export interface ObjectSink {
  write(bytes: Uint8Array): Promise<void>;
  /** Makes the object visible. When it rejects, `discard` follows. */
  finish(): Promise<void>;
  /** Removes what was written so far. Called at most once, and nothing is called after it; a rejection is swallowed. */
  discard(): Promise<void>;
}

/** How long a writer waits for what it no longer wants to be removed: a dead network must not hold up an abort. */
const DISCARD_MILLIS = 5_000;

/**
 * An {@link ObjectWriter} over a sink: order, the states a writer can be in, and abortion are the same for every store
 * and live here.
 *
 * @param open makes the sink. Its signal fires when the caller's does, and before anything is discarded.
 */
export function sinkWriter(
  location: string,
  signal: AbortSignal | undefined,
  open: (signal: AbortSignal) => ObjectSink,
): ObjectWriter {
  const cancelled = new AbortController();
  const sink = open(signal ? AbortSignal.any([signal, cancelled.signal]) : cancelled.signal);
  let ended = false;
  let failure: { readonly error: unknown } | undefined;
  let last: Promise<void> = Promise.resolve();
  let discarded: Promise<void> | undefined;

  const closed = (): LakeError =>
    new LakeError('CLOSED', `the writer of ${location} has ended`, { context: { location } });

  const enqueue = (step: () => Promise<void>): Promise<void> => {
    const run = last.then(async () => {
      if (failure) throw failure.error;
      if (cancelled.signal.aborted) throw closed();
      signal?.throwIfAborted();
      try {
        await step();
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        throw cancelled.signal.aborted ? closed() : error;
      }
    });
    last = run.catch((error: unknown) => {
      failure ??= { error };
    });
    return run;
  };

  const discard = (): Promise<void> => {
    discarded ??= atMost(
      DISCARD_MILLIS,
      last.then(() => sink.discard()).catch(() => {}),
    );
    return discarded;
  };

  return {
    async write(bytes) {
      if (ended) throw closed();
      await enqueue(() => sink.write(bytes));
    },
    async close() {
      if (ended) throw closed();
      ended = true;
      try {
        await enqueue(() => sink.finish());
      } catch (error) {
        cancelled.abort(closed());
        await discard();
        throw error;
      }
    },
    async abort() {
      const closing = ended;
      ended = true;
      cancelled.abort(closed());
      if (closing) await last;
      if (!closing || failure) await discard();
    },
  };
}

async function atMost(millis: number, promise: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, millis);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
