import { identifier, literal } from '../support/oracle.ts';
import type { Random } from './random.ts';

/** A column type of DuckDB as a lake may have it. */
export type SqlType =
  | { readonly kind: 'scalar'; readonly sql: string }
  | { readonly kind: 'list'; readonly item: SqlType }
  | { readonly kind: 'struct'; readonly members: readonly Member[] }
  | { readonly kind: 'map'; readonly key: SqlType; readonly value: SqlType };

export interface Member {
  readonly name: string;
  readonly type: SqlType;
}

export const scalar = (sql: string): SqlType => ({ kind: 'scalar', sql });

export function typeSql(type: SqlType): string {
  switch (type.kind) {
    case 'scalar':
      return type.sql;
    case 'list':
      return `${typeSql(type.item)}[]`;
    case 'struct':
      return `STRUCT(${type.members.map((member) => `${identifier(member.name)} ${typeSql(member.type)}`).join(', ')})`;
    case 'map':
      return `MAP(${typeSql(type.key)}, ${typeSql(type.value)})`;
  }
}

const long = (unit: string, count: number): string => unit.repeat(count);

/** Texts that DuckDB casts to the type: the edges, and what looks like something else. */
const texts: Readonly<Record<string, readonly string[]>> = {
  BOOLEAN: ['true', 'false'],
  TINYINT: ['0', '1', '-1', '127', '-128', '42'],
  SMALLINT: ['0', '1', '-1', '32767', '-32768', '300'],
  INTEGER: ['0', '1', '-1', '2147483647', '-2147483648', '70000'],
  BIGINT: ['0', '1', '-1', '9223372036854775807', '-9223372036854775808', '9007199254740993', '12345678901'],
  HUGEINT: ['0', '1', '-1', '100000000000000000000000000000000000000', '18446744073709551616', '1000000000000'],
  UTINYINT: ['0', '1', '255', '128'],
  USMALLINT: ['0', '1', '65535', '32768'],
  UINTEGER: ['0', '1', '4294967295', '2147483648'],
  UBIGINT: ['0', '1', '18446744073709551615', '9223372036854775808', '77'],
  UHUGEINT: ['0', '1', '300000000000000000000000000000000000000', '18446744073709551616'],
  FLOAT: ['0', '-0.0', '1.5', '-2.25', 'nan', 'inf', '-inf', '3.4028234663852886e38', '1e-45', '0.1', '16777217'],
  DOUBLE: [
    '0',
    '-0.0',
    '1.5',
    '-2.25',
    'nan',
    'inf',
    '-inf',
    '1.7976931348623157e308',
    '5e-324',
    '0.1',
    '1e16',
    '123456789.125',
  ],
  VARCHAR: [
    ...[
      '',
      'a',
      'b',
      'abc',
      'NULL',
      'null',
      ' ',
      ' lead',
      'trail ',
      "it's",
      '"quoted"',
      'back\\slash',
      'a,b',
      '[x]',
      '{y}',
      '(z)',
    ],
    ...[
      'k=v',
      'new\nline',
      'tab\t',
      'é',
      'ß',
      'Ω',
      '日本語',
      '😀',
      '\u{1f468}\u200d\u{1f469}',
      '\uffff',
      '\u{10000}',
      '%',
      '_',
      'true',
    ],
    ...[
      '0',
      '-1',
      '1e5',
      'nan',
      '2024-01-01',
      long('x', 300),
      long('é', 129),
      'aa/bb',
      '..',
      'a?b&c=d#e',
      '\u0301',
      "'",
      '\\',
    ],
  ],
  JSON: [
    '{}',
    '[]',
    'null',
    '1',
    '"s"',
    'true',
    '{"a": 1}',
    '{"a":[1,2,{"b":null}]}',
    '[1, 2.5, "x"]',
    '"it\'s"',
    '{"é":"😀"}',
    '1e3',
  ],
  BLOB: ['', 'a', '\\x00', '\\xFF\\x00\\xAA', 'abc\\x0A', '\\xC3\\xA9', '\\x5C\\x78', long('\\x01', 80)],
  UUID: [
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    '8ac7230e-89ed-4c5b-9c3e-0123456789ab',
    '7fffffff-ffff-ffff-ffff-ffffffffffff',
  ],
  DATE: [
    '1970-01-01',
    '1969-12-31',
    '2024-02-29',
    '12024-01-15',
    '0001-01-01',
    '9999-12-31',
    'infinity',
    '-infinity',
    '5881580-07-10',
    '1582-10-10',
  ],
  TIME: ['00:00:00', '23:59:59.999999', '12:34:56', '12:34:56.5', '00:00:00.000001'],
  TIMETZ: ['00:00:00+00', '12:34:56+02', '23:59:59.999999-15:59', '00:00:00+15:59', '12:30:00.25-03:30'],
  TIMESTAMP: [
    ...['1970-01-01 00:00:00', '1969-12-31 23:59:59.999999', '2024-02-29 12:30:00.123456', '12024-01-15 12:30:00'],
    ...['infinity', '-infinity', '2024-01-15 12:30:00', '0001-01-01 00:00:00', '294247-01-10 04:00:54.775806'],
  ],
  TIMESTAMPTZ: [
    ...[
      '1970-01-01 00:00:00+00',
      '1969-12-31 23:59:59.999999+00',
      '2024-02-29 12:30:00.123456+05:30',
      '12024-01-15 12:30:00+00',
    ],
    ...['infinity', '-infinity', '2024-01-15 12:30:00+00', '0001-01-01 00:00:00+00'],
  ],
  TIMESTAMP_S: [
    '1970-01-01 00:00:00',
    '1969-12-31 23:59:59',
    '2024-02-29 12:30:00',
    '12024-01-15 12:30:00',
    'infinity',
  ],
  TIMESTAMP_MS: [
    '1970-01-01 00:00:00',
    '1969-12-31 23:59:59.999',
    '2024-02-29 12:30:00.123',
    '12024-01-15 12:30:00',
    '-infinity',
  ],
  TIMESTAMP_NS: [
    '1970-01-01 00:00:00',
    '1969-12-31 23:59:59.999999999',
    '2024-02-29 12:30:00.123456789',
    '2262-04-11 23:47:16.854775806',
    '1677-09-22 00:00:00',
    'infinity',
  ],
  INTERVAL: [
    '0 seconds',
    '1 month',
    '-1 month',
    '1 day',
    '1 year 2 months 3 days 04:05:06.5',
    '-3 days',
    '-00:00:01',
    '100 years',
    '25:00:00',
  ],
};

/** What DuckDB writes into a catalog and can't always read there again: rarely, since it hides the rest of a table. */
const rare: Readonly<Record<string, readonly string[]>> = {
  DATE: ['0044-03-15 (BC)', '5877642-06-25 (BC)'],
  TIME: ['24:00:00'],
  TIMESTAMP: ['0044-03-15 (BC) 01:02:03', '290000-01-01 (BC) 00:00:00'],
  TIMESTAMPTZ: ['0044-03-15 (BC) 01:02:03+00'],
  TIMESTAMP_S: ['0044-03-15 (BC) 01:02:03'],
};

export const scalarTypes: readonly string[] = Object.keys(texts);

/** Texts of a decimal's edges. */
function decimalTexts(precision: number, scale: number): string[] {
  const point = (digits: string): string =>
    scale === 0
      ? digits
      : `${digits.padStart(scale + 1, '0').slice(0, -scale)}.${digits.padStart(scale, '0').slice(-scale)}`;
  const nines = point('9'.repeat(precision));
  return ['0', nines, `-${nines}`, point('1'), `-${point('1')}`, point('5'.repeat(Math.ceil(precision / 2)))];
}

export function textsOf(sql: string): readonly string[] {
  if (sql === 'VARIANT') return ['1'];
  const decimal = /^DECIMAL\((\d+),(\d+)\)$/.exec(sql);
  if (decimal) return decimalTexts(Number(decimal[1]), Number(decimal[2]));
  return texts[sql]!;
}

export function scalarLiteral(random: Random, sql: string): string {
  if (sql === 'VARIANT') return `CAST(${random.pick(['42', "'text'", "{'a': 1}", '[1, 2]'])} AS VARIANT)`;
  if (sql === 'VARCHAR' && random.chance(0.01)) return "('nul' || chr(0) || 'x')";
  if (sql === 'VARCHAR' && random.chance(0.2)) return literal(`s${random.int(0, 40)}`);
  if (/INT$/.test(sql) && random.chance(0.4)) return `CAST(${random.int(0, 40)} AS ${sql})`;
  if (sql === 'UUID' && random.chance(0.5))
    return `CAST('${random.int(0, 0xffffffff).toString(16).padStart(8, '0')}-89ed-4c5b-9c3e-0123456789ab' AS UUID)`;
  const text = random.pick(random.chance(0.01) ? (rare[sql] ?? textsOf(sql)) : textsOf(sql));
  return sql === 'VARCHAR' ? literal(text) : `CAST(${literal(text)} AS ${sql})`;
}

/** An expression of the type; NULL at times, unless it must not be. */
export function value(random: Random, type: SqlType, nullable = true): string {
  if (nullable && random.chance(0.15)) return 'NULL';
  switch (type.kind) {
    case 'scalar':
      return scalarLiteral(random, type.sql);
    case 'list': {
      const items = Array.from({ length: random.pick([0, 1, 1, 2, 3, 5]) }, () => value(random, type.item));
      return `CAST([${items.join(', ')}] AS ${typeSql(type)})`;
    }
    case 'struct': {
      const members = type.members.map((member) => `${literal(member.name)}: ${value(random, member.type)}`);
      return `CAST({${members.join(', ')}} AS ${typeSql(type)})`;
    }
    case 'map': {
      const keys = new Set(Array.from({ length: random.pick([0, 1, 1, 2, 4]) }, () => value(random, type.key, false)));
      // Texts that differ may be the same key (both zeros, 1 and 1.0); NaN is one too.
      const plain = [...keys].filter((key) => !/-0\.0|'nan'/.test(key));
      return `CAST(map([${plain.join(', ')}], [${plain.map(() => value(random, type.value)).join(', ')}]) AS ${typeSql(type)})`;
    }
  }
}

/** An expression over the row number `i`, of as many different values as the type makes easy. */
export function bulk(random: Random, type: SqlType, nullable = true): string {
  const made = type.kind === 'scalar' && random.chance(0.6) ? computed(random, type.sql) : undefined;
  const inner = made ?? pooled(random, type);
  if (!nullable) return inner;
  const every = random.pick([0, 0, 2, 3, 7, 50]);
  return every === 0 ? inner : `CASE WHEN i % ${every} = ${random.int(0, every - 1)} THEN NULL ELSE ${inner} END`;
}

function pooled(random: Random, type: SqlType): string {
  const pool = Array.from({ length: random.pick([1, 2, 4, 12]) }, () => value(random, type, false));
  return `CAST([${pool.join(', ')}] AS ${typeSql(type)}[])[1 + CAST(hash(i + ${random.int(0, 1000)}) % ${pool.length} AS BIGINT)]`;
}

function computed(random: Random, sql: string): string | undefined {
  const n = random.pick([
    'i',
    'i',
    `(i * 7919) % ${random.pick([10, 1000, 100003])}`,
    '(-i)',
    'CAST(hash(i) % 1000000 AS BIGINT)',
  ]);
  const small = `abs(${n}) % 100`;
  switch (sql) {
    case 'BOOLEAN':
      return `(${n}) % 3 = 0`;
    case 'TINYINT':
    case 'UTINYINT':
      return `CAST(${small} AS ${sql})`;
    case 'SMALLINT':
    case 'USMALLINT':
    case 'UINTEGER':
    case 'UBIGINT':
    case 'UHUGEINT':
      return `CAST(abs(${n}) % 30000 AS ${sql})`;
    case 'INTEGER':
    case 'BIGINT':
    case 'HUGEINT':
      return `CAST(${n} AS ${sql})`;
    case 'FLOAT':
    case 'DOUBLE':
      return `CAST((${n}) / ${random.pick(['1', '3', '1000'])} AS ${sql})`;
    case 'VARCHAR':
      return random.pick([
        `'v' || (${n})`,
        `repeat('ab', CAST(${small} AS INTEGER))`,
        `md5(CAST(${n} AS VARCHAR))`,
        `'p' || (i // 10)`,
      ]);
    case 'JSON':
      return `CAST('{"n": ' || (${n}) || '}' AS JSON)`;
    case 'BLOB':
      return `encode('b' || (${n}))`;
    case 'UUID':
      return `CAST(md5(CAST(${n} AS VARCHAR)) AS UUID)`;
    case 'DATE':
      return `DATE '2020-01-01' + CAST((${n}) % 3000 AS INTEGER)`;
    case 'TIME':
      return `TIME '00:00:00' + INTERVAL (abs(${n}) % 86400) SECOND`;
    case 'TIMESTAMP':
    case 'TIMESTAMP_S':
    case 'TIMESTAMP_MS':
    case 'TIMESTAMP_NS':
      return `CAST(TIMESTAMP '2020-01-01 00:00:00' + INTERVAL (${n}) MINUTE AS ${sql})`;
    case 'TIMESTAMPTZ':
      return `CAST(TIMESTAMPTZ '2020-01-01 00:00:00+00' + INTERVAL (${n}) HOUR AS TIMESTAMPTZ)`;
    case 'INTERVAL':
      return `INTERVAL (${n}) SECOND`;
    default:
      return undefined;
  }
}

export function randomScalar(random: Random): SqlType {
  // What edgemere refuses, when it is asked for, and only then.
  if (random.chance(0.007)) return scalar('VARIANT');
  if (random.chance(0.12)) {
    const precision = random.pick([1, 4, 5, 9, 10, 18, 19, 38]);
    return scalar(
      `DECIMAL(${precision},${random.pick([0, Math.min(2, precision), precision, Math.floor(precision / 2)])})`,
    );
  }
  // What most tables are made of comes more often.
  return scalar(
    random.chance(0.45)
      ? random.pick(['INTEGER', 'BIGINT', 'VARCHAR', 'DOUBLE', 'TIMESTAMP', 'DATE'])
      : random.pick(scalarTypes),
  );
}

export function randomType(random: Random, memberNames: () => string[], depth = 0): SqlType {
  if (depth > 3 || !random.chance(depth === 0 ? 0.25 : 0.3)) return randomScalar(random);
  switch (random.weighted({ struct: 5, list: 4, map: 3 })) {
    case 'struct':
      return {
        kind: 'struct',
        members: memberNames().map((name) => ({ name, type: randomType(random, memberNames, depth + 1) })),
      };
    case 'list':
      return { kind: 'list', item: randomType(random, memberNames, depth + 1) };
    case 'map':
      return {
        kind: 'map',
        key: scalar(
          random.pick(['INTEGER', 'VARCHAR', 'BIGINT', 'DATE', 'UUID', 'DECIMAL(9,2)', 'BOOLEAN', 'TIMESTAMP']),
        ),
        value: randomType(random, memberNames, depth + 1),
      };
  }
}
