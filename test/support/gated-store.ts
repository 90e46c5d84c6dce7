import { memoryStore } from '../../adapters/memory.ts';
import type { ObjectStore } from '../../src/index.ts';

/** A read of an object. */
export interface GatedRead {
  readonly location: string;
  readonly start: number;
  readonly end: number;
}

export interface GatedStore extends ObjectStore {
  /** All reads that were asked for, in order. */
  readonly reads: GatedRead[];
  /** Bytes that were asked for and have not come, at the most at one time. */
  mostPendingByteLength: number;
  /** Reads that wait until they are let go. None by default. */
  holds: (read: GatedRead) => boolean;
  /** Lets all go that wait, and all that come. */
  release(): void;
  /** Resolves when so many reads have been asked for. */
  asked(count: number): Promise<void>;
}

/** A store whose reads come when the test lets them; the signal that it is opened with ends those that wait. */
export function gatedStore(store: ObjectStore = memoryStore()): GatedStore {
  const waiting = new Set<() => void>();
  const watchers = new Set<() => void>();
  let pending = 0;
  const gated: GatedStore = {
    name: store.name,
    reads: [],
    mostPendingByteLength: 0,
    holds: () => false,
    release() {
      gated.holds = () => false;
      for (const resolve of waiting) resolve();
      waiting.clear();
    },
    asked(count) {
      return new Promise((resolve) => {
        const look = (): void => {
          if (gated.reads.length < count) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      });
    },
    create: (location, options) => store.create(location, options),
    delete: (locations, options) => store.delete(locations, options),
    list: (prefix, options) => store.list(prefix, options),
    async open(location, options) {
      const object = await store.open(location, options);
      const signal = options?.signal;
      return {
        byteLength: object.byteLength,
        async slice(start, end = object.byteLength) {
          const read = { location, start, end };
          gated.reads.push(read);
          pending += end - start;
          gated.mostPendingByteLength = Math.max(gated.mostPendingByteLength, pending);
          for (const look of watchers) look();
          try {
            if (gated.holds(read))
              await new Promise<void>((resolve, reject) => {
                waiting.add(resolve);
                signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
              });
            return await object.slice(start, end);
          } finally {
            pending -= end - start;
          }
        },
      };
    },
  };
  return gated;
}
