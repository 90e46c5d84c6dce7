import { afterAll, beforeAll, describe, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteCatalog } from '../../adapters/sqlite.ts';
import { catalogCases } from '../../src/conformance/catalog.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edgemere-sqlite-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

for (const wal of [false, true]) {
  describe(`conformance, ${wal ? 'with' : 'without'} write-ahead logging`, () => {
    for (const { name, run } of catalogCases)
      test(name, async () => {
        const path = join(folder, `${crypto.randomUUID()}.sqlite`);
        await run({ open: async () => sqliteCatalog({ path, wal }) });
      });
  });
}
