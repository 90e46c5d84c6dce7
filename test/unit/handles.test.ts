import { describe, expect, test } from 'bun:test';
import { t } from '../../src/index.ts';
import { CATALOG_KINDS, testLake } from '../support/lakes.ts';

describe.each([...CATALOG_KINDS])('on %s', (kind) => {
  test('snapshots are named by bigints too, as rows give them', async () => {
    await using place = await testLake(kind);
    await using lake = await place.open();
    const table = await lake.createTable('a', { id: t.int32() });
    await table.insert([{ id: 1 }]);
    await table.insert([{ id: 2 }]);
    const [{ snapshot_id: snapshot } = { snapshot_id: 0n }] = await table
      .scan({ columns: ['snapshot_id'], where: { id: 1 } })
      .toArray();
    expect(snapshot).toBe(2n);
    expect(await table.scan({ asOf: { snapshot } }).toArray()).toEqual([{ id: 1 }]);
    expect(await table.count({}, { asOf: { snapshot } })).toBe(1);
    expect((await table.files({ asOf: { snapshot } })).length).toBe(1);
    expect((await lake.tables({ asOf: { snapshot: 0n } })).length).toBe(0);
    await lake.transaction(async (tx) => {
      expect(await tx.table('a').count({}, { asOf: { snapshot } })).toBe(1);
    });
    await expect(table.count({}, { asOf: { snapshot: 99n } })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      context: { snapshotId: 99 },
    });
    for (const snapshot of [2n ** 53n, -(2n ** 60n), 1.5, '2'] as never[])
      await expect(table.count({}, { asOf: { snapshot } })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('handles name tables, and a table that is there keeps its columns', async () => {
    await using place = await testLake(kind);
    await using lake = await place.open();
    await lake.createSchema('s');
    const table = await lake.createTable({ schema: 's', name: 'a' }, { id: t.int32() });
    await lake.table(table).insert([{ id: 1 }]);
    await lake.transaction((tx) => tx.table(table).insert([{ id: 2 }]));
    expect(await lake.table(table).count()).toBe(2);

    const other = await lake.createTable(table, { name: t.varchar().notNull() }, { ifNotExists: true });
    expect((await other.describe()).columns.map(({ name }) => name)).toEqual(['id']);
    await expect(other.insert([{ name: 'x' }])).rejects.toMatchObject({ code: 'INVALID_VALUE' });
    expect(await table.count()).toBe(2);
  });
});
