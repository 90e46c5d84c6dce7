import { test } from 'bun:test';
import { storageCases } from '../../src/conformance/storage.ts';
import { memoryStore } from '../../src/storage/memory.ts';

for (const { name, run } of storageCases) {
  test(`memory store: ${name}`, () =>
    run({ store: memoryStore(), prefix: 'lake/', capabilities: { exactKeys: true } }));
}
