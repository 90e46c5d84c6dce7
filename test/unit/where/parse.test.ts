import { describe, expect, test } from 'bun:test';
import { LakeError } from '../../../src/errors.ts';
import { JsonValue } from '../../../src/scan/json-value.ts';
import { type Expression, fieldsIn } from '../../../src/scan/where/expression.ts';
import { expressionFromJson, expressionToJson } from '../../../src/scan/where/expression-json.ts';
import { parseWhere } from '../../../src/scan/where/parse.ts';
import type { Where } from '../../../src/scan/where/where.ts';
import type { Field } from '../../../src/schema/field.ts';
import { fieldOf } from './fields.ts';

const id = fieldOf(1, 'id', 'int64');
const small = fieldOf(2, 'small', 'int8');
const price = fieldOf(3, 'price', 'decimal(5,2)');
const day = fieldOf(4, 'day', 'date');
const name = fieldOf(5, 'name', 'varchar');
const tags = fieldOf(6, 'tags', 'list', [fieldOf(7, 'element', 'varchar')]);
const half = fieldOf(8, 'half', 'float32');
const doc = fieldOf(9, 'doc', 'json');
const shape = fieldOf(10, 'shape', 'geometry');
const blob = fieldOf(11, 'blob', 'blob');
const span = fieldOf(12, 'span', 'interval');
const table = {
  schema: 'main',
  table: 'events',
  fields: [id, small, price, day, name, tags, half, doc, shape, blob, span],
};
const parse = (where: unknown) => parseWhere(where, table);

function failure(where: unknown, fields = table.fields): LakeError {
  try {
    parseWhere(where, { ...table, fields });
  } catch (error) {
    if (error instanceof LakeError) return error;
    throw error;
  }
  throw new Error('it was taken');
}

describe('filters as data', () => {
  test('a value, operators and several columns', () => {
    expect(parse({ id: 5 })).toEqual({ op: 'eq', field: id, value: 5n });
    expect(parse({ id: { gte: 1, lt: 3n }, name: 'a' })).toEqual({
      op: 'and',
      parts: [
        {
          op: 'and',
          parts: [
            { op: 'gte', field: id, value: 1n },
            { op: 'lt', field: id, value: 3n },
          ],
        },
        { op: 'eq', field: name, value: 'a' },
      ],
    });
    expect(parse({})).toEqual({ op: 'and', parts: [] });
    expect(parse({ id: { in: [] } })).toEqual({ op: 'or', parts: [] });
    expect(parse({ id: { in: [1, null] } })).toEqual({ op: 'in', field: id, values: [1n], hasNull: true });
    expect(parse({ tags: { isNull: false } })).toEqual({ op: 'not', part: { op: 'isNull', field: tags } });
    expect(parse({ not: { id: { not: 5 } } })).toEqual({
      op: 'not',
      part: { op: 'not', part: { op: 'eq', field: id, value: 5n } },
    });
    expect(parse({ doc: { eq: { a: 1 } } })).toEqual({ op: 'eq', field: doc, value: '{"a":1}' });
  });

  test('values that the type does not hold stand between those that it does', () => {
    const holds = (field: Field, yes: boolean): Expression => ({ op: 'constant', field, holds: yes });
    expect(parse({ id: 3.5 })).toEqual(holds(id, false));
    expect(parse({ id: { ne: 3.5 } })).toEqual(holds(id, true));
    expect(parse({ id: { lt: 3.5 } })).toEqual({ op: 'lte', field: id, value: 3n });
    expect(parse({ id: { gte: -3.5 } })).toEqual({ op: 'gt', field: id, value: -4n });
    expect(parse({ small: { lt: 300 } })).toEqual(holds(small, true));
    expect(parse({ small: { gt: -129n } })).toEqual(holds(small, true));
    expect(parse({ small: { lt: Number.NEGATIVE_INFINITY } })).toEqual(holds(small, false));
    expect(parse({ small: { lt: Number.NaN } })).toEqual(holds(small, true));
    expect(parse({ small: { in: [1, 2.5, 300] } })).toEqual({ op: 'in', field: small, values: [1], hasNull: false });
    expect(parse({ price: { lte: 1.005 } })).toEqual({ op: 'lte', field: price, value: 100n });
    expect(parse({ price: { gt: -1.005 } })).toEqual({ op: 'gt', field: price, value: -101n });
    expect(parse({ price: { gt: 1000 } })).toEqual(holds(price, false));
    expect(parse({ price: { lt: 999.999 } })).toEqual({ op: 'lte', field: price, value: 99999n });
    expect(parse({ price: { gt: 1e-30 } })).toEqual({ op: 'gt', field: price, value: 0n });
    expect(parse({ price: 1e30 })).toEqual(holds(price, false));
    expect(parse({ day: { lt: new Date('1969-12-31T12:00:00Z') } })).toEqual({ op: 'lte', field: day, value: -1 });
    expect(parse({ half: { lt: 1e39 } })).toEqual({ op: 'lte', field: half, value: 3.4028234663852886e38 });
    expect(parse({ half: { lt: -1e39 } })).toEqual({ op: 'lte', field: half, value: Number.NEGATIVE_INFINITY });
    expect(parse({ half: 0.1 })).toEqual({ op: 'eq', field: half, value: Math.fround(0.1) });
  });

  test('columns called and, or, not', () => {
    const fields = [fieldOf(1, 'and', 'int32'), fieldOf(2, 'or', 'int32'), fieldOf(3, 'not', 'int32')] as const;
    const named = (where: unknown) => parseWhere(where, { ...table, fields });
    expect(named({ and: 1 })).toEqual({ op: 'eq', field: fields[0], value: 1 });
    expect(named({ or: { gt: 1 } })).toEqual({ op: 'gt', field: fields[1], value: 1 });
    expect(named({ not: { gt: 1 } })).toEqual({ op: 'gt', field: fields[2], value: 1 });
    expect(named({ not: [{ not: 1 }] })).toEqual({ op: 'not', part: { op: 'eq', field: fields[2], value: 1 } });
    expect(named({ and: [{ or: [] }] })).toEqual({ op: 'and', parts: [{ op: 'or', parts: [] }] });
    expect(failure({ not: { and: 5 } }, [...fields]).message).toContain('"and" is no operator');
    const typed: Where<{ and: number; not: number; or: number }> = { and: [{ and: 1 }, { not: [{ or: { lt: 2 } }] }] };
    expect(named(typed)).toMatchObject({ op: 'and' });
  });

  test.each<[unknown, string, RegExp]>([
    [{ nam: 'a' }, 'NOT_FOUND', /no column "nam"; it has "id", "small"/],
    [{ __proto__: null, toString: 'a' }, 'NOT_FOUND', /"toString"/],
    [{ id: null }, 'INVALID_ARGUMENT', /table "events", column "id": null .*isNull: true/],
    [{ id: undefined }, 'INVALID_ARGUMENT', /undefined .*isNull/],
    [{ id: { gt: undefined } }, 'INVALID_ARGUMENT', /undefined/],
    [{ id: '5' }, 'INVALID_ARGUMENT', /table "events", column "id".*\(it is "5"\)/],
    [{ id: 2 ** 60 }, 'INVALID_ARGUMENT', /column "id"/],
    [{ id: {} }, 'INVALID_ARGUMENT', /empty; expected eq, ne/],
    [{ id: { equals: 5 } }, 'INVALID_ARGUMENT', /"equals" is no operator; there are eq/],
    [{ id: [1, 2] }, 'INVALID_ARGUMENT', /column "id"/],
    [{ id: { in: 5 } }, 'INVALID_ARGUMENT', /in takes an array/],
    [{ id: { in: [undefined] } }, 'INVALID_ARGUMENT', /undefined/],
    [{ id: { isNull: 1 } }, 'INVALID_ARGUMENT', /isNull takes true or false/],
    [{ id: { like: '5%' } }, 'INVALID_ARGUMENT', /needs a column of text/],
    [{ name: { like: '\ud800' } }, 'INVALID_ARGUMENT', /lone surrogates/],
    [{ doc: { a: 1 } }, 'INVALID_ARGUMENT', /a value goes into \{ eq: … \}/],
    [{ or: { id: 5 } }, 'INVALID_ARGUMENT', /"or" takes an array of filters/],
    [{ and: [5] }, 'INVALID_ARGUMENT', /a filter is an object of columns/],
    [[], 'INVALID_ARGUMENT', /a filter is an object/],
    [{ tags: ['a'] }, 'UNSUPPORTED', /"tags" is of type list.*isNull/],
    [{ tags: { in: [] } }, 'UNSUPPORTED', /"tags"/],
    [{ shape: { isNull: true } }, 'UNSUPPORTED', /"shape" is of type geometry/],
  ])('%p is %s', (where, code, message) => {
    const error = failure(where);
    expect(error.code as string).toBe(code);
    expect(error.message).toMatch(message);
    expect(error.context).toMatchObject({ schema: 'main', table: 'events' });
  });

  test('what is nested too deeply is refused', () => {
    let where: unknown = { id: 5 };
    for (let i = 0; i < 10_000; i++) where = { not: where };
    expect(failure(where).message).toContain('nested');
    let check: unknown = 5;
    for (let i = 0; i < 10_000; i++) check = { not: check };
    expect(failure({ id: check }).message).toContain('nested');
  });

  test('expressions travel as JSON', () => {
    const where = {
      or: [
        { id: { in: [1, 2n ** 62n, null] } },
        { not: { half: { in: [Number.NaN, -0, Number.POSITIVE_INFINITY, 1.5] } } },
        { blob: new Uint8Array([0, 255]), name: { like: 'a%', startsWith: 'ä' }, small: 300 },
        { span: { eq: { months: 1, days: -2, micros: 3n } }, tags: { isNull: true } },
      ],
    };
    const expression = parse(where);
    const json = new JsonValue(JSON.parse(JSON.stringify(expressionToJson(expression))), 'where');
    const back = expressionFromJson(json, table.fields);
    expect(back).toEqual(expression);
    expect(fieldsIn(back).map((field) => field.name)).toEqual([
      ...['id', 'half', 'blob', 'name', 'small', 'span', 'tags'],
    ]);
    expect(() => expressionFromJson(json, [id])).toThrow('where.parts[1].part.fieldId is 8');
  });
});
