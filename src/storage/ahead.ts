import { pause } from '../util/pause.ts';

/** So many bytes take long enough to decode for the next ones to be on their way first. */
const minPaused = 1 << 20;

/**
 * The same items, each fetched while the one before is in use: one more than is used is held, never two. Whoever stops early doesn't
 * wait for it, and its failure is nobody's. `isNeeded` says, each time, whether to fetch ahead.
 */
export async function* oneAhead<T extends { readonly byteLength: number }>(
  items: AsyncGenerator<T>,
  isNeeded: () => boolean = () => true,
): AsyncGenerator<T> {
  let ahead: Promise<IteratorResult<T>> | undefined;
  try {
    for (;;) {
      const { done, value } = await (ahead ?? items.next());
      if (done) return;
      ahead = undefined;
      if (isNeeded()) {
        ahead = items.next();
        ahead.catch(() => undefined);
        // Decoding gives way to nothing: without this the request would be sent after it.
        if (value.byteLength >= minPaused) await pause(0);
      }
      yield value;
    }
  } finally {
    items.return(undefined).catch(() => undefined);
  }
}
