import { memoryCatalog, memoryLake, memoryStore } from '../../adapters/memory.ts';
import { catalogCases } from '../../src/conformance/catalog.ts';
import { storageCases } from '../../src/conformance/storage.ts';
import type { ObjectStore } from '../../src/index.ts';
import { allLakeCases } from './lake-cases.ts';
import { type Suite, suite } from './suite.ts';

/** What runs where there is neither a disk nor a network. */
export function memorySuites(): Suite[] {
  return [
    suite(
      'memory store',
      storageCases,
      () => ({ store: memoryStore(), prefix: 'lake/', capabilities: { exactKeys: true } }),
      ['exactKeys'],
    ),
    suite('memory catalog', catalogCases, () => {
      const place = memoryCatalog();
      return { open: async () => memoryCatalog({ sharedWith: place }) };
    }),
    suite('lake in memory', allLakeCases, () => {
      const place = { store: memoryStore(), catalog: memoryCatalog() };
      return {
        open: (options) =>
          memoryLake({ ...options, store: place.store, catalog: memoryCatalog({ sharedWith: place.catalog }) }),
        fileCount: () => countFiles(place.store, ''),
      };
    }),
  ];
}

/** How many objects a store holds below a prefix. */
export async function countFiles(store: ObjectStore, prefix: string): Promise<number> {
  let count = 0;
  for await (const _ of store.list(prefix)) count++;
  return count;
}
