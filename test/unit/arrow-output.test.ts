import { describe, expect, test } from 'bun:test';
import * as arrow from 'apache-arrow';
import { memoryLake } from '../../adapters/memory.ts';
import { field } from '../../bench/lib/data.ts';
import { type Column, isLakeError, t } from '../../src/index.ts';
import { arrowRead } from '../../src/scan/arrow/batches.ts';
import { DataMaker } from '../../src/scan/arrow/data.ts';
import type { PlannedRead } from '../../src/scan/read-parts.ts';
import { shown, typeCases } from '../support/type-cases.ts';

/** The values of a column, through an Arrow table and back. */
async function roundTrip(column: Column, values: readonly unknown[]): Promise<[from: string[], to: string[]]> {
  await using lake = await memoryLake();
  const from = await lake.createTable('a', { i: t.int32(), v: column });
  const to = await lake.createTable('b', { i: t.int32(), v: column });
  await from.insert(values.map((v, i) => ({ i, v })) as never);
  await from.insert(values.map((v) => ({ v })) as never);
  const table = await from.scan().arrowTable(arrow);
  expect(table.numRows).toBe(2 * values.length);
  await to.insert(table);
  // Views of it, which begin amid bytes of bitmaps.
  await to.insert(table.slice(3, 2 * values.length - 1));
  await to.insert(from.scan({ where: { i: { isNull: false } } }).arrow(arrow));
  const rows = async (source: typeof from): Promise<string[]> => (await source.scan().toArray()).map(shown);
  const all = await rows(from);
  return [[...all, ...all.slice(3, -1), ...all.slice(0, values.length)], await rows(to)];
}

describe('Arrow data of a scan can be inserted again', () => {
  for (const { name, column, values } of typeCases) {
    const given = [null, ...values.map(({ given }) => given), null, ...values.map(({ given }) => given)];
    test(name, async () => {
      const [from, to] = await roundTrip(column, given);
      expect(to).toEqual(from);
      const lists = given.map((value, i) => [null, [], [value], [null, value]][i % 4]);
      const [fromLists, toLists] = await roundTrip(t.list(column) as Column, lists);
      expect(toLists).toEqual(fromLists);
      const structs = given.map((value, i) => (i % 3 === 0 ? null : { a: value, __proto__: i }));
      const [fromStructs, toStructs] = await roundTrip(
        t.struct({ a: column }) as Column,
        structs.map((one) => one && { a: one.a }),
      );
      expect(toStructs).toEqual(fromStructs);
    });
  }

  test('maps, structs in lists in maps, names such as __proto__', async () => {
    const column = t.map(t.date(), t.list(t.struct({ ['__proto__']: t.int8(), b: t.map(t.varchar(), t.json()) })));
    const day = new Date(0);
    const [from, to] = await roundTrip(column as Column, [
      new Map([
        [
          day,
          [
            null,
            Object.fromEntries([
              ['__proto__', 7],
              [
                'b',
                new Map([
                  ['k', { n: 12345678901234567890n }],
                  ['l', null],
                ]),
              ],
            ]),
          ],
        ],
      ]),
      new Map(),
      null,
      new Map([[day, null]]),
      new Map([
        [day, []],
        [new Date(86_400_000), [null]],
      ]),
    ]);
    expect(to).toEqual(from);
    expect(from[0]).toContain('__proto__');
  });
});

test('buffers are those that were read, where the types allow', () => {
  const maker = new DataMaker(arrow as never, 100);
  for (const [type, values, arrowType] of [
    ['int32', Int32Array.of(1, 2), new arrow.Int32()],
    ['int64', BigInt64Array.of(1n, 2n), new arrow.Int64()],
    ['float64', Float64Array.of(1, 2), new arrow.Float64()],
    ['float32', Float32Array.of(1, 2), new arrow.Float32()],
    ['date', Int32Array.of(1, 2), new arrow.DateDay()],
    ['timestamp_ns', BigInt64Array.of(1n, 2n), new arrow.TimestampNanosecond()],
  ] as const) {
    const made = maker.column({ name: 'c', type: arrowType }, field('c', type), values) as arrow.Data;
    expect([type, made.values === values, made.nullCount]).toEqual([type, true, 0]);
  }
});

/** A read of one column of rows that are in the catalog. */
function readOf(type: string, cells: readonly (string | null)[]): PlannedRead {
  const column = field('c', type);
  const rows = cells.map((cell, rowId) => ({ rowId, beginSnapshot: 1, cells: [cell] }));
  const part = { kind: 'inlined', fileIndex: 0, tableName: 'x', fields: [column], rows } as const;
  return {
    read: {
      table: { schema: 'main', name: 't' },
      snapshotId: 1,
      columns: [{ kind: 'field', name: 'c', field: column }],
      where: undefined,
      limit: Number.POSITIVE_INFINITY,
    },
    parts: { count: 1, part: () => part },
    from: {} as never,
  };
}

/** Batches none of whose offsets is larger than `most`, as if that were the largest number of 32 bits. */
const batchesWithin = (read: PlannedRead, most: number): Promise<arrow.RecordBatch[]> =>
  Array.fromAsync(arrowRead(arrow, read, most).batches()) as Promise<arrow.RecordBatch[]>;

test('text that is too long for one batch comes in several', async () => {
  for (const cells of [
    ['aaaa', 'bb', null, 'ccc', '', 'dddddd'],
    ['é', 'ééé', '€', null, '🦆', 'é'],
  ]) {
    const batches = await batchesWithin(readOf('varchar', cells), 7);
    expect(batches.length).toBeGreaterThan(1);
    expect(batches.flatMap((batch) => batch.toArray().map((row) => row['c']))).toEqual(cells);
    for (const { data } of batches)
      expect((data.children[0]!.valueOffsets as Int32Array).at(-1)).toBeLessThanOrEqual(7);
  }
  const bytes = await batchesWithin(readOf('blob', ['0102', '030405', null, '06']), 4);
  expect(bytes.length).toBeGreaterThan(1);
  expect(bytes.flatMap((batch) => batch.toArray().map((row) => row['c']))).toEqual([
    Uint8Array.of(1, 2),
    Uint8Array.of(3, 4, 5),
    null,
    Uint8Array.of(6),
  ]);
  const error = await batchesWithin(readOf('varchar', ['a', 'x'.repeat(8)]), 7).catch((reason) => reason);
  expect(isLakeError(error, 'UNSUPPORTED')).toBe(true);
});

test('an interval that nanoseconds can not count is refused, naming its column', async () => {
  const most = '2562047:47:16.854775';
  expect((await batchesWithin(readOf('interval', [most]), 9)).length).toBe(1);
  const error = await batchesWithin(readOf('interval', [most, '2562047:47:16.854776']), 9).catch((reason) => reason);
  expect([error.code, error.context.column]).toEqual(['UNSUPPORTED', 'c']);
});

test('intervals of the other units are taken in', async () => {
  await using lake = await memoryLake();
  const table = await lake.createTable('t', { v: t.interval() });
  const insert = (type: arrow.DataType, data: Int32Array): Promise<unknown> =>
    table.insert(
      new arrow.Table({ v: new arrow.Vector([arrow.makeData({ type, length: 2, nullCount: 0, data } as never)]) }),
    );
  await insert(new arrow.IntervalYearMonth(), Int32Array.of(14, 1));
  await insert(new arrow.IntervalDayTime(), Int32Array.of(1, 2, 3, 4000));
  await insert(new arrow.IntervalMonthDayNano(), Int32Array.of(1, 2, 3_000_000, 0, 4, 5, 0, 500_000));
  expect((await table.scan().toArray()).map(({ v }) => v)).toEqual([
    { months: 14, days: 0, micros: 0n },
    { months: 1, days: 0, micros: 0n },
    { months: 0, days: 1, micros: 2000n },
    { months: 0, days: 3, micros: 4_000_000n },
    { months: 1, days: 2, micros: 3000n },
    { months: 4, days: 5, micros: 2_147_483_648_000n },
  ]);
  const fine = insert(new arrow.IntervalMonthDayNano(), Int32Array.of(0, 0, 1, 0, 0, 0, 0, 0)).catch((error) => error);
  expect(await fine).toMatchObject({ code: 'INVALID_VALUE', context: { column: 'v' } });
});

test('what is not apache-arrow is refused; a signal stops the read', async () => {
  await using lake = await memoryLake();
  const table = await lake.createTable('t', { v: t.int32() });
  await table.insert([{ v: 1 }]);
  const failure = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error) => error);
  expect(await failure(table.scan().arrowTable({} as never))).toMatchObject({ code: 'INVALID_ARGUMENT' });
  const reason = new Error('stop');
  const aborted = table.scan({ signal: AbortSignal.abort(reason) });
  expect(await failure(aborted.arrowTable(arrow))).toBe(reason);
  expect(await failure(Array.fromAsync(aborted.arrow(arrow)))).toBe(reason);
});
