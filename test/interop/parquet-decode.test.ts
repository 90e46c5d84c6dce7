import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { isLakeError } from '../../src/errors.ts';
import type { BoundsOf, ReadBatch, ReadRequest } from '../../src/file/format.ts';
import { parquetFormat } from '../../src/file/parquet/index.ts';
import type { Field } from '../../src/schema/field.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';
import { field, objectOf } from '../support/parquet.ts';

const fields: readonly Field[] = [
  field(1, 'i', 'int32'),
  field(2, 'l', 'int64'),
  field(3, 'd', 'float64'),
  field(4, 's', 'varchar'),
  field(5, 'b', 'boolean'),
  field(6, 'blob', 'blob'),
];

let duck: Oracle;
let dir: string;
beforeAll(async () => {
  duck = await openOracle();
  dir = await mkdtemp(join(tmpdir(), 'edgemere-parquet-decode-'));
});
afterAll(async () => {
  await duck.close();
  await rm(dir, { recursive: true, force: true });
});

async function file(query: string, options: string): Promise<{ bytes: Uint8Array; rows: Record<string, unknown>[] }> {
  const path = join(dir, `${crypto.randomUUID()}.parquet`);
  const ids = fields.map(({ name, id }) => `${name}: ${id}`).join(', ');
  await duck.run(`COPY (${query}) TO '${path}' (FORMAT parquet, FIELD_IDS {${ids}}, ${options})`);
  const rows = await duck.rows(`SELECT i, l, d, s, b, hex(blob) AS blob FROM '${path}'`);
  return { bytes: new Uint8Array(await Bun.file(path).arrayBuffer()), rows };
}

async function read(bytes: Uint8Array, request: Partial<ReadRequest> = {}): Promise<ReadBatch[]> {
  const reader = await parquetFormat().openReader(objectOf(bytes));
  const batches: ReadBatch[] = [];
  for await (const batch of reader.read({ fields, ...request })) batches.push(batch);
  return batches;
}

/** Values as DuckDB's text. */
function shown(batches: readonly ReadBatch[]): Record<string, unknown>[] {
  return batches.flatMap(({ rowCount, columns }) =>
    Array.from({ length: rowCount }, (_, r) =>
      Object.fromEntries(fields.map(({ name }, c) => [name, text(columns[c]!.values[r])])),
    ),
  );
}

function text(value: unknown): unknown {
  if (value === null) return null;
  if (value instanceof Uint8Array) return value.toHex().toUpperCase();
  return String(value);
}

/** Text of one to four bytes a character, short and long; numbers of all widths; each column NULL in a share of the rows. */
const query = (rowCount: number, nulls: number, distinct: number): string => `
  WITH t AS (SELECT i, (hash(i % ${distinct}) >> ((i % 60)::BIGINT))::UBIGINT AS h FROM range(${rowCount}) r(i))
  SELECT ${[
    '(h % 2147483647)::INTEGER - 1000',
    '(h % 9223372036854775807)::BIGINT - 4611686018427387904',
    '(h % 1000)::DOUBLE + 0.5',
    "CASE h % 5 WHEN 0 THEN '' WHEN 1 THEN 'naïve €' || h WHEN 2 THEN '🦆' || repeat('é', (h % 90)::INTEGER) WHEN 3 THEN repeat('x', (h % 200)::INTEGER) ELSE 'plain ' || h END",
    'h % 3 = 0',
    "encode('b' || h)",
  ]
    .map((value, c) => `CASE WHEN hash(i + ${c}) % 100 < ${nulls} THEN NULL ELSE ${value} END AS ${fields[c]!.name}`)
    .join(', ')} FROM t`;

const shapes = [
  ['dictionaries', 'PARQUET_VERSION V1', 50],
  ['version 1', 'PARQUET_VERSION V1', 1_000_000],
  ['version 2', 'PARQUET_VERSION V2', 1_000_000],
  ['no compression', "CODEC 'uncompressed', PARQUET_VERSION V2", 1_000_000],
  ['gzip', "CODEC 'gzip'", 1000],
] as const;

for (const [name, options, distinct] of shapes)
  for (const nulls of [0, 30, 100])
    test(`${name}, ${nulls} % NULL: the values that DuckDB shows`, async () => {
      const { bytes, rows } = await file(query(5000, nulls, distinct), `ROW_GROUP_SIZE 2048, ${options}`);
      expect(shown(await read(bytes))).toEqual(rows);
      expect(shown(await read(bytes, { limit: 2500 }))).toEqual(rows.slice(0, 2500));
    });

test('numbers without NULL come as typed arrays', async () => {
  const { bytes } = await file(query(3000, 0, 100), 'ROW_GROUP_SIZE 2048');
  const [batch] = await read(bytes);
  const [i, l, d] = batch!.columns.map(({ values }) => values);
  expect([i, l, d].map((values) => values?.constructor)).toEqual([Int32Array, BigInt64Array, Float64Array]);
});

test('damaged bytes are CORRUPT, or read as other values, and never anything else', async () => {
  const files = await Promise.all(
    shapes.slice(0, 4).map(([, options, distinct]) => file(query(600, 20, distinct), options)),
  );
  const changes = fc.array(
    fc.tuple(fc.double({ min: 0, max: 0.9999, noNaN: true }), fc.integer({ min: 0, max: 255 })),
    {
      minLength: 1,
      maxLength: 4,
    },
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...files), changes, async ({ bytes }, places) => {
      const damaged = bytes.slice();
      for (const [share, byte] of places) damaged[Math.floor(share * damaged.length)] = byte;
      try {
        for (const { rowCount, columns } of await read(damaged))
          for (const { values } of columns) expect(values.length).toBe(rowCount);
      } catch (error) {
        if (!isLakeError(error) || !['CORRUPT', 'UNSUPPORTED'].includes(error.code)) throw error;
      }
    }),
    { numRuns: 400 },
  );
});

const rowsUpTo = (count: number): string =>
  `SELECT i::INTEGER AS i, i AS l, i::DOUBLE AS d, chr((97 + i // 2048)::INTEGER) AS s, true AS b, NULL::BLOB AS blob FROM range(${count}) r(i)`;

test('row groups that cannot matter are not read, and the others keep their positions', async () => {
  const { bytes } = await file(rowsUpTo(8192), 'ROW_GROUP_SIZE 2048');
  const seen: unknown[] = [];
  const matters = (bounds: BoundsOf): boolean => {
    const [i, l, d, s] = fields.map((one) => bounds(one));
    seen.push([i?.min, i?.max, l?.min, l?.max, d?.min, d?.max, s?.min, s?.max, i?.nullCount, i?.rowCount]);
    return (i!.min as number) <= 5000 && (i!.max as number) >= 5000;
  };
  const batches = await read(bytes, { matters });
  expect(batches.map(({ firstPosition, rowCount }) => [firstPosition, rowCount])).toEqual([[4096, 2048]]);
  expect(seen[1]).toEqual([2048, 4095, 2048n, 4095n, 2048, undefined, 'b', 'b', 0, 2048]);
});

test('ranges that cut a file anywhere give each row once', async () => {
  const { bytes } = await file(rowsUpTo(20480), 'ROW_GROUP_SIZE 2048');
  for (const cuts of [[], [1], [bytes.length], [20_000], [3, 4, 9000, 9001, 30_000, 50_000]]) {
    const ends = [...cuts, Number.MAX_SAFE_INTEGER];
    const parts: number[][] = [];
    for (const [k, end] of ends.entries())
      for (const { firstPosition, rowCount } of await read(bytes, { range: { start: ends[k - 1] ?? 0, end } }))
        parts.push([firstPosition, rowCount]);
    expect(parts).toEqual(Array.from({ length: 10 }, (_, k) => [k * 2048, 2048]));
  }
});
