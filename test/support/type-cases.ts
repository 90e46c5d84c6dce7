import { type Column, t } from '../../src/index.ts';

/** One value three ways: as callers hand it over, as SQL that DuckDB evaluates, and as a scan gives it back (see `shown`). */
export interface ValueCase {
  readonly given: unknown;
  readonly sql: string;
  readonly back: string;
  /** Whether DuckDB finds it by a filter in files of its own. */
  readonly isFound: boolean;
}

export interface TypeCase {
  /** DuckLake's name. */
  readonly name: string;
  readonly column: Column;
  /** DuckDB's name. */
  readonly sqlType: string;
  /** Whether the catalog holds bounds of the type. */
  readonly hasBounds: boolean;
  /** Several ways to give one value, the edges, values that are almost something else. No NULL. */
  readonly values: readonly ValueCase[];
}

/** A value as text that tells apart what `===` or JSON would not: types, signed zeros, the precision of instants. */
export function shown(value: unknown): string {
  if (value instanceof Map) return `map ${shown([...value])}`;
  if (value === null) return 'null';
  if (value === undefined) return 'undefined';
  if (typeof value === 'bigint') return `${value}n`;
  if (Object.is(value, -0)) return '-0';
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex')}`;
  if (value instanceof Date) {
    if ('nanos' in value) return `nanos ${value.nanos}`;
    if ('days' in value) return `days ${value.days}`;
    return `date ${value.toISOString()}`;
  }
  if (Array.isArray(value)) return `[${value.map(shown).join(', ')}]`;
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, item]) => `${key}: ${shown(item)}`)
      .join(', ')}}`;
  return String(value);
}

type Given = readonly [given: unknown, sql: string, back?: unknown, isFound?: boolean];

function typeCase(column: Column, sqlType: string, values: readonly Given[], hasBounds = true): TypeCase {
  const { type } = column.definition;
  const name = type.name === 'decimal' ? `decimal(${type.precision},${type.scale})` : type.name;
  return {
    name,
    column,
    sqlType,
    hasBounds,
    values: values.map((row) => {
      const [given, sql, back, isFound = true] = row;
      return { given, sql, back: shown(row.length > 2 ? back : given), isFound };
    }),
  };
}

const small = (column: Column, sqlType: string, low: number, high: number): TypeCase =>
  typeCase(column, sqlType, [
    [0, '0'],
    [low, `${low}`],
    [high, `${high}`],
    [7n, '7', 7],
    [-0, '0', 0],
  ]);

const big = (column: Column, sqlType: string, low: bigint, high: bigint): TypeCase =>
  typeCase(column, sqlType, [
    [0n, '0'],
    [low, `${low}`],
    [high, `${high}`],
    [low + 1n, `${low + 1n}`],
    [2 ** 53 - 1, '9007199254740991', 9007199254740991n],
    [9007199254740993n, '9007199254740993'],
  ]);

/** DuckDB's Parquet has no such integers: it stores them as doubles, so only those that a double holds are kept. */
const huge = (column: Column, sqlType: string, values: readonly bigint[]): TypeCase =>
  typeCase(
    column,
    sqlType,
    values.map((value) => [value, `${value}`]),
    false,
  );

const nanos = (value: bigint): { readonly nanos: bigint } => Object.assign(new Date(0), { nanos: value });
const at = Date.UTC(2024, 0, 15, 12, 30, 0, 123);
const atNanos = BigInt(at) * 1_000_000n;

const timestamps = (column: Column, sqlType: string, suffix = '', iso = ''): TypeCase =>
  typeCase(column, sqlType, [
    [new Date(at), `'2024-01-15 12:30:00.123${suffix}'`, nanos(atNanos)],
    [`2024-01-15 12:30:00.123456${suffix}`, `'2024-01-15 12:30:00.123456${suffix}'`, nanos(atNanos + 456_000n)],
    [`1969-12-31T23:59:59.999999${iso}`, `'1969-12-31 23:59:59.999999${suffix}'`, nanos(-1000n)],
    [0n, `'1970-01-01 00:00:00${suffix}'`, nanos(0n)],
    // The first and last finite ones, and beyond 9999 and before year 1.
    [-9_223_372_022_400_000_000n, `'290309-12-22 (BC) 00:00:00${suffix}'`, nanos(-9_223_372_022_400_000_000_000n)],
    [9_223_372_036_854_775_806n, `'294247-01-10 04:00:54.775806${suffix}'`, nanos(9_223_372_036_854_775_806_000n)],
    [
      `12024-01-15 12:30:00${suffix}`,
      `'12024-01-15 12:30:00${suffix}'`,
      nanos(BigInt(Date.parse('+012024-01-15T12:30:00Z')) * 1_000_000n),
    ],
    [
      `0044-03-15 (BC) 00:00:00${suffix}`,
      `'0044-03-15 (BC) 00:00:00${suffix}'`,
      nanos(BigInt(Date.parse('-000043-03-15T00:00:00Z')) * 1_000_000n),
    ],
    [2n ** 63n - 1n, "'infinity'", nanos(2n ** 63n - 1n)],
    [-(2n ** 63n) + 1n, "'-infinity'", nanos(-(2n ** 63n) + 1n)],
  ]);

const decimal = (precision: number, scale: number, values: readonly Given[]): TypeCase =>
  typeCase(t.decimal(precision, scale), `DECIMAL(${precision}, ${scale})`, values);

const nines = '9'.repeat(38);

/** All flat types. */
export const typeCases: readonly TypeCase[] = [
  typeCase(t.boolean(), 'BOOLEAN', [
    [true, 'true'],
    [false, 'false'],
  ]),
  small(t.int8(), 'TINYINT', -128, 127),
  small(t.int16(), 'SMALLINT', -32768, 32767),
  small(t.int32(), 'INTEGER', -(2 ** 31), 2 ** 31 - 1),
  small(t.uint8(), 'UTINYINT', 0, 255),
  small(t.uint16(), 'USMALLINT', 0, 65535),
  small(t.uint32(), 'UINTEGER', 0, 2 ** 32 - 1),
  big(t.int64(), 'BIGINT', -(2n ** 63n), 2n ** 63n - 1n),
  big(t.uint64(), 'UBIGINT', 0n, 2n ** 64n - 1n),
  huge(t.int128(), 'HUGEINT', [0n, -7n, 2n ** 53n - 1n, -(2n ** 100n), 2n ** 126n]),
  huge(t.uint128(), 'UHUGEINT', [0n, 7n, 2n ** 53n - 1n, 2n ** 100n, 2n ** 127n]),
  typeCase(t.float32(), 'FLOAT', [
    [0, '0'],
    [-0, "'-0.0'"],
    [1.5, '1.5'],
    [0.1, '0.1', Math.fround(0.1)],
    [16777216, '16777216'],
    // DuckDB drops a file whose largest value is this one and is looked for: it compares the bound's text as another number.
    [3.4028234663852886e38, "'3.4028234663852886e38'", 3.4028234663852886e38, false],
    [1.401298464324817e-45, "'1e-45'"],
    [-1e-7, "'-1e-7'", Math.fround(-1e-7)],
    [Number.POSITIVE_INFINITY, "'inf'"],
    [Number.NEGATIVE_INFINITY, "'-inf'"],
    [Number.NaN, "'nan'"],
  ]),
  typeCase(t.float64(), 'DOUBLE', [
    [0, '0'],
    [-0, "'-0.0'"],
    [0.1, '0.1'],
    [-1e-7, "'-1e-7'"],
    [1e16, '1e16'],
    [123456789012345.67, '123456789012345.67'],
    [Number.MAX_VALUE, "'1.7976931348623157e308'"],
    [Number.MIN_VALUE, "'5e-324'"],
    [Number.POSITIVE_INFINITY, "'inf'"],
    [Number.NEGATIVE_INFINITY, "'-inf'"],
    [Number.NaN, "'nan'"],
  ]),
  decimal(4, 1, [
    ['-1.5', '-1.5'],
    [999.9, '999.9', '999.9'],
    [0n, '0', '0.0'],
    [-999.9, '-999.9', '-999.9'],
  ]),
  decimal(9, 9, [
    ['0.999999999', '0.999999999'],
    ['-.000000001', '-0.000000001', '-0.000000001'],
    [0.5, '0.5', '0.500000000'],
  ]),
  decimal(18, 3, [
    ['-1.5', '-1.500', '-1.500'],
    [12n, '12.000', '12.000'],
    ['999999999999999.999', '999999999999999.999'],
    ['-999999999999999.999', '-999999999999999.999'],
    ['10.000', '10.000'],
    ['9.000', '9.000'],
  ]),
  decimal(38, 0, [
    [nines, `'${nines}'`],
    [`-${nines}`, `'-${nines}'`],
    [0, '0', '0'],
    [10n ** 37n, `'1${'0'.repeat(37)}'`, `1${'0'.repeat(37)}`],
  ]),
  decimal(38, 38, [
    [`0.${nines}`, `'0.${nines}'`],
    ['-1e-38', `'-0.${'0'.repeat(37)}1'`, `-0.${'0'.repeat(37)}1`],
  ]),
  typeCase(t.varchar(), 'VARCHAR', [
    ['', "''"],
    ['NULL', "'NULL'"],
    ['it\'s "quoted", \\ and\nbroken', `'it''s "quoted", \\ and' || chr(10) || 'broken'`],
    ['ä', "'ä'"],
    // U+FB01 is above the emoji in UTF-16, below it in UTF-8.
    ['\ufb01', "'\ufb01'"],
    ['😀', "'😀'"],
    ['e\u0301', "'e' || chr(769)"],
    [' x ', "' x '"],
    ['0', "'0'"],
    ['x'.repeat(3000), "repeat('x', 3000)"],
  ]),
  typeCase(t.json(), 'JSON', [
    ['{"a": [1, null]}', `'{"a": [1, null]}'`, { a: [1, null] }],
    [{ a: '' }, `'{"a":""}'`],
    [[], `'[]'`],
    [12345678901234567890n, `'12345678901234567890'`],
    ['"NULL"', `'"NULL"'`, 'NULL'],
    ['null', "'null'", null],
    [true, "'true'"],
  ]),
  typeCase(t.blob(), 'BLOB', [
    [new Uint8Array(0), "''"],
    [new Uint8Array([0]), "'\\x00'"],
    [new Uint8Array([0xff, 0]), "'\\xFF\\x00'"],
    [new Uint8Array([0x61, 0x5c]), "'a\\x5C'"],
    [new Uint8Array([0x80]), "'\\x80'"],
  ]),
  typeCase(t.uuid(), 'UUID', [
    ['00000000-0000-0000-0000-000000000000', "'00000000-0000-0000-0000-000000000000'"],
    [
      'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
      "'ffffffff-ffff-ffff-ffff-ffffffffffff'",
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
    ],
    ['7fffffff-0000-4000-8000-000000000001', "'7fffffff-0000-4000-8000-000000000001'"],
    ['80000000-0000-4000-8000-000000000001', "'80000000-0000-4000-8000-000000000001'"],
  ]),
  typeCase(t.date(), 'DATE', [
    ['2024-02-29', "'2024-02-29'", new Date('2024-02-29')],
    [new Date(0), "'1970-01-01'"],
    [new Date('1969-12-31'), "'1969-12-31'"],
    ['0044-03-15 (BC)', "'0044-03-15 (BC)'", new Date('-000043-03-15')],
    ['12024-01-15', "'12024-01-15'", new Date('+012024-01-15')],
    ['5881580-07-10', "'5881580-07-10'", Object.assign(new Date(Number.NaN), { days: 2 ** 31 - 2 })],
    ['infinity', "'infinity'", Object.assign(new Date(Number.NaN), { days: 2 ** 31 - 1 })],
    ['-infinity', "'-infinity'", Object.assign(new Date(Number.NaN), { days: -(2 ** 31) + 1 })],
  ]),
  typeCase(t.time(), 'TIME', [
    ['00:00', "'00:00:00'", '00:00:00'],
    ['23:59:59.999999', "'23:59:59.999999'"],
    [45_000_000_001n, "'12:30:00.000001'", '12:30:00.000001'],
    ['24:00:00', "'24:00:00'"],
  ]),
  typeCase(
    t.timetz(),
    'TIMETZ',
    [
      ['00:00:00+00', "'00:00:00+00'"],
      ['23:59:59.999999Z', "'23:59:59.999999+00'", '23:59:59.999999+00'],
      ['02:30:00+05:30', "'21:00:00+00'", '21:00:00+00'],
      [1n, "'00:00:00.000001+00'", '00:00:00.000001+00'],
    ],
    false,
  ),
  timestamps(t.timestamp(), 'TIMESTAMP'),
  timestamps(t.timestamptz(), 'TIMESTAMPTZ', '+00', 'Z'),
  typeCase(t.timestampS(), 'TIMESTAMP_S', [
    [new Date(Date.UTC(2024, 0, 15, 12, 30, 1)), "'2024-01-15 12:30:01'", nanos(1_705_321_801_000_000_000n)],
    [-1n, "'1969-12-31 23:59:59'", nanos(-1_000_000_000n)],
    [
      '0044-03-15 (BC) 00:00:00',
      "'0044-03-15 (BC) 00:00:00'",
      nanos(BigInt(Date.parse('-000043-03-15T00:00:00Z')) * 1_000_000n),
    ],
    [
      '12024-01-15T12:30:00',
      "'12024-01-15 12:30:00'",
      nanos(BigInt(Date.parse('+012024-01-15T12:30:00Z')) * 1_000_000n),
    ],
  ]),
  typeCase(t.timestampMs(), 'TIMESTAMP_MS', [
    [new Date(at), "'2024-01-15 12:30:00.123'", nanos(atNanos)],
    [-1n, "'1969-12-31 23:59:59.999'", nanos(-1_000_000n)],
    [
      '12024-01-15T12:30:00.5',
      "'12024-01-15 12:30:00.5'",
      nanos(BigInt(Date.parse('+012024-01-15T12:30:00.500Z')) * 1_000_000n),
    ],
  ]),
  typeCase(t.timestampNs(), 'TIMESTAMP_NS', [
    ['2024-01-15 12:30:00.123456789', "'2024-01-15 12:30:00.123456789'", nanos(atNanos + 456_789n)],
    [-1n, "'1969-12-31 23:59:59.999999999'", nanos(-1n)],
    [new Date(at), "'2024-01-15 12:30:00.123'", nanos(atNanos)],
    [9_223_372_036_854_775_806n, "'2262-04-11 23:47:16.854775806'", nanos(9_223_372_036_854_775_806n)],
    ['1678-01-01 00:00:00', "'1678-01-01 00:00:00'", nanos(-9_214_560_000_000_000_000n)],
  ]),
  typeCase(
    t.interval(),
    'INTERVAL',
    [
      [{ months: 14, days: 3, micros: 14_706_500_000n }, "'1 year 2 months 3 days 04:05:06.5'"],
      [{ months: 0, days: 0, micros: 0n }, "'0 seconds'"],
      // Parquet's intervals are of unsigned milliseconds.
      [{ months: 1, days: 0, micros: 1000n }, "'1 month 00:00:00.001'"],
    ],
    false,
  ),
];
