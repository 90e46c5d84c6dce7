import { describe, expect, test } from 'bun:test';
import { memoryCatalog, memoryLake, memoryStore } from '../../adapters/memory.ts';
import { collect, rejects, rejectsWith } from '../../src/conformance/case.ts';
import { lakeCases } from '../../src/conformance/lake.ts';
import { t } from '../../src/index.ts';

describe('conformance', () => {
  for (const { name, run } of lakeCases)
    test(name, () => {
      const [catalog, store] = [memoryCatalog(), memoryStore()];
      return run({
        open: (options) => memoryLake({ store, ...options, catalog: memoryCatalog({ sharedWith: catalog }) }),
      });
    });
});

describe('a lake in memory', () => {
  test('holds no file that no snapshot knows after inserts and transactions that failed', async () => {
    const store = memoryStore();
    await using lake = await memoryLake({ store, dataInliningRowLimit: 0 });
    const table = await lake.createTable('t', { id: t.int64().notNull() });
    await table.insert([{ id: 1 }]);
    const rows = Array.from({ length: 5000 }, (_, id) => ({ id: id === 4999 ? 'x' : id }) as { id: number });
    await rejects(() => table.insert(rows), 'INVALID_VALUE');
    const reason = new Error('no');
    const failing = lake.transaction(async (tx) => {
      const made = await tx.createTable('made', { id: t.int64() });
      await made.insert([{ id: 1 }]);
      await tx.table('t').insert([{ id: 2 }]);
      throw reason;
    });
    await rejectsWith(failing, reason);
    await lake.transaction(async (tx) => {
      await tx.table('t').insert([{ id: 3 }]);
      await tx.dropTable('t');
      await tx.createTable('t', { id: t.int64() });
    });
    const known = await table.files();
    expect(known).toEqual([]);
    // The row of the dropped table is history, its file stays.
    expect((await collect(store.list(''))).length).toBe(1);
  });

  test('takes a catalog whose rows can be looked at', async () => {
    const catalog = memoryCatalog();
    await using lake = await memoryLake({ catalog, dataPath: 'memory://elsewhere' });
    await lake.createTable('t', { id: t.int64() });
    expect(catalog.dump().ducklake_column).toMatchObject([{ column_name: 'id', column_type: 'int64' }]);
    expect(lake.dataPath).toBe('memory://elsewhere/');
  });
});
