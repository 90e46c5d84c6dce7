import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  brotliCompressSync,
  brotliDecompressSync,
  constants,
  gunzipSync,
  gzipSync,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib';
import type { ColumnMetaData, Encoding, SchemaElement } from 'hyparquet';
import { isLakeError } from '../../src/errors.ts';
import { readFlat } from '../../src/file/parquet/decode/flat.ts';
import { parquetFormat } from '../../src/file/parquet/index.ts';
import { inflateOf } from '../../src/file/parquet/inflate.ts';
import { readLeaf } from '../../src/file/parquet/leaf-stream.ts';
import { codecFor } from '../../src/spec/values/codec.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';
import { field, objectOf } from '../support/parquet.ts';

setDefaultTimeout(300_000);

const run = promisify(execFile);
const script = (name: string): string => fileURLToPath(new URL(`../services/${name}`, import.meta.url));
const zlib = {
  gzip: { compress: gzipSync, decompress: gunzipSync },
  zstd: { compress: zstdCompressSync, decompress: zstdDecompressSync },
  brotli: { decompress: brotliDecompressSync },
};

/** Where pyarrow is; `undefined` where it can't be installed. That is no failure but in CI. */
const pyarrow = await run('bash', [script('pyarrow.sh')]).then(
  ({ stdout }) => stdout.trim(),
  (error: Error) => {
    if (process.env['CI'] === 'true') throw error;
    return undefined;
  },
);

describe.skipIf(pyarrow === undefined)("pyarrow's encodings: the values that DuckDB shows", () => {
  const fields = [
    field(1, 'i', 'int32'),
    field(2, 'l', 'int64'),
    field(3, 'f', 'float32'),
    field(4, 'd', 'float64'),
    field(5, 's', 'varchar'),
    field(6, 'b', 'blob'),
    field(7, 'm', 'decimal(30,5)'),
    field(8, 'u', 'uuid'),
    field(9, 'k', 'boolean'),
    field(10, 'n', 'int32'),
  ];
  let duck: Oracle;
  let dir: string;
  beforeAll(async () => {
    duck = await openOracle();
    dir = await mkdtemp(join(tmpdir(), 'edgemere-encodings-'));
    await run('python3', [script('pyarrow-encodings.py'), dir], { env: { ...process.env, PYTHONPATH: pyarrow } });
  });
  afterAll(async () => {
    await duck.close();
    await rm(dir, { recursive: true, force: true });
  });

  for (const shape of ['split', 'split-zstd', 'delta', 'delta-gzip', 'fallback', 'fallback-v2'])
    test.each([0, 3])(`${shape}, NULL in every nth row: %d`, async (share) => {
      expect(await readdir(dir)).toContain(`${shape}-${share}.parquet`);
      const path = join(dir, `${shape}-${share}.parquet`);
      const list = fields.map(({ name }) => (name === 'b' ? 'hex(b) AS b' : name)).join(', ');
      // All shapes have the same rows, and DuckDB can't read BYTE_STREAM_SPLIT of all types.
      const known = path.replace(/split(-zstd)?/, 'delta');
      const expected = await duck.rows(`SELECT ${list} FROM '${known}'`);
      const reader = await parquetFormat(zlib).openReader(objectOf(await Bun.file(path).bytes()));
      const rows: Record<string, unknown>[] = [];
      for await (const { rowCount, columns } of reader.read({ fields }))
        for (let r = 0; r < rowCount; r++)
          rows.push(
            Object.fromEntries(
              fields.map(({ name, type }, c) => {
                const value = columns[c]!.values[r];
                return [name, value === null ? null : codecFor(type).text(value as never)];
              }),
            ),
          );
      expect(rows.length).toBe(5000);
      // Floats are equal numbers, whatever their text.
      const numbers = (all: Record<string, unknown>[]): unknown[] =>
        all.map((row) => ({
          ...row,
          f: row['f'] && Number(row['f']),
          d: row['d'] && Number(row['d']),
          k: String(row['k']),
        }));
      const bool = { '0': 'false', '1': 'true' } as Record<string, string>;
      expect(numbers(rows.map((row) => ({ ...row, k: bool[String(row['k'])] ?? row['k'] })))).toEqual(
        numbers(expected),
      );
    });
});

/** Thrift's compact form of a page header with these numbers. */
function pageHeader(length: number, byteLength: number, count: number, encoding: number): Uint8Array {
  const varint = (value: number): number[] => {
    const bytes: number[] = [];
    let rest = value * 2;
    for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
    return [...bytes, rest];
  };
  return Uint8Array.of(
    ...[0x15, 0, 0x15, ...varint(length), 0x15, ...varint(byteLength), 0x2c],
    ...[0x15, ...varint(count), 0x15, ...varint(encoding), 0x15, 6, 0x15, 6, 0, 0],
  );
}

/** A number as DELTA_BINARY_PACKED has its header's. */
const uleb = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) | 128, ...uleb(Math.floor(value / 128))];

/** DELTA_BINARY_PACKED of numbers that go up by `step`: a few bytes, however many they are. */
function run64(count: number, first: number, step: number): number[] {
  const bytes = [...uleb(1 << 20), 4, ...uleb(count), ...uleb(first * 2)];
  for (let left = count - 1; left > 0; left -= 1 << 20) bytes.push(...uleb(step * 2), 0, 0, 0, 0);
  return bytes;
}

const element: SchemaElement = { type: 'BYTE_ARRAY', name: 's', repetition_type: 'REQUIRED' };
const chunkOf = (codec: ColumnMetaData['codec'], count: number): ColumnMetaData =>
  ({
    type: 'BYTE_ARRAY',
    codec,
    encodings: ['DELTA_BYTE_ARRAY'] as Encoding[],
    path_in_schema: ['s'],
    num_values: BigInt(count),
    total_compressed_size: 0n,
    total_uncompressed_size: 0n,
    data_page_offset: 0n,
  }) as ColumnMetaData;

/** The most memory that a call takes for buffers. */
async function bytesTaken(call: () => unknown): Promise<number> {
  const original = globalThis.Uint8Array;
  let taken = 0;
  const counting: typeof Uint8Array = new Proxy(original, {
    construct(target, args, newTarget): object {
      if (typeof args[0] === 'number') taken = Math.max(taken, args[0]);
      return Reflect.construct(target, args, newTarget === counting ? target : newTarget);
    },
  });
  globalThis.Uint8Array = counting;
  try {
    await call();
  } finally {
    globalThis.Uint8Array = original;
  }
  return taken;
}

const failure = async (call: () => unknown): Promise<unknown> => {
  try {
    return await call();
  } catch (error) {
    return error;
  }
};

describe('pages that claim more than they hold take no memory for it', () => {
  test('DELTA_BYTE_ARRAY: values that each begin with all of the one before', async () => {
    // Each value is one byte longer than the one before: 60,000 of them have 1.8 GB.
    const count = 60_000;
    const data = [...run64(count, 0, 1), ...run64(count, 1, 0), ...new Array(count).fill(0x61)];
    const bytes = Buffer.concat([pageHeader(data.length, data.length, count, 7), Uint8Array.from(data)]);
    const source = {
      chunk: chunkOf('UNCOMPRESSED', count),
      bytes,
      element,
      isText: true,
      load: undefined,
      compressors: {},
    };
    let error: unknown;
    const taken = await bytesTaken(async () => {
      error = await failure(() => readFlat(source, count));
    });
    expect(isLakeError(error, 'CORRUPT')).toBe(true);
    expect(taken).toBeLessThan(1 << 26);
  });

  test('DELTA_BYTE_ARRAY: a long value that comes again and again is there once', () => {
    const count = 50_000;
    const long = 'x'.repeat(100_000);
    const prefixes = [...uleb(1 << 20), 4, ...uleb(count), 0, ...uleb(0), 32, 0, 0, 0];
    // The first difference is the length, the others 0: 32 bits each in the first of four parts.
    const packed = new Uint8Array((1 << 18) * 4);
    new DataView(packed.buffer).setUint32(0, long.length, true);
    const suffixes = [...uleb(1 << 20), 4, ...uleb(count), ...uleb(long.length * 2), ...uleb(0), 32, 0, 0, 0];
    const lengths = new Uint8Array((1 << 18) * 4);
    new DataView(lengths.buffer).setInt32(0, -long.length, true);
    const data = Buffer.concat([
      Uint8Array.from(prefixes),
      packed,
      Uint8Array.from(suffixes),
      lengths,
      new TextEncoder().encode(long),
    ]);
    const bytes = Buffer.concat([pageHeader(data.length, data.length, count, 7), data]);
    const source = {
      chunk: chunkOf('UNCOMPRESSED', count),
      bytes,
      element,
      isText: true,
      load: undefined,
      compressors: {},
    };
    const values = readFlat(source, count);
    expect(values.length).toBe(count);
    for (const i of [0, 1, 2, count - 1]) expect(values[i] === long).toBe(true);
  });

  test('Snappy: a header that claims gigabytes, flat and nested', async () => {
    const data = Uint8Array.of(5, 16, 1, 2, 3, 4, 5);
    const bytes = Buffer.concat([pageHeader(2 ** 31 - 100, data.length, 1, 0), data]);
    for (const read of [
      () =>
        readFlat({ chunk: chunkOf('SNAPPY', 1), bytes, element, isText: false, load: undefined, compressors: {} }, 1),
      () =>
        readLeaf({
          bytes,
          chunk: chunkOf('SNAPPY', 1),
          schemaPath: [
            { children: [], count: 1, path: [], element: { name: 'root' } },
            { children: [], count: 1, path: ['s'], element },
          ] as never,
          isText: false,
          compressors: {},
        }),
    ]) {
      let error: unknown;
      const taken = await bytesTaken(async () => {
        error = await failure(read);
      });
      expect(isLakeError(error, 'CORRUPT')).toBe(true);
      expect(taken).toBeLessThan(1000);
    }
  });

  test('gzip, zstd and brotli: bytes that become more than the header says, by stream and by function', async () => {
    const zeros = new Uint8Array(1 << 26);
    for (const [codec, compress] of [
      ['GZIP', gzipSync],
      ['ZSTD', zstdCompressSync],
      ['BROTLI', (bytes: Uint8Array) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })],
    ] as const)
      for (const compressors of [{}, zlib]) {
        const inflate = inflateOf(codec, compressors)!;
        const packed = new Uint8Array(compress(zeros));
        expect((await inflate(packed, zeros.length)).length).toBe(zeros.length);
        expect((await inflate(new Uint8Array(compress(zeros.subarray(0, 1))), 1)).length).toBe(1);
        const error = await failure(() => inflate(packed, 1000));
        expect(error).toBeInstanceOf(Error);
      }
  });
});
