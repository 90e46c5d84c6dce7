import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as arrow from 'apache-arrow';
import { type Lake, t } from '../../src/index.ts';
import { codecFor } from '../../src/spec/values/codec.ts';
import type { Interval } from '../../src/spec/values/value-codec.ts';
import { testLake } from '../support/lakes.ts';
import { identifier, type Oracle, openOracle } from '../support/oracle.ts';
import { shown, typeCases } from '../support/type-cases.ts';

setDefaultTimeout(900_000);

const rowCount = Math.max(...typeCases.map(({ values }) => values.length)) + 2;
const sqlAt = (type: (typeof typeCases)[number], i: number): string =>
  `(${type.values[i]?.sql ?? 'NULL'})::${type.sqlType}`;

/** All types flat, in lists, in a struct, in a struct in a list, as keys and values of maps. */
const schema = {
  row: t.int32(),
  ...Object.fromEntries(typeCases.map(({ name, column }) => [name, column])),
  ...Object.fromEntries(typeCases.map(({ name, column }) => [`list of ${name}`, t.list(column)])),
  struct: t.struct(Object.fromEntries(typeCases.map(({ name, column }) => [name, column]))),
  structs: t.list(t.struct({ a: t.varchar(), b: t.list(t.timestampNs()) })),
  map: t.map(t.varchar(), t.map(t.int64(), t.json())),
};

const members = typeCases.map(({ name, sqlType }) => `${identifier(name)} ${sqlType}`).join(', ');
const tableSql = `"row" INTEGER, ${members},
  ${typeCases.map(({ name, sqlType }) => `${identifier(`list of ${name}`)} ${sqlType}[]`).join(', ')},
  struct STRUCT(${members}), structs STRUCT(a VARCHAR, b TIMESTAMP_NS[])[], map MAP(VARCHAR, MAP(BIGINT, JSON))`;

const rowSql = (i: number): string =>
  [
    i,
    ...typeCases.map((type) => sqlAt(type, i)),
    ...typeCases.map((type) => ['[]', 'NULL'][i] ?? `[${[i, i - 1, 99].map((v) => sqlAt(type, v)).join(', ')}]`),
    i === 1 ? 'NULL' : `{${typeCases.map((type) => `'${type.name}': ${sqlAt(type, i)}`).join(', ')}}`,
    ['[]', 'NULL'][i] ??
      `[{'a': 'x${i}', 'b': [NULL, '2024-01-15 12:30:00.123456789'::TIMESTAMP_NS]}, NULL, {'a': NULL, 'b': []}]`,
    ['MAP {}', 'NULL'][i] ??
      `MAP {'k': MAP {1::BIGINT: '{"a": 12345678901234567890}'::JSON, 2::BIGINT: 'null'::JSON}, '': NULL}`,
  ].join(', ');

const flatNames = ['row', ...typeCases.map(({ name }) => name)];

/** Rows of two tables in DuckDB's eyes. */
async function expectEqualTables(duck: Oracle, a: string, b: string, names: readonly string[]): Promise<void> {
  const list = names.map(identifier).join(', ');
  expect((await duck.rows(`SELECT ${list} FROM ${a}`)).length).toBeGreaterThan(0);
  for (const [x, y] of [
    [a, b],
    [b, a],
  ])
    expect(await duck.rows(`SELECT ${list} FROM ${x} EXCEPT ALL SELECT ${list} FROM ${y}`)).toEqual([]);
}

const withLake = async (run: (duck: Oracle, lake: Lake) => Promise<void>, inliningRowLimit = 0): Promise<void> => {
  await using place = await testLake('postgres');
  await using duck = await openOracle();
  await place.attach(duck, { inliningRowLimit });
  await duck.run(`CREATE TABLE lake.t (${tableSql})`);
  for (let i = 0; i < rowCount; i++) await duck.run(`INSERT INTO lake.t VALUES (${rowSql(i)})`);
  await using lake = await place.open();
  await run(duck, lake);
};

describe('what DuckDB wrote, read as Arrow and inserted again', () => {
  test.each([
    ['from files', 0, Object.keys(schema)],
    // Nested ones DuckDB itself can't all read back.
    ['from inlined rows and files', 5, flatNames],
  ])('is the same to DuckDB, %s', async (_name, inliningRowLimit, names) => {
    await withLake(async (duck, lake) => {
      // More rows than are inlined.
      await duck.run(
        `INSERT INTO lake.t VALUES ${Array.from({ length: rowCount }, (_, i) => `(${rowSql(i)})`).join(', ')}`,
      );
      await duck.run(`DELETE FROM lake.t WHERE "row" = 3`);
      const source = lake.table('t');
      const copy = await lake.createTable('copy', schema);
      await copy.insert(source.scan({ columns: names }).arrow(arrow));
      await expectEqualTables(duck, 'lake.t', 'lake.copy', names);
      const rows = await source.scan({ columns: names }).toArray();
      expect(rows.length).toBe(2 * rowCount - 2);
      expect((await copy.scan({ columns: names as never }).toArray()).map((row) => shown(row))).toEqual(
        rows.map((row) => shown(row)),
      );
    }, inliningRowLimit);
  });

  test('with a filter, a limit, columns and an older version', async () => {
    await withLake(async (duck, lake) => {
      const before = (await Array.fromAsync(lake.snapshots())).at(-1)!.id;
      await duck.run('DELETE FROM lake.t');
      const table = lake.table('t');
      const options = {
        where: { row: { gte: 2 } },
        limit: 4,
        columns: ['varchar', 'row', 'rowid', 'filename', 'file_index'],
        asOf: { snapshot: before },
      };
      const rows = await table.scan(options as never).toArray();
      const found = await table.scan(options as never).arrowTable(arrow);
      expect(found.schema.fields.map(({ name, type }) => `${name} ${type}`)).toEqual([
        'varchar Utf8',
        'row Int32',
        'rowid Int64',
        'filename Utf8',
        'file_index Int64',
      ]);
      expect(found.toArray().map((row) => row.toJSON())).toEqual(rows);
      const empty = await table.scan({ columns: options.columns as never }).arrowTable(arrow);
      expect([empty.numRows, empty.schema.fields.length]).toEqual([0, 5]);
    });
  });
});

/** Where pyarrow is; `undefined` where it can't be installed. That is no failure but in CI. */
const run = promisify(execFile);
const script = (name: string): string => fileURLToPath(new URL(`../services/${name}`, import.meta.url));
const pyarrow = await run('bash', [script('pyarrow.sh')]).then(
  ({ stdout }) => stdout.trim(),
  (error: Error) => {
    if (process.env['CI'] === 'true') throw error;
    return undefined;
  },
);

describe.skipIf(pyarrow === undefined)('pyarrow', () => {
  let read: { readonly columns: Readonly<Record<string, readonly unknown[]>>; readonly types: readonly string[] };

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'edgemere-arrow-'));
    try {
      await withLake(async (_duck, lake) => {
        const table = await lake.table('t').scan().arrowTable(arrow);
        await writeFile(join(folder, 't.arrow'), arrow.tableToIPC(table, 'file'));
      });
      const { stdout } = await run('python3', [script('pyarrow-read.py'), join(folder, 't.arrow')], {
        env: { ...process.env, PYTHONPATH: pyarrow },
        maxBuffer: 2 ** 28,
      });
      [read] = JSON.parse(stdout);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test.each(typeCases.map((type) => [type.name, type] as const))('reads %s', (name, { column, values }) => {
    const expected = [...values.map(({ given }) => pythonText(column.definition.type, given))];
    while (expected.length < rowCount) expected.push(null);
    expect(read.columns[name]).toEqual(expected);
    const lists = expected.map((value, i) => [value, expected[i - 1] ?? null, null]);
    expect(read.columns[`list of ${name}`]).toEqual([[], null, ...lists.slice(2)]);
    expect(read.columns['struct']!.map((row) => (row as Record<string, unknown> | null)?.[name])).toEqual(
      expected.map((value, i) => (i === 1 ? undefined : value)),
    );
  });

  test('reads structs in lists and maps in maps', () => {
    expect(read.columns['structs']!.slice(0, 3)).toEqual([
      [],
      null,
      [{ a: 'x2', b: [null, '1705321800123456789'] }, null, { a: null, b: [] }],
    ]);
    expect(read.columns['map']!.slice(0, 3)).toEqual([
      [],
      null,
      [
        [
          'k',
          [
            ['1', '{"a": 12345678901234567890}'],
            ['2', 'null'],
          ],
        ],
        ['', null],
      ],
    ]);
  });

  test('knows the types', () => {
    const types = read.types.slice(1, typeCases.length + 1);
    expect(Object.fromEntries(typeCases.map(({ name }, i) => [name, types[i]]))).toEqual({
      boolean: 'bool',
      int8: 'int8',
      int16: 'int16',
      int32: 'int32',
      uint8: 'uint8',
      uint16: 'uint16',
      uint32: 'uint32',
      int64: 'int64',
      uint64: 'uint64',
      int128: 'decimal256(39, 0)',
      uint128: 'decimal256(39, 0)',
      float32: 'float',
      float64: 'double',
      'decimal(4,1)': 'decimal128(4, 1)',
      'decimal(9,9)': 'decimal128(9, 9)',
      'decimal(18,3)': 'decimal128(18, 3)',
      'decimal(38,0)': 'decimal128(38, 0)',
      'decimal(38,38)': 'decimal128(38, 38)',
      varchar: 'string',
      json: 'extension<arrow.json>',
      blob: 'binary',
      uuid: 'extension<arrow.uuid>',
      date: 'date32[day]',
      time: 'time64[us]',
      timetz: 'time64[us]',
      timestamp: 'timestamp[us]',
      timestamptz: 'timestamp[us, tz=UTC]',
      timestamp_s: 'timestamp[s]',
      timestamp_ms: 'timestamp[ms]',
      timestamp_ns: 'timestamp[ns]',
      interval: 'month_day_nano_interval',
    });
  });
});

/** A value as `pyarrow-read.py` prints it: see there. */
function pythonText(type: { readonly name: string }, given: unknown): string | null {
  if (given === null) return null;
  const codec = codecFor(type as never);
  const physical = codec.encode(given);
  switch (type.name) {
    case 'float32':
    case 'float64': {
      const value = type.name === 'float32' ? Math.fround(physical as number) : (physical as number);
      if (Number.isNaN(value)) return 'nan';
      const bytes = Buffer.alloc(8);
      bytes.writeDoubleBE(value);
      return bytes.toString('hex');
    }
    case 'decimal':
      // DuckDB's text has no zero before the point when no digit can stand there.
      return codec.text(physical)!.replace(/^(-?)\./, '$10.');
    case 'uuid':
      return (physical as string).replaceAll('-', '');
    case 'blob':
      return Buffer.from(physical as Uint8Array).toString('hex');
    case 'interval': {
      const { months, days, micros } = physical as Interval;
      return `MonthDayNano(months=${months}, days=${days}, nanoseconds=${micros * 1000n})`;
    }
    default:
      return String(physical);
  }
}
