import { describe, expect, test } from 'bun:test';
import { memoryLake } from '../../adapters/memory.ts';
import type { TargetColumn } from '../../cli/input/reader.ts';
import { valueWriter } from '../../cli/output/values.ts';
import { parseWhereOption } from '../../cli/where.ts';
import { type ColumnDescription, t } from '../../src/index.ts';
import { typeCases } from '../support/type-cases.ts';

const target = ({ name, type, children }: ColumnDescription): TargetColumn => ({
  name,
  type,
  children: children.map(target),
});

describe('values of every type are written as scan writes them', () => {
  for (const { name, column, values } of typeCases)
    test(name, async () => {
      await using lake = await memoryLake();
      const table = await lake.createTable('t', { n: t.int32(), x: column });
      await table.insert(values.map(({ given }, n) => ({ n, x: given })));
      const columns = (await table.describe()).columns.map(target);
      const isJson = name === 'json';
      const { json } = valueWriter(columns[1]!);
      for (const { n, x } of await table.scan().toArray()) {
        // JSON is compared by its text, of which a scan tells the value.
        const text = isJson ? String(values[n as number]!.given) : json(x);
        if (isJson && (typeof values[n as number]!.given !== 'string' || text === 'null')) continue;
        for (const where of [`{"x":{"eq":${text}}}`, `{"X": {"in": [null, ${text} ]}}`]) {
          const found = await table.scan({ columns: ['n'], where: parseWhereOption(where, columns) }).toArray();
          expect([where, found]).toEqual([where, expect.arrayContaining([{ n }])]);
        }
      }
    });
});

const columns: readonly TargetColumn[] = [
  { name: 'id', type: 'int64' },
  { name: 'Price', type: 'decimal(12,2)' },
  { name: 'note', type: 'varchar' },
  { name: 'at', type: 'timestamptz' },
  { name: 'and', type: 'boolean' },
  { name: 'tags', type: 'list', children: [{ name: 'element', type: 'varchar' }] },
  { name: '__proto__', type: 'interval' },
];

describe('the language', () => {
  const cases: readonly (readonly [string, Record<string, unknown>])[] = [
    ['{}', {}],
    [' {"id": 9007199254740993} ', { id: 9007199254740993n }],
    ['{"ID": {"gte": "5", "not": {"in": [1, 2.5, null]}}}', { id: { gte: 5, not: { in: [1n, 2.5, null] } } }],
    ['{"price": 1.005}', { Price: 1.005 }],
    ['{"price": {"lt": 12345678901234567.25}}', { Price: { lt: '12345678901234567.25' } }],
    ['{"and": true}', { and: true }],
    ['{"and": [{"id": 1}, {"or": []}]}', { and: [{ id: 1n }, { or: [] }] }],
    ['{"not": {"note": {"like": "a%"}}}', { not: { note: { like: 'a%' } } }],
    ['{"not": [{"note": {"startsWith": "a"}}]}', { not: [{ note: { startsWith: 'a' } }] }],
    ['{"tags": {"isNull": false}}', { tags: { isNull: false } }],
    ['{"at": {"gte": "2024-01-15", "isNull": false}}', { at: { gte: '2024-01-15', isNull: false } }],
    ['{"note": null}', { note: null }],
    ['{"id": {"like": 5}}', { id: { like: 5 } }],
    [
      '{"__proto__": {"eq": "P1DT2H"}}',
      Object.fromEntries([['__proto__', { eq: { months: 0, days: 1, micros: 7_200_000_000n } }]]),
    ],
  ];
  for (const [text, where] of cases) test(text, () => expect(parseWhereOption(text, columns)).toEqual(where));
});

describe('mistakes', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['id = 5', 'not JSON'],
    ['5', 'a filter is an object of columns, not 5'],
    ['[{"id": 5}]', 'a filter is an object of columns'],
    ['{"or": {"id": 5}}', '"or" takes an array of filters'],
    ['{"nope": 5}', 'there is no column nope: there are id, Price'],
    ['{"id": "five"}', 'column id (int64): "five" is not an integer'],
    ['{"id": 1, "ID": 2}', '"id" stands there twice'],
    ['{"id": {"gt": 1, "gt": 2}}', '"gt" stands there twice'],
    [`${'{"not":'.repeat(600)}{}${'}'.repeat(600)}`, 'nested more than 500 deep'],
    [`{"id":${'{"not":'.repeat(600)}5${'}'.repeat(600)}}`, 'nested more than 500 deep'],
  ];
  for (const [text, message] of cases)
    test(text.slice(0, 40), () => expect(() => parseWhereOption(text, columns)).toThrow(message));
});
