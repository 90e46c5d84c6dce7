import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Lake, t } from '../../src/index.ts';
import { CATALOG_KINDS, testLake } from '../support/lakes.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';

setDefaultTimeout(300_000);

const statistics = (duck: Oracle, column: string): Promise<unknown> =>
  duck
    .rowsAgreed(
      `SELECT count(*) AS n, count(${column}) AS v, min(${column}) AS low, max(${column}) AS high FROM lake.t`,
    )
    .then(([row]) => Object.values(row!));

const rowsOf = async (lake: Lake, columns?: string[]): Promise<unknown[]> => {
  const rows = await lake.table('t').scan({ columns }).toArray();
  return rows.sort((a, b) => Number(a['id']) - Number(b['id']));
};

for (const kind of CATALOG_KINDS)
  describe(`tables that DuckDB altered, ${kind}`, () => {
    const setUp = async () => {
      const place = await testLake(kind);
      const duck = await openOracle();
      const lake = await place.open();
      await lake.createTable('t', { id: t.int32().notNull(), v: t.varchar() });
      await lake.table('t').insert([{ id: 1, v: 'a' }, { id: 2 }]);
      await place.attach(duck);
      return {
        duck,
        lake,
        place,
        async [Symbol.asyncDispose]() {
          await duck.close();
          await place[Symbol.asyncDispose]();
        },
      };
    };

    test('columns added: bounds never leave out what older rows have', async () => {
      await using world = await setUp();
      const { duck, lake } = world;
      await duck.run(`
        ALTER TABLE lake.t ADD COLUMN c INTEGER DEFAULT 5;
        ALTER TABLE lake.t ADD COLUMN d DOUBLE;
        ALTER TABLE lake.t ADD COLUMN s VARCHAR DEFAULT 'q'`);
      await lake.table('t').insert([{ id: 3, c: 10, d: 7, s: 'm' }, { id: 4 }]);
      expect(await duck.rowsAgreed('SELECT * FROM lake.t ORDER BY id')).toEqual([
        { id: '1', v: 'a', c: '5', d: null, s: 'q' },
        { id: '2', v: null, c: '5', d: null, s: 'q' },
        { id: '3', v: null, c: '10', d: '7.0', s: 'm' },
        { id: '4', v: null, c: '5', d: null, s: 'q' },
      ]);
      const check = async (rowCount: number, c: readonly unknown[]): Promise<void> => {
        expect(await statistics(duck, 'c')).toEqual([`${rowCount}`, ...c]);
        expect(await duck.rowsAgreed('SELECT id FROM lake.t WHERE c = 5 ORDER BY id')).toEqual([
          { id: '1' },
          { id: '2' },
          { id: '4' },
        ]);
        expect(await duck.rowsAgreed("SELECT id FROM lake.t WHERE s = 'q' ORDER BY id")).toEqual([
          { id: '1' },
          { id: '2' },
          { id: '4' },
        ]);
        expect(await duck.rowsAgreed('SELECT count(*) AS n FROM lake.t WHERE d IS NULL')).toEqual([{ n: '3' }]);
      };
      await check(4, ['4', '5', '10']);
      // As DuckDB leaves it: nothing is known of such columns, after its own inserts too.
      const known = (await lake.table('t').stats()).columns.map(({ name, min, max, containsNull }) => [
        name,
        min,
        max,
        containsNull,
      ]);
      expect(known).toEqual([
        ['id', '1', '4', false],
        ['v', 'a', 'a', true],
        ['c', null, null, null],
        ['d', null, null, null],
        ['s', null, null, null],
      ]);
      await duck.run("INSERT INTO lake.t VALUES (5, 'x', 20, 9, 'n')");
      await check(5, ['5', '5', '20']);
      await lake.table('t').insert([{ id: 6, c: 30, d: 1, s: 'z' }]);
      await check(6, ['6', '5', '30']);
      expect(await rowsOf(lake)).toEqual([
        { id: 1, v: 'a', c: 5, d: null, s: 'q' },
        { id: 2, v: null, c: 5, d: null, s: 'q' },
        { id: 3, v: null, c: 10, d: 7, s: 'm' },
        { id: 4, v: null, c: 5, d: null, s: 'q' },
        { id: 5, v: 'x', c: 20, d: 9, s: 'n' },
        { id: 6, v: null, c: 30, d: 1, s: 'z' },
      ]);
      expect(await rowsOf(lake, ['c', 'id'])).toEqual([5, 5, 10, 5, 20, 30].map((c, i) => ({ c, id: i + 1 })));
      expect(
        (
          await lake
            .table('t')
            .scan({ columns: ['id', 'v'] })
            .toArray()
        ).length,
      ).toBe(6);
    });

    test('a column added while the table was empty has bounds', async () => {
      await using world = await setUp();
      const { duck, lake } = world;
      await lake.createTable('e', { id: t.int32() });
      await duck.run('ALTER TABLE lake.e ADD COLUMN c INTEGER DEFAULT 5');
      await lake.table('e').insert([{ id: 1 }, { id: 2, c: -1 }]);
      expect(await lake.table('e').scan().toArray()).toEqual([
        { id: 1, c: 5 },
        { id: 2, c: -1 },
      ]);
      expect((await lake.table('e').stats()).columns[1]).toMatchObject({ min: '-1', max: '5', containsNull: false });
      expect(await duck.rowsAgreed('SELECT min(c) AS low, max(c) AS high FROM lake.e')).toEqual([
        { low: '-1', high: '5' },
      ]);
    });

    test('columns renamed, dropped, and one of an old name anew', async () => {
      await using world = await setUp();
      const { duck, lake } = world;
      await duck.run('ALTER TABLE lake.t RENAME COLUMN v TO w');
      await expect(lake.table('t').insert([{ id: 3, v: 'b' }])).rejects.toMatchObject({
        code: 'INVALID_VALUE',
        context: { column: 'v' },
      });
      await lake.table('t').insert([{ id: 3, w: 'b' }]);
      expect(await statistics(duck, 'w')).toEqual(['3', '2', 'a', 'b']);
      await duck.run('ALTER TABLE lake.t DROP COLUMN w; ALTER TABLE lake.t ADD COLUMN v INTEGER');
      await lake.table('t').insert([{ id: 4, v: 40 }]);
      expect(await duck.rowsAgreed('SELECT * FROM lake.t ORDER BY id')).toEqual([
        { id: '1', v: null },
        { id: '2', v: null },
        { id: '3', v: null },
        { id: '4', v: '40' },
      ]);
      expect(await statistics(duck, 'v')).toEqual(['4', '1', '40', '40']);
      expect(await rowsOf(lake)).toEqual([
        { id: 1, v: null },
        { id: 2, v: null },
        { id: 3, v: null },
        { id: 4, v: 40 },
      ]);
      // The version before is still there, whole.
      const before = (await Array.fromAsync(lake.snapshots())).findLast(({ changes }) =>
        changes.some(({ kind }) => kind === 'inserted_into_table'),
      )!;
      expect(before.id).toBeGreaterThan(0);
      expect(
        await lake
          .table('t')
          .scan({ asOf: { snapshot: 2 } })
          .toArray(),
      ).toEqual([
        { id: 1, v: 'a' },
        { id: 2, v: null },
      ]);
    });

    test('types promoted, NOT NULL and defaults changed', async () => {
      await using world = await setUp();
      const { duck, lake } = world;
      await duck.run('ALTER TABLE lake.t ALTER id TYPE BIGINT');
      await lake.table('t').insert([{ id: 2n ** 40n, v: 'b' }]);
      expect(await statistics(duck, 'id')).toEqual(['3', '3', '1', '1099511627776']);
      expect(await rowsOf(lake, ['id'])).toEqual([{ id: 1n }, { id: 2n }, { id: 2n ** 40n }]);
      await duck.run("ALTER TABLE lake.t ALTER id DROP NOT NULL; ALTER TABLE lake.t ALTER v SET DEFAULT 'new'");
      await lake.table('t').insert([{ id: null }, { id: 0, v: null }]);
      expect(await duck.rowsAgreed('SELECT * FROM lake.t ORDER BY id NULLS LAST, v')).toEqual([
        { id: '0', v: null },
        { id: '1', v: 'a' },
        { id: '2', v: null },
        { id: '1099511627776', v: 'b' },
        { id: null, v: 'new' },
      ]);
      expect(await statistics(duck, 'id')).toEqual(['5', '4', '0', '1099511627776']);
      await duck.run('DELETE FROM lake.t WHERE v IS NULL; ALTER TABLE lake.t ALTER v SET NOT NULL');
      await expect(lake.table('t').insert([{ id: 1, v: null }])).rejects.toMatchObject({
        code: 'INVALID_VALUE',
        context: { column: 'v', row: 0 },
      });
      await lake.table('t').insert([{ id: 7 }]);
      expect(await duck.rowsAgreed("SELECT count(*) AS n FROM lake.t WHERE v = 'new'")).toEqual([{ n: '2' }]);
    });

    test('rows of a stream, which can not be read again, say that the table was altered', async () => {
      await using world = await setUp();
      const { duck, lake, place } = world;
      await duck.run('ALTER TABLE lake.t ADD COLUMN c INTEGER');
      const stream = (): AsyncIterable<{ id: number; c: number }> =>
        (async function* () {
          yield { id: 3, c: 1 };
        })();
      await expect(lake.table('t').insert(stream())).rejects.toMatchObject({ code: 'CONFLICT', retryable: true });
      await lake.table('t').insert(stream());
      expect(await duck.rowsAgreed('SELECT id, c FROM lake.t WHERE c IS NOT NULL')).toEqual([{ id: '3', c: '1' }]);
      expect((await place.sql('SELECT 1 FROM ducklake_data_file')).length).toBe(2);
    });

    test('a default that DuckDB computes can not be left out, not even as a hole', async () => {
      await using world = await setUp();
      const { duck, lake } = world;
      await duck.run('CREATE TABLE lake.c (id INTEGER, "at" TIMESTAMP DEFAULT now())');
      const hole = new Array<Date>(2);
      hole[0] = new Date(0);
      for (const at of [hole, [new Date(0), undefined]])
        await expect(lake.table('c').insert({ columns: { id: [3, 4], at } })).rejects.toMatchObject({
          code: 'UNSUPPORTED',
          context: { column: 'at', row: 1 },
        });
      await lake.table('c').insert({ columns: { id: [3], at: [null] } });
      expect(await duck.rowsAgreed('SELECT count(*) AS n FROM lake.c')).toEqual([{ n: '1' }]);
    });

    test('a schema with a macro or a view is not dropped: DuckDB could not open the lake afterwards', async () => {
      await using world = await setUp();
      const { duck, lake, place } = world;
      await duck.run(`
        CREATE SCHEMA lake.m; CREATE MACRO lake.m.inc(x) AS x + 1;
        CREATE SCHEMA lake.v; CREATE VIEW lake.v.w AS SELECT 1 AS one`);
      for (const schema of ['m', 'v'])
        for (const cascade of [true, false])
          await expect(lake.dropSchema(schema, { cascade })).rejects.toMatchObject({ code: 'UNSUPPORTED' });
      await duck.detach();
      await place.attach(duck);
      expect(await duck.rows('SELECT lake.m.inc(1) AS two, one FROM lake.v.w')).toEqual([{ two: '2', one: '1' }]);
      await duck.run('DROP MACRO lake.m.inc; DROP VIEW lake.v.w');
      for (const schema of ['m', 'v']) await lake.dropSchema(schema);
      expect((await lake.schemas()).map(({ name }) => name)).toEqual(['main']);
    });

    test('a table takes rows again when its partitioning is reset', async () => {
      await using world = await setUp();
      const { duck, lake } = world;
      await duck.run('ALTER TABLE lake.t SET PARTITIONED BY (id)');
      await expect(lake.table('t').insert([{ id: 3 }])).rejects.toMatchObject({ code: 'UNSUPPORTED' });
      await duck.run('ALTER TABLE lake.t RESET PARTITIONED BY');
      await lake.table('t').insert([{ id: 3 }]);
      expect(await duck.rowsAgreed('SELECT count(*) AS n, max(id) AS high FROM lake.t')).toEqual([
        { n: '3', high: '3' },
      ]);
    });

    test('a table renamed', async () => {
      await using world = await setUp();
      const { duck, lake } = world;
      await duck.run('ALTER TABLE lake.t RENAME TO u');
      await lake.table('u').insert([{ id: 3 }]);
      await expect(lake.table('t').insert([{ id: 4 }])).rejects.toMatchObject({ code: 'NOT_FOUND' });
      expect((await lake.table('u').scan().toArray()).map(({ id }) => id)).toEqual([1, 2, 3]);
      expect(await duck.rowsAgreed('SELECT count(*) AS n, max(id) AS high FROM lake.u')).toEqual([
        { n: '3', high: '3' },
      ]);
    });
  });
