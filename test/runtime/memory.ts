import { memoryCatalog } from '../../src/catalog/memory.ts';
import { catalogCases } from '../../src/conformance/catalog.ts';
import { storageCases } from '../../src/conformance/storage.ts';
import { memoryStore } from '../../src/storage/memory.ts';
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
  ];
}
