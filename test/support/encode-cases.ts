import fc from 'fast-check';
import type { FileOptions, WrittenFile } from '../../src/file/format.ts';
import type { EncoderOptions } from '../../src/file/parquet/encode/encoders.ts';
import { createEncodedWriter } from '../../src/file/parquet/encode/file-writer.ts';
import type { Field } from '../../src/schema/field.ts';
import { field, memorySink, target } from './parquet.ts';

/** A number from 0 to 1, excluded; the same sequence for the same seed. */
export type Random = () => number;

export function randomOf(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const int = (random: Random, low: number, high: number): number => low + Math.floor(random() * (high - low + 1));
const big = (random: Random, bits: number): bigint => {
  let value = 0n;
  for (let i = 0; i < bits; i += 32) value = (value << 32n) | BigInt(int(random, 0, 2 ** 32 - 1));
  return BigInt.asIntN(bits, value);
};
const text = (random: Random): string => {
  const kind = random();
  if (kind < 0.7) return `user-${int(random, 0, 1e6).toString(36)}`;
  if (kind < 0.9) return 'grüße 🦆 ￿ 日本'.slice(0, int(random, 0, 3) * 2 + 2).toWellFormed();
  return kind < 0.97 ? '' : 'long '.repeat(int(random, 1, 200));
};
const hex = (random: Random, length: number): string =>
  Array.from({ length }, () => int(random, 0, 15).toString(16)).join('');

/** Any value of a type, as callers hand it over, mostly far from the edges (which other tests have). */
export const makers: Readonly<Record<string, (random: Random) => unknown>> = {
  boolean: (random) => random() < 0.3,
  int8: (random) => int(random, -128, 127),
  int16: (random) => int(random, -32768, 32767),
  int32: (random) => int(random, -(2 ** 31), 2 ** 31 - 1),
  int64: (random) => (random() < 0.5 ? big(random, 64) : int(random, -(2 ** 40), 2 ** 40)),
  int128: (random) => big(random, 128),
  uint8: (random) => int(random, 0, 255),
  uint16: (random) => int(random, 0, 65535),
  uint32: (random) => int(random, 0, 2 ** 32 - 1),
  uint64: (random) => BigInt.asUintN(64, big(random, 64)),
  uint128: (random) => BigInt.asUintN(128, big(random, 128)),
  float32: (random) => (random() < 0.02 ? Number.NaN : Math.fround(random() * 1000 - 500)),
  float64: (random) => (random() < 0.02 ? Number.POSITIVE_INFINITY : random() * 1e6 - 5e5),
  'decimal(6,2)': (random) => int(random, -99999, 99999) / 100,
  'decimal(15,3)': (random) => `${int(random, -99999999, 99999999)}.${int(random, 0, 999)}`,
  'decimal(30,4)': (random) => `${big(random, 64)}.25`,
  varchar: text,
  json: (random) => (random() < 0.5 ? { a: int(random, 0, 9), b: [null, text(random)] } : `[${int(random, 0, 99)}]`),
  blob: (random) => Uint8Array.from({ length: int(random, 0, 40) }, () => int(random, 0, 255)),
  uuid: (random) => `${hex(random, 8)}-${hex(random, 4)}-${hex(random, 4)}-${hex(random, 4)}-${hex(random, 12)}`,
  date: (random) => new Date(int(random, -30000, 30000) * 86_400_000),
  time: (random) => BigInt(int(random, 0, 86_400_000_000)),
  timetz: (random) => `${String(int(random, 0, 23)).padStart(2, '0')}:30:00.5+01`,
  timestamp: (random) => (random() < 0.5 ? new Date(int(random, -1e12, 2e12)) : BigInt(int(random, -1e15, 2e15))),
  timestamptz: (random) => new Date(int(random, 1.6e12, 1.7e12)).toISOString(),
  timestamp_s: (random) => new Date(int(random, -1e9, 2e9) * 1000),
  timestamp_ms: (random) => new Date(int(random, -1e12, 2e12)),
  timestamp_ns: (random) => big(random, 62),
  interval: (random) => ({ months: int(random, 0, 99), days: int(random, 0, 99), micros: int(random, 0, 1e9) * 1000 }),
};

/** How the values of a column follow one another. */
export interface ColumnPlan {
  readonly type: string;
  /** Different values: few make dictionaries and runs. */
  readonly distinct: 1 | 2 | 20 | 3000 | 'all';
  readonly isSorted: boolean;
  /** Long runs of the same value. */
  readonly hasRuns: boolean;
  readonly nullShare: 0 | 0.01 | 0.5 | 0.99 | 1;
}

export interface FilePlan extends EncoderOptions {
  readonly seed: number;
  readonly rowCount: number;
  readonly batchRowCount: number;
  readonly columns: readonly ColumnPlan[];
  readonly options: Partial<FileOptions>;
}

export const columnPlans: fc.Arbitrary<ColumnPlan> = fc.record({
  type: fc.constantFrom(...Object.keys(makers)),
  distinct: fc.constantFrom<ColumnPlan['distinct'][]>(1, 2, 20, 3000, 'all'),
  isSorted: fc.boolean(),
  hasRuns: fc.boolean(),
  nullShare: fc.constantFrom(0, 0.01, 0.5, 0.99, 1),
});

/** Files of all sorts: many pages and row groups, or one of each. */
export const filePlans: fc.Arbitrary<FilePlan> = fc.record({
  seed: fc.integer(),
  rowCount: fc.oneof(
    fc.nat(20),
    fc.nat(3000),
    fc.constantFrom(0, 1, 1023, 1024, 1025, 4096, 4097, 6000),
    fc.nat(20_000),
  ),
  batchRowCount: fc.constantFrom(1, 100, 1024, 8192).map((count) => count),
  columns: fc.array(columnPlans, { minLength: 1, maxLength: 5 }),
  pageSlots: fc.constantFrom(64, 1024, 32768),
  pageByteLength: fc.constantFrom(1000, 1 << 20),
  options: fc.record({
    rowGroupRowCount: fc.constantFrom(1, 1000, 2048, 122_880),
    rowGroupByteLength: fc.constantFrom(20_000, 1 << 26),
    compression: fc.constantFrom('snappy' as const, 'uncompressed' as const),
    version: fc.constantFrom(2 as const, 1 as const),
  }),
});

export function fieldsOf(plan: FilePlan): Field[] {
  return plan.columns.map(({ type }, i) => field(i + 1, `c${i}`, type));
}

export function valuesOf(plan: FilePlan): unknown[][] {
  // One row a group is slow, and the same however many there are.
  const rowCount = plan.options.rowGroupRowCount === 1 ? Math.min(plan.rowCount, 30) : plan.rowCount;
  return plan.columns.map((column, i) => columnOf(column, rowCount, randomOf(plan.seed + i)));
}

function columnOf(
  { type, distinct, isSorted, hasRuns, nullShare }: ColumnPlan,
  count: number,
  random: Random,
): unknown[] {
  const make = makers[type]!;
  const pool = distinct === 'all' ? undefined : Array.from({ length: distinct }, () => make(random));
  const values: unknown[] = [];
  while (values.length < count) {
    const value =
      random() < nullShare
        ? random() < 0.5
          ? null
          : undefined
        : pool
          ? pool[int(random, 0, pool.length - 1)]
          : make(random);
    const repeat = hasRuns ? int(random, 1, 300) : 1;
    for (let i = 0; i < repeat && values.length < count; i++) values.push(value);
  }
  if (isSorted) values.sort((a, b) => (String(a) < String(b) ? -1 : 1));
  return values;
}

/** Writes columns as one file, in batches whose arrays are used again. */
export async function encodeFile(
  fields: readonly Field[],
  columns: readonly ArrayLike<unknown>[],
  options: Partial<FileOptions> = {},
  more: EncoderOptions = {},
  batchRowCount = 1024,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; file: WrittenFile }> {
  const sink = memorySink();
  const writer = createEncodedWriter(target(fields, sink, options), more);
  const rowCount = columns[0]?.length ?? 0;
  const batch = columns.map((column) => (Array.isArray(column) ? new Array<unknown>(batchRowCount) : undefined));
  for (let from = 0; from < rowCount; from += batchRowCount) {
    const to = Math.min(rowCount, from + batchRowCount);
    const views = columns.map((column, c) => {
      const cells = batch[c];
      if (cells === undefined) return (column as Uint8Array).subarray(from, to);
      for (let i = from; i < to; i++) cells[i - from] = column[i];
      return cells;
    });
    await writer.write({ rowCount: to - from, firstRow: from, columns: views });
  }
  const file = await writer.close();
  const bytes = new Uint8Array(await new Blob(sink.chunks as Uint8Array<ArrayBuffer>[]).arrayBuffer());
  return { bytes, file };
}
