/**
 * A web stream of what is read chunk by chunk. A chunk, of one item at least, is read when
 * the one before was taken, and its items are all that is held.
 * Cancelling stops the reads, and so does the signal, with its reason as the stream's error.
 */
export function streamOf<T>(
  read: (signal: AbortSignal) => AsyncGenerator<readonly T[]>,
  signal: AbortSignal | undefined,
): ReadableStream<T> {
  const cancelled = new AbortController();
  const chunks = read(signal ? AbortSignal.any([signal, cancelled.signal]) : cancelled.signal);
  let release = (): void => {};
  // What is being read ends with the signal's reason, which is nobody's error then.
  const end = (): Promise<unknown> => chunks.return(undefined).catch(() => undefined);
  return new ReadableStream<T>(
    {
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
    },
    { highWaterMark: 0 },
  );
}
