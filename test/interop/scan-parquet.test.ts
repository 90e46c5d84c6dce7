import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localStore } from '../../adapters/local.ts';
import type { Lake } from '../../src/index.ts';
import { testLake } from '../support/lakes.ts';
import { identifier, literal, type Oracle, openOracle } from '../support/oracle.ts';
import { typeCases } from '../support/type-cases.ts';

setDefaultTimeout(900_000);

const rowCount = Math.max(...typeCases.map(({ values }) => values.length)) + 2;
/** Values that Parquet can hold: decimals have 38 digits. */
const valueSql = ({ name, values, sqlType }: (typeof typeCases)[number], i: number): string => {
  const sql = values[i]?.sql ?? 'NULL';
  return `(${name === 'uint128' && sql.length > 38 ? 'NULL' : sql})::${sqlType}`;
};
const members = typeCases.map(({ name, sqlType }) => `${identifier(name)} ${sqlType}`).join(', ');
const rowSql = (i: number): string =>
  [
    i,
    ...typeCases.map((type) => valueSql(type, i)),
    i === 1 ? 'NULL' : `{${typeCases.map((type) => `'${type.name}': ${valueSql(type, i)}`).join(', ')}}`,
    ['[]', 'NULL'][i] ?? `[NULL, MAP {'k': [1::HUGEINT, NULL], 'j': []}]`,
  ].join(', ');

async function withLake(run: (duck: Oracle, lake: Lake, folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'edgemere-parquet-'));
  try {
    await using place = await testLake('sqlite');
    await using duck = await openOracle();
    await place.attach(duck);
    await duck.run(
      `CREATE TABLE lake.t (id INTEGER NOT NULL, ${members}, struct STRUCT(${members}), maps MAP(VARCHAR, HUGEINT[])[])`,
    );
    for (let i = 0; i < rowCount; i++) await duck.run(`INSERT INTO lake.t VALUES (${rowSql(i)})`);
    await duck.run('DELETE FROM lake.t WHERE id = 3');
    await duck.detach();
    {
      await using lake = await place.open();
      await place.attach(duck);
      await run(duck, lake, folder);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** DuckDB's types of columns that Parquet stores otherwise. */
const otherTypes: Readonly<Record<string, string>> = {
  HUGEINT: 'DECIMAL(38,0)',
  UHUGEINT: 'DECIMAL(38,0)',
  // As of DuckDB's own files.
  TIMESTAMP_S: 'TIMESTAMP',
  TIMESTAMP_MS: 'TIMESTAMP',
};

describe('a scan as a Parquet file', () => {
  test('has the values and the types that DuckDB finds in the table', async () => {
    await withLake(async (duck, lake, folder) => {
      const file = join(folder, 'all of it.parquet');
      const { rowCount: written, byteLength } = await lake.table('t').scan().writeParquet(localStore(), file);
      expect(written).toBe(rowCount - 1);
      expect(byteLength).toBe(Bun.file(file).size);
      expect(await readdir(folder)).toEqual(['all of it.parquet']);
      const from = literal(file);
      const names = await duck.rows('DESCRIBE lake.t');
      const types = await duck.rows(`DESCRIBE FROM ${from}`);
      expect(types.map((row) => [row['column_name'], row['column_type']])).toEqual(
        names.map((row) => [
          row['column_name'],
          row['column_type']!.replaceAll(/\b(U?HUGEINT|TIMESTAMP_M?S)\b/g, (type) => otherTypes[type]!),
        ]),
      );
      const cast = names
        .map(
          (row) =>
            `${identifier(row['column_name']!)}::${types.find((one) => one['column_name'] === row['column_name'])!['column_type']}`,
        )
        .join(', ');
      for (const [a, b] of [
        [`SELECT ${cast} FROM lake.t`, `FROM ${from}`],
        [`FROM ${from}`, `SELECT ${cast} FROM lake.t`],
      ])
        expect(await duck.rows(`FROM (${a} EXCEPT ALL ${b})`)).toEqual([]);
      // Equal values may be of different texts.
      const flat = typeCases.filter(({ name }) => !name.startsWith('timestamp_')).map(({ name }) => identifier(name));
      expect(await duck.rows(`SELECT ${flat} FROM ${from} ORDER BY id`)).toEqual(
        await duck.rows(`SELECT ${flat} FROM lake.t ORDER BY id`),
      );
    });
  });

  test('with a filter, virtual columns, no rows, a version', async () => {
    await withLake(async (duck, lake, folder) => {
      const table = lake.table('t');
      const store = localStore();
      const file = join(folder, 'part.parquet');
      const columns = ['varchar', 'rowid', 'filename', 'id', 'snapshot_id'] as never[];
      await table.scan({ columns, where: { id: { lt: 6 } } as never, limit: 4 }).writeParquet(store, file);
      expect(await duck.rows(`FROM ${literal(file)}`)).toEqual(
        await duck.rows(
          'SELECT "varchar", rowid, filename, id, snapshot_id FROM lake.t WHERE id < 6 ORDER BY id LIMIT 4',
        ),
      );
      await table.scan({ where: { id: -1 } as never }).writeParquet(store, file);
      expect((await duck.rows(`DESCRIBE FROM ${literal(file)}`)).length).toBe(typeCases.length + 3);
      expect(await duck.rows(`FROM ${literal(file)}`)).toEqual([]);
    });
  });

  test('is whole or not there', async () => {
    await withLake(async (duck, lake, folder) => {
      const table = lake.table('t');
      const store = localStore();
      const file = join(folder, 'x.parquet');
      const failure = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error) => error);
      const stop = new AbortController();
      const stopping: Pick<typeof store, 'create'> = {
        async create(location, options) {
          const writer = await store.create(location, options);
          stop.abort(new Error('stop'));
          return writer;
        },
      };
      expect(await failure(table.scan({ signal: stop.signal }).writeParquet(stopping as typeof store, file))).toBe(
        stop.signal.reason,
      );
      expect(await readdir(folder)).toEqual([]);

      await table.scan({ columns: ['id'] as never[] }).writeParquet(store, file);
      const before = await Bun.file(file).bytes();
      await duck.run(`CREATE TABLE lake.wide (i HUGEINT); INSERT INTO lake.wide VALUES (1), (${10n ** 37n * 12n})`);
      const wide = lake.table('wide').scan({ columns: ['i'] as never[] });
      expect(await failure(wide.writeParquet(store, file))).toMatchObject({
        code: 'INVALID_VALUE',
        context: { table: 'wide', column: 'i', row: 1 },
      });
      expect(await readdir(folder)).toEqual(['x.parquet']);
      expect(await Bun.file(file).bytes()).toEqual(before);
    });
  });
});
