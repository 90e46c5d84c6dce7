/**
 * Runs `task` on every item, at most `limit` at once. All items are tried even when some fail; the first failure is
 * thrown at the end. An abort of `signal` starts no more of them and rejects with its reason.
 */
export async function concurrently<T>(
  items: Iterable<T>,
  limit: number,
  task: (item: T) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  let failure: { readonly error: unknown } | undefined;
  const iterator = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = iterator.next(); !next.done && !signal?.aborted; next = iterator.next()) {
      try {
        await task(next.value);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: limit }, worker));
  signal?.throwIfAborted();
  if (failure) throw failure.error;
}
