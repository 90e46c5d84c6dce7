import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { type Column, t } from '../../src/index.ts';
import { codecFor } from '../../src/spec/values/codec.ts';
import type { Interval } from '../../src/spec/values/value-codec.ts';
import { testLake } from '../support/lakes.ts';
import { edges } from '../support/parquet-values.ts';
import { typeCases } from '../support/type-cases.ts';

setDefaultTimeout(900_000);

const run = promisify(execFile);
const script = (name: string): string => fileURLToPath(new URL(`../services/${name}`, import.meta.url));

/** A value as test/services/pyarrow-read.py prints it. */
type Shown = string | null | readonly Shown[] | { readonly [name: string]: Shown };

interface Chunk {
  readonly path: string;
  readonly encodings: readonly string[];
  readonly compression: string;
  readonly valueCount: number;
  readonly slots: number;
  readonly nullCount: number | null;
  readonly hasNan: boolean;
  readonly min: string | null;
  readonly max: string | null;
  readonly least: string | null;
  readonly greatest: string | null;
}

interface ReadFile {
  readonly columns: Readonly<Record<string, readonly Shown[]>>;
  readonly types: readonly string[];
  readonly rowGroups: readonly { readonly rowCount: number; readonly chunks: readonly Chunk[] }[];
}

/** Where pyarrow is; `undefined` where it can't be installed. That is no failure but in CI. */
const folder = await run('bash', [script('pyarrow.sh')]).then(
  ({ stdout }) => stdout.trim(),
  (error: Error & { readonly stderr?: string }) => {
    if (process.env['CI'] === 'true') throw error;
    console.warn(`pyarrow is not tested: ${error.stderr?.trim() || error.message}`);
    return undefined;
  },
);

async function read(locations: readonly string[]): Promise<ReadFile[]> {
  const { stdout } = await run('python3', [script('pyarrow-read.py'), ...locations], {
    env: { ...process.env, PYTHONPATH: folder },
    maxBuffer: 2 ** 28,
  });
  return JSON.parse(stdout);
}

/** What pyarrow should read for a value that was inserted. */
function stored(column: Column, value: unknown): Shown {
  if (value === null || value === undefined) return null;
  const { type } = column.definition;
  const codec = codecFor(type);
  const physical = codec.encode(value);
  switch (type.name) {
    case 'float32':
    case 'float64':
      return double(type.name === 'float32' ? Math.fround(physical as number) : (physical as number));
    case 'decimal':
      // DuckDB's text has no zero before the point when no digit can stand there.
      return codec.text(physical)!.replace(/^(-?)\./, '$10.');
    case 'uuid':
      return (physical as string).replaceAll('-', '');
    case 'blob':
      return hex(physical as Uint8Array);
    case 'timestamp_s':
      // Parquet has no seconds.
      return String((physical as bigint) * 1_000_000n);
    case 'interval': {
      const { months, days, micros } = physical as Interval;
      return hex(new Uint8Array(Uint32Array.of(months, days, Number(micros / 1000n)).buffer));
    }
    default:
      return String(physical);
  }
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function double(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return hex(bytes);
}

/** Bounds are those of the values read, or left out; the counts are theirs too. */
function checkStatistics(file: ReadFile, withoutBounds: (chunk: Chunk) => boolean): void {
  for (const { chunks } of file.rowGroups)
    for (const chunk of chunks) {
      expect(chunk.slots - chunk.nullCount!).toBe(chunk.valueCount);
      if (withoutBounds(chunk)) expect([chunk.path, chunk.min, chunk.max]).toEqual([chunk.path, null, null]);
      else expect([chunk.path, chunk.min, chunk.max]).toEqual([chunk.path, chunk.least, chunk.greatest]);
    }
}

describe.skipIf(folder === undefined)('pyarrow', () => {
  /** Types that readers order otherwise than we do, or not at all. */
  const unordered = ['int128', 'uint128', 'interval', 'json'];
  const flat = typeCases.map(({ name, column, values }) => ({
    name,
    column,
    values: [...values.map(({ given }) => given), ...(edges[name] ?? [])],
  }));
  let files: ReadonlyMap<string, ReadFile>;

  beforeAll(async () => {
    await using place = await testLake('sqlite');
    await using lake = await place.open();
    const locations: string[] = [];
    for (const { name, column, values } of flat) {
      const rows = [null, ...values, null].map((v) => ({ v, nan: Number.NaN, none: null }));
      const table = await lake.createTable(name, { v: column, nan: t.float64(), none: column });
      locations.push((await table.insert(rows as never)).files[0]!.location);
    }
    const found = await read(locations);
    files = new Map(flat.map(({ name }, i) => [name, found[i]!]));
  });

  test.each(flat.map((type) => [type.name, type] as const))('%s', (name, { column, values }) => {
    const file = files.get(name)!;
    const all = [null, ...values, null];
    expect(file.columns['v']).toEqual(all.map((value) => stored(column, value)));
    expect(file.columns['none']).toEqual(all.map(() => null));
    expect(file.rowGroups.map(({ chunks }) => chunks.map(({ nullCount }) => nullCount))).toEqual([[2, 0, all.length]]);
    checkStatistics(
      file,
      ({ path, hasNan, valueCount }) => hasNan || valueCount === 0 || (path === 'v' && unordered.includes(name)),
    );
  });

  test('types are what they are called', () => {
    const types = Object.fromEntries(flat.map(({ name }) => [name, files.get(name)!.types[0]!]));
    expect(types).toMatchObject({
      boolean: 'bool',
      int8: 'int8',
      uint16: 'uint16',
      uint64: 'uint64',
      float32: 'float',
      'decimal(18,3)': 'decimal128(18, 3)',
      'decimal(38,38)': 'decimal128(38, 38)',
      varchar: 'string',
      blob: 'binary',
      date: 'date32[day]',
      time: 'time64[us]',
      timestamp: 'timestamp[us]',
      timestamptz: 'timestamp[us, tz=UTC]',
      timestamp_ms: 'timestamp[ms]',
      timestamp_ns: 'timestamp[ns]',
    });
  });

  test.each(['snappy', 'uncompressed', 'gzip', 'zstd'])('row groups of all encodings, %s', async (compression) => {
    await using place = await testLake('sqlite');
    await using _maker = await place.open();
    await place.sql(
      `INSERT INTO ducklake_metadata (key, value) VALUES ('parquet_compression', '${compression}'), ('parquet_row_group_size', '700')`,
    );
    await using lake = await place.open({
      compressors: { zstd: { compress: zstdCompressSync, decompress: zstdDecompressSync } },
    });
    const schema = {
      id: t.int64().notNull(),
      at: t.timestamp(),
      kind: t.varchar(),
      text: t.varchar(),
      x: t.float64(),
      small: t.int32(),
      ok: t.boolean(),
      price: t.decimal(12, 2),
      fixed: t.uuid(),
    };
    const rows = Array.from({ length: 2000 }, (_, i) => ({
      id: BigInt(i) * 3n,
      at: new Date(1_700_000_000_000 + i * 1009),
      kind: i % 7 === 0 ? null : ['view', 'click', 'größer', ''][i % 4],
      text: `${'ab'.repeat(i % 30)} ${i * 7919}`,
      x: Math.sin(i),
      small: i % 11 === 0 ? null : i % 5,
      ok: i % 3 === 0,
      price: ((i * 37) % 1000) / 100,
      fixed: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
    }));
    const table = await lake.createTable('t', schema);
    const { files } = await table.insert(rows as never);
    const [file] = await read(files.map(({ location }) => location));
    for (const [name, column] of Object.entries(schema))
      expect(file!.columns[name]).toEqual(rows.map((row) => stored(column, row[name as keyof typeof row])));
    expect(file!.rowGroups.map(({ rowCount }) => rowCount)).toEqual([700, 700, 600]);
    checkStatistics(file!, () => false);
    const chunks = file!.rowGroups.flatMap((group) => group.chunks);
    const encodings = new Set(chunks.flatMap((chunk) => chunk.encodings));
    for (const encoding of ['PLAIN', 'RLE_DICTIONARY', 'DELTA_BINARY_PACKED']) expect(encodings).toContain(encoding);
    expect(new Set(chunks.map((chunk) => chunk.compression))).toEqual(new Set([compression.toUpperCase()]));
  });

  test('lists, structs and maps, their NULLs and what is empty', async () => {
    await using place = await testLake('sqlite');
    await using _maker = await place.open();
    await place.sql(`INSERT INTO ducklake_metadata (key, value) VALUES ('parquet_row_group_size', '5')`);
    await using lake = await place.open();
    const table = await lake.createTable('t', {
      id: t.int32().notNull(),
      tags: t.list(t.varchar()),
      deep: t.list(t.list(t.decimal(10, 2))),
      place: t.struct({ city: t.varchar(), geo: t.struct({ lat: t.float64(), hits: t.list(t.int16()) }) }),
      seen: t.map(t.varchar(), t.list(t.timestamptz())),
      items: t.list(t.struct({ sku: t.varchar(), options: t.map(t.int32(), t.struct({ on: t.boolean() })) })),
    });
    const given = [
      {
        tags: ['a', null, '', 'é'],
        deep: [['1.50', null], null, [], ['-99999999.99']],
        place: { city: 'X', geo: { lat: 1.5, hits: [1, null, -32768] } },
        seen: new Map([
          ['k', [new Date(1), null]],
          ['', []],
        ]),
        items: [{ sku: 's', options: new Map([[1, { on: true }]]) }, null, { sku: null, options: null }],
      },
      {},
      { tags: [], deep: [], place: { geo: null }, seen: new Map(), items: [] },
      {
        tags: [null],
        deep: [[]],
        place: { city: null, geo: { lat: null, hits: [] } },
        seen: new Map([['q', null]]),
        items: [{ sku: 't', options: new Map([[-1, null]]) }],
      },
    ];
    const shown: Readonly<Record<string, Shown>>[] = [
      {
        tags: ['a', null, '', 'é'],
        deep: [['1.50', null], null, [], ['-99999999.99']],
        place: { city: 'X', geo: { lat: '3ff8000000000000', hits: ['1', null, '-32768'] } },
        seen: [
          ['k', ['1000', null]],
          ['', []],
        ],
        items: [{ sku: 's', options: [['1', { on: 'true' }]] }, null, { sku: null, options: null }],
      },
      { tags: null, deep: null, place: null, seen: null, items: null },
      { tags: [], deep: [], place: { city: null, geo: null }, seen: [], items: [] },
      {
        tags: [null],
        deep: [[]],
        place: { city: null, geo: { lat: null, hits: [] } },
        seen: [['q', null]],
        items: [{ sku: 't', options: [['-1', null]] }],
      },
    ];
    const rows = Array.from({ length: 43 }, (_, id) => ({ id, ...given[(id * 7 + (id >> 3)) % 4]! }));
    const { files } = await table.insert(rows as never);
    const [file] = await read(files.map(({ location }) => location));
    for (const name of ['tags', 'deep', 'place', 'seen', 'items'])
      expect(file!.columns[name]).toEqual(rows.map(({ id }) => shown[(id * 7 + (id >> 3)) % 4]![name]!));
    expect(file!.columns['id']).toEqual(rows.map(({ id }) => String(id)));
    expect(file!.rowGroups.map(({ rowCount }) => rowCount)).toEqual([5, 5, 5, 5, 5, 5, 5, 5, 3]);
    checkStatistics(file!, ({ valueCount }) => valueCount === 0);
  });

  test('nothing but NULLs, one row, bounds too long for a footer, and many values of one', async () => {
    await using place = await testLake('sqlite');
    await using lake = await place.open();
    const table = await lake.createTable('t', { a: t.int64(), b: t.varchar(), c: t.list(t.int32()) });
    const cases = [
      [{ a: null, b: null, c: null }],
      [{ a: 5n, b: 'x', c: [1] }],
      [{ a: 5n, b: 'x'.repeat(100_000), c: [1] }],
      Array.from({ length: 70_000 }, () => ({ a: -7n, b: 'same', c: [] })),
    ];
    const locations: string[] = [];
    for (const rows of cases) locations.push((await table.insert(rows)).files[0]!.location);
    const found = await read(locations);
    expect(found[0]!.columns).toEqual({ a: [null], b: [null], c: [null] });
    expect(found[1]!.columns).toEqual({ a: ['5'], b: ['x'], c: [['1']] });
    expect(found[2]!.columns).toEqual({ a: ['5'], b: ['x'.repeat(100_000)], c: [['1']] });
    const { a, b, c } = found[3]!.columns;
    expect([a!.length, b!.length, c!.length]).toEqual([70_000, 70_000, 70_000]);
    expect([new Set(a), new Set(b), new Set(c!.map((list) => JSON.stringify(list)))]).toEqual([
      new Set(['-7']),
      new Set(['same']),
      new Set(['[]']),
    ]);
    for (const [i, file] of found.entries())
      checkStatistics(file, ({ path, valueCount }) => valueCount === 0 || (i === 2 && path === 'b'));
  });
});
