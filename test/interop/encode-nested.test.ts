import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { parquetReadObjects } from 'hyparquet';
import { isLakeError } from '../../src/errors.ts';
import type { Field } from '../../src/schema/field.ts';
import { type ColumnType, parseType } from '../../src/spec/types.ts';
import { codecFor } from '../../src/spec/values/codec.ts';
import { encodeFile, type Random, randomOf } from '../support/encode-cases.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';

/** `ENCODE_RUNS=2000` looks longer. */
const runs = Number(process.env['ENCODE_RUNS'] ?? 40);

let duck: Oracle;
let dir: string;
beforeAll(async () => {
  duck = await openOracle();
  dir = await mkdtemp(join(tmpdir(), 'edgemere-nested-'));
}, 300_000);
afterAll(async () => {
  await duck.close();
  await rm(dir, { recursive: true, force: true });
});

let nextId = 1;
function node(name: string, type: string, children: readonly Field[] = []): Field {
  return {
    id: nextId++,
    name,
    type: ['list', 'struct', 'map'].includes(type) ? ({ name: type } as ColumnType) : parseType(type),
    nullable: true,
    children,
    initialDefault: null,
    defaultValue: null,
    defaultValueType: null,
    beginSnapshot: 0,
  };
}

const list = (name: string, element: Field): Field => node(name, 'list', [element]);
const struct = (name: string, ...members: Field[]): Field => node(name, 'struct', members);
const map = (name: string, key: Field, value: Field): Field => node(name, 'map', [key, value]);

/** Writes one column `x`, and has DuckDB read it as JSON and its leaves' statistics as a lake would get them. */
async function roundTrip(x: Field, values: readonly unknown[], options = {}, more = {}, batchRowCount = 1024) {
  const { bytes, file } = await encodeFile([x], [values], options, more, batchRowCount);
  const path = join(dir, `${crypto.randomUUID()}.parquet`);
  await Bun.write(path, bytes);
  const rows = await duck.rows(`SELECT to_json(x) AS x FROM read_parquet('${path}') ORDER BY file_row_number`);
  return { path, bytes, file, rows: rows.map((row) => row['x'] ?? null) };
}

/** What DuckDB's to_json makes of a value. */
function json(field: Field, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  const [first, second] = field.children;
  switch (field.type.name) {
    case 'list':
      return Array.from(value as ArrayLike<unknown>, (item) => json(first!, item));
    case 'struct':
      return Object.fromEntries(
        field.children.map((child) => [child.name, json(child, (value as Record<string, unknown>)[child.name])]),
      );
    case 'map': {
      const entries = value instanceof Map ? [...value] : Object.entries(value as object);
      return Object.fromEntries(entries.map(([key, item]) => [String(json(first!, key)), json(second!, item)]));
    }
    case 'int32':
    case 'boolean':
    case 'varchar':
      return value;
    default: {
      const codec = codecFor(field.type);
      return codec.text(codec.encode(value))!;
    }
  }
}

describe('by hand', () => {
  test('NULL, empty and NULL-holding lists are three things', async () => {
    const x = list('x', node('element', 'int32'));
    const values = [null, [], [null], [1, null, 2], undefined, [3]];
    const { rows, bytes, file } = await roundTrip(x, values);
    expect(rows).toEqual([null, '[]', '[null]', '[1,null,2]', null, '[3]']);
    expect(await parquetReadObjects({ file: bytes.buffer })).toEqual(
      values.map((value) => ({ x: value ?? undefined })) as never,
    );
    // As DuckDB counts: the slots of missing and empty lists are NULLs of the leaf.
    expect(file.columns).toEqual([
      {
        fieldId: x.children[0]!.id,
        byteLength: file.columns[0]!.byteLength,
        valueCount: 3,
        nullCount: 5,
        min: '1',
        max: '3',
        containsNan: undefined,
      },
    ]);
  });

  test('a NULL struct is not a struct of NULLs', async () => {
    const x = struct('x', node('a', 'int32'), node('b', 'varchar'), struct('c', node('d', 'date')));
    const { rows } = await roundTrip(x, [null, {}, { a: 1, b: null }, { c: {} }, { c: { d: '2024-01-15' }, b: 'x' }]);
    expect(rows).toEqual([
      null,
      '{"a":null,"b":null,"c":null}',
      '{"a":1,"b":null,"c":null}',
      '{"a":null,"b":null,"c":{"d":null}}',
      '{"a":null,"b":"x","c":{"d":"2024-01-15"}}',
    ]);
  });

  test('maps from Maps and objects', async () => {
    const x = map('x', node('key', 'varchar'), list('value', node('element', 'int32')));
    const { rows } = await roundTrip(x, [null, {}, new Map(), { a: [1, 2], b: null }, new Map([['c', []]])]);
    expect(rows).toEqual([null, '{}', '{}', '{"a":[1,2],"b":null}', '{"c":[]}']);
    const byNumber = map('x', node('key', 'int64'), node('value', 'boolean'));
    const numbered = await roundTrip(byNumber, [
      new Map<unknown, unknown>([
        [5n, true],
        [6, null],
      ]),
    ]);
    expect(numbered.rows).toEqual(['{"5":true,"6":null}']);
  });

  test('the schema and the field ids are those that DuckDB writes', async () => {
    nextId = 1;
    const element = struct('element', node('p', 'int64'), list('q', node('element', 'int32')));
    const x = struct('x', list('l', element), map('m', node('key', 'varchar'), node('value', 'float64')));
    const { path } = await roundTrip(x, [null]);
    const shown = await duck.rows(
      `SELECT name, type, repetition_type AS r, num_children AS n, converted_type AS c, field_id AS f FROM parquet_schema('${path}')`,
    );
    const ids = (field: Field): number => field.id;
    const [l, m] = x.children as [Field, Field];
    expect(
      shown.map(({ name, type, r, n, c, f }) => [name, type, r, n, c, f].map((cell) => cell ?? '').join(' ')),
    ).toEqual([
      'duckdb_schema  REQUIRED 1  ',
      `x  OPTIONAL 2  ${ids(x)}`,
      `l  OPTIONAL 1 LIST ${ids(l)}`,
      'list  REPEATED 1  ',
      `element  OPTIONAL 2  ${ids(element)}`,
      `p INT64 OPTIONAL  INT_64 ${ids(element.children[0]!)}`,
      `q  OPTIONAL 1 LIST ${ids(element.children[1]!)}`,
      'list  REPEATED 1  ',
      `element INT32 OPTIONAL  INT_32 ${ids(element.children[1]!.children[0]!)}`,
      `m  OPTIONAL 1 MAP ${ids(m)}`,
      'key_value  REPEATED 2  ',
      `key BYTE_ARRAY REQUIRED  UTF8 ${ids(m.children[0]!)}`,
      `value DOUBLE OPTIONAL   ${ids(m.children[1]!)}`,
    ]);
  });

  test('members may be called what every object has', async () => {
    const x = struct('x', node('constructor', 'int32'), node('__proto__', 'int32'), node('toString', 'varchar'));
    const own = JSON.parse('{"constructor":1,"__proto__":2}') as unknown;
    const { rows } = await roundTrip(x, [{}, own]);
    expect(rows).toEqual([
      '{"constructor":null,"__proto__":null,"toString":null}',
      '{"constructor":1,"__proto__":2,"toString":null}',
    ]);
  });

  test('typed arrays are lists', async () => {
    const x = list('x', node('element', 'float32'));
    const { rows } = await roundTrip(x, [Float32Array.of(1.5, -2), new Float32Array(0)]);
    expect(rows).toEqual(['[1.5,-2.0]', '[]']);
  });

  test('a wrong value is named with its row, and where it is', async () => {
    const x = struct('x', list('l', node('element', 'int8')), map('m', node('key', 'varchar'), node('value', 'int32')));
    const cases: readonly (readonly [unknown, string, string])[] = [
      [[], 'expected an object', '[]'],
      [{ l: 5 }, 'expected an array at .l', '5'],
      [{ l: [1, 128] }, 'at .l[1]', '128'],
      [{ z: 1 }, 'expected no member but l, m at .z', '1'],
      [{ m: new Map([[null, 1]]) }, 'expected no NULL among the keys of a map at .m', 'null'],
      [{ m: { a: 'b' } }, 'at .m["a"]', '"b"'],
      [{ m: [['a']] }, 'expected a Map', '[["a"]]'],
    ];
    for (const [value, reason, shown] of cases) {
      const values = [...new Array(2000).fill({ l: [1], m: { k: 1 } }), value, {}];
      const error = await encodeFile([x], [values]).catch((thrown: unknown) => thrown);
      if (!isLakeError(error, 'INVALID_VALUE')) throw error;
      expect(error.context).toMatchObject({ table: 't', column: 'x', row: 2000, value: shown });
      expect(error.message).toContain(reason);
    }
  });
});

/** A type of some depth, and how to make its values. */
function randomField(random: Random, name: string, depth: number): Field {
  const kind = depth === 0 ? 9 : Math.floor(random() * 5);
  switch (kind) {
    case 0:
      return list(name, randomField(random, 'element', depth - 1));
    case 1:
    case 2: {
      const members = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, i) =>
        randomField(random, `m${i}`, depth - 1),
      );
      return struct(name, ...members);
    }
    case 3:
      return map(name, node('key', 'varchar'), randomField(random, 'value', depth - 1));
    default:
      return node(name, ['int32', 'varchar', 'boolean', 'uuid', 'date'][Math.floor(random() * 5)]!);
  }
}

function randomValue(random: Random, field: Field): unknown {
  if (random() < 0.15) return random() < 0.5 ? null : undefined;
  const count = Math.floor(random() ** 3 * 12);
  switch (field.type.name) {
    case 'list':
      return Array.from({ length: count }, () => randomValue(random, field.children[0]!));
    case 'struct':
      return Object.fromEntries(field.children.map((child) => [child.name, randomValue(random, child)]));
    case 'map': {
      const entries = Array.from(
        { length: count },
        (_, i) => [`k${i}`, randomValue(random, field.children[1]!)] as const,
      );
      return random() < 0.5 ? new Map(entries) : Object.fromEntries(entries);
    }
    case 'int32':
      return Math.floor(random() * 1000) - 500;
    case 'boolean':
      return random() < 0.5;
    case 'uuid':
      return `0f8fad5b-d9cb-469f-a165-${String(Math.floor(random() * 1e12)).padStart(12, '0')}`;
    case 'date':
      return new Date(Math.floor(random() * 20000) * 86_400_000);
    default:
      return `text ${Math.floor(random() * 50)}`;
  }
}

test(
  'random types, random data: DuckDB reads the same',
  async () => {
    const plans = fc.record({
      seed: fc.integer(),
      rowCount: fc.oneof(fc.nat(30), fc.nat(3000)),
      batchRowCount: fc.constantFrom(1, 100, 1024),
      rowGroupRowCount: fc.constantFrom(100, 122_880),
      pageSlots: fc.constantFrom(50, 32768),
      version: fc.constantFrom(2 as const, 1 as const),
    });
    await fc.assert(
      fc.asyncProperty(plans, async ({ seed, rowCount, batchRowCount, rowGroupRowCount, pageSlots, version }) => {
        const random = randomOf(seed);
        let x = randomField(random, 'x', 3);
        while (x.children.length === 0) x = randomField(random, 'x', 3);
        const values = Array.from({ length: rowCount }, () => randomValue(random, x));
        const { rows } = await roundTrip(x, values, { rowGroupRowCount, version }, { pageSlots }, batchRowCount);
        expect(rows.map((row) => (row === null ? null : JSON.parse(row)))).toEqual(
          values.map((value) => json(x, value)),
        );
      }),
      { numRuns: runs },
    );
  },
  30_000 + runs * 1000,
);
