import { describe, expect, test } from 'bun:test';
import { parquetMetadata } from 'hyparquet';
import { isLakeError, LakeError } from '../../src/errors.ts';
import type { ColumnBatch } from '../../src/file/format.ts';
import { createEncodedWriter as createWriter } from '../../src/file/parquet/encode/file-writer.ts';
import type { ObjectWriter } from '../../src/storage/object-store.ts';
import { field, memorySink, readFile, target, writeFile } from '../support/parquet.ts';

const batch = (columns: readonly ArrayLike<unknown>[], firstRow = 0): ColumnBatch => ({
  rowCount: columns[0]!.length,
  firstRow,
  columns,
});

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

async function failure(call: () => Promise<unknown> | unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('row groups', () => {
  const groupsOf = (bytes: Uint8Array): number[] =>
    parquetMetadata(bytes).row_groups.map((group) => Number(group.num_rows));

  test('by rows, whatever the batches', async () => {
    const sink = memorySink();
    const fields = [field(1, 'x', 'int32'), field(2, 's', 'varchar')];
    const writer = createWriter(target(fields, sink, { rowGroupRowCount: 100 }));
    for (let from = 0; from < 1050; from += 350) {
      const rows = range(from, from + 350);
      await writer.write(batch([rows, rows.map((row) => (row % 7 === 0 ? null : `row ${row}`))], from));
    }
    const file = await writer.close();
    const bytes = sink.bytes();
    expect(groupsOf(bytes)).toEqual([...new Array(10).fill(100), 50]);
    expect([file.rowCount, file.byteLength]).toEqual([1050, bytes.length]);
    const [x, s] = await readFile(bytes, { fields });
    expect(x).toEqual(range(0, 1050));
    expect(s).toEqual(range(0, 1050).map((row) => (row % 7 === 0 ? null : `row ${row}`)));
    expect(file.columns).toMatchObject([
      { fieldId: 1, valueCount: 1050, nullCount: 0, min: '0', max: '1049', containsNan: undefined },
      { fieldId: 2, valueCount: 900, nullCount: 150, min: 'row 1', max: 'row 999' },
    ]);
  });

  test('edges: one row less, as many, one more', async () => {
    for (const [rows, expected] of [
      [9, [9]],
      [10, [10]],
      [11, [10, 1]],
      [1, [1]],
      [0, []],
    ] as const) {
      const { bytes, file } = await writeFile([field(1, 'x', 'int64')], [range(0, rows)], { rowGroupRowCount: 10 });
      expect([rows, groupsOf(bytes)]).toEqual([rows, [...expected]]);
      expect(file.rowCount).toBe(rows);
      expect(await readFile(bytes, { fields: [field(1, 'x', 'int64')] })).toEqual([range(0, rows).map(BigInt)]);
    }
  });

  test('bytes of columns and of the file are those that were stored', async () => {
    const fields = [field(1, 'x', 'int64'), field(2, 's', 'varchar')];
    const { bytes, file } = await writeFile(fields, [range(0, 300), range(0, 300).map(String)], {
      rowGroupRowCount: 100,
    });
    const metadata = parquetMetadata(bytes);
    expect(file.footerLength).toBe(metadata.metadata_length);
    for (const [i, { byteLength }] of file.columns.entries())
      expect(byteLength).toBe(
        metadata.row_groups.reduce((sum, group) => sum + Number(group.columns[i]!.meta_data!.total_compressed_size), 0),
      );
  });
});

describe('the store', () => {
  /** Numbers that neither encoding nor compression makes small: a row group of them is worth a write. */
  const noise = (count: number): number[] => range(0, count).map((i) => Math.imul(i + 1, 0x9e3779b1));
  const options = { rowGroupRowCount: 40_000 };

  test('is not touched before the first row group is whole, and gets each as it comes', async () => {
    const sink = memorySink();
    const writer = createWriter(target([field(1, 'x', 'int32')], sink, options));
    await writer.write(batch([noise(39_999)]));
    expect(sink.calls).toEqual([]);
    expect(writer.byteLength).toBeGreaterThan(0);
    await writer.write(batch([noise(1)]));
    const first = sink.calls.length;
    expect(sink.calls[0]).toBe('open');
    expect(sink.calls).toContain('write');
    await writer.write(batch([noise(40_000)]));
    expect(sink.calls.length).toBeGreaterThan(first);
    await writer.close();
    expect(sink.calls.at(-1)).toBe('close');
    expect(new Set(sink.calls.slice(1, -1))).toEqual(new Set(['write']));
  });

  test('bytes that were handed over do not change any more', async () => {
    const sink = memorySink();
    const writer = createWriter(target([field(1, 'x', 'int32')], sink, options));
    await writer.write(batch([noise(40_000)]));
    const before = sink.chunks[0]!.slice();
    await writer.write(batch([range(100, 80_100)]));
    await writer.close();
    expect(Buffer.compare(sink.chunks[0]!, before)).toBe(0);
  });

  test('abort removes what was written, at any time, more than once', async () => {
    const sink = memorySink();
    const early = createWriter(target([field(1, 'x', 'int32')], sink));
    await early.write(batch([range(0, 5)]));
    await early.abort();
    expect(sink.calls).toEqual([]);
    const late = createWriter(target([field(1, 'x', 'int32')], sink, options));
    await late.write(batch([noise(50_000)]));
    await late.abort();
    await late.abort();
    expect(sink.calls.slice(0, 2)).toEqual(['open', 'write']);
    expect(sink.calls.slice(2)).toContain('abort');
    expect(isLakeError(await failure(() => late.write(batch([[1]]))), 'CLOSED')).toBe(true);
    expect(isLakeError(await failure(() => late.close()), 'CLOSED')).toBe(true);
  });

  for (const at of ['open', 'write', 'close'] as const)
    test(`that fails in ${at}: its error, then a dead writer whose abort reaches the store`, async () => {
      const broken = new Error(`no ${at}`);
      const calls: string[] = [];
      const step = async (name: string): Promise<void> => {
        calls.push(name);
        if (name === at) throw broken;
      };
      const store = async (): Promise<ObjectWriter> => {
        await step('open');
        return { write: () => step('write'), close: () => step('close'), abort: () => step('abort') };
      };
      const writer = createWriter({ ...target([field(1, 'x', 'int32')], memorySink()), open: store });
      await writer.write(batch([[1]]));
      expect(await failure(() => writer.close())).toBe(broken);
      expect(isLakeError(await failure(() => writer.write(batch([[1]]))), 'CLOSED')).toBe(true);
      await writer.abort();
      expect(calls.at(-1)).toBe(at === 'open' ? 'open' : 'abort');
    });
});

describe('a bad value', () => {
  const fields = [field(4, 'id', 'int32', { nullable: false }), field(7, 'price "net"', 'decimal(4,2)')];

  test('is named with its table, column and row, and nothing is stored', async () => {
    const sink = memorySink();
    const writer = createWriter(target(fields, sink, { rowGroupRowCount: 1 }));
    const error = await failure(() =>
      writer.write(
        batch(
          [
            [1, 2, 3],
            ['1', '2.345', '3'],
          ],
          100,
        ),
      ),
    );
    expect(error).toBeInstanceOf(LakeError);
    expect(error).toMatchObject({
      code: 'INVALID_VALUE',
      retryable: false,
      context: { schema: 'main', table: 't', column: 'price "net"', row: 101, value: '"2.345"' },
    });
    const { message } = error as Error;
    for (const part of ['"main"."t"', 'price "net"', 'row 101', '2.345', '2 digits before and 2 after'])
      expect(message).toContain(part);
    expect(sink.calls).toEqual([]);
    expect(isLakeError(await failure(() => writer.close()), 'CLOSED')).toBe(true);
  });

  test('NULL where it is not allowed', async () => {
    for (const missing of [null, undefined]) {
      const writer = createWriter(target(fields, memorySink()));
      const error = await failure(() =>
        writer.write(
          batch(
            [
              [1, missing],
              [null, null],
            ],
            7,
          ),
        ),
      );
      expect(error).toMatchObject({ code: 'INVALID_VALUE', context: { column: 'id', row: 8, value: String(missing) } });
      expect((error as Error).message).toContain('NOT NULL');
    }
  });

  test('that the type has and Parquet lacks', async () => {
    const cases: [string, unknown][] = [
      ['interval', { months: -1, days: 0, micros: 0n }],
      ['interval', { months: 0, days: -1, micros: 0n }],
      ['interval', { months: 0, days: 0, micros: -1000n }],
      ['interval', { months: 0, days: 0, micros: 1n }],
      ['interval', { months: 0, days: 0, micros: 4_294_967_296_000n }],
      ['timestamp_s', 'infinity'],
      ['timestamp_s', '-infinity'],
    ];
    for (const [type, value] of cases)
      expect(await failure(() => writeFile([field(1, 'x', type)], [[value]]))).toMatchObject({ code: 'INVALID_VALUE' });
  });

  test('batches of another shape', async () => {
    expect(await failure(() => writeFile(fields, [[1]]))).toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(await failure(() => writeFile(fields, [[1, 2], ['1']]))).toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('an error that is no refusal passes through', async () => {
    const broken = new Error('from the getter');
    const value = {
      get a() {
        throw broken;
      },
    };
    expect(await failure(() => writeFile([field(1, 'x', 'json')], [[value]]))).toBe(broken);
  });
});

describe('what is stored is what was given', () => {
  test('a blob whose buffer is filled anew', async () => {
    const sink = memorySink();
    const fields = [field(1, 'x', 'blob')];
    const writer = createWriter(target(fields, sink));
    const buffer = Buffer.from([1, 2, 3]);
    await writer.write(batch([[buffer]]));
    buffer.fill(9);
    await writer.write(batch([[buffer]]));
    const file = await writer.close();
    expect(file.columns[0]).toMatchObject({ min: '010203', max: '090909' });
    expect(await readFile(sink.bytes(), { fields })).toEqual([[new Uint8Array([1, 2, 3]), new Uint8Array([9, 9, 9])]]);
  });

  test('both zeros, many times over', async () => {
    const values = range(0, 4000).map((i) => (i % 3 === 0 ? -0 : i % 3 === 1 ? 0 : 1.5));
    for (const type of ['float32', 'float64']) {
      const fields = [field(1, 'x', type)];
      const { bytes } = await writeFile(fields, [values]);
      const [read] = await readFile(bytes, { fields });
      expect(read!.every((value, i) => Object.is(value, values[i]))).toBe(true);
    }
  });

  test('typed arrays as columns', async () => {
    const fields = [field(1, 'a', 'int32'), field(2, 'b', 'int64'), field(3, 'c', 'float64'), field(4, 'd', 'uint8')];
    const columns = [
      new Int32Array([1, -2]),
      new BigInt64Array([3n, -4n]),
      new Float64Array([0.5, -0]),
      new Uint8Array([5, 255]),
    ];
    const { bytes } = await writeFile(fields, columns as never);
    expect(await readFile(bytes, { fields })).toEqual(columns.map((column) => [...column]));
  });

  test('names that are hard on objects and paths', async () => {
    const names = ['__proto__', 'constructor', 'a.b', '', ' ', 'é "q"', '\u{1f600}', 'x'.repeat(200), 'toString'];
    const fields = names.map((name, i) => field(i + 1, name, 'varchar'));
    const { bytes } = await writeFile(
      fields,
      names.map((name) => [name, null]),
    );
    expect(await readFile(bytes, { fields })).toEqual(names.map((name) => [name, null]));
  });

  test('values of a megabyte', async () => {
    const long = 'é'.repeat(600_000);
    const fields = [field(1, 'x', 'varchar'), field(2, 'j', 'json'), field(3, 'b', 'blob')];
    const blob = new Uint8Array(1_000_000).fill(3);
    const { bytes, file } = await writeFile(fields, [
      [long, 'a'],
      [[long], null],
      [blob, null],
    ]);
    expect(await readFile(bytes, { fields })).toEqual([
      [long, 'a'],
      [[long], null],
      [blob, null],
    ]);
    for (const { max } of file.columns) expect(max!.length).toBeLessThanOrEqual(512);
    expect(file.footerLength).toBeLessThan(2000);
  });
});

test('what cannot be written yet is refused before anything', () => {
  for (const type of ['variant', 'geometry', 'time_ns', 'unknown'])
    expect(() => createWriter(target([field(1, 'x', type)], memorySink()))).toThrow(LakeError);
});

test('uncompressed files', async () => {
  const fields = [field(1, 'x', 'varchar')];
  const { bytes } = await writeFile(fields, [['a'.repeat(5000)]], { compression: 'uncompressed' });
  expect(bytes.length).toBeGreaterThan(5000);
  expect(await readFile(bytes, { fields })).toEqual([['a'.repeat(5000)]]);
});
