import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { isLakeError, LakeError, t } from '../../src/index.ts';
import { CATALOG_KINDS, testLake } from '../support/lakes.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';

let duck: Oracle;
beforeAll(async () => {
  duck = await openOracle();
});
afterAll(() => duck.close());

const schema = {
  id: t.int64().notNull(),
  tags: t.list(t.varchar()),
  place: t.struct({ city: t.varchar(), geo: t.struct({ lat: t.float64(), lon: t.float64() }) }),
  seen: t.map(t.varchar(), t.list(t.timestamptz())),
  paid: t.list(t.list(t.decimal(10, 2))),
};

const rows = [
  {
    id: 1n,
    tags: ['a', null, 'é'],
    place: { city: 'X', geo: { lat: 1.5, lon: null } },
    seen: new Map([['k', [new Date(0), null]]]),
    paid: [['1.50', null], null, []],
  },
  { id: 2n },
  { id: 3n, tags: [], place: { geo: null }, seen: new Map(), paid: [] },
  {
    id: 4n,
    tags: [null],
    place: { city: null, geo: { lat: null, lon: null } },
    seen: new Map([['q', null]]),
    paid: [[]],
  },
];

/** As DuckDB shows the same values made of its own literals. */
const literals = `SELECT * FROM (VALUES
  (1, ['a', NULL, 'é'], {'city': 'X', 'geo': {'lat': 1.5::DOUBLE, 'lon': NULL::DOUBLE}}, MAP {'k': ['1970-01-01 00:00:00+00'::TIMESTAMPTZ, NULL]}, [[1.50::DECIMAL(10, 2), NULL], NULL, []]),
  (2, NULL, NULL, NULL, NULL),
  (3, [], {'city': NULL, 'geo': NULL}, MAP {}, []),
  (4, [NULL], {'city': NULL, 'geo': {'lat': NULL, 'lon': NULL}}, MAP {'q': NULL}, [[]])) AS v (id, tags, place, seen, paid) ORDER BY id`;

for (const kind of CATALOG_KINDS)
  describe(`nested columns on ${kind}`, () => {
    test('DuckDB reads what was written, and its rows and catalog rows are the same as for its own table', async () => {
      await using place = await testLake(kind);
      await using lake = await place.open();
      const table = await lake.createTable('ours', schema);
      await table.insert(rows);
      await place.attach(duck, { as: 'nested' });
      try {
        const type = `id BIGINT NOT NULL, tags VARCHAR[], place STRUCT(city VARCHAR, geo STRUCT(lat DOUBLE, lon DOUBLE)),
          seen MAP(VARCHAR, TIMESTAMPTZ[]), paid DECIMAL(10, 2)[][]`;
        await duck.run(`CREATE TABLE nested.theirs (${type})`);
        await duck.run(`INSERT INTO nested.theirs ${literals}`);
        const select = (name: string): string => `SELECT columns(*)::VARCHAR FROM nested.${name} ORDER BY id`;
        expect(await duck.rows(select('ours'))).toEqual(await duck.rows(select('theirs')));
        for (const condition of [
          `place.city = 'X'`,
          `place.geo.lat > 1`,
          `list_contains(tags, 'é')`,
          `place IS NULL`,
          `tags = []`,
        ])
          expect(await duck.rows(`SELECT id::VARCHAR AS id FROM nested.ours WHERE ${condition} ORDER BY id`)).toEqual(
            await duck.rows(`SELECT id::VARCHAR AS id FROM nested.theirs WHERE ${condition} ORDER BY id`),
          );
        expect(await lake.table('theirs').scan().toArray()).toEqual(await table.scan().toArray());
      } finally {
        await duck.run('DETACH nested');
      }
      const dump = await place.dump();
      const [ours, theirs] = dump.ducklake_table.map((row) => row['table_id']);
      const ofTable = (name: keyof typeof dump, id: string | null | undefined): unknown[] =>
        dump[name]
          .filter((row) => row['table_id'] === id)
          .map(({ table_id: _, begin_snapshot: __, data_file_id: ___, column_size_bytes: ____, ...row }) => row)
          .toSorted((a, b) => Number(a['column_id']) - Number(b['column_id']));
      for (const name of ['ducklake_column', 'ducklake_file_column_stats', 'ducklake_table_column_stats'] as const)
        expect(ofTable(name, ours)).toEqual(ofTable(name, theirs));
    });
  });

test('what comes back is what went in', async () => {
  await using place = await testLake('sqlite');
  await using lake = await place.open();
  const table = await lake.createTable('t', schema);
  await table.insert(rows);
  const found = await table.scan().toArray();
  expect(found.map((row) => row.tags)).toEqual([['a', null, 'é'], null, [], [null]]);
  expect(found.map((row) => row.place)).toEqual([
    { city: 'X', geo: { lat: 1.5, lon: null } },
    null,
    { city: null, geo: null },
    { city: null, geo: { lat: null, lon: null } },
  ]);
  expect(found.map((row) => row.paid)).toEqual([[['1.50', null], null, []], null, [], [[]]]);
  expect(found[0]!.seen!.get('k')!.map((at) => at?.micros)).toEqual([0n, undefined]);
  expect(found.map((row) => row.seen && [...row.seen.keys()])).toEqual([['k'], null, [], ['q']]);
  // One column alone is bound and put together by itself.
  expect(await table.scan({ columns: ['place'], limit: 1 }).toArray()).toEqual([{ place: found[0]!.place }]);
});

test('parts can not be NOT NULL nor have defaults, and structs need members', async () => {
  await using place = await testLake('sqlite');
  await using lake = await place.open();
  for (const column of [
    t.list(t.int32().notNull()),
    t.struct({ a: t.int32().default(1) }),
    t.struct({}),
    t.list(t.int32()).default([1]),
    t.map(t.varchar(), t.struct({ A: t.int32(), a: t.int32() })),
  ]) {
    const error = await lake.createTable('t', { x: column }).catch((reason) => reason);
    expect(error).toBeInstanceOf(LakeError);
    expect(isLakeError(error, 'INVALID_ARGUMENT')).toBe(true);
  }
  expect(await lake.tables()).toEqual([]);
});
