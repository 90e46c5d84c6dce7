import { expect, test } from 'bun:test';
import { memoryCatalog, memoryLake } from '../../adapters/memory.ts';
import { t } from '../../src/index.ts';

test('flushing with options that can not be is refused, and flushes nothing', async () => {
  const catalog = memoryCatalog();
  await using lake = await memoryLake({ catalog });
  const table = await lake.createTable('few', { id: t.int32() });
  await table.insert([{ id: 1 }]);
  const before = JSON.stringify(catalog.dump());
  for (const options of [null, 5, 'few', { table: 5 }, { table: null }, { schema: {} }, { schema: Symbol('main') }])
    await expect(lake.maintenance.flushInlined(options as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  expect(JSON.stringify(catalog.dump())).toBe(before);
  expect(await lake.maintenance.flushInlined({ table: undefined })).toMatchObject({ tables: [{ name: 'few' }] });
});
