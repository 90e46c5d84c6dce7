import { expect, test } from 'bun:test';
import { expressionText } from '../../../src/scan/where/expression-text.ts';
import { parseWhere } from '../../../src/scan/where/parse.ts';
import { fieldOf } from './fields.ts';

const fields = [
  fieldOf(1, 'id', 'int64'),
  fieldOf(2, 'Price "net"', 'decimal(5,2)'),
  fieldOf(3, 'note', 'varchar'),
  fieldOf(4, 'at', 'timestamptz'),
  fieldOf(5, 'day', 'date'),
  fieldOf(6, 'half', 'float32'),
  fieldOf(7, 'blob', 'blob'),
];

test.each<[unknown, string]>([
  [{}, 'true'],
  [{ or: [] }, 'false'],
  [{ id: 5 }, '"id" = 5'],
  [{ id: { gte: 5, ne: 7 }, note: "it's" }, `("id" >= 5 AND "id" <> 7) AND "note" = 'it''s'`],
  [{ 'Price "net"': { lt: '1.50' } }, '"Price ""net""" < 1.50'],
  [{ id: 2.5 }, 'false'],
  [{ id: { ne: 2.5 } }, '"id" IS NOT NULL'],
  [{ id: { isNull: false }, not: [{ note: { isNull: true } }] }, '"id" IS NOT NULL AND "note" IS NOT NULL'],
  [{ not: { id: { in: [1, 2, 3, 4, 5, 6, 7, null] } } }, 'NOT "id" IN (1, 2, 3, 4, 5, … 2 more, NULL)'],
  [
    { or: [{ id: 1, note: { like: 'a%' } }, { note: { startsWith: 'b' } }] },
    `("id" = 1 AND "note" LIKE 'a%') OR starts_with("note", 'b')`,
  ],
  [{ at: { lt: new Date(0) } }, `"at" < '1970-01-01 00:00:00+00'`],
  [{ day: '2024-02-29' }, `"day" = '2024-02-29'`],
  [{ half: { gt: Number.NaN } }, '"half" > nan'],
  [{ blob: new Uint8Array([0, 255]) }, `"blob" = '00FF'`],
  [{ note: 'x'.repeat(100) }, `"note" = '${'x'.repeat(57)}…'`],
])('%p', (where, text) => {
  expect(expressionText(parseWhere(where, { schema: 'main', table: 't', fields }))).toBe(text);
});
