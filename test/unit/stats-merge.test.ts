import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { ColumnStatsDelta } from '../../src/catalog/store.ts';
import type { ColumnStats } from '../../src/file/format.ts';
import type { Field } from '../../src/schema/field.ts';
import { parseType } from '../../src/spec/types.ts';
import { boundsOrder, compareBounds, deltaOf, mergeBounds, mergeColumnStats } from '../../src/stats/merge.ts';
import { literal, type Oracle, openOracle } from '../support/oracle.ts';

let duck: Oracle;
beforeAll(async () => {
  duck = await openOracle();
});
afterAll(() => duck.close());

function field(id: number, type: string): Field {
  return {
    id,
    name: `c${id}`,
    type: parseType(type),
    nullable: true,
    children: [],
    initialDefault: null,
    defaultValue: null,
    defaultValueType: null,
    beginSnapshot: 1,
  };
}

describe('bounds are in the order of their values', () => {
  const ascending: Record<string, readonly string[]> = {
    int64: [
      '-9223372036854775808',
      '-9223372036854775807',
      '-10',
      '-9',
      '0',
      '9',
      '10',
      '9223372036854775806',
      '9223372036854775807',
    ],
    uint64: ['0', '9007199254740992', '9007199254740993', '18446744073709551614', '18446744073709551615'],
    'decimal(38,10)': [
      '-9999999999999999999999999999.9999999999',
      '-0.0000000002',
      '-0.0000000001',
      '0.0000000000',
      '0.1000000000',
      '1.0000000000',
      '9999999999999999999999999999.9999999998',
      '9999999999999999999999999999.9999999999',
    ],
    'decimal(3,3)': ['-.500', '-.050', '.000', '.001', '.010', '.999'],
    float64: [
      '-inf',
      '-1.7976931348623157e+308',
      '-1e+16',
      '-1000000000000000.0',
      '-1.5',
      '-1e-05',
      '-5e-324',
      '0.0',
      '5e-324',
      '1e-05',
      '0.0001',
      '0.1',
      '1.0',
      '10.0',
      '9999999999999998.0',
      '1e+16',
      '1.0000000000000002e+16',
      'inf',
    ],
    boolean: ['0', '1'],
    date: [
      '-infinity',
      '5877642-06-25 (BC)',
      '0045-01-01 (BC)',
      '0044-03-15 (BC)',
      '0044-12-31 (BC)',
      '0001-12-31 (BC)',
      '0001-01-01',
      '1969-12-31',
      '9999-12-31',
      '10000-01-01',
      '5881580-07-10',
      'infinity',
    ],
    time: ['00:00:00', '00:00:00.000001', '00:00:00.1', '00:00:00.12', '23:59:59.999999', '24:00:00'],
    timestamp: [
      '-infinity',
      '290309-12-22 (BC) 00:00:00',
      '0001-12-31 (BC) 23:59:59.999999',
      '0001-01-01 00:00:00',
      '2024-01-15 12:30:00',
      '2024-01-15 12:30:00.123456',
      '2024-01-15 12:30:00.5',
      '2024-01-15 12:30:01',
      '12024-01-15 00:00:00',
      'infinity',
    ],
    timestamptz: [
      '-infinity',
      '0044-03-15 (BC) 01:02:03.5+00',
      '2024-01-15 12:30:00+00',
      '2024-01-15 12:30:00.5+00',
      '2024-01-15 12:30:00.55+00',
      '12024-01-15 00:00:00+00',
      'infinity',
    ],
    timestamp_ns: ['1700-03-15 01:02:03.123456788', '1700-03-15 01:02:03.123456789', '2262-01-15 00:00:00'],
    varchar: ['', ' ', '10', '9', 'Z', 'a', 'aa', 'é', '\uffff', '\u{1f600}'],
    blob: ['', '00', '00FF', '0A', 'A0', 'FF'],
    uuid: [
      '00000000-0000-0000-0000-000000000000',
      '0fffffff-0000-0000-0000-000000000000',
      'a0000000-0000-0000-0000-000000000000',
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
    ],
  };

  for (const [type, texts] of Object.entries(ascending))
    test(type, async () => {
      const order = boundsOrder(parseType(type));
      for (const [i, a] of texts.entries())
        for (const [j, b] of texts.entries()) expect(Math.sign(compareBounds(a, b, order)!)).toBe(Math.sign(i - j));
      // DuckDB agrees that this is the order.
      const value = type === 'blob' ? 'from_hex(x)' : `x::${duckType(type)}`;
      const rows = await duck.rows(
        `SELECT x FROM (SELECT unnest([${texts.map(literal).join(',')}]) AS x) ORDER BY ${value}`,
      );
      expect(rows.map((row) => row['x'])).toEqual([...texts]);
    });

  test('what is no bound compares with nothing', () => {
    expect(compareBounds('', '1', 'number')).toBeUndefined();
    expect(compareBounds('nan', 'inf', 'number')).toBeGreaterThan(0);
    expect(compareBounds('.', '1', 'number')).toBeUndefined();
    expect(compareBounds('e5', '1', 'number')).toBeUndefined();
    expect(compareBounds('today', '2024-01-01', 'temporal')).toBeUndefined();
    expect(compareBounds('2024-01-01 ', '2024-01-01 25', 'temporal')).toBeUndefined();
  });

  test('both zeros are equal', () => {
    expect(compareBounds('-0.0', '0.0', 'number')).toBe(0);
    expect(compareBounds('0', '0.000', 'number')).toBe(0);
  });
});

function duckType(type: string): string {
  const names: Record<string, string> = { int64: 'BIGINT', uint64: 'UBIGINT', float64: 'DOUBLE', boolean: 'BOOLEAN' };
  return names[type] ?? type;
}

describe('mergeBounds', () => {
  const delta = (bounds: ColumnStatsDelta['bounds']): ColumnStatsDelta => ({
    columnId: 1,
    containsNull: false,
    containsNan: null,
    bounds,
    order: 'number',
  });

  test('widens to both sides', () => {
    expect(mergeBounds({ min: '9', max: '10' }, delta({ min: '8', max: '9' }), true)).toEqual({ min: '8', max: '10' });
    expect(mergeBounds({ min: '9', max: '10' }, delta({ min: '10', max: '11' }), true)).toEqual({
      min: '9',
      max: '11',
    });
  });

  test('the text that was there stays when the value is equal', () => {
    expect(mergeBounds({ min: '-0.0', max: '-0.0' }, delta({ min: '0.0', max: '0.0' }), true)).toEqual({
      min: '-0.0',
      max: '-0.0',
    });
  });

  test('no value changes nothing', () => {
    expect(mergeBounds({ min: '9', max: '10' }, delta('none'), true)).toEqual({ min: '9', max: '10' });
    expect(mergeBounds({ min: null, max: null }, delta('none'), false)).toEqual({ min: null, max: null });
  });

  test('values without bounds make them unknown', () => {
    expect(mergeBounds({ min: '9', max: '10' }, delta('unknown'), true)).toEqual({ min: null, max: null });
  });

  test('NULL is unknown when there were values, and nothing yet when there were none', () => {
    expect(mergeBounds({ min: null, max: null }, delta({ min: '1', max: '2' }), true)).toEqual({
      min: null,
      max: null,
    });
    expect(mergeBounds({ min: null, max: null }, delta({ min: '1', max: '2' }), false)).toEqual({ min: '1', max: '2' });
  });

  test('one side that is not known stays so', () => {
    expect(mergeBounds({ min: null, max: '5' }, delta({ min: '1', max: '7' }), true)).toEqual({ min: null, max: '7' });
    expect(mergeBounds({ min: '5', max: null }, delta({ min: '1', max: '7' }), false)).toEqual({ min: '1', max: null });
  });

  test('a bound that is no number becomes unknown', () => {
    expect(mergeBounds({ min: 'x', max: '5' }, delta({ min: '1', max: '7' }), true)).toEqual({ min: null, max: '7' });
  });
});

describe('mergeColumnStats', () => {
  const delta: ColumnStatsDelta = {
    columnId: 3,
    containsNull: false,
    containsNan: false,
    bounds: { min: '1.0', max: '2.0' },
    order: 'number',
  };
  const context = { tableId: 7, hadValues: true };

  test('the first statistics of a column', () => {
    expect(mergeColumnStats(undefined, delta, { tableId: 7, hadValues: false })).toEqual({
      table_id: 7,
      column_id: 3,
      contains_null: false,
      contains_nan: false,
      min_value: '1.0',
      max_value: '2.0',
      extra_stats: null,
    });
  });

  test('flags: NaN not known stays so, a NULL once seen is known', () => {
    const row = {
      table_id: 7,
      column_id: 3,
      contains_null: null,
      contains_nan: null,
      min_value: null,
      max_value: null,
      extra_stats: '{}',
    };
    expect(mergeColumnStats(row, { ...delta, containsNan: true, containsNull: true }, context)).toEqual({
      ...row,
      contains_null: true,
    });
    expect(mergeColumnStats(row, delta, context)).toEqual(row);
    const known = { ...row, contains_null: true, contains_nan: false };
    expect(mergeColumnStats(known, { ...delta, containsNan: true }, context)).toEqual({ ...known, contains_nan: true });
    expect(mergeColumnStats({ ...known, contains_nan: true }, delta, context)).toEqual({
      ...known,
      contains_nan: true,
    });
  });
});

describe('deltaOf', () => {
  const stats = (
    fieldId: number,
    min: string | undefined,
    max = min,
    rest: Partial<ColumnStats> = {},
  ): ColumnStats => ({
    fieldId,
    byteLength: 10,
    valueCount: 1,
    nullCount: 0,
    min,
    max,
    containsNan: undefined,
    ...rest,
  });

  test('several files widen, each column in its own order', () => {
    const fields = [field(1, 'int32'), field(2, 'varchar'), field(5, 'float64')];
    const files = [
      [stats(5, '1.0', '2.0', { containsNan: false }), stats(1, '9', '10'), stats(2, '9', 'a')],
      [stats(1, '8'), stats(2, '10', '\u{1f600}'), stats(5, '-inf', '0.5', { containsNan: true, nullCount: 1 })],
    ];
    expect(deltaOf(files, fields)).toEqual([
      { columnId: 1, containsNull: false, containsNan: null, bounds: { min: '8', max: '10' }, order: 'number' },
      { columnId: 2, containsNull: false, containsNan: null, bounds: { min: '10', max: '\u{1f600}' }, order: 'bytes' },
      { columnId: 5, containsNull: true, containsNan: true, bounds: { min: '-inf', max: '2.0' }, order: 'number' },
    ]);
  });

  test('a file without values adds nothing, one without bounds makes them unknown', () => {
    const empty = stats(1, undefined, undefined, { valueCount: 0, nullCount: 3 });
    const unknown = stats(1, undefined);
    expect(deltaOf([[empty], [stats(1, '5')]], [field(1, 'int32')])[0]!.bounds).toEqual({ min: '5', max: '5' });
    expect(deltaOf([[empty]], [field(1, 'int32')])[0]).toMatchObject({ bounds: 'none', containsNull: true });
    expect(deltaOf([[stats(1, '5')], [unknown], [stats(1, '6')]], [field(1, 'int32')])[0]!.bounds).toBe('unknown');
  });

  test('a file of nothing but NaN adds no bounds, and leaves them known', () => {
    const nan = stats(1, undefined, undefined, { containsNan: true });
    const bounds = { min: '1.0', max: '1.0' };
    expect(deltaOf([[nan]], [field(1, 'float64')])[0]).toMatchObject({ bounds: 'none', containsNan: true });
    expect(
      deltaOf([[nan], [stats(1, '1.0', '1.0', { containsNan: false })], [nan]], [field(1, 'float64')])[0],
    ).toMatchObject({ bounds });
  });

  test('leaves of nested columns', () => {
    const list: Field = { ...field(1, 'list'), children: [field(2, 'int32')] };
    expect(deltaOf([[stats(2, '5')]], [list])).toMatchObject([{ columnId: 2, bounds: { min: '5', max: '5' } }]);
  });
});
