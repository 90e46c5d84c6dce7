import { type Column, t } from '../../schema/builder.ts';
import { Timestamp } from '../../spec/values/timestamp.ts';
import { type ConformanceCase, check, equal } from '../case.ts';
import type { LakeTarget } from './target.ts';

interface Values {
  readonly type: string;
  readonly column: Column;
  /** As they are given and, where that differs, as they come back; where that can't be given again, as it can. */
  readonly values: readonly (readonly [given: unknown, back?: unknown, again?: unknown])[];
  /** DuckDB's text of the least and the greatest. */
  readonly bounds: readonly [min: string, max: string] | undefined;
  /** Set for types that have NaN. */
  readonly containsNan?: boolean;
}

const integers = (type: string, column: Column, min: number, max: number): Values => ({
  type,
  column,
  values: [[min], [max], [0], [1n, 1]],
  bounds: [`${min}`, `${max}`],
});

const bigIntegers = (type: string, column: Column, min: bigint, max: bigint, hasBounds = true): Values => ({
  type,
  column,
  values: [[min], [max], [0, 0n], [Number.MAX_SAFE_INTEGER, BigInt(Number.MAX_SAFE_INTEGER)]],
  bounds: hasBounds ? [`${min}`, `${max}`] : undefined,
});

const micros = (value: bigint): Timestamp => new Timestamp(value);
const noon = Date.UTC(2024, 0, 15, 12, 30, 0, 120);
const nines = '9'.repeat(28);

const timestamps = (type: string, column: Column, zone: string): Values => ({
  type,
  column,
  values: [
    [new Date(noon), micros(BigInt(noon) * 1000n)],
    [`2024-01-15 12:30:00.123456${zone}`, micros(1_705_321_800_123_456n)],
    [-1n, micros(-1n)],
    [`12024-01-15 12:30:00${zone}`, micros(317_274_841_800_000_000n)],
    [`0044-03-15 (BC) 00:00:00${zone}`, micros(-63_517_824_000_000_000n)],
  ],
  bounds: [`0044-03-15 (BC) 00:00:00${zone}`, `12024-01-15 12:30:00${zone}`],
});

const every: readonly Values[] = [
  { type: 'boolean', column: t.boolean(), values: [[true], [false]], bounds: ['0', '1'] },
  integers('int8', t.int8(), -128, 127),
  integers('int16', t.int16(), -32768, 32767),
  integers('int32', t.int32(), -2147483648, 2147483647),
  integers('uint8', t.uint8(), 0, 255),
  integers('uint16', t.uint16(), 0, 65535),
  integers('uint32', t.uint32(), 0, 4294967295),
  bigIntegers('int64', t.int64(), -(2n ** 63n), 2n ** 63n - 1n),
  bigIntegers('uint64', t.uint64(), 0n, 2n ** 64n - 1n),
  {
    type: 'float32',
    column: t.float32(),
    values: [[0.1, Math.fround(0.1)], [-0], [Number.NEGATIVE_INFINITY], [1.5], [Number.NaN]],
    bounds: ['-inf', '1.5'],
    containsNan: true,
  },
  {
    type: 'float64',
    column: t.float64(),
    values: [[0.1], [-1e-7], [5e-324], [1e300], [Number.MAX_SAFE_INTEGER]],
    bounds: ['-1e-07', '1e+300'],
    containsNan: false,
  },
  {
    type: 'decimal(5,2)',
    column: t.decimal(5, 2),
    values: [['1.5', '1.50'], [-999.99, '-999.99'], [7n, '7.00'], ['999.99']],
    bounds: ['-999.99', '999.99'],
  },
  {
    type: 'decimal(18,0)',
    column: t.decimal(18, 0),
    values: [['999999999999999999'], [-1, '-1'], [0, '0']],
    bounds: ['-1', '999999999999999999'],
  },
  {
    type: 'decimal(38,10)',
    column: t.decimal(38, 10),
    values: [[`${nines}.9999999999`], [`-${nines}.9999999999`], ['0.0000000001']],
    bounds: [`-${nines}.9999999999`, `${nines}.9999999999`],
  },
  {
    type: 'varchar',
    column: t.varchar(),
    values: [['b'], [''], ['NULL'], ['é'], ['\uffff'], ['🦆'], [`it's "x" \\ \n`], ['x'.repeat(250)]],
    bounds: ['', '🦆'],
  },
  {
    type: 'json',
    column: t.json(),
    values: [
      [{ a: [1, null, 'x'] }],
      ['[1, 2]', [1, 2]],
      ['"text"', 'text', '"text"'],
      [true],
      [1.5],
      [{}],
      [12345678901234567890n],
    ],
    bounds: ['"text"', '{}'],
  },
  {
    type: 'blob',
    column: t.blob(),
    values: [[new Uint8Array([0, 255, 39])], [new Uint8Array()], [new Uint8Array(250).fill(7)]],
    bounds: ['', '07'.repeat(250)],
  },
  {
    type: 'uuid',
    column: t.uuid(),
    values: [
      ['F47AC10B-58CC-4372-A567-0E02B2C3D479', 'f47ac10b-58cc-4372-a567-0e02b2c3d479'],
      ['00000000-0000-0000-0000-000000000001'],
    ],
    bounds: ['00000000-0000-0000-0000-000000000001', 'f47ac10b-58cc-4372-a567-0e02b2c3d479'],
  },
  {
    type: 'date',
    column: t.date(),
    values: [
      ['2024-02-29', new Date(Date.UTC(2024, 1, 29))],
      [new Date(0)],
      ['0044-03-15 (BC)', new Date(-63_517_824_000_000)],
      ['12024-01-15', new Date(317_274_796_800_000)],
    ],
    bounds: ['0044-03-15 (BC)', '12024-01-15'],
  },
  {
    type: 'time',
    column: t.time(),
    values: [['12:30:00'], ['23:59:59.999999'], [1n, '00:00:00.000001'], ['00:00', '00:00:00']],
    bounds: ['00:00:00', '23:59:59.999999'],
  },
  {
    type: 'timetz',
    column: t.timetz(),
    values: [
      ['12:30:00+02:00', '10:30:00+00'],
      ['00:00:00Z', '00:00:00+00'],
    ],
    bounds: undefined,
  },
  timestamps('timestamp', t.timestamp(), ''),
  timestamps('timestamptz', t.timestamptz(), '+00'),
  {
    type: 'timestamp_s',
    column: t.timestampS(),
    values: [
      ['2024-01-15 12:30:00', new Timestamp(1_705_321_800n, 's')],
      [-1n, new Timestamp(-1n, 's')],
    ],
    bounds: ['1969-12-31 23:59:59', '2024-01-15 12:30:00'],
  },
  {
    type: 'timestamp_ms',
    column: t.timestampMs(),
    values: [
      ['2024-01-15 12:30:00.12', new Timestamp(BigInt(noon), 'ms')],
      [-1n, new Timestamp(-1n, 'ms')],
    ],
    bounds: ['1969-12-31 23:59:59.999', '2024-01-15 12:30:00.12'],
  },
  {
    type: 'timestamp_ns',
    column: t.timestampNs(),
    values: [
      ['2024-01-15 12:30:00.123456789', new Timestamp(1_705_321_800_123_456_789n, 'ns')],
      [-1n, new Timestamp(-1n, 'ns')],
    ],
    bounds: ['1969-12-31 23:59:59.999999999', '2024-01-15 12:30:00.123456789'],
  },
  {
    type: 'interval',
    column: t.interval(),
    values: [[{ months: 14, days: 3, micros: 1_500_000n }], [{ months: 0, days: 0, micros: 0n }]],
    bounds: undefined,
  },
];

/** Types whose Parquet form DuckDB makes a double of, which loses digits: only what a double holds. */
const wide: readonly Values[] = [
  { type: 'int128', column: t.int128(), values: [[0n], [-(2n ** 53n)], [2n ** 100n]], bounds: undefined },
  {
    type: 'uint128',
    column: t.uint128(),
    values: [[0n], [2n ** 127n], [9007199254740991, 9007199254740991n]],
    bounds: undefined,
  },
];

/** Like `equal`, and exact about what a Date does not show. */
function sameValues(actual: readonly unknown[], expected: readonly unknown[], what: string): void {
  const exact = (value: unknown): unknown =>
    value instanceof Date && 'nanos' in value ? { nanos: value.nanos, millis: value.getTime() } : value;
  equal(actual.map(exact), expected.map(exact), what);
}

export const valueCases: readonly ConformanceCase<LakeTarget>[] = [...every, ...wide].map(
  ({ type, column, values, bounds, containsNan = null }): ConformanceCase<LakeTarget> => ({
    name: `values of type ${type} come back, with NULL, and their bounds are exact`,
    async run(target) {
      await using lake = await target.open();
      const table = await lake.createTable('t', { v: column });
      const given = values.map(([value]) => value);
      const back = values.map((value) => (value.length > 1 ? value[1] : value[0]));
      const again = values.map((value, k) => (value.length > 2 ? value[2] : back[k]));
      await table.insert([...given, null, undefined].map((v) => ({ v })));
      const rows = await table.scan().toArray();
      sameValues(
        rows.map(({ v }) => v),
        [...back, null, null],
        'the values',
      );
      equal((await table.describe()).columns[0]?.type, type, 'the type');
      const { columns } = await table.stats();
      const { min, max } = columns[0]!;
      equal([min, max], bounds ?? [null, null], 'the bounds');
      equal([columns[0]!.containsNull, columns[0]!.containsNan], [true, containsNan], 'containsNull and containsNan');

      // What came back goes in again, value by value and as columns. NaN alone would leave the bounds unknown.
      for (const v of again) await table.insert(Number.isNaN(v) ? [{ v }, { v: again[0] }] : [{ v }]);
      await table.insert({ columns: { v: again } });
      const reread = (await table.scan().toArray()).slice(values.length + 2).map(({ v }) => v);
      sameValues(
        reread,
        [...back.flatMap((v) => (Number.isNaN(v) ? [v, back[0]] : [v])), ...back],
        'the values that were read and inserted again',
      );
      const merged = (await table.stats()).columns[0]!;
      equal([merged.min, merged.max], bounds ?? [null, null], 'the bounds of several files');
      check(merged.containsNull === true, 'NULL was forgotten');
    },
  }),
);
