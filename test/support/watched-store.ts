import { memoryStore } from '../../adapters/memory.ts';
import type { ObjectStore } from '../../src/index.ts';

/** What was asked of a store. */
export interface Watched {
  readonly store: ObjectStore;
  /** Locations that were begun, in order, also those that never came to be. */
  readonly created: string[];
  readonly deleted: string[];
  /** Objects that are there. */
  left(): Promise<string[]>;
}

/** A store that notes what is written to it. */
export function watchedStore(store: ObjectStore = memoryStore(), prefix = ''): Watched {
  const created: string[] = [];
  const deleted: string[] = [];
  return {
    created,
    deleted,
    store: {
      name: store.name,
      open: (location, options) => store.open(location, options),
      create(location, options) {
        created.push(location);
        return store.create(location, options);
      },
      delete(locations, options) {
        deleted.push(...locations);
        return store.delete(locations, options);
      },
      list: (from, options) => store.list(from, options),
    },
    left: async () => (await Array.fromAsync(store.list(prefix))).map(({ location }) => location).sort(),
  };
}
