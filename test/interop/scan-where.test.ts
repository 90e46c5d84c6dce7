import { expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localStore } from '../../adapters/local.ts';
import { sqliteCatalog } from '../../adapters/sqlite.ts';
import { openLake } from '../../src/index.ts';
import { testLake } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';

const filters: readonly (readonly [string, Record<string, unknown>])[] = [
  ['id = 5', { id: 5 }],
  ['id >= 90 AND id < 110', { id: { gte: 90, lt: 110 } }],
  ['id IN (1, 150, 999)', { id: { in: [1, 150, 999] } }],
  ['NOT (id < 195)', { not: { id: { lt: 195 } } }],
  ['size IS NULL AND id < 50', { size: { isNull: true }, id: { lt: 50 } }],
  ['size > 100', { size: { gt: 100 } }],
  ["name LIKE 'n1_'", { name: { like: 'n1_' } }],
  ["starts_with(name, 'n19') OR id = 0", { or: [{ name: { startsWith: 'n19' } }, { id: 0 }] }],
  ["name = 'added'", { name: 'added' }],
  ["late = 'x'", { late: 'x' }],
  ["late = '7'", { late: '7' }],
  ['late IS NULL', { late: { isNull: true } }],
  ['wide > 5.05', { wide: { gt: 5.05 } }],
  ['small > 126', { small: { gt: 126 } }],
  ['false', { or: [] }],
];

test('filtered scans give the rows that DuckDB gives: files, deletes, inlined rows, columns added and changed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'edgemere-where-'));
  try {
    const duck = await openOracle();
    const path = join(folder, 'catalog.sqlite');
    await duck.attachSqlite(path, join(folder, 'data/'), { inliningRowLimit: 10 });
    await duck.run(`
      CREATE TABLE lake.t (id BIGINT, name VARCHAR, size DOUBLE, wide FLOAT, small TINYINT, code TINYINT);
      INSERT INTO lake.t SELECT i, 'n' || i, CASE WHEN i % 7 = 0 THEN NULL ELSE i / 2 END, i / 10, i, i % 11 FROM range(100) r(i);
      INSERT INTO lake.t SELECT i, 'n' || i, CASE WHEN i % 50 = 0 THEN 'nan'::DOUBLE ELSE i / 2 END, 0.3, i % 100, 9 FROM range(100, 200) r(i);
      DELETE FROM lake.t WHERE id % 10 = 5;
      ALTER TABLE lake.t ALTER COLUMN small SET DATA TYPE INTEGER;
      ALTER TABLE lake.t ALTER COLUMN wide SET DATA TYPE DOUBLE;
      ALTER TABLE lake.t ADD COLUMN late VARCHAR DEFAULT 'x';
      INSERT INTO lake.t VALUES (300, 'added', 1e300, 2.95, 127, 1, '7'), (301, NULL, NULL, NULL, NULL, NULL, NULL);
      INSERT INTO lake.t SELECT 400 + i, 'm', i, 0, 500, 1, '7' FROM range(20) r(i);
    `);
    const expected = new Map<string, string[]>();
    for (const [sql] of filters)
      expected.set(
        sql,
        (await duck.rows(`SELECT id FROM lake.t WHERE ${sql} ORDER BY id`)).map(({ id }) => String(id)),
      );
    await duck.close();

    await using lake = await openLake({ catalog: sqliteCatalog({ path }), store: localStore() });
    const table = lake.table('t');
    for (const [sql, where] of filters) {
      // Also where the filter's columns are not asked for, and a limit counts what is left.
      const rows = await table.scan({ columns: ['id'], where }).toArray();
      const ids = rows.map(({ id }) => String(id)).sort((a, b) => Number(a) - Number(b));
      expect({ sql, ids }).toEqual({ sql, ids: expected.get(sql)! });
      const names = await table.scan({ columns: ['name'], where, limit: 2 }).toArray();
      expect(names.map((row) => Object.keys(row))).toEqual(ids.slice(0, 2).map(() => ['name']));
    }
    expect(expected.get('small > 126')!.length).toBeGreaterThan(20);
    await expect(table.scan({ where: { nope: 1 } }).toArray()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('a file whose column was widened in its own transaction is filtered and counted by what its values became', async () => {
  await using place = await testLake('sqlite');
  await using duck = await openOracle();
  await place.attach(duck);
  await duck.run(`
    BEGIN;
    CREATE TABLE lake.t (id BIGINT, x FLOAT);
    INSERT INTO lake.t VALUES (1, 0.1), (2, 0.1);
    ALTER TABLE lake.t ALTER COLUMN x SET DATA TYPE DOUBLE;
    COMMIT;
  `);
  const widened = Math.fround(0.1);
  const cases = [
    ['=', 'eq'],
    ['<>', 'ne'],
    ['<', 'lt'],
    ['<=', 'lte'],
    ['>', 'gt'],
    ['>=', 'gte'],
  ] as const;
  const expected: [string, Record<string, unknown>, number][] = [];
  for (const value of [0.1, widened])
    for (const [sql, op] of cases) {
      const text = `SELECT count(*) FILTER (WHERE x ${sql} ${value}::DOUBLE) AS n FROM lake.t`;
      expected.push([text, { x: { [op]: value } }, Number((await duck.rows(text))[0]!['n'])]);
    }
  await duck.close();

  const table = (await place.open()).table('t');
  for (const [sql, where, count] of expected) {
    const rows = await table.scan({ columns: ['id'], where }).toArray();
    expect({ sql, rows: rows.length, count: await table.count(where) }).toEqual({ sql, rows: count, count });
  }
});

test('files that others wrote in narrower or finer types are filtered by what their values become', async () => {
  await using place = await testLake('sqlite');
  await using duck = await openOracle();
  await place.attach(duck);
  const values = [
    ['f', 'DOUBLE', '0.1::FLOAT', Math.fround(0.1)],
    ['us', 'TIMESTAMP', "TIMESTAMP_NS '2020-01-01 00:00:00.123456789'", '2020-01-01 00:00:00.123456'],
    ['before', 'TIMESTAMP', "TIMESTAMP_NS '1969-12-31 23:59:59.123456789'", '1969-12-31 23:59:59.123457'],
    ['ms', 'TIMESTAMP_MS', "TIMESTAMP '2020-01-01 00:00:00.1236'", '2020-01-01 00:00:00.124'],
    ['s', 'TIMESTAMP_S', "TIMESTAMP '2020-01-01 00:00:00.5'", '2020-01-01 00:00:01'],
  ] as const;
  const counts: [string, Record<string, unknown>, number][] = [];
  await duck.run("SET disabled_optimizers = 'filter_pushdown,statistics_propagation'");
  for (const [name, type, stored, value] of values) {
    await duck.run(`
      CREATE TABLE lake.${name} (v ${type});
      COPY (SELECT ${stored} AS v) TO '${place.folder}/${name}.parquet';
      CALL ducklake_add_data_files('lake', '${name}', '${place.folder}/${name}.parquet');
    `);
    for (const [sql, op] of [
      ['=', 'eq'],
      ['<=', 'lte'],
      ['>=', 'gte'],
      ['<', 'lt'],
      ['>', 'gt'],
    ] as const) {
      const text = `SELECT count(*) AS n FROM (SELECT v ${sql} '${value}'::${type} AS k FROM lake.${name}) WHERE k`;
      counts.push([name, { v: { [op]: value } }, Number((await duck.rows(text))[0]!['n'])]);
    }
  }
  await duck.close();

  const lake = await place.open();
  for (const [name, where, count] of counts) {
    const rows = await lake.table(name).scan({ where }).toArray();
    const found = { name, where, rows: rows.length, count: await lake.table(name).count(where) };
    expect(found).toEqual({ name, where, rows: count, count });
  }
  expect(counts.filter(([, where, count]) => 'eq' in (where['v'] as object) && count === 1).length).toBe(values.length);
});
