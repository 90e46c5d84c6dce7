import { describe, expect, test } from 'bun:test';
import { memoryLake } from '../../adapters/memory.ts';
import { type Column, t } from '../../src/index.ts';

const UUID = 'a1111111-2222-4333-8444-555555555555';

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

    test('have each key once, however it is written', async () => {
      const { lake } = await tables();
      await using _ = lake;
      const day = (text: string): Date => new Date(`${text}T00:00:00Z`);
      const interval = (months: number, days: number, micros: bigint) => ({ months, days, micros });
      const cases: readonly (readonly [key: Column, different: readonly unknown[], same: readonly unknown[]])[] = [
        [t.date(), [day('2024-01-01'), '2024-01-02'], [day('2024-01-01'), day('2024-01-01')]],
        [t.date(), [], [day('2024-01-01'), '2024-01-01']],
        [t.timestamp(), [new Date(0), new Date(1)], [new Date(5), 5000n]],
        [t.int32(), [1, 2n], [1, 1n]],
        [t.int64(), [2n ** 60n, 2n ** 60n + 1n], [2, 2n]],
        [t.uint128(), [1n, 2], [1n, 1]],
        [t.float64(), [0.1, 0.2], []],
        [t.float32(), [0.1, 0.2], [0.1, Math.fround(0.1)]],
        [t.decimal(5, 2), ['1.5', '1.51'], ['1.5', '1.50']],
        [t.uuid(), [UUID, UUID.replace('a', 'b')], [UUID, UUID.toUpperCase()]],
        [t.blob(), [Uint8Array.of(1, 2), Uint8Array.of(12)], [Uint8Array.of(1), Uint8Array.of(1)]],
        [t.time(), ['01:00:00', '01:00:01'], ['01:00:00', '01:00:00.000']],
        [t.timetz(), ['01:00:00+00', '02:00:00+00'], ['01:00:00+00', '02:00:00+01']],
        [t.json(), ['1', '"1"'], ['1', 1]],
        [t.interval(), [interval(1, 0, 0n), interval(0, 31, 0n)], [interval(1, 0, 0n), interval(0, 30, 0n)]],
        [t.list(t.int32()), [[1, 2], [12], [1, null], [null], []], [[1], [1]]],
        [t.list(t.varchar()), [['NULL'], [null], ['a', 'b'], ['a,b'], ['a","b']], [['a'], ['a']]],
        [t.struct({ x: t.float64() }), [{ x: 1 }, {}], [{ x: 0 }, { x: -0 }]],
        [t.map(t.int32(), t.int32()), [new Map([[1, 2]]), new Map([[1, 3]]), new Map()], [{}, new Map()]],
        [t.varchar(), ['a', 'A', 'ä', ''], []],
        [t.boolean(), [true, false], []],
      ];
      const lost: string[] = [];
      for (const [n, [key, different, same]] of cases.entries()) {
        const table = await lake.createTable(`keys_${n}`, { m: t.map(key, t.int32()) });
        const mapOf = (keys: readonly unknown[]) => new Map(keys.map((one, i) => [one, i])) as never;
        if (same.length > 0) {
          const rows = [{ m: mapOf(different) }, { m: null }, { m: mapOf([...different, ...same]) }];
          await expect(table.insert(rows)).rejects.toMatchObject({
            code: 'INVALID_VALUE',
            message: expect.stringContaining('expected each key of a map once'),
            context: { column: 'm', row: 2 },
          });
        }
        await table.insert([{ m: mapOf(different) }]);
        const [row] = await table.scan().toArray();
        if ((row!.m as unknown as Map<unknown, number>).size !== different.length) lost.push(`keys_${n}`);
      }
      expect(lost).toEqual([]);
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
