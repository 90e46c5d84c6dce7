import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { LakeError } from '../../src/errors.ts';
import { parseType, scalarNames } from '../../src/spec/types.ts';
import { codecFor, ValueError } from '../../src/spec/values/codec.ts';
import { FarDate } from '../../src/spec/values/date.ts';
import { Timestamp } from '../../src/spec/values/timestamp.ts';

const day = (text: string): Date => new Date(text);
const changed = new Timestamp(1_500n);
changed.setTime(99);

class Point {
  x = 1;
}

/** For each type what it must not take, however close it is to what it takes. */
const refused: Readonly<Record<string, readonly unknown[]>> = {
  boolean: [0, 1, 'true', '', new Boolean(true)],
  int8: [128, -129, 1.5, Number.NaN, Infinity, 128n, '5', true, new Number(5), 2n ** 64n],
  int16: [32768, -32769, 0.1],
  int32: [2147483648, -2147483649, 2 ** 53, 2n ** 31n],
  int64: [2n ** 63n, -(2n ** 63n) - 1n, 2 ** 53, -(2 ** 53), 1.5, '5', Number.NaN],
  int128: [2n ** 127n, -(2n ** 127n) - 1n, 2 ** 53, 0.5],
  uint8: [-1, 256, -1n, '0'],
  uint16: [-1, 65536],
  uint32: [-1, 4294967296, 4294967296n],
  uint64: [-1, -1n, 2n ** 64n, 2 ** 53],
  uint128: [-1n, -5, 2n ** 128n],
  float32: [1e39, -1e39, 3.4028236e38, '1', 1n, true],
  float64: ['1.5', 1n, true, '', new Number(1)],
  'decimal(4,1)': [
    '1000',
    '-1000',
    '0.05',
    0.05,
    1000n,
    '1e3',
    ' 1',
    '1,5',
    'NaN',
    Number.NaN,
    Infinity,
    '',
    '.',
    '+',
    '0x10',
    true,
  ],
  'decimal(38,0)': [10n ** 38n, '0.1', 2 ** 53, 1e23, '1e38', '1e9999', '9'.repeat(39)],
  'decimal(3,2)': [0.1 + 0.2, '0.001', 10],
  varchar: ['\ud800', 'a\udc00', '\udc00\ud800', 5, 5n, {}, new Date(), ['a'], new String('a')],
  json: [
    '',
    'abc',
    '{a:1}',
    "{'a':1}",
    '[1,]',
    'NaN',
    '"\\ud800"',
    '{"\\uDC00":1}',
    '\ufeff1',
    undefined,
    () => 1,
    Symbol('a'),
    Number.NaN,
    Infinity,
    { a: undefined },
    [undefined],
    new Array(1),
    { a: { b: Number.NaN } },
    ['\ud800'],
    { '\ud800': 1 },
    new Map(),
    new Set(),
    new Point(),
    new Uint8Array(1),
    new Date(Number.NaN),
    /x/,
    Promise.resolve(),
  ],
  blob: ['00', [0], new ArrayBuffer(1), new Uint16Array(1), new DataView(new ArrayBuffer(1)), 0],
  uuid: [
    '',
    'a0eebc999c0b4ef8bb6d6bb9bd380a11',
    '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}',
    'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1',
    'g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
    ' a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
    new Uint8Array(16),
    5,
  ],
  date: [
    '2023-02-29',
    '1900-02-29',
    '2024-13-01',
    '2024-00-01',
    '2024-01-00',
    '2024-04-31',
    '2024-1-5',
    '2024-01-15T00:00:00Z',
    '2024-01-15 ',
    '',
    'today',
    '0000-01-01 (BC)',
    '-0044-01-01 (BC)',
    '5881580-07-11',
    '5877642-06-24 (BC)',
    day('2024-01-15T00:00:00.001Z'),
    new Date(Number.NaN),
    new FarDate(2 ** 31),
    0,
    0n,
  ],
  time: [
    '24:00:01',
    '24:00:00.000001',
    '12:60',
    '12:30:60',
    '1:30',
    '12',
    '12:30:00.1234567',
    '12:30:00Z',
    '12:30:00+00',
    -1n,
    86_400_000_001n,
    0,
    day('2024-01-15'),
    '',
  ],
  timetz: ['12:30:00', '12:30:00+16', '12:30+', '25:00:00Z', -1n, 86_400_000_001n, 0],
  timestamp: [
    '2024-01-15 12:30:00+02',
    '2024-01-15T12:30:00-00:01',
    '2024-01-15 25:00',
    '2024-01-15 24:00:01',
    '2024-01-15 12:30:60',
    '2024-02-30 00:00',
    '2024-01-15 12:30:00.1234567',
    '2024-01-1512:30',
    '2024-01-15 ',
    '15/01/2024',
    'now',
    '',
    'Infinity',
    '294247-01-10 04:00:54.775807',
    '290309-12-21 (BC) 23:59:59',
    -(2n ** 63n),
    -(2n ** 63n) + 2n,
    2n ** 63n,
    new Date(Number.NaN),
    changed,
    new Timestamp(1n, 'ns'),
    0,
    1.5,
  ],
  timestamptz: [
    '2024-01-15 12:30:00',
    '2024-01-15',
    '2024-01-15 12:30:00+16',
    '2024-01-15 12:30:00 UTC',
    '2024-01-15 12:30:00 Europe/Berlin',
    0,
  ],
  timestamp_s: ['2024-01-15 12:30:00.5', day('2024-01-15T00:00:00.001Z'), new Timestamp(1n), 2n ** 62n],
  timestamp_ms: ['2024-01-15 12:30:00.0001', new Timestamp(1n), 9_223_372_036_854_776n],
  timestamp_ns: [
    '2262-04-11 23:47:16.854775807',
    '1677-09-21 23:59:59',
    '12024-01-15 00:00:00',
    day('2500-01-01'),
    '2024-01-15 12:30:00.1234567891',
  ],
  interval: [
    '1 day',
    5,
    {},
    { months: 1 },
    { months: 1, days: 0 },
    { months: 1.5, days: 0, micros: 0n },
    { months: 2 ** 31, days: 0, micros: 0n },
    { months: 0, days: 0, micros: 2n ** 63n },
    { months: 0, days: 0, micros: 2 ** 53 },
    { months: 0, days: 0, micros: 0n, years: 1 },
    { months: '1', days: 0, micros: 0n },
    [],
  ],
};

describe('what is not of the type is refused, never coerced', () => {
  for (const [type, values] of Object.entries(refused))
    test(type, () => {
      const codec = codecFor(parseType(type));
      for (const value of values) {
        let got: unknown;
        expect(() => {
          got = codec.encode(value);
        }).toThrow(ValueError);
        expect(got).toBeUndefined();
      }
    });

  test('every flat type is covered', () => {
    expect(scalarNames.filter((name) => !(name in refused))).toEqual([]);
  });
});

describe('anything at all: a refusal or a value of that very meaning', () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withTypedArray: true,
    withMap: true,
    withSet: true,
    withNullPrototype: true,
    withSparseArray: true,
    withBoxedValues: true,
  });
  for (const name of [...scalarNames, 'decimal(7,3)'])
    test(name, () => {
      const codec = codecFor(parseType(name));
      fc.assert(
        fc.property(anything, (value) => {
          if (value === null || value === undefined) return;
          let physical: ReturnType<typeof codec.encode>;
          try {
            physical = codec.encode(value);
          } catch (error) {
            expect(error).toBeInstanceOf(ValueError);
            return;
          }
          // JSON strings are JSON text on the way in, and strings on the way out.
          if (name === 'json') return;
          expect(codec.compare(codec.encode(codec.decode(physical)), physical)).toBe(0);
        }),
        { numRuns: 300 },
      );
    });
});

describe('JSON', () => {
  const json = codecFor({ name: 'json' });

  test('values are serialised with all their digits', () => {
    expect(json.encode({ a: 12345678901234567890n, b: [-0, 1e21, 0.1, null, true, 'é"\n'] })).toBe(
      '{"a":12345678901234567890,"b":[-0,1e+21,0.1,null,true,"é\\"\\n"]}',
    );
    expect(json.encode(Object.assign(Object.create(null), { x: 1 }))).toBe('{"x":1}');
    expect(json.encode({ at: new Date(0), stamp: new Timestamp(1n) })).toBe(
      '{"at":"1970-01-01T00:00:00.000Z","stamp":"1970-01-01T00:00:00.000001Z"}',
    );
    expect(json.encode(JSON.parse('{"__proto__":1}'))).toBe('{"__proto__":1}');
    expect(json.encode([])).toBe('[]');
    expect(json.encode({})).toBe('{}');
  });

  test('text is kept as it is', () => {
    for (const text of ['{"a":1}', ' [1, 2 ] ', '"\\ud83d\\ude00"', 'null', '12345678901234567890', '1e400'])
      expect(json.encode(text)).toBe(text);
  });

  test('an object that contains itself, and one too deep', () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = [loop];
    expect(() => json.encode(loop)).toThrow(ValueError);
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(() => json.encode(deep)).toThrow(ValueError);
    const shared = { x: 1 };
    expect(json.encode([shared, shared])).toBe('[{"x":1},{"x":1}]');
  });

  test('what is read loses no digit, and what DuckDB takes for JSON is read', () => {
    const text =
      '{"big":12345678901234567890,"small":[-9007199254740993,1,-5],"text":"12345678901234567890 # nan","key 12345678901234567":1.5,"f":1234567890123456.5e3}';
    expect(json.decode(text)).toEqual({
      big: 12345678901234567890n,
      small: [-9007199254740993n, 1, -5],
      text: '12345678901234567890 # nan',
      'key 12345678901234567': 1.5,
      f: 1234567890123456.5e3,
    });
    expect(json.decode('[NaN, Infinity, -Infinity, -inf, nan, "nan"]')).toEqual([
      Number.NaN,
      Infinity,
      -Infinity,
      -Infinity,
      Number.NaN,
      'nan',
    ]);
    expect(json.decode('12345678901234567890')).toBe(12345678901234567890n);
    expect(json.decode('"1234567890123456789"')).toBe('1234567890123456789');
    expect(Object.keys(json.decode('{"__proto__":1234567890123456789}') as object)).toEqual(['__proto__']);
  });

  test('any JSON value survives', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        // Integers that aren't safe come back as bigints.
        if (/\d{16}/.test(JSON.stringify(value))) return;
        const text = json.encode(typeof value === 'string' ? JSON.stringify(value) : value);
        expect(json.decode(text)).toEqual(value);
      }),
    );
  });
});

describe('numbers', () => {
  test('an integer is an integer whatever it came as', () => {
    expect(codecFor({ name: 'int32' }).encode(-0)).toBe(0);
    expect(codecFor({ name: 'int32' }).encode(5n)).toBe(5);
    expect(codecFor({ name: 'int64' }).encode(5)).toBe(5n);
  });

  test('decimals are exact, and numbers count by their shortest text', () => {
    const decimal = codecFor(parseType('decimal(10,3)'));
    const cases: [unknown, bigint][] = [
      ['1.5', 1500n],
      ['-0.001', -1n],
      ['+1', 1000n],
      ['1.', 1000n],
      ['.5', 500n],
      ['1e3', 1000000n],
      ['15E-1', 1500n],
      ['1.5000000000', 1500n],
      ['0e9999', 0n],
      [0.1, 100n],
      [-1.125, -1125n],
      [1e6, 1000000000n],
      [5n, 5000n],
      [-0, 0n],
    ];
    for (const [value, unscaled] of cases) expect([value, decimal.encode(value)]).toEqual([value, unscaled]);
    expect(codecFor(parseType('decimal(12,10)')).encode(1e-7)).toBe(1000n);
    expect(decimal.decode(-1n)).toBe('-0.001');
    expect(codecFor(parseType('decimal(3,3)')).decode(-50n)).toBe('-0.050');
  });

  test('float32 is the nearest float32', () => {
    const float = codecFor({ name: 'float32' });
    expect(float.encode(0.1)).toBe(Math.fround(0.1));
    expect(float.encode(16777217)).toBe(16777216);
    expect(float.encode(-0)).toBe(-0);
    expect(float.encode(Number.NaN)).toBeNaN();
    expect(float.encode(-Infinity)).toBe(-Infinity);
    expect(float.encode(3.4028234663852886e38)).toBe(3.4028234663852886e38);
  });
});

describe('types without a codec', () => {
  for (const name of ['list', 'struct', 'map', 'variant', 'geometry', 'time_ns', 'unknown'] as const)
    test(name, () => {
      expect(() => codecFor({ name })).toThrow(LakeError);
    });
});
