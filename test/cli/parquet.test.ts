import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Oracle, openOracle } from '../support/oracle.ts';
import { type Cli, scratch, startCli } from './run.ts';

setDefaultTimeout(300_000);

let folder: Awaited<ReturnType<typeof scratch>>;
let cli: Cli;
let duck: Oracle;
beforeAll(async () => {
  [folder, duck, cli] = [await scratch(), await openOracle(), startCli()];
});
afterAll(async () => {
  await duck.close();
  await cli[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** DuckLake's type of each column that DuckDB writes, with values of it as SQL. */
const columns: Readonly<Record<string, readonly [type: string, ...values: string[]]>> = {
  bool: ['boolean', 'true', 'false'],
  i8: ['int8', '(-128)::TINYINT', '127'],
  i16: ['int16', '(-32768)::SMALLINT', '32767'],
  i32: ['int32', '(-2147483648)::INTEGER', '2147483647'],
  i64: ['int64', '(-9223372036854775808)::BIGINT', '9223372036854775807'],
  u8: ['uint8', '0::UTINYINT', '255'],
  u16: ['uint16', '0::USMALLINT', '65535'],
  u32: ['uint32', '0::UINTEGER', '4294967295'],
  u64: ['uint64', '0::UBIGINT', '18446744073709551615'],
  f32: ['float32', '0.1::FLOAT', "'nan'"],
  f64: ['float64', '(-0.0)::DOUBLE', "'-infinity'"],
  d4: ['decimal(4,1)', '(-999.9)::DECIMAL(4,1)', '0.1'],
  d18: ['decimal(18,3)', '(-999999999999999.999)::DECIMAL(18,3)', '0.001'],
  d38: ['decimal(38,38)', "'-0.99999999999999999999999999999999999999'::DECIMAL(38,38)", '0'],
  text: ['varchar', "''", "'\uFEFFé😀'"],
  json: ['json', `'{"a": 12345678901234567890}'::JSON`, "'null'"],
  blob: ['blob', "'\\xFF\\x00'::BLOB", "''"],
  uuid: ['uuid', "'80000000-0000-4000-8000-000000000001'::UUID", "'00000000-0000-0000-0000-000000000000'"],
  day: ['date', "'0044-03-15 (BC)'::DATE", "'12024-01-15'"],
  clock: ['time', "'24:00:00'::TIME", "'12:30:00.000001'"],
  tz: ['timetz', "'12:30:00.5+00'::TIMETZ", "'00:00:00+00'"],
  stamp: ['timestamp', "'0044-03-15 (BC) 01:02:03.000001'::TIMESTAMP", "'infinity'"],
  stamptz: ['timestamptz', "'2024-01-15 12:30:00.123456+00'::TIMESTAMPTZ", "'12024-01-15 12:30:00+00'"],
  ms: ['timestamp_ms', "'1969-12-31 23:59:59.999'::TIMESTAMP_MS", "'2024-01-15 12:30:00'"],
  ns: ['timestamp_ns', "'2262-04-11 23:47:16.854775806'::TIMESTAMP_NS", "'1969-12-31 23:59:59.999999999'"],
  span: ['interval', "'14 months 3 days 04:05:06.5'::INTERVAL", "'1 day'"],
  // DuckDB writes seconds as microseconds.
  s: ['timestamp', "'2024-01-15 12:30:00'::TIMESTAMP_S", "'1970-01-01'"],
};
const rows = [0, 1].map((i) =>
  Object.values(columns)
    .map((column) => column[i + 1]!)
    .join(', '),
);
const source = `(VALUES (${rows.join('), (')}), (${Object.keys(columns)
  .map(() => 'NULL')
  .join(', ')})) t(${Object.keys(columns).join(', ')})`;

describe('Parquet', () => {
  for (const compression of ['snappy', 'zstd', 'gzip', 'brotli', 'uncompressed'])
    test(`of every type, compressed with ${compression}, becomes the same table`, async () => {
      const file = `${folder.path}/${compression}.parquet`;
      const lake = `${folder.path}/${compression}.sqlite`;
      await duck.run(`COPY (FROM ${source}) TO '${file}' (FORMAT parquet, COMPRESSION ${compression})`);
      await cli.ok(['init', lake]);
      expect(await cli.ok(['append', lake, 't', file, '--create'])).toContain('types as the file declares them');
      const described = JSON.parse(await cli.ok(['describe', lake, 't', '--json'])) as {
        columns: { name: string; type: string }[];
      };
      expect(Object.fromEntries(described.columns.map(({ name, type }) => [name, type]))).toEqual(
        Object.fromEntries(Object.entries(columns).map(([name, [type]]) => [name, type])),
      );
      await duck.attachSqlite(lake, undefined, { as: compression });
      expect(await duck.rows(`FROM ${compression}.t`)).toEqual(await duck.rows(`FROM '${file}'`));
      // DuckDB's binding leaves out what looks like a byte order mark.
      const lengths = 'SELECT length(text) AS n FROM';
      expect(await duck.rows(`${lengths} ${compression}.t`)).toEqual(await duck.rows(`${lengths} '${file}'`));
      await duck.detach(compression);
    });

  test('goes into a table of other units, where nothing is lost', async () => {
    const lake = `${folder.path}/units.sqlite`;
    const file = `${folder.path}/units.parquet`;
    const values = (micros: string): string => `SELECT '2024-01-15 12:30:00${micros}'::TIMESTAMP AS "At"`;
    await duck.run(`COPY (${values('.000')}) TO '${file}' (FORMAT parquet)`);
    await cli.ok(['init', lake]);
    await cli.ok(['create', lake, 't', 'at timestamp_s, other int']);
    await cli.ok(['append', lake, 't', file]);
    expect(await cli.ok(['scan', lake, 't'])).toBe('{"at":"2024-01-15T12:30:00.000","other":null}\n');
    await duck.run(`COPY (FROM range(3), (${values('.5')})) TO '${file}' (FORMAT parquet)`);
    const refused = await cli.run(['append', lake, 't', file]);
    expect(refused.code).toBe(1);
    expect(refused.log).toContain('units.parquet: the table has no column range');
    await duck.run(`COPY (${values('.5')}) TO '${file}' (FORMAT parquet)`);
    expect((await cli.run(['append', lake, 't', file])).log).toContain('units.parquet, row 1: "main"."t", column "at"');
  });

  test('several files have to agree, nested columns are refused by name', async () => {
    const lake = `${folder.path}/several.sqlite`;
    const [a, b] = [`${folder.path}/a.parquet`, `${folder.path}/b.parquet`];
    await duck.run(`COPY (SELECT 1 AS x, 'y' AS y) TO '${a}' (FORMAT parquet)`);
    await duck.run(`COPY (SELECT 1::BIGINT AS x) TO '${b}' (FORMAT parquet)`);
    await cli.ok(['init', lake]);
    const differ = await cli.run(['append', lake, 't', a, b, '--create']);
    expect(differ.log).toContain('b.parquet: column "x" is int64, which is int32 in a.parquet');
    await duck.run(`COPY (SELECT 2 AS x) TO '${b}' (FORMAT parquet)`);
    await cli.ok(['append', lake, 't', a, b, '--create']);
    expect(await cli.ok(['scan', lake, 't'])).toBe('{"x":1,"y":"y"}\n{"x":2,"y":null}\n');
    await duck.run(`COPY (SELECT [1] AS list) TO '${b}' (FORMAT parquet)`);
    expect((await cli.run(['append', lake, 'u', b, '--create'])).log).toContain('column "list" is nested');
  });

  test('comes from standard input too', async () => {
    const lake = `${folder.path}/stdin.sqlite`;
    const file = `${folder.path}/stdin.parquet`;
    await duck.run(`COPY (SELECT range AS n FROM range(250000)) TO '${file}' (FORMAT parquet, ROW_GROUP_SIZE 30000)`);
    await cli.ok(['init', lake]);
    const out = await cli.ok(['append', lake, 't', '-', '--format', 'parquet', '--create'], {
      stdin: await Bun.file(file).bytes(),
    });
    expect(out).toContain('appended 250,000 rows');
    await duck.attachSqlite(lake, undefined, { as: 'piped' });
    expect(await duck.rowsAgreed('SELECT count(*) c, sum(n) s, count(DISTINCT n) d FROM piped.t')).toEqual([
      { c: '250000', s: '31249875000', d: '250000' },
    ]);
  });
});
