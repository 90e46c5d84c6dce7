import { describe, expect, test } from 'bun:test';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import manifest from '../../package.json' with { type: 'json' };
import { isLakeError } from '../../src/errors.ts';
import { createEncodedWriter } from '../../src/file/parquet/encode/file-writer.ts';
import { quickDate, quickDecimal, quickMicros, quickTime } from '../../src/file/parquet/encode/quick-parse.ts';
import { parseType } from '../../src/spec/types.ts';
import { codecFor, type Physical } from '../../src/spec/values/codec.ts';
import { encodeFile } from '../support/encode-cases.ts';
import { field, memorySink, readFile, target } from '../support/parquet.ts';

const id = field(1, 'id', 'int64');
const name = field(2, 'name', 'varchar');

const readBack = async (bytes: Uint8Array, fields = [id, name]) => readFile(bytes, { fields });

describe('sizes', () => {
  test('no rows: a whole file, written in one piece', async () => {
    const sink = memorySink();
    const writer = createEncodedWriter(target([id, name], sink));
    const file = await writer.close();
    expect(sink.calls).toEqual(['open', 'write', 'close']);
    expect(file).toMatchObject({ rowCount: 0, byteLength: sink.bytes().length });
    expect(file.columns).toMatchObject([
      { valueCount: 0, nullCount: 0, byteLength: 0, min: undefined },
      { valueCount: 0, nullCount: 0, byteLength: 0, min: undefined },
    ]);
    expect(await readBack(sink.bytes())).toEqual([[], []]);
  });

  test('a small file is one write, a large one begins with its first row group', async () => {
    const sink = memorySink();
    const writer = createEncodedWriter(target([id], sink, { rowGroupRowCount: 1000 }));
    await writer.write({
      rowCount: 999,
      firstRow: 0,
      columns: [BigInt64Array.from({ length: 999 }, (_, i) => BigInt(i))],
    });
    expect(sink.calls).toEqual([]);
    expect(writer.rowCount).toBe(999);
    await writer.write({ rowCount: 1, firstRow: 999, columns: [[5]] });
    await writer.close();
    expect(sink.calls).toEqual(['open', 'write', 'close']);
    expect(writer.byteLength).toBe(sink.bytes().length);
  });

  for (const extra of [-1, 0, 1])
    test(`row groups of 1000, 2000 rows and ${extra} more, in one batch and in many`, async () => {
      const count = 2000 + extra;
      const ids = Array.from({ length: count }, (_, i) => BigInt(i));
      const names = ids.map((n) => (n % 3n === 0n ? null : `n${n % 50n}`));
      for (const batch of [1, 7, 1000, 5000]) {
        const { bytes } = await encodeFile([id, name], [ids, names], { rowGroupRowCount: 1000 }, {}, batch);
        expect(await readBack(bytes)).toEqual([ids, names]);
        const groups = parquetMetadata(bytes.buffer).row_groups.map((group) => Number(group.num_rows));
        expect(groups).toEqual(extra === 1 ? [1000, 1000, 1] : extra === 0 ? [1000, 1000] : [1000, 999]);
      }
    });

  test('row groups end by bytes too', async () => {
    const names = Array.from({ length: 5000 }, (_, i) => `${i}`.repeat(100));
    const { bytes } = await encodeFile([name], [names], { rowGroupByteLength: 100_000 });
    expect(parquetMetadata(bytes.buffer).row_groups.length).toBeGreaterThan(4);
    expect(await readBack(bytes, [name])).toEqual([names]);
  });

  test('one row, and NULL alone', async () => {
    for (const values of [[null], [undefined, null], ['x'], new Array(3000).fill(null)]) {
      const { bytes, file } = await encodeFile([name], [values]);
      expect(await readBack(bytes, [name])).toEqual([values.map((value) => value ?? null)]);
      const nullCount = values.filter((value) => value == null).length;
      expect(file.columns[0]).toMatchObject({ nullCount, valueCount: values.length - nullCount });
    }
  });

  test('more different strings than a dictionary takes, by number and by length', async () => {
    // They repeat in the beginning, so that the dictionary isn't given up before.
    const many = Array.from({ length: 100_000 }, (_, i) => `v${i < 20_000 ? i % 100 : i}`);
    const long = Array.from({ length: 3000 }, (_, i) => `${i < 500 ? i % 10 : i} ${'long '.repeat(300)}`);
    for (const values of [many, long, [...long, ...many], [...many, null, ...long, ...many]]) {
      const { bytes } = await encodeFile([name], [values]);
      expect(await readBack(bytes, [name])).toEqual([values]);
      const encodings = parquetMetadata(bytes.buffer).row_groups[0]!.columns[0]!.meta_data!.encodings;
      expect(encodings).toContain('DELTA_LENGTH_BYTE_ARRAY');
    }
  });

  test('strings of a megabyte stay within pages and row groups', async () => {
    const megabyte = 'edge'.repeat(1 << 18);
    const values = Array.from({ length: 40 }, (_, i) => (i % 5 === 0 ? 'short' : `${i}${megabyte}`));
    const sink = memorySink();
    const writer = createEncodedWriter(
      target([name], sink, { rowGroupByteLength: 4 << 20, compression: 'uncompressed' }),
    );
    await writer.write({ rowCount: values.length, firstRow: 0, columns: [values] });
    expect(writer.byteLength).toBeLessThan(40 << 20);
    const file = await writer.close();
    const bytes = new Uint8Array(await new Blob(sink.chunks as Uint8Array<ArrayBuffer>[]).arrayBuffer());
    expect(file.columns[0]).toMatchObject({ max: 'short', valueCount: 40 });
    expect(file.footerLength).toBeLessThan(10_000);
    expect(await readBack(bytes, [name])).toEqual([values]);
  });
});

describe('typed arrays', () => {
  const cases: readonly (readonly [string, ArrayLike<unknown>])[] = [
    ['int8', Int8Array.of(-128, 127)],
    ['int8', Uint8Array.of(0, 127)],
    ['uint8', Uint8Array.of(0, 255)],
    ['uint8', Int8Array.of(1)],
    ['int16', Int16Array.of(-32768, 32767)],
    ['uint16', Uint16Array.of(65535)],
    ['int32', Int32Array.of(-(2 ** 31), 2 ** 31 - 1)],
    ['int32', Uint32Array.of(5)],
    ['uint32', Uint32Array.of(2 ** 32 - 1, 0)],
    ['int64', BigInt64Array.of(-(2n ** 63n), 2n ** 63n - 1n)],
    ['int64', Int32Array.of(-1, 1)],
    ['int64', BigUint64Array.of(7n)],
    ['uint64', BigUint64Array.of(2n ** 64n - 1n, 0n)],
    ['uint64', BigInt64Array.of(7n)],
    ['float32', Float32Array.of(1.5, Number.NaN, -0)],
    ['float64', Float64Array.of(1.5, Number.NaN, -0)],
    ['float64', Float32Array.of(0.1)],
    ['float32', Float64Array.of(0.1)],
    ['float64', Int32Array.of(3)],
    ['timestamp', BigInt64Array.of(-1n, 8_000_000_000_000_000_000n)],
    ['time', BigInt64Array.of(0n, 86_400_000_000n)],
  ];
  for (const [type, values] of cases)
    test(`${values.constructor.name} into ${type}`, async () => {
      const column = field(1, 'x', type);
      const codec = codecFor(column.type);
      const expected = Array.from(values, (value) => codec.decode(codec.encode(value)));
      const { bytes } = await encodeFile([column], [values]);
      expect(await readBack(bytes, [column])).toEqual([expected]);
    });
});

describe('refusals', () => {
  const refused = async (column = name, values: readonly unknown[], firstRow = 0) => {
    const sink = memorySink();
    const writer = createEncodedWriter(target([column], sink));
    const error = await writer
      .write({ rowCount: values.length, firstRow, columns: [values] })
      .catch((thrown: unknown) => thrown);
    expect(sink.calls).toEqual([]);
    await expect(writer.write({ rowCount: 0, firstRow: 0, columns: [[]] })).rejects.toMatchObject({ code: 'CLOSED' });
    await writer.abort();
    if (!isLakeError(error, 'INVALID_VALUE')) throw error;
    return error.context;
  };

  test('name the row as the caller counts it', async () => {
    const values = Array.from({ length: 3000 }, (_, i) => `value ${i}`);
    expect(await refused(name, [...values, 5], 70_000)).toMatchObject({
      table: 't',
      column: 'name',
      row: 73_000,
      value: '5',
    });
    expect(await refused(id, [1, null, 2.5])).toMatchObject({ column: 'id', row: 2, value: '2.5' });
  });

  test('lone surrogates, also those that their neighbours would complete', async () => {
    // All different, so that they aren't looked at one by one in a dictionary.
    const values = Array.from({ length: 9000 }, (_, i) => `value ${i}`);
    expect(await refused(name, [...values, 'a\ud800'])).toMatchObject({ row: 9000 });
    expect(await refused(name, [...values, 'ok', 'a\ud83e', '\udd86b'])).toMatchObject({ row: 9001 });
    expect(await refused(name, ['\udd86'])).toMatchObject({ row: 0 });
  });

  test('NULL where there must be none', async () => {
    const required = field(1, 'id', 'int64', { nullable: false });
    expect(await refused(required, [...new Array(2000).fill(1n), undefined, null])).toMatchObject({
      row: 2000,
      value: 'undefined',
    });
    const { bytes } = await encodeFile([required], [[1n, 2n]]);
    expect(await readBack(bytes, [required])).toEqual([[1n, 2n]]);
  });

  test('batches that have not the shape of the table', async () => {
    const writer = createEncodedWriter(target([id, name], memorySink()));
    await expect(writer.write({ rowCount: 1, firstRow: 0, columns: [[1]] })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
    const other = createEncodedWriter(target([id], memorySink()));
    await expect(other.write({ rowCount: 2, firstRow: 0, columns: [[1]] })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
  });
});

describe('the store', () => {
  const batch = (rowCount: number) => ({
    rowCount,
    firstRow: 0,
    columns: [BigInt64Array.from({ length: rowCount }, (_, i) => BigInt(i))],
  });

  test('a failure of any call comes through, and abort removes what there is', async () => {
    for (const failing of ['open', 'write', 'close'] as const) {
      const calls: string[] = [];
      const act = async (call: string) => {
        calls.push(call);
        if (call === failing) throw new Error(`no ${call}`);
      };
      const writer = createEncodedWriter({
        ...target([id], memorySink(), { rowGroupRowCount: 100 }),
        async open() {
          await act('open');
          return { write: () => act('write'), close: () => act('close'), abort: () => act('abort') };
        },
      });
      const run = async () => {
        for (let i = 0; i < 2000; i++) await writer.write(batch(100));
        await writer.close();
      };
      await expect(run()).rejects.toThrow(`no ${failing}`);
      await writer.abort();
      expect(calls.at(-1)).toBe(failing === 'open' ? 'open' : 'abort');
      await expect(writer.close()).rejects.toMatchObject({ code: 'CLOSED' });
    }
  });

  test('a slow one holds the source back', async () => {
    let release = (): void => {};
    const writer = createEncodedWriter({
      ...target([field(1, 'x', 'float64')], memorySink(), { rowGroupRowCount: 20_000, compression: 'uncompressed' }),
      open: async () => ({
        write: () => new Promise<void>((resolve) => (release = resolve)),
        close: async () => {},
        abort: async () => {},
      }),
    });
    let done = false;
    const values = Float64Array.from({ length: 20_000 }, Math.random);
    const written = writer.write({ rowCount: 20_000, firstRow: 0, columns: [values] }).then(() => (done = true));
    for (let i = 0; i < 20 && !done; i++) {
      await Bun.sleep(1);
      expect(done).toBe(i > 1);
      release();
    }
    await written;
    expect(done).toBe(true);
  });
});

describe('compression', () => {
  const names = Array.from({ length: 5000 }, (_, i) => (i % 7 === 0 ? null : `https://example.com/${i % 400}`));
  const ids = names.map((_, i) => BigInt(i * i));

  test('gzip by the runtime', async () => {
    const { bytes } = await encodeFile([id, name], [ids, names], { compression: 'gzip' });
    const decompress = (input: Uint8Array) => Bun.gunzipSync(input as Uint8Array<ArrayBuffer>);
    const rows = await parquetReadObjects({ file: bytes.buffer, compressors: { GZIP: decompress } });
    expect(rows.map((row) => row['name'] ?? null)).toEqual(names);
    expect(rows.map((row) => row['id'])).toEqual(ids);
  });

  test('at the level that is asked for', async () => {
    for (const compression of ['gzip', 'zstd'] as const) {
      const options: unknown[] = [];
      const compressor = {
        compress: (input: Uint8Array, given: unknown) => {
          options.push(given);
          return input;
        },
        decompress: (input: Uint8Array) => input,
      };
      const compressors = { [compression]: compressor };
      await encodeFile([id], [ids], { compression, compressionLevel: 7 }, { compressors });
      await encodeFile([id], [ids], { compression }, { compressors });
      expect(options[0]).toEqual(compression === 'gzip' ? { level: 7 } : { params: { 100: 7 } });
      expect(options.at(-1)).toEqual({});
    }
  });

  test('version 1 has nothing that its readers do not know', async () => {
    const raw = Array.from({ length: 5000 }, (_, i) => Uint8Array.of(i, i >> 8));
    const fields = [id, name, field(3, 'raw', 'blob')];
    const found: string[][] = [];
    for (const version of [1, 2] as const)
      for (const compression of ['snappy', 'uncompressed', 'gzip'] as const) {
        const { bytes } = await encodeFile(fields, [ids, names, raw], { compression, version });
        expect(await readFile(bytes, { fields })).toEqual([ids, names, raw]);
        const { row_groups } = parquetMetadata(bytes.buffer);
        if (compression === 'snappy')
          found.push(row_groups.flatMap((group) => group.columns.flatMap((column) => column.meta_data!.encodings)));
      }
    expect(found[0]!.filter((encoding) => encoding.startsWith('DELTA'))).toEqual([]);
    expect(found[1]).toContain('DELTA_BINARY_PACKED');
  });

  test('zstd that the caller hands in', async () => {
    const compressors = { zstd: { compress: promisify(zstdCompress), decompress: zstdDecompressSync } };
    const { bytes, file } = await encodeFile([id, name], [ids, names], { compression: 'zstd' }, { compressors });
    expect(file.byteLength).toBe(bytes.length);
    const rows = await parquetReadObjects({
      file: bytes.buffer,
      compressors: { ZSTD: (input) => zstdDecompressSync(input) },
    });
    expect(rows.map((row) => row['name'] ?? null)).toEqual(names);
  });
});

describe('quick conversions are those of the codecs, or none', () => {
  const agree =
    (type: string, quick: (value: unknown) => number, perUnit = 1n) =>
    (value: unknown) => {
      const number = quick(value);
      if (Number.isNaN(number) || !Number.isSafeInteger(number)) return;
      const codec = codecFor(parseType(type));
      let physical: Physical;
      try {
        physical = codec.encode(value);
      } catch (error) {
        // What is too large for the type is found by its bounds.
        expect(type).toStartWith('decimal');
        expect(String(error)).toContain('digits');
        return;
      }
      expect(BigInt(number)).toBe(BigInt(physical as bigint) * perUnit);
    };
  const two = (max: number) => fc.integer({ min: 0, max }).map((n) => String(n).padStart(2, '0'));
  const dates = fc
    .tuple(fc.integer({ min: 0, max: 9999 }), two(13), two(32), fc.constantFrom('-', '/'))
    .map(([year, month, day, dash]) => `${String(year).padStart(4, '0')}${dash}${month}-${day}`);
  const clocks = fc
    .tuple(two(25), two(61), two(61), fc.stringMatching(/^(\.\d{0,7}[a-z]?)?$/))
    .map(([hours, minutes, seconds, fraction]) => `${hours}:${minutes}:${seconds}${fraction}`);
  const instants = fc
    .tuple(dates, fc.constantFrom('T', ' ', 't'), clocks, fc.constantFrom('', 'Z', 'z', '+00', '+02:00'))
    .map((parts) => parts.join(''));

  test('dates and times', () => {
    fc.assert(fc.property(dates, agree('date', quickDate)), { numRuns: 1000 });
    fc.assert(fc.property(clocks, agree('time', quickTime)), { numRuns: 1000 });
    fc.assert(
      fc.property(
        instants,
        agree('timestamp', (value) => quickMicros(value, 6, false)),
      ),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(
        instants,
        agree('timestamptz', (value) => quickMicros(value, 6, true)),
      ),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(
        instants,
        agree('timestamp_s', (value) => quickMicros(value, 0, false), 1_000_000n),
      ),
      { numRuns: 1000 },
    );
    expect(quickMicros('2024-01-15T12:30:00.123456Z', 6, true)).toBe(1_705_321_800_123_456);
    expect(quickDate('1969-12-31')).toBe(-1);
    expect(quickTime('23:59:59.5')).toBe(86_399_500_000);
  });

  test('decimals', () => {
    const numbers = fc.oneof(
      fc.double(),
      fc.integer().map((n) => n / 100),
      fc.integer(),
      fc.constantFrom(-0, 0.1, 1e21, 0.3),
    );
    const texts = fc.oneof(fc.stringMatching(/^-?\d{0,18}(\.\d{0,6})?$/), fc.stringMatching(/^[-+.e\d]{0,6}$/));
    for (const [precision, scale] of [
      [18, 2],
      [9, 0],
      [15, 15],
      [38, 4],
    ] as const)
      fc.assert(fc.property(fc.oneof(numbers, texts), agree(`decimal(${precision},${scale})`, quickDecimal(scale)!)), {
        numRuns: 1500,
      });
    expect(quickDecimal(2)!(0.07)).toBe(7);
    expect(quickDecimal(2)!('-12.3')).toBe(-1230);
    expect(quickDecimal(2)!(0.001)).toBeNaN();
  });
});

test('the footer says who made it, in the version of the package', async () => {
  const { bytes } = await encodeFile([id], [[1n]]);
  expect(parquetMetadata(bytes.buffer).created_by).toBe(`edgemere ${manifest.version}`);
});
