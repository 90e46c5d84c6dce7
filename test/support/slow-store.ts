import type { ObjectStore } from '../../src/storage/object-store.ts';

export interface SlowStore extends ObjectStore {
  /** Bytes handed to `write` that it has not taken yet, now and at the most at one time. */
  readonly pendingByteLength: number;
  readonly mostPendingByteLength: number;
  /** Bytes taken in all. */
  readonly writtenByteLength: number;
}

/** A store that takes `delayMillis` for every write and every close: whoever ignores back-pressure piles bytes up in it. */
export function slowStore(store: ObjectStore, delayMillis: number): SlowStore {
  let pending = 0;
  let most = 0;
  let written = 0;
  const delay = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, delayMillis));
  return {
    name: store.name,
    get pendingByteLength() {
      return pending;
    },
    get mostPendingByteLength() {
      return most;
    },
    get writtenByteLength() {
      return written;
    },
    open: (location, options) => store.open(location, options),
    delete: (locations, options) => store.delete(locations, options),
    list: (prefix, options) => store.list(prefix, options),
    async create(location, options) {
      const writer = await store.create(location, options);
      return {
        async write(bytes) {
          const { length } = bytes;
          pending += length;
          most = Math.max(most, pending);
          try {
            await delay();
            await writer.write(bytes);
            written += length;
          } finally {
            pending -= length;
          }
        },
        async close() {
          await delay();
          await writer.close();
        },
        abort: () => writer.abort(),
      };
    },
  };
}
