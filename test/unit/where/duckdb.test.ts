import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { selectRows } from '../../../src/scan/where/evaluate.ts';
import { parseWhere } from '../../../src/scan/where/parse.ts';
import type { Field } from '../../../src/schema/field.ts';
import { codecFor, type Physical } from '../../../src/spec/values/codec.ts';
import { identifier, literal, type Oracle, openOracle } from '../../support/oracle.ts';
import { type TypeCase, typeCases } from '../../support/type-cases.ts';
import { fieldOf } from './fields.ts';

let duck: Oracle;
beforeAll(async () => {
  duck = await openOracle();
});
afterAll(() => duck.close());

const operators = { eq: '=', ne: '<>', lt: '<', lte: '<=', gt: '>', gte: '>=' } as const;
type Op = keyof typeof operators;
const ops = Object.keys(operators) as Op[];

interface Value {
  readonly given: unknown;
  readonly sql: string;
}

const intervals: readonly Value[] = [
  ...[
    [1, -1, 0],
    [0, 29, 0],
    [0, 30, 0],
    [1, 0, 0],
    [0, 0, 720 * 3_600_000_000],
    [-1, 30, 0],
    [0, 0, 0],
    [2, -45, 0],
    [1, -15, 0],
    [0, 1, -3_600_000_000],
    [0, 0, 82_800_000_000],
    [0, 0, -720 * 3_600_000_000 - 1],
    [-1, -31, 5],
  ].map(([months, days, micros]) => ({
    given: { months, days, micros: BigInt(micros!) },
    sql: `to_months(${months}) + to_days(${days}) + to_microseconds(${micros})`,
  })),
];

/** Values of a type, with those that DuckDB's comparison and a stored value tell apart. */
function valuesOf({ name, values }: TypeCase): readonly Value[] {
  if (name === 'interval') return intervals;
  // Parquet has no offsets: stored values are in UTC, and DuckDB tells instants with different offsets apart.
  if (name === 'timetz') return values.filter(({ sql }) => /\+00'$/.test(sql));
  return values;
}

function fieldOfCase({ name }: TypeCase, id: number): Field {
  return fieldOf(id, `c${id}`, name);
}

const sqlValue = ({ sql }: Value, { sqlType }: TypeCase): string => `CAST(${sql} AS ${sqlType})`;

/** Rows of whose numbers DuckDB says that a condition is true, and false. */
async function answers(table: string, condition: string): Promise<[number[], number[]]> {
  const rows = await duck.rows(`SELECT i, (${condition}) AS v FROM ${table} ORDER BY i`);
  const are = (text: string): number[] => rows.filter(({ v }) => v === text).map(({ i }) => Number(i));
  return [are('true'), are('false')];
}

function ours(where: unknown, fields: readonly Field[], columns: readonly ArrayLike<unknown>[]): [number[], number[]] {
  const table = { schema: 'main', table: 't', fields };
  const rows = (filter: unknown): number[] => [
    ...selectRows(
      parseWhere(filter, table),
      (field) => ({ values: columns[fields.indexOf(field)]!, decode: undefined }),
      columns[0]!.length,
    ),
  ];
  return [rows(where), rows({ not: [where] })];
}

function stored(value: Value | null, type: Field['type']): Physical | null {
  return value === null ? null : codecFor(type).encode(value.given);
}

describe('filters answer as DuckDB', () => {
  test.each(typeCases.map((one) => [one.name, one] as const))('%s', async (name, one) => {
    const field = fieldOfCase(one, 1);
    const values = [...valuesOf(one), null];
    const list = values.map((value, i) => `(${i}, ${value ? sqlValue(value, one) : 'NULL'})`).join(', ');
    await duck.run(`CREATE OR REPLACE TABLE one AS SELECT * FROM (VALUES ${list}) AS v(i, c)`);
    const pairs = await duck.rows(
      `SELECT b.i AS j, a.i AS i, ${ops.map((op) => `a.c ${operators[op]} b.c AS "${op}"`).join(', ')}
       FROM one AS a, one AS b WHERE b.c IS NOT NULL ORDER BY b.i, a.i`,
    );
    const column = values.map((value) => stored(value, field.type));
    expect(pairs.length).toBe(values.length * (values.length - 1));
    for (const [j, value] of values.entries()) {
      if (value === null) continue;
      for (const op of ops) {
        const expected = [...'tf'].map((first) =>
          pairs.filter((row) => Number(row['j']) === j && row[op]?.[0] === first).map(({ i }) => Number(i)),
        );
        const got = ours({ c1: { [op]: value.given } }, [field], [column]);
        if (JSON.stringify(got) !== JSON.stringify(expected))
          throw new Error(`${name} ${op} ${value.sql}: ${JSON.stringify(got)}, DuckDB ${JSON.stringify(expected)}`);
        // Without NULL, as readers give it: a typed array where there is one.
        const solid = typed(column.slice(0, -1) as Physical[], field.type.name);
        expect(ours({ c1: { [op]: value.given } }, [field], [solid])).toEqual(expected as [number[], number[]]);
      }
    }
  });

  test.each<[string, string, unknown]>([
    ['int8', 'c1 < 300', { lt: 300 }],
    ['int8', 'c1 = 3.5', 3.5],
    ['int8', 'c1 <> 3.5', { ne: 3.5 }],
    ['int8', 'c1 < 3.5', { lt: 3.5 }],
    ['int8', 'c1 >= 3.5', { gte: 3.5 }],
    ['int8', 'c1 > -3.5', { gt: -3.5 }],
    ['int8', "c1 < 'nan'::DOUBLE", { lt: Number.NaN }],
    ['int8', "c1 >= '-inf'::DOUBLE", { gte: Number.NEGATIVE_INFINITY }],
    ['int8', 'c1 IN (3, 300, 2.5)', { in: [3, 300, 2.5] }],
    ['int8', 'c1 NOT IN (3, NULL)', { not: { in: [3, null] } }],
    ['int8', 'c1 IN (NULL)', { in: [null] }],
    ['int8', 'c1 IN (SELECT 3 WHERE false)', { in: [] }],
    ['decimal(3,1)', 'c1 <= 3.45', { lte: 3.45 }],
    ['decimal(3,1)', 'c1 = 3.45', 3.45],
    ['decimal(3,1)', 'c1 > -3.45', { gt: -3.45 }],
    ['decimal(3,1)', 'c1 < 1e10::DOUBLE', { lt: 1e10 }],
    ['float32', 'c1 < 1e39::DOUBLE', { lt: 1e39 }],
    ['float32', 'c1 >= -1e39::DOUBLE', { gte: -1e39 }],
    ['date', "c1 < TIMESTAMP '1970-01-04 12:00:00'", { lt: new Date('1970-01-04T12:00:00Z') }],
    ['date', "c1 >= TIMESTAMP '1970-01-04 12:00:00'", { gte: new Date('1970-01-04T12:00:00Z') }],
    ['timestamp_s', "c1 <= TIMESTAMP '1970-01-01 00:00:03.5'", { lte: new Date(3500) }],
    ['timestamp_s', "c1 = TIMESTAMP '1970-01-01 00:00:03.5'", new Date(3500)],
  ])('a column of %s: %s', async (type, condition, check) => {
    const field = fieldOf(1, 'c1', type);
    const numbers = [-4, -3, 0, 3, 4, null];
    const sqlType = type === 'float32' ? 'FLOAT' : type === 'int8' ? 'TINYINT' : type;
    const cast = (n: number | null): string =>
      n === null
        ? 'NULL'
        : type === 'date'
          ? `DATE '1970-01-01' + ${n}`
          : type === 'timestamp_s'
            ? `make_timestamp(${n * 1_000_000})`
            : `${n}`;
    const list = numbers.map((n, i) => `(${i}, CAST(${cast(n)} AS ${sqlType}))`).join(', ');
    await duck.run(`CREATE OR REPLACE TABLE fit AS SELECT * FROM (VALUES ${list}) AS v(i, c1)`);
    const column = numbers.map((n) =>
      n === null ? null : type === 'date' ? n : type === 'timestamp_s' ? BigInt(n) : codecFor(field.type).encode(n),
    );
    expect(ours({ c1: check }, [field], [column])).toEqual(await answers('fit', condition));
  });

  const texts = [
    '',
    'a',
    'ab',
    'aab',
    'abab',
    'a%b',
    'A',
    '😀',
    '😀b',
    'a😀b',
    'ä',
    'e\u0301',
    'a\nb',
    'a\\%',
    'aXbXab',
    null,
  ];
  const patternPart = fc.constantFrom('%', '_', 'a', 'b', '😀', '\\', '.', '\n', 'X');

  test('like and startsWith', async () => {
    const list = texts.map((text, i) => `(${i}, ${text === null ? 'NULL' : literal(text)})`).join(', ');
    await duck.run(`CREATE OR REPLACE TABLE texts AS SELECT * FROM (VALUES ${list}) AS v(i, c1)`);
    const field = fieldOf(1, 'c1', 'varchar');
    const patterns = fc.sample(fc.array(patternPart, { maxLength: 6 }), 300).map((parts) => parts.join(''));
    const all = [...new Set(patterns)];
    const rows = await duck.rows(
      `SELECT p.i AS j, t.i AS i, t.c1 LIKE p.c AS l, starts_with(t.c1, p.c) AS s FROM texts AS t,
       (VALUES ${all.map((pattern, j) => `(${j}, ${literal(pattern)})`).join(', ')}) AS p(i, c) ORDER BY p.i, t.i`,
    );
    for (const [j, pattern] of all.entries()) {
      const mine = rows.filter((row) => Number(row['j']) === j);
      for (const [op, column] of [
        ['like', 'l'],
        ['startsWith', 's'],
      ] as const) {
        const expected = ['true', 'false'].map((answer) =>
          mine.filter((row) => row[column] === answer).map(({ i }) => Number(i)),
        );
        const got = ours({ c1: { [op]: pattern } }, [field], [texts]);
        expect({ pattern, op, got }).toEqual({ pattern, op, got: expected as [number[], number[]] });
      }
    }
  });

  test('random expressions over random rows', async () => {
    const cases = typeCases.filter(({ name }) =>
      /^(int8|int64|float64|decimal|varchar|timestamptz|uuid|boolean)/.test(name),
    );
    const fields = cases.map((one, c) => fieldOfCase(one, c + 1));
    const picked = cases.map((one) => fc.sample(fc.option(fc.constantFrom(...valuesOf(one)), { freq: 4 }), 60));
    const columns = picked.map((values, c) => values.map((value) => stored(value, fields[c]!.type)));
    const list = columns[0]!.map(
      (_, i) =>
        `(${[i, ...picked.map((values, c) => (values[i] ? sqlValue(values[i], cases[c]!) : 'NULL'))].join(', ')})`,
    );
    const names = ['i', ...fields.map(({ name }) => identifier(name))];
    await duck.run(
      `CREATE OR REPLACE TABLE rows AS SELECT * FROM (VALUES ${list.join(', ')}) AS v(${names.join(', ')})`,
    );

    interface Both {
      readonly where: Record<string, unknown>;
      readonly sql: string;
    }
    const leaf = fc.nat(cases.length - 1).chain((c): fc.Arbitrary<Both> => {
      const value = fc.constantFrom(...valuesOf(cases[c]!));
      const name = fields[c]!.name;
      const typedSql = (one: Value): string => sqlValue(one, cases[c]!);
      return fc.oneof(
        fc.tuple(fc.constantFrom(...ops), value).map(([op, one]) => ({
          where: { [name]: { [op]: one.given } },
          sql: `${name} ${operators[op]} ${typedSql(one)}`,
        })),
        fc
          .tuple(fc.array(fc.option(value, { freq: 6 }), { minLength: 1, maxLength: 4 }), fc.boolean())
          .map(([some, isNot]) => {
            const within = { in: some.map((one) => (one === null ? null : one.given)) };
            const inside = some.map((one) => (one === null ? 'NULL' : typedSql(one))).join(', ');
            return {
              where: { [name]: isNot ? { not: within } : within },
              sql: `${name} ${isNot ? 'NOT ' : ''}IN (${inside})`,
            };
          }),
        fc.boolean().map((isNull) => ({
          where: { [name]: { isNull } },
          sql: `${name} IS ${isNull ? '' : 'NOT '}NULL`,
        })),
      );
    });
    const { expression } = fc.letrec<{ expression: Both }>((tie) => ({
      expression: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        leaf,
        tie('expression').map(({ where, sql }) => ({ where: { not: where }, sql: `NOT (${sql})` })),
        fc
          .tuple(fc.constantFrom('and', 'or'), fc.array(tie('expression'), { minLength: 1, maxLength: 3 }))
          .map(([op, parts]) => ({
            where: { [op]: parts.map(({ where }) => where) },
            sql: `(${parts.map(({ sql }) => sql).join(` ${op} `)})`,
          })),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(expression, async ({ where, sql }) => {
        expect(ours(where, fields, columns)).toEqual(await answers('rows', sql));
      }),
      { numRuns: 150 },
    );
  }, 300_000);
});

function typed(values: readonly Physical[], type: string): ArrayLike<unknown> {
  if (/^u?int(8|16|32)$/.test(type) || type === 'float64') return Float64Array.from(values as number[]);
  if (type === 'float32') return Float32Array.from(values as number[]);
  if (type === 'date') return Int32Array.from(values as number[]);
  if (type === 'uint64') return BigUint64Array.from(values as bigint[]);
  if (/^(int64|time|timestamp)/.test(type)) return BigInt64Array.from(values as bigint[]);
  return values;
}
