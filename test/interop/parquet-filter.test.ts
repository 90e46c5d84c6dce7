import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { ColumnStats } from '../../src/file/format.ts';
import { parseType } from '../../src/spec/types.ts';
import { codecFor, type Physical } from '../../src/spec/values/codec.ts';
import { deltaOf } from '../../src/stats/merge.ts';
import { literal, type Oracle, openOracle } from '../support/oracle.ts';
import { field, readFile, writeFile } from '../support/parquet.ts';
import { edges } from '../support/parquet-values.ts';

let duck: Oracle;
let dir: string;
beforeAll(async () => {
  duck = await openOracle();
  dir = await mkdtemp(join(tmpdir(), 'edgemere-parquet-filter-'));
});
afterAll(async () => {
  await duck.close();
  await rm(dir, { recursive: true, force: true });
});

const duckNames: Readonly<Record<string, string>> = {
  int8: 'TINYINT',
  int16: 'SMALLINT',
  int32: 'INTEGER',
  int64: 'BIGINT',
  int128: 'HUGEINT',
  uint8: 'UTINYINT',
  uint16: 'USMALLINT',
  uint32: 'UINTEGER',
  uint64: 'UBIGINT',
  uint128: 'UHUGEINT',
  float32: 'FLOAT',
  float64: 'DOUBLE',
};

/**
 * A lake with one table per type, its file ours: two row groups, so that row groups, files and the table can each be
 * skipped by statistics.
 */
async function lakeOf(columns: readonly { type: string; values: readonly unknown[] }[]): Promise<void> {
  const lake = join(dir, crypto.randomUUID());
  await duck.attachSqlite(`${lake}.sqlite`, `${lake}/`);
  const created = columns.map(({ type }, i) => `CREATE TABLE lake.t${i} (x ${duckNames[type] ?? type})`);
  await duck.run(`BEGIN; ${created.join('; ')}; COMMIT`);
  await duck.detach();
  using catalog = new Database(`${lake}.sqlite`);
  catalog.run('BEGIN');
  const tables = catalog.query('SELECT table_id, table_name FROM ducklake_table').all() as Record<string, unknown>[];
  const head = catalog.query('SELECT * FROM ducklake_snapshot ORDER BY snapshot_id DESC').get() as Record<
    string,
    number
  >;
  const snapshot = head['snapshot_id']! + 1;
  const insert = (table: string, row: readonly unknown[]): void => {
    catalog.query(`INSERT INTO ${table} VALUES (${row.map(() => '?').join(', ')})`).run(...(row as never[]));
  };
  for (const [i, { type, values }] of columns.entries()) {
    const tableId = tables.find((table) => table['table_name'] === `t${i}`)!['table_id'] as number;
    const fields = [field(1, 'x', type)];
    const half = Math.ceil(values.length / 2);
    const { bytes, file } = await writeFile(fields, [values], { rowGroupRowCount: half });
    await mkdir(`${lake}/main/t${i}`, { recursive: true });
    await Bun.write(`${lake}/main/t${i}/f.parquet`, bytes);
    const stats = file.columns[0] as ColumnStats;
    const bit = (flag: boolean | null | undefined): number | null =>
      flag === null || flag === undefined ? null : Number(flag);
    insert('ducklake_data_file', [
      i,
      tableId,
      snapshot,
      null,
      null,
      'f.parquet',
      1,
      'parquet',
      file.rowCount,
      file.byteLength,
      file.footerLength,
      0,
      null,
      null,
      null,
      null,
    ]);
    insert('ducklake_file_column_stats', [
      i,
      tableId,
      1,
      stats.byteLength,
      stats.valueCount,
      stats.nullCount,
      stats.min ?? null,
      stats.max ?? null,
      bit(stats.containsNan),
      null,
    ]);
    insert('ducklake_table_stats', [tableId, file.rowCount, file.rowCount, file.byteLength]);
    const [delta] = deltaOf([file.columns], fields);
    const bounds = typeof delta!.bounds === 'string' ? { min: null, max: null } : delta!.bounds;
    insert('ducklake_table_column_stats', [
      tableId,
      1,
      bit(delta!.containsNull),
      bit(delta!.containsNan),
      bounds.min,
      bounds.max,
      null,
    ]);
  }
  insert('ducklake_snapshot', [
    snapshot,
    '2030-01-01 00:00:00+00',
    head['schema_version'],
    head['next_catalog_id'],
    columns.length,
  ]);
  insert('ducklake_snapshot_changes', [
    snapshot,
    tables.map((table) => `inserted_into_table:${table['table_id']}`).join(','),
    null,
    null,
    null,
  ]);
  catalog.run('COMMIT');
  catalog.close();
  await duck.attachSqlite(`${lake}.sqlite`);
}

describe('filters in DuckDB skip nothing that they must not', () => {
  const unordered = new Set(['json', 'interval']);

  test('every type, with every value as a limit', async () => {
    const types = Object.keys(edges).filter((type) => !unordered.has(type));
    const columns = types.map((type) => ({ type, values: [...edges[type]!, null] }));
    await lakeOf(columns);
    try {
      for (const [i, { type, values }] of columns.entries()) {
        const codec = codecFor(parseType(type));
        const physical = values.filter((value) => value !== null).map((value) => codec.encode(value));
        const name = duckNames[type] ?? type;
        expect(await duck.rowsAgreed(`SELECT count(*) AS n, count(x) AS v FROM lake.t${i}`)).toEqual([
          { n: String(values.length), v: String(physical.length) },
        ]);
        const limits = physical.map((limit) => {
          if (type === 'blob') return `from_hex(${literal(codec.text(limit)!)})`;
          return `${literal(type === 'boolean' ? String(limit) : codec.text(limit)!)}::${name}`;
        });
        const answers = await duck.rowsAgreed(
          limits
            .flatMap((limit, k) => [`= ${limit}`, k % 2 === 0 ? `< ${limit}` : `> ${limit}`])
            .map((condition) => `(SELECT count(*) AS n FROM lake.t${i} WHERE x ${condition})`)
            .join(' UNION ALL '),
        );
        const count = (keep: (order: number) => boolean, limit: Physical): string =>
          String(physical.filter((value) => keep(codec.compare(value, limit))).length);
        const expected = physical.flatMap((limit, k) => [
          count((order) => order === 0, limit),
          count((order) => (k % 2 === 0 ? order < 0 : order > 0), limit),
        ]);
        expect([type, answers.map((row) => row['n']!)]).toEqual([type, expected]);
        const sorted = [...physical].sort((a, b) => codec.compare(a, b));
        const ends = await duck.rowsAgreed(`SELECT min(x) AS low, max(x) AS high FROM lake.t${i}`);
        if (type !== 'blob' && type !== 'boolean')
          expect([type, ends]).toEqual([
            type,
            [{ low: zeroless(codec.text(sorted[0]!)!), high: zeroless(codec.text(sorted.at(-1)!)!) }],
          ]);
      }
    } finally {
      await duck.detach();
    }
  }, 300_000);

  function zeroless(text: string): string {
    return text.replace(/^-0\.0$/, '0.0');
  }

  test('NaN, which is above everything, beside finite values in a row group', async () => {
    for (const type of ['float32', 'float64']) {
      await lakeOf([{ type, values: [1, Number.NaN, 2, 3, 4, null] }]);
      try {
        const counts = ['x > 5', "x = 'nan'", 'x >= 2', 'x < 2', 'x > 3', "x < 'nan'"].map(
          (condition) => `(SELECT count(*) AS n FROM lake.t0 WHERE ${condition})`,
        );
        const answers = await duck.rowsAgreed(counts.join(' UNION ALL '));
        expect(answers.map((row) => row['n']!)).toEqual(['1', '1', '4', '1', '2', '4']);
        expect(await duck.rowsAgreed('SELECT min(x) AS low, max(x) AS high FROM lake.t0')).toEqual([
          { low: '1.0', high: 'nan' },
        ]);
      } finally {
        await duck.detach();
      }
    }
  }, 300_000);

  test('128-bit integers: thousands in row groups whose text is in another order', async () => {
    const values = Array.from(
      { length: 6000 },
      (_, i) => (BigInt(i) - 3000n) * 56_713_727_820_156_410_577_229_101_238_628_035n,
    );
    await lakeOf([{ type: 'int128', values }]);
    try {
      const limits = [
        0n,
        1n,
        values[0]!,
        values[1]!,
        values[2999]!,
        values[3001]!,
        values[5999]!,
        10n ** 38n,
        -(10n ** 38n),
        9n,
      ];
      for (const limit of limits) {
        const count = (keep: (value: bigint) => boolean): string => String(values.filter(keep).length);
        const rows = await duck.rowsAgreed(
          `SELECT count(*) FILTER (x < ${literal(String(limit))}::HUGEINT) AS lt FROM lake.t0 UNION ALL SELECT count(*) FROM lake.t0 WHERE x < ${literal(String(limit))}::HUGEINT UNION ALL SELECT count(*) FROM lake.t0 WHERE x = ${literal(String(limit))}::HUGEINT UNION ALL SELECT count(*) FROM lake.t0 WHERE x >= ${literal(String(limit))}::HUGEINT`,
        );
        expect([limit, rows.map((row) => row['lt'])]).toEqual([
          limit,
          [count((x) => x < limit), count((x) => x < limit), count((x) => x === limit), count((x) => x >= limit)],
        ]);
      }
      expect(await duck.rowsAgreed('SELECT x FROM lake.t0 ORDER BY x DESC LIMIT 1')).toEqual([
        { x: String(values.at(-1)) },
      ]);
    } finally {
      await duck.detach();
    }
  }, 300_000);
});

describe('random values', () => {
  const ints = (low: bigint, high: bigint) => fc.bigInt(low, high);
  const arbitraries: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    boolean: fc.boolean(),
    int8: fc.integer({ min: -128, max: 127 }),
    uint32: fc.integer({ min: 0, max: 4294967295 }),
    int64: ints(-(2n ** 63n), 2n ** 63n - 1n),
    uint64: ints(0n, 2n ** 64n - 1n),
    int128: ints(-(2n ** 127n), 2n ** 127n - 1n),
    uint128: ints(0n, 2n ** 128n - 1n),
    float32: fc.float(),
    float64: fc.double(),
    'decimal(7,3)': ints(-9999999n, 9999999n).map((unscaled) => `${unscaled}e-3`),
    'decimal(38,10)': ints(-(10n ** 38n) + 1n, 10n ** 38n - 1n).map((unscaled) => `${unscaled}e-10`),
    varchar: fc.string({ unit: 'grapheme' }),
    json: fc.jsonValue().map((value) => JSON.stringify(value)),
    blob: fc.uint8Array({ maxLength: 20 }),
    uuid: fc.uuid(),
    date: ints(-2147483646n, 2147483646n).map((days) => codecFor({ name: 'date' }).text(Number(days))),
    time: ints(0n, 86_400_000_000n),
    timestamp: ints(-9_223_372_022_400_000_000n, 2n ** 63n - 2n),
    timestamptz: ints(-8_640_000_000_000_000_000n, 8_640_000_000_000_000_000n),
    timestamp_s: ints(-9_223_372_022_400n, 9_223_372_036_854n),
    timestamp_ms: ints(-9_223_372_022_400_000n, 9_223_372_036_854_775n),
    timestamp_ns: ints(-9_223_286_400_000_000_000n, 2n ** 63n - 2n),
    interval: fc.record({
      months: fc.integer({ min: 0, max: 2147483647 }),
      days: fc.integer({ min: 0, max: 2147483647 }),
      micros: ints(0n, 4_294_967_295n).map((millis) => millis * 1000n),
    }),
  };

  test('come back as they were, within their bounds, to us and to DuckDB', async () => {
    const types = Object.keys(arbitraries);
    const fields = types.map((type, i) => field(i + 1, `c${i}`, type));
    const row = fc.tuple(...types.map((type) => fc.option(arbitraries[type]!, { freq: 5 })));
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 40 }),
        async (rows, rowGroupRowCount) => {
          const columns = types.map((_, i) => rows.map((values) => values[i]));
          const { bytes, file } = await writeFile(fields, columns, { rowGroupRowCount });
          const path = join(dir, 'random.parquet');
          await Bun.write(path, bytes);
          const read = await readFile(bytes, { fields });
          const selected = types.map((type, i) => `c${i}::${duckNames[type] ?? type} AS c${i}`);
          const ofDuck = await duck.rows(
            `SELECT ${selected.join(', ')} FROM (FROM read_parquet('${path}', file_row_number = true) ORDER BY file_row_number)`,
          );
          for (const [i, type] of types.entries()) {
            const codec = codecFor(parseType(type));
            const physical = columns[i]!.map((value) => (value === null ? null : codec.encode(value)));
            if (type !== 'json')
              expect([type, read[i]!.map((value) => (value === null ? null : codec.encode(value)))]).toEqual([
                type,
                physical,
              ]);
            if (type !== 'blob')
              expect([type, ofDuck.map((values) => values[`c${i}`])]).toEqual([
                type,
                physical.map((value) => duckText(type, value)),
              ]);
            checkStats(type, physical, file.columns[i]!);
          }
        },
      ),
      { numRuns: 25, endOnFailure: true },
    );
  }, 300_000);

  function duckText(type: string, value: Physical | null): string | null {
    if (value === null) return null;
    if (type === 'boolean' || type === 'varchar') return String(value);
    return codecFor(parseType(type)).text(value)!;
  }

  function checkStats(type: string, physical: readonly (Physical | null)[], stats: ColumnStats): void {
    const values = physical.filter((value) => value !== null);
    expect([stats.valueCount, stats.nullCount]).toEqual([values.length, physical.length - values.length]);
    const isFloat = type.startsWith('float');
    expect(stats.containsNan).toBe(isFloat ? values.some(Number.isNaN) : undefined);
    const codec = codecFor(parseType(type));
    const bounded = values.filter((value) => !Number.isNaN(value));
    if (stats.min === undefined || stats.max === undefined || bounded.length === 0) return;
    const bound = (text: string): Physical =>
      type === 'blob' ? Buffer.from(text, 'hex') : type === 'json' ? text : codec.fromText(text);
    // Long text, and text with NUL characters, is cut outwards; every other bound is a value.
    const isExact = bounded.every((value) => typeof value !== 'string' || (value.length < 80 && !value.includes('\0')));
    for (const [text, direction] of [
      [stats.min, -1],
      [stats.max, 1],
    ] as const) {
      const orders = bounded.map((value) => codec.compare(bound(text), value) * direction);
      expect([type, text, Math.min(...orders) >= 0]).toEqual([type, text, true]);
      if (isExact) expect([type, text, Math.min(...orders) === 0]).toEqual([type, text, true]);
    }
  }
});
