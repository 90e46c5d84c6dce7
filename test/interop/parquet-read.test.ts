import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { isLakeError } from '../../src/errors.ts';
import { parquetFormat } from '../../src/file/parquet/index.ts';
import { inflateOf } from '../../src/file/parquet/inflate.ts';
import type { Field } from '../../src/schema/field.ts';
import { parseType } from '../../src/spec/types.ts';
import { codecFor } from '../../src/spec/values/codec.ts';
import { literal, type Oracle, openOracle } from '../support/oracle.ts';
import { decoded, duckFileOf, field, objectOf, readFile, writeFile } from '../support/parquet.ts';

const parquet = parquetFormat();

let duck: Oracle;
let dir: string;
beforeAll(async () => {
  duck = await openOracle();
  dir = await mkdtemp(join(tmpdir(), 'edgemere-parquet-read-'));
});
afterAll(async () => {
  await duck.close();
  await rm(dir, { recursive: true, force: true });
});

const duckFile = (query: string, ids: Record<string, number | string>, options?: string): Promise<Uint8Array> =>
  duckFileOf(duck, dir, query, ids, options);

/** Types as DuckDB names them, with texts that it casts to them. */
const types: readonly [type: string, duckName: string, values: readonly string[]][] = [
  ['boolean', 'BOOLEAN', ['true', 'false']],
  ['int8', 'TINYINT', ['-128', '127', '0']],
  ['int16', 'SMALLINT', ['-32768', '32767']],
  ['int32', 'INTEGER', ['-2147483648', '2147483647']],
  ['int64', 'BIGINT', ['-9223372036854775808', '9223372036854775807', '9007199254740993']],
  [
    'int128',
    'HUGEINT',
    ['5', '-5', '9007199254740992', '-9007199254740993', '100000000000000000000000000000000000000'],
  ],
  ['uint8', 'UTINYINT', ['0', '255']],
  ['uint16', 'USMALLINT', ['0', '65535']],
  ['uint32', 'UINTEGER', ['0', '4294967295', '2147483648']],
  ['uint64', 'UBIGINT', ['0', '18446744073709551615', '9223372036854775808']],
  ['uint128', 'UHUGEINT', ['5', '9223372036854775808']],
  ['float32', 'FLOAT', ['0.1', '-0.0', 'nan', 'inf', '-inf', '3.4028235e38']],
  ['float64', 'DOUBLE', ['0.1', '-0.0', 'nan', 'inf', '-inf', '1.7976931348623157e308']],
  ['decimal(4,1)', 'DECIMAL(4,1)', ['-999.9', '999.9', '0.1']],
  ['decimal(9,9)', 'DECIMAL(9,9)', ['-0.999999999']],
  ['decimal(18,3)', 'DECIMAL(18,3)', ['-999999999999999.999', '0.001']],
  [
    'decimal(38,10)',
    'DECIMAL(38,10)',
    ['-9999999999999999999999999999.9999999999', '9999999999999999999999999999.9999999999', '-1'],
  ],
  ['varchar', 'VARCHAR', ['', 'a', 'é', '\u{1f600}', 'NULL', 'x'.repeat(1000)]],
  ['json', 'JSON', ['{"a": 12345678901234567890}', ' [1,2 ]', 'null', '"x"']],
  ['blob', 'BLOB', ['', '\\x00\\xFF', 'abc']],
  [
    'uuid',
    'UUID',
    [
      'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
      '00000000-0000-0000-0000-000000000000',
    ],
  ],
  ['date', 'DATE', ['1970-01-01', '1969-12-31', '0044-03-15 (BC)', '12024-01-15', 'infinity', '-infinity']],
  ['time', 'TIME', ['00:00:00', '24:00:00', '12:34:56.789012']],
  ['timetz', 'TIMETZ', ['12:34:56+00', '12:34:56.5+02', '00:30:00+01']],
  [
    'timestamp',
    'TIMESTAMP',
    ['1969-12-31 23:59:59.999999', '0044-03-15 (BC) 01:02:03.5', '12024-01-15 12:30:00', 'infinity', '-infinity'],
  ],
  [
    'timestamptz',
    'TIMESTAMPTZ',
    ['1969-12-31 23:59:59.999999+00', '2024-01-15 12:30:00+05:30', 'infinity', '-infinity'],
  ],
  ['timestamp_s', 'TIMESTAMP_S', ['1969-12-31 23:59:59', '12024-01-15 12:30:00']],
  ['timestamp_ms', 'TIMESTAMP_MS', ['1969-12-31 23:59:59.999', '12024-01-15 12:30:00', 'infinity', '-infinity']],
  [
    'timestamp_ns',
    'TIMESTAMP_NS',
    ['1969-12-31 23:59:59.999999999', '2262-04-11 23:47:16.854775806', 'infinity', '-infinity'],
  ],
  ['interval', 'INTERVAL', ['1 year 2 months 3 days 04:05:06.789', '0 days']],
];

/** A value that was read, as DuckDB's cast to text; JSON with its bigints told apart. */
function textOf(type: string, value: unknown): string | null {
  if (value === null) return null;
  if (type === 'boolean') return String(value);
  if (type === 'varchar') return value as string;
  if (type === 'json') return JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? `${item}n` : item));
  if (type === 'blob') return Buffer.from(value as Uint8Array).toString('latin1');
  const codec = codecFor(parseType(type));
  return codec.text(codec.encode(value))!;
}

/** DuckDB's cast to text, in the form of {@link textOf}. */
function expectedOf(type: string, text: string | null): string | null {
  if (text === null) return null;
  if (type === 'json') return textOf(type, codecFor({ name: 'json' }).decode(text));
  if (type === 'blob') return text.replace(/\\x(..)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return text.replace(/^-nan$/, 'nan');
}

describe('every flat type as DuckDB writes it', () => {
  // Few values, and so many that dictionaries are used.
  for (const repeats of [1, 500])
    for (const [type, duckName, values] of types)
      test(`${type} × ${repeats}`, async () => {
        const path = join(dir, 'x.parquet');
        const list = [...values.map(literal), 'NULL'].join(', ');
        await duck.run(
          `COPY (SELECT v::${duckName} AS x FROM (SELECT unnest([${list}]) AS v), range(${repeats})) TO '${path}' (FORMAT parquet, FIELD_IDS {x: 9})`,
        );
        const bytes = new Uint8Array(await Bun.file(path).arrayBuffer());
        // As DuckDB itself reads the file: 128-bit integers are doubles there, times with an offset are in UTC.
        const expected = await duck.rows(`SELECT x::${duckName} AS x FROM read_parquet('${path}')`);
        const [read] = await readFile(bytes, { fields: [field(9, 'other name', type)] });
        expect(read!.length).toBe((values.length + 1) * repeats);
        expect(read!.map((value) => textOf(type, value))).toEqual(expected.map((row) => expectedOf(type, row['x']!)));
      });
});

describe('layouts', () => {
  const query =
    "SELECT range AS i, 'text ' || (range % 50) AS s, CASE WHEN range % 3 = 0 THEN NULL ELSE range / 7 END AS d FROM range(10000)";
  const fields = [field(1, 'i', 'int64'), field(2, 's', 'varchar'), field(3, 'd', 'float64')];
  const expected = (): unknown[][] => {
    const rows = Array.from({ length: 10_000 }, (_, i) => i);
    return [rows.map(BigInt), rows.map((i) => `text ${i % 50}`), rows.map((i) => (i % 3 === 0 ? null : i / 7))];
  };
  for (const options of [
    '',
    ', ROW_GROUP_SIZE 2048',
    ", COMPRESSION 'uncompressed'",
    ", PARQUET_VERSION 'V2'",
    ", PARQUET_VERSION 'V2', ROW_GROUP_SIZE 2048",
    ', DICTIONARY_SIZE_LIMIT 1',
  ])
    test(options || 'as usual', async () => {
      expect(await readFile(await duckFile(query, { i: 1, s: 2, d: 3 }, options), { fields })).toEqual(expected());
    });

  test('gzip by the runtime, zstd by what the caller hands in', async () => {
    const plain = await readFile(await duckFile(query, { i: 1, s: 2, d: 3 }), { fields });
    const gzip = await duckFile(query, { i: 1, s: 2, d: 3 }, `, COMPRESSION 'gzip'`);
    expect(await readFile(gzip, { fields })).toEqual(plain);
    for (const version of ['V1', 'V2']) {
      const bytes = await duckFile(query, { i: 1, s: 2, d: 3 }, `, COMPRESSION 'zstd', PARQUET_VERSION '${version}'`);
      const zstd = { compress: zstdCompressSync, decompress: zstdDecompressSync };
      const reader = await parquetFormat({ zstd }).openReader(objectOf(bytes));
      const batches = await Array.fromAsync(reader.read({ fields }));
      expect(batches.map(({ columns }) => columns.map((column) => decoded(column)))).toEqual([plain]);
    }
  });

  test('compressions that cannot be read say so', () => {
    for (const codec of ['LZO', 'LZ4'] as const)
      expect(() => inflateOf(codec, {})).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
  });

  test('nested values: NULL, empty, holding NULL are three things', async () => {
    const rows = `VALUES (1, [1, NULL, 3], {'x': 1, 'y': ['a', NULL]}, MAP {'k': {'q': 1}, 'z': NULL}, [[1], [], NULL, [2, 3]]),
      (2, NULL, NULL, NULL, NULL), (3, [], {'x': NULL, 'y': NULL}, MAP {}, []), (4, [NULL], {'x': 5, 'y': []}, MAP {'a': {'q': NULL}}, [[NULL]])`;
    const ids = {
      id: 1,
      l: '{__duckdb_field_id: 2, element: 3}',
      s: '{__duckdb_field_id: 4, x: 5, y: {__duckdb_field_id: 6, element: 7}}',
      m: '{__duckdb_field_id: 8, key: 9, value: {__duckdb_field_id: 10, q: 11}}',
      ll: '{__duckdb_field_id: 12, element: {__duckdb_field_id: 13, element: 14}}',
    };
    const part = (id: number, name: string, type: string, ...children: Field[]): Field => ({
      ...field(id, name, type),
      children,
    });
    const nested = [
      part(2, 'l', 'list', field(3, 'element', 'int32')),
      // A member that the file hasn't, one of its list, one under another name.
      part(
        4,
        's',
        'struct',
        field(99, 'new', 'int32'),
        part(6, 'why', 'list', field(7, 'element', 'varchar')),
        field(5, 'x', 'int32'),
      ),
      part(8, 'm', 'map', field(9, 'key', 'varchar'), part(10, 'value', 'struct', field(11, 'q', 'int32'))),
      part(12, 'll', 'list', part(13, 'element', 'list', field(14, 'element', 'int32'))),
    ];
    const bytes = await duckFile(`SELECT * FROM (${rows}) AS t (id, l, s, m, ll)`, ids);
    expect(await readFile(bytes, { fields: nested })).toEqual([
      [[1, null, 3], null, [], [null]],
      [{ new: null, why: ['a', null], x: 1 }, null, { new: null, why: null, x: null }, { new: null, why: [], x: 5 }],
      [
        new Map<string, unknown>([
          ['k', { q: 1 }],
          ['z', null],
        ]),
        null,
        new Map(),
        new Map([['a', { q: null }]]),
      ],
      [[[1], [], null, [2, 3]], null, [], [[null]]],
    ]);
  });
});

describe('columns', () => {
  test('are bound by field id: in any order, whatever their names, and not at all by name', async () => {
    const bytes = await duckFile('SELECT 1 AS a, 2 AS b, 3 AS c', { a: 10, b: 20, c: 30 });
    expect(await readFile(bytes, { fields: [field(30, 'a', 'int32'), field(10, 'b', 'int32')] })).toEqual([[3], [1]]);
    expect(await readFile(bytes, { fields: [field(40, 'a', 'int32'), field(20, 'x', 'int32')] })).toEqual([
      [null],
      [2],
    ]);
    expect(await readFile(bytes, { fields: [] })).toEqual([]);
  });

  test('that the file lacks have their initial default', async () => {
    const bytes = await duckFile('SELECT range AS a FROM range(3)', { a: 1 });
    const defaults: [string, string, unknown][] = [
      ['int32', '5', 5],
      ['varchar', 'NULL', 'NULL'],
      ['varchar', '', ''],
      ['decimal(3,3)', '.050', '0.050'],
      ['boolean', 'true', true],
      ['blob', 'a\\x01', new Uint8Array([97, 1])],
      ['timetz', '12:00:00+02', '10:00:00+00'],
      ['float64', 'inf', Infinity],
      ['json', '{"a":1}', { a: 1 }],
    ];
    for (const [type, initialDefault, value] of defaults)
      expect(await readFile(bytes, { fields: [field(2, 'b', type, { initialDefault })] })).toEqual([
        [value, value, value],
      ]);
  });

  test('whose type was widened since', async () => {
    const bytes = await duckFile(
      "SELECT (-5)::TINYINT a, 200::UTINYINT b, 4294967295::UINTEGER c, 0.1::FLOAT d, 1.5::DECIMAL(4,1) e, '2024-01-15 12:30:00'::TIMESTAMP_S f, '2024-01-15 12:30:00.123'::TIMESTAMP_MS g",
      { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7 },
    );
    const fields = [
      field(1, 'a', 'int64'),
      field(2, 'b', 'int32'),
      field(3, 'c', 'int64'),
      field(4, 'd', 'float64'),
      field(5, 'e', 'decimal(20,3)'),
      field(6, 'f', 'timestamp'),
      field(7, 'g', 'timestamp_ns'),
    ];
    const [a, b, c, d, e, f, g] = await readFile(bytes, { fields });
    expect([a, b, c, d, e]).toEqual([[-5n], [200], [4294967295n], [Math.fround(0.1)], ['1.500']]);
    expect((f![0] as { micros: bigint }).micros).toBe(1_705_321_800_000_000n);
    expect((g![0] as { nanos: bigint }).nanos).toBe(1_705_321_800_123_000_000n);
  });

  test('that are something else are refused', async () => {
    const bytes = await duckFile(
      "SELECT 1 AS a, [1] AS l, '2024-01-15'::DATE AS d, 1.25::DECIMAL(4,2) AS e, 'x' AS s",
      { a: 1, l: 2, d: 3, e: 4, s: 5 },
    );
    for (const [id, type] of [
      [1, 'varchar'],
      [1, 'date'],
      [2, 'int32'],
      [3, 'int32'],
      [4, 'decimal(4,1)'],
      [4, 'int32'],
      [5, 'int64'],
      [5, 'uuid'],
      [5, 'timestamp'],
    ] as const) {
      const error = await readFile(bytes, { fields: [field(id, 'x', type)] }).catch((reason) => reason);
      expect([id, type, isLakeError(error, 'UNSUPPORTED')]).toEqual([id, type, true]);
    }
  });

  test('of a file without field ids are refused, never guessed', async () => {
    const path = join(dir, 'no-ids.parquet');
    await duck.run(`COPY (SELECT 1 AS a) TO '${path}'`);
    const bytes = new Uint8Array(await Bun.file(path).arrayBuffer());
    const error = await readFile(bytes, { fields: [field(1, 'a', 'int32')] }).catch((reason) => reason);
    expect(isLakeError(error, 'UNSUPPORTED')).toBe(true);
  });
});

describe('reading no more than is needed', () => {
  const rowsOf = async (bytes: Uint8Array, limit: number): Promise<[batches: number[], values: unknown[]]> => {
    const reader = await parquet.openReader(objectOf(bytes));
    const batches: number[] = [];
    const values: unknown[] = [];
    for await (const batch of reader.read({ fields: [field(1, 'i', 'int64')], limit })) {
      batches.push(batch.rowCount);
      values.push(...decoded(batch.columns[0]!));
    }
    return [batches, values];
  };

  test('a limit ends within a row group', async () => {
    const bytes = await duckFile('SELECT range AS i FROM range(5000)', { i: 1 }, ', ROW_GROUP_SIZE 2048');
    expect(await rowsOf(bytes, 0)).toEqual([[], []]);
    expect(await rowsOf(bytes, 3)).toEqual([[3], [0n, 1n, 2n]]);
    const [batches, values] = await rowsOf(bytes, 3000);
    expect(batches).toEqual([2048, 952]);
    expect(values).toEqual(Array.from({ length: 3000 }, (_, i) => BigInt(i)));
    expect((await rowsOf(bytes, 1e9))[0]).toEqual([2048, 2048, 904]);
  });

  test('one request for the footer, one for neighbouring columns', async () => {
    const noise = Array.from({ length: 5000 }, () => crypto.randomUUID());
    const { bytes, file } = await writeFile(
      [field(1, 'a', 'varchar'), field(2, 'b', 'int64'), field(3, 'c', 'int64'), field(4, 'd', 'varchar')],
      [noise, noise.map((_, i) => i), noise.map((_, i) => i), noise],
    );
    expect(bytes.length).toBeGreaterThan(1 << 18);
    const ranges: [number, number][] = [];
    const reader = await parquet.openReader(objectOf(bytes, ranges), { footerLength: file.footerLength });
    expect(reader.rowCount).toBe(5000);
    expect(ranges).toEqual([[bytes.length - file.footerLength - 8, bytes.length]]);
    for await (const _ of reader.read({ fields: [field(4, 'd', 'varchar'), field(1, 'a', 'varchar')] }));
    expect(ranges.length).toBe(2);
    expect(ranges[1]![0]).toBe(4);
  });

  test('one request for the whole of a small file', async () => {
    const { bytes, file } = await writeFile([field(1, 'a', 'int64')], [[1, 2, 3]]);
    const ranges: [number, number][] = [];
    const reader = await parquet.openReader(objectOf(bytes, ranges), { footerLength: file.footerLength });
    for await (const _ of reader.read({ fields: [field(1, 'a', 'int64')] }));
    expect(ranges).toEqual([[0, bytes.length]]);
  });

  test('a footer longer than expected, or told wrong, is read in full', async () => {
    const fields = Array.from({ length: 1500 }, (_, i) => field(i + 1, `a long name of a column ${i}`, 'int32'));
    const { bytes, file } = await writeFile(
      fields,
      fields.map((_, i) => [i]),
    );
    expect(file.footerLength).toBeGreaterThan(1 << 16);
    for (const footerLength of [undefined, 10, file.footerLength, file.footerLength + 5, bytes.length * 2]) {
      const reader = await parquet.openReader(objectOf(bytes), { footerLength });
      for await (const { columns } of reader.read({ fields: [fields[1499]!] }))
        expect(columns[0]!.values[0]).toBe(1499);
    }
  });

  test('far columns are requests of their own', async () => {
    const noise = Array.from({ length: 20_000 }, () => crypto.randomUUID());
    const fields = [field(1, 'a', 'int32'), field(2, 'b', 'varchar'), field(3, 'c', 'int32')];
    const { bytes } = await writeFile(fields, [noise.map((_, i) => i), noise, noise.map((_, i) => i)]);
    const ranges: [number, number][] = [];
    const reader = await parquet.openReader(objectOf(bytes, ranges));
    for await (const _ of reader.read({ fields: [fields[0]!, fields[2]!] }));
    expect(ranges.length).toBe(3);
    const read = ranges.slice(1).reduce((sum, [start, end]) => sum + end - start, 0);
    expect(read).toBeLessThan(bytes.length / 2);
  });

  test('an abort ends it with its reason', async () => {
    const bytes = await duckFile('SELECT range AS i FROM range(5000)', { i: 1 }, ', ROW_GROUP_SIZE 2048');
    const fields = [field(1, 'i', 'int64')];
    const reason = new Error('enough');
    expect(await readFile(bytes, { fields, signal: AbortSignal.abort(reason) }).catch((error) => error)).toBe(reason);
    const controller = new AbortController();
    const reader = await parquet.openReader(objectOf(bytes));
    let batches = 0;
    const reading = (async () => {
      for await (const _ of reader.read({ fields, signal: controller.signal })) {
        batches++;
        controller.abort(reason);
      }
    })();
    expect(await reading.catch((error) => error)).toBe(reason);
    expect(batches).toBe(1);
  });
});
