import { type ConformanceCase, check, collect, equal, rejects } from '../case.ts';
import { createNumbered, ids, type LakeTarget, numbered } from './target.ts';

export const openingCases: readonly ConformanceCase<LakeTarget>[] = [
  {
    name: 'opening without a lake is NOT_FOUND unless it may be created',
    async run(target) {
      await rejects(() => target.open({ create: false }), 'NOT_FOUND', 'open with create: false');
      await using lake = await target.open();
      equal(
        (await lake.schemas()).map(({ id, name }) => [id, name]),
        [[0, 'main']],
        'the schemas',
      );
      equal(await lake.tables(), [], 'the tables');
      await using other = await target.open({ create: false });
      equal(await other.tables(), [], 'the tables of a lake that is there');
    },
  },
  {
    name: 'several that open at once while there is no lake open one lake',
    async run(target) {
      const lakes = await Promise.all(Array.from({ length: 4 }, () => target.open()));
      try {
        const table = await createNumbered(lakes[0]!);
        await table.insert([{ id: 1 }]);
        for (const lake of lakes)
          equal(await lake.table('numbers').scan().toArray(), [{ id: 1n }], 'the rows that each sees');
        const [first] = await collect(lakes[3]!.snapshots());
        equal(first?.changes, [{ kind: 'created_schema', name: 'main' }], 'the changes of snapshot 0');
        equal(first?.id, 0, 'the id of the first snapshot');
      } finally {
        for (const lake of lakes) await lake.close();
      }
    },
  },
  {
    name: 'the data path is that of the catalog, with one slash at its end; another is refused unless it overrides',
    async run(target) {
      await using lake = await target.open();
      const { dataPath } = lake;
      check(/[^/]\/$/.test(dataPath), `the data path is ${dataPath}`);
      for (const same of [undefined, dataPath, dataPath.slice(0, -1)]) {
        await using other = await target.open({ dataPath: same });
        equal(other.dataPath, dataPath, `the data path after open with ${same}`);
      }
      const elsewhere = `${dataPath}elsewhere`;
      await rejects(() => target.open({ dataPath: elsewhere }), 'INVALID_ARGUMENT', 'open with another data path');
      {
        await using moved = await target.open({ dataPath: elsewhere, overrideDataPath: true });
        equal(moved.dataPath, `${elsewhere}/`, 'the data path that overrides');
      }
      await using again = await target.open({ dataPath });
      equal(again.dataPath, dataPath, 'the data path afterwards');
    },
  },
  {
    name: 'what one client commits another sees, also one that was open before',
    async run(target) {
      await using reader = await target.open();
      await using writer = await target.open();
      equal(await reader.tables(), [], 'the tables at first');
      const table = await createNumbered(writer);
      await table.insert(numbered(1, 3));
      equal(
        (await reader.tables()).map(({ name }) => name),
        ['numbers'],
        'the tables',
      );
      const seen = reader.table<{ id: number }, { id: bigint }>('numbers');
      equal(await ids(seen), [1, 2, 3], 'the rows');
      await seen.insert([{ id: 4 }]);
      equal(await ids(table), [1, 2, 3, 4], 'the rows that the writer sees');
      await writer.dropTable('numbers');
      await rejects(() => ids(seen), 'NOT_FOUND', 'a scan of a table that was dropped');
    },
  },
  {
    name: 'after close every call rejects with CLOSED, and closing twice is fine',
    async run(target) {
      const lake = await target.open();
      const table = await createNumbered(lake);
      await lake.close();
      await lake.close();
      await lake[Symbol.asyncDispose]();
      await rejects(() => lake.tables(), 'CLOSED', 'tables');
      await rejects(() => lake.schemas(), 'CLOSED', 'schemas');
      await rejects(() => collect(lake.snapshots()), 'CLOSED', 'snapshots');
      await rejects(() => lake.createSchema('s'), 'CLOSED', 'createSchema');
      await rejects(() => createNumbered(lake, 'u'), 'CLOSED', 'createTable');
      await rejects(() => lake.dropTable('numbers'), 'CLOSED', 'dropTable');
      await rejects(() => lake.transaction(async () => {}), 'CLOSED', 'transaction');
      await rejects(() => table.insert([{ id: 1 }]), 'CLOSED', 'insert');
      await rejects(() => table.scan().toArray(), 'CLOSED', 'scan');
      await rejects(() => table.describe(), 'CLOSED', 'describe');
      await rejects(() => table.files(), 'CLOSED', 'files');
      await rejects(() => table.stats(), 'CLOSED', 'stats');
    },
  },
];
