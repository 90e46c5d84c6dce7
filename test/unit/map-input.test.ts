import { describe, expect, test } from 'bun:test';
import { memoryLake } from '../../adapters/memory.ts';
import { t } from '../../src/index.ts';

// In the catalog and in a file: different code takes the values.
for (const dataInliningRowLimit of [10, 0])
  describe(`maps, with up to ${dataInliningRowLimit} rows in the catalog,`, () => {
    async function tables() {
      const lake = await memoryLake({ dataInliningRowLimit });
      const byText = await lake.createTable('by_text', { m: t.map(t.varchar(), t.int32()) });
      const byNumber = await lake.createTable('by_number', { m: t.map(t.int32(), t.list(t.varchar())) });
      return { lake, byText, byNumber };
    }

    test('are a Map, entries or an object', async () => {
      const { lake, byText, byNumber } = await tables();
      await using _ = lake;
      const same = [new Map([['a', 1]]), [['a', 1]] as const, { a: 1 }, Object.assign(Object.create(null), { a: 1 })];
      await byText.insert([...same.map((m) => ({ m })), { m: [] }, { m: new Map() }, { m: {} }]);
      expect(await byText.scan().toArray()).toEqual([
        ...same.map(() => ({ m: new Map([['a', 1]]) })),
        ...[1, 2, 3].map(() => ({ m: new Map() })),
      ]);
      await byNumber.insert([{ m: [[2, ['x']] as const, [1, null] as const] }]);
      const [row] = await byNumber.scan().toArray();
      expect([...row!.m!]).toEqual([
        [2, ['x']],
        [1, null],
      ]);
    });

    test('are nothing else, which would lose what is in it', async () => {
      const { lake, byText } = await tables();
      await using _ = lake;
      const others = [
        new Map([['a', 1]]).entries(),
        new Set([['a', 1]]),
        [['a', 1, 2]],
        ['ab'],
        [['a', 1], undefined],
        new Array(1),
        // A key twice is no map.
        [
          ['a', 1],
          ['a', 2],
        ],
        5,
      ];
      for (const m of others)
        await expect(byText.insert([{ m: m as never }])).rejects.toMatchObject({
          code: 'INVALID_VALUE',
          context: { column: 'm', row: 0 },
        });
      expect(await byText.count()).toBe(0);
    });

    test('and structs are no objects that keep their content elsewhere', async () => {
      const { lake, byText } = await tables();
      await using _ = lake;
      const points = await lake.createTable('points', { p: t.struct({ x: t.int32() }) });
      class Point {
        x = 5;
      }
      const { p } = await points.insert([{ p: new Point() }]).then(async () => (await points.scan().toArray())[0]!);
      expect(p).toEqual({ x: 5 });
      for (const other of [Promise.resolve({ x: 1 }), /x/, new Error('x'), new Set([1]), new Date(0)]) {
        await expect(points.insert([{ p: other as never }])).rejects.toMatchObject({ code: 'INVALID_VALUE' });
        await expect(byText.insert([{ m: other as never }])).rejects.toMatchObject({ code: 'INVALID_VALUE' });
      }
    });
  });
