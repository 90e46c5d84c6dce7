import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Lake, type Table, t } from '../../src/index.ts';
import { CATALOG_KINDS, type TestLake, testLake } from '../support/lakes.ts';
import { literal, type Oracle, openOracle } from '../support/oracle.ts';

setDefaultTimeout(300_000);

/** Row ids, file ids and counters are what one writer would have given, whoever wrote. */
async function checkIds(place: TestLake, duck: Oracle, table: string): Promise<void> {
  const [id] = await place.sql(
    `SELECT table_id AS id FROM ducklake_table WHERE table_name = '${table}' AND end_snapshot IS NULL`,
  );
  const files = await place.sql(`SELECT * FROM ducklake_data_file WHERE table_id = ${id!['id']} ORDER BY row_id_start`);
  let next = 0;
  for (const file of files) {
    expect(Number(file['row_id_start'])).toBe(next);
    next += Number(file['record_count']);
  }
  const [stats] = await place.sql(`SELECT * FROM ducklake_table_stats WHERE table_id = ${id!['id']}`);
  expect([Number(stats!['next_row_id']), Number(stats!['record_count'])]).toEqual([next, next]);
  const [head] = await place.sql('SELECT * FROM ducklake_snapshot ORDER BY snapshot_id DESC LIMIT 1');
  const ids = (
    await place.sql(
      'SELECT data_file_id AS id FROM ducklake_data_file UNION ALL SELECT delete_file_id FROM ducklake_delete_file',
    )
  ).map(({ id }) => Number(id));
  expect(new Set(ids).size).toBe(ids.length);
  expect(Math.max(...ids)).toBeLessThan(Number(head!['next_file_id']));
  const [rows] = await duck.rows(`SELECT count(*) AS n, count(DISTINCT rowid) AS ids FROM lake.${table}`);
  expect(rows!['ids']).toBe(rows!['n']!);
}

const statistics = (duck: Oracle, table: string, column: string): Promise<unknown> =>
  duck
    .rowsAgreed(
      `SELECT count(*) AS n, count(${column}) AS v, min(${column}) AS low, max(${column}) AS high FROM lake.${table}`,
    )
    .then(([row]) => Object.values(row!));

const scan = async (lake: Lake, table: string): Promise<unknown[]> =>
  (await lake.table(table).scan().toArray()).map((row) =>
    Object.values(row).map((value) => (typeof value === 'bigint' ? Number(value) : value)),
  );

for (const kind of CATALOG_KINDS)
  describe(`together with DuckDB, ${kind}`, () => {
    test('taking turns on a table of ours, DuckDB attached all the time', async () => {
      await using place = await testLake(kind);
      await using duck = await openOracle();
      const lake = await place.open();
      const events = await lake.createTable('events', { id: t.int64().notNull(), v: t.varchar(), x: t.float64() });
      await place.attach(duck);
      expect(await statistics(duck, 'events', 'id')).toEqual(['0', '0', null, null]);

      await events.insert([{ id: 5, v: 'm', x: Number.NaN }, { id: 6 }]);
      expect(await statistics(duck, 'events', 'id')).toEqual(['2', '2', '5', '6']);
      expect(await statistics(duck, 'events', 'x')).toEqual(['2', '1', 'nan', 'nan']);

      await duck.run("INSERT INTO lake.events VALUES (1, 'a', 0.5), (9, NULL, NULL)");
      expect(await scan(lake, 'events')).toEqual([
        [5, 'm', Number.NaN],
        [6, null, null],
        [1, 'a', 0.5],
        [9, null, null],
      ]);
      await events.insert([{ id: -3, v: 'z', x: 7 }]);
      expect(await statistics(duck, 'events', 'id')).toEqual(['5', '5', '-3', '9']);
      expect(await statistics(duck, 'events', 'v')).toEqual(['5', '3', 'a', 'z']);
      expect(await statistics(duck, 'events', 'x')).toEqual(['5', '3', '0.5', 'nan']);
      expect((await events.stats()).columns).toEqual([
        { name: 'id', containsNull: false, containsNan: null, min: '-3', max: '9' },
        { name: 'v', containsNull: true, containsNan: null, min: 'a', max: 'z' },
        { name: 'x', containsNull: true, containsNan: true, min: '0.5', max: '7.0' },
      ]);
      await checkIds(place, duck, 'events');

      // Several statements in one of DuckDB's transactions, then ours on top of a schema that moved on.
      await duck.run(
        "BEGIN; INSERT INTO lake.events VALUES (20, 'd', 1); CREATE TABLE lake.other (k INTEGER, s VARCHAR); INSERT INTO lake.other VALUES (1, 'x'); COMMIT",
      );
      await events.insert([{ id: 21 }]);
      await lake.table('other').insert([{ k: 2, s: 'y' }]);
      expect(await scan(lake, 'other')).toEqual([
        [1, 'x'],
        [2, 'y'],
      ]);
      expect(await statistics(duck, 'other', 'k')).toEqual(['2', '2', '1', '2']);
      await checkIds(place, duck, 'other');

      await lake.createTable('mine', { k: t.int32() });
      await duck.run('INSERT INTO lake.mine VALUES (1); DROP TABLE lake.other');
      await expect(lake.table('other').insert([{ k: 3 }])).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await lake.dropTable('mine');
      await expect(duck.run('INSERT INTO lake.mine VALUES (2)')).rejects.toThrow(/mine/);
      expect(await statistics(duck, 'events', 'id')).toEqual(['7', '7', '-3', '21']);
      await checkIds(place, duck, 'events');
    });

    test('options that DuckDB sets for the lake, a schema and a table', async () => {
      await using place = await testLake(kind);
      await using duck = await openOracle();
      const lake = await place.open();
      await lake.createSchema('s');
      const row = { v: t.varchar() };
      const [plain, small, other] = [
        await lake.createTable('plain', row),
        await lake.createTable('small', row),
        await lake.createTable({ schema: 's', name: 'other' }, row),
      ];
      await place.attach(duck);
      await duck.run(`
        CALL lake.set_option('parquet_compression', 'uncompressed');
        CALL lake.set_option('parquet_compression', 'snappy', schema => 's');
        CALL lake.set_option('target_file_size', '20KB', table_name => 'small', schema => 'main');
        CALL lake.set_option('parquet_row_group_size', 2048, table_name => 'plain', schema => 'main')`);
      const rows = Array.from({ length: 6000 }, (_, i) => ({ v: `value ${i * 7919}` }));
      // A handle has read the options when it was opened: these are as new as its view.
      const again = await place.open();
      for (const table of [plain, small, other])
        await again.table({ schema: table.schema, name: table.name }).insert(rows);
      const compression = async (table: Table<never>): Promise<unknown> => {
        const files = (await table.files()).map(({ location }) => literal(location)).join(', ');
        return duck.rows(`SELECT DISTINCT compression AS c FROM parquet_metadata([${files}])`);
      };
      expect(await compression(plain)).toEqual([{ c: 'UNCOMPRESSED' }]);
      expect(await compression(small)).toEqual([{ c: 'UNCOMPRESSED' }]);
      expect(await compression(other)).toEqual([{ c: 'SNAPPY' }]);
      expect((await plain.files()).length).toBe(1);
      const files = await small.files();
      expect(files.length).toBeGreaterThan(2);
      expect(files.reduce((sum, { rowCount }) => sum + rowCount, 0)).toBe(rows.length);
      for (const name of ['plain', 'small', 's.other'])
        expect(await duck.rowsAgreed(`SELECT count(*) AS n, count(DISTINCT v) AS d FROM lake.${name}`)).toEqual([
          { n: '6000', d: '6000' },
        ]);
      await checkIds(place, duck, 'small');
    });

    test('what DuckDB makes that is not there yet is refused before anything is written, and seen', async () => {
      await using place = await testLake(kind);
      await using duck = await openOracle();
      const lake = await place.open();
      await place.attach(duck);
      await duck.run(`
        CREATE TABLE lake.parts (k INTEGER, v VARCHAR);
        ALTER TABLE lake.parts SET PARTITIONED BY (k);
        CREATE VIEW lake.seen AS SELECT 1 AS one;
        CREATE TABLE lake.computed (k INTEGER, made_at TIMESTAMP DEFAULT now());
        CREATE TABLE lake.holed AS SELECT range AS k FROM range(10);
        DELETE FROM lake.holed WHERE k = 3`);
      const before = await place.dump();
      await expect(lake.table('parts').insert([{ k: 1 }])).rejects.toMatchObject({
        code: 'UNSUPPORTED',
        context: { table: 'parts' },
      });
      await expect(lake.createTable('SEEN', { k: t.int32() })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
      await expect(lake.table('computed').insert([{ k: 1 }])).rejects.toMatchObject({
        code: 'UNSUPPORTED',
        context: { column: 'made_at', row: 0 },
      });
      expect(await lake.table('holed').scan().toArray()).toEqual(
        [0n, 1n, 2n, 4n, 5n, 6n, 7n, 8n, 9n].map((k) => ({ k })),
      );
      expect(await place.dump()).toEqual(before);
      await lake.table('computed').insert([{ k: 1, made_at: '2024-01-15 12:00:00' }]);
      await lake.table('holed').insert([{ k: 10n }]);
      expect(await statistics(duck, 'computed', 'made_at')).toEqual([
        '1',
        '1',
        '2024-01-15 12:00:00',
        '2024-01-15 12:00:00',
      ]);
      expect(await statistics(duck, 'holed', 'k')).toEqual(['10', '10', '0', '10']);
      expect((await lake.tables()).map(({ name }) => name).sort()).toEqual(['computed', 'holed', 'parts']);
      expect((await lake.table('computed').describe()).columns[1]).toMatchObject({
        name: 'made_at',
        type: 'timestamp',
      });
      await checkIds(place, duck, 'holed');
    });

    test('columns of types that can not be written yet', async () => {
      await using place = await testLake(kind);
      await using duck = await openOracle();
      await place.attach(duck);
      await duck.run(`
        CREATE TABLE lake.t (id INTEGER, v VARIANT, g GEOMETRY);
        INSERT INTO lake.t SELECT 1, 42::VARIANT, NULL`);
      const lake = await place.open();
      const table = lake.table('t');
      expect((await table.describe()).columns.map(({ name, type }) => [name, type])).toEqual([
        ['id', 'int32'],
        ['v', 'variant'],
        ['g', 'geometry'],
      ]);
      expect(await table.scan({ columns: ['id'] }).toArray()).toEqual([{ id: 1 }]);
      await expect(table.scan().toArray()).rejects.toMatchObject({ code: 'UNSUPPORTED', context: { column: 'v' } });
      const before = await place.dump();
      for (const row of [{ id: 2 }, { id: 2, v: 1 }, { id: 2, g: null }])
        await expect(table.insert([row])).rejects.toMatchObject({ code: 'UNSUPPORTED', context: { table: 't' } });
      expect(await place.dump()).toEqual(before);
      expect(await duck.rowsAgreed('SELECT id, v FROM lake.t')).toEqual([{ id: '1', v: '42' }]);
    });

    test("a lake of DuckDB's with its own defaults: few rows stay in the catalog, we append beside them", async () => {
      await using place = await testLake(kind);
      await using duck = await openOracle();
      await place.attach(duck, { inliningRowLimit: 10 });
      await duck.run(
        'CREATE TABLE lake.t (k INTEGER, v VARCHAR, f DOUBLE); CREATE TABLE lake.n (k INTEGER, v VARCHAR, f DOUBLE)',
      );
      const lake = await place.open();

      // Our rows come first: NULLs alone, then values, then DuckDB's beside them.
      await lake.table('n').insert([{ v: 'x' }]);
      await lake.table('n').insert([{ k: 5, f: Number.NaN }]);
      await duck.run("INSERT INTO lake.n VALUES (7, 'b', 1)");
      expect(await statistics(duck, 'n', 'k')).toEqual(['3', '2', '5', '7']);
      expect(await duck.rowsAgreed('SELECT k FROM lake.n WHERE k = 5')).toEqual([{ k: '5' }]);
      expect(await statistics(duck, 'n', 'f')).toEqual(['3', '2', '1.0', 'nan']);

      await duck.run("INSERT INTO lake.t VALUES (5, 'm', 'nan'), (6, NULL, NULL)");
      expect(await lake.table('t').scan().toArray()).toEqual([
        { k: 5, v: 'm', f: Number.NaN },
        { k: 6, v: null, f: null },
      ]);
      await lake.table('t').insert([{ k: 1, v: 'z', f: 2 }, { k: 2 }]);
      await duck.run("INSERT INTO lake.t VALUES (9, 'a', 'inf')");
      await lake.table('t').insert([{ k: 3, f: Number.NaN }]);
      expect(await duck.rowsAgreed('SELECT * FROM lake.t ORDER BY k')).toEqual([
        { k: '1', v: 'z', f: '2.0' },
        { k: '2', v: null, f: null },
        { k: '3', v: null, f: 'nan' },
        { k: '5', v: 'm', f: 'nan' },
        { k: '6', v: null, f: null },
        { k: '9', v: 'a', f: 'inf' },
      ]);
      expect(await statistics(duck, 't', 'k')).toEqual(['6', '6', '1', '9']);
      expect(await statistics(duck, 't', 'v')).toEqual(['6', '3', 'a', 'z']);
      expect(await statistics(duck, 't', 'f')).toEqual(['6', '4', '2.0', 'nan']);
      expect(await duck.rows('SELECT count(DISTINCT rowid) AS n, max(rowid) AS last FROM lake.t')).toEqual([
        { n: '6', last: '5' },
      ]);

      await duck.run("CALL ducklake_flush_inlined_data('lake')");
      expect(await statistics(duck, 't', 'k')).toEqual(['6', '6', '1', '9']);
      expect((await scan(lake, 't')).length).toBe(6);
      await lake.table('t').insert([{ k: 10 }]);
      expect(await duck.rows('SELECT count(DISTINCT rowid) AS n, max(rowid) AS last FROM lake.t')).toEqual([
        { n: '7', last: '6' },
      ]);
      expect(await statistics(duck, 't', 'k')).toEqual(['7', '7', '1', '10']);

      await duck.run('DELETE FROM lake.t WHERE k = 10');
      const kept = await lake
        .table('t')
        .scan({ columns: ['k'] })
        .toArray();
      expect(kept.map((row) => row['k']).sort()).toEqual([1, 2, 3, 5, 6, 9]);
      await lake.table('t').insert([{ k: 0 }]);
      expect(await duck.rowsAgreed('SELECT count(*) AS n, min(k) AS low, max(k) AS high FROM lake.t')).toEqual([
        { n: '7', low: '0', high: '9' },
      ]);
    });

    test('bounds that the catalog can not hold whole mislead neither of us', async () => {
      await using place = await testLake(kind);
      await using duck = await openOracle();
      const lake = await place.open();
      await lake.createTable('t', { v: t.varchar(), b: t.blob() });
      await place.attach(duck);
      const long = 'x'.repeat(1000);
      const strings = ['a\0b', long, `${long}\u{10ffff}`, '\0', 'é'.repeat(500), ''];
      for (const v of strings) await lake.table('t').insert([{ v, b: new TextEncoder().encode(v) }]);
      await duck.run("INSERT INTO lake.t VALUES ('m', 'm')");
      for (const v of [`repeat('x', 1000)`, `repeat('é', 500)`, `''`, `'m'`, `repeat('x', 1000) || chr(1114111)`]) {
        expect([v, await duck.rowsAgreed(`SELECT count(*) AS n FROM lake.t WHERE v = ${v}`)]).toEqual([
          v,
          [{ n: '1' }],
        ]);
        expect([v, await duck.rowsAgreed(`SELECT count(*) AS n FROM lake.t WHERE b = encode(${v})`)]).toEqual([
          v,
          [{ n: '1' }],
        ]);
      }
      // DuckDB can't look for text with NUL in a lake, but finds it between others.
      for (const [low, high, n] of [
        ['a', 'b', 1],
        ['', 'a', 2],
        ['', '', 1],
        ['x', 'y', 2],
        ['m', 'ê', 4],
      ] as const)
        for (const column of ['v', 'decode(b)'])
          expect([
            low,
            high,
            await duck.rowsAgreed(`SELECT count(*) AS n FROM lake.t WHERE ${column} BETWEEN '${low}' AND '${high}'`),
          ]).toEqual([low, high, [{ n: String(n) }]]);
      expect(await duck.rowsAgreed(`SELECT min(v) AS low, max(v) = repeat('é', 500) AS high FROM lake.t`)).toEqual([
        { low: '', high: 'true' },
      ]);
    });
  });
