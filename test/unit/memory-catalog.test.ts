import { describe, test } from 'bun:test';
import { memoryCatalog } from '../../src/catalog/memory.ts';
import { catalogCases } from '../../src/conformance/catalog.ts';

describe('conformance', () => {
  for (const { name, run } of catalogCases)
    test(name, () => {
      const place = memoryCatalog();
      return run({ open: async () => memoryCatalog({ sharedWith: place }) });
    });
});
