import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { RowCheck, readCells } from '../../src/write/row-cells.ts';

test('cells of any column, from any row on', () => {
  const rows = Array.from({ length: 50 }, (_, i) =>
    Object.fromEntries(Array.from({ length: 30 }, (_, c) => [`c${c}`, i * 100 + c])),
  );
  for (let c = 0; c < 30; c++) {
    const cells: unknown[] = new Array(40).fill('before');
    readCells(rows, 10, 35, c, `c${c}`, cells);
    expect(cells).toEqual([
      ...Array.from({ length: 35 }, (_, i) => (10 + i) * 100 + c),
      ...new Array(5).fill('before'),
    ]);
  }
});

test('rows that have keys of any order, or lack some, fit; others are found', () => {
  const names = ['a', 'b', 'constructor', 'd'];
  const rows = fc.array(fc.uniqueArray(fc.constantFrom(...names), { maxLength: 4 }), { maxLength: 20 });
  fc.assert(
    fc.property(rows, fc.nat(20), fc.constantFrom('e', 'A', '', 'toString', '0'), (keys, at, strange) => {
      const made = keys.map((some) => Object.fromEntries(some.map((key) => [key, 1])));
      expect(new RowCheck(names).find(made, 0, made.length)).toBe(made.length);
      const position = Math.min(at, made.length);
      made.splice(position, 0, { ...made[0], [strange]: 1 });
      expect(new RowCheck(names).find(made, 0, made.length)).toBe(position);
      expect(new RowCheck(names).find(made, 0, position)).toBe(position);
    }),
  );
  expect(new RowCheck(names).find([{ a: 1 }, {}, Object.create(null)], 0, 3)).toBe(3);
  for (const row of [null, undefined, 5, 'text', [1], [], new Map([['a', 1]]), new Date()])
    expect(new RowCheck(names).find([{ a: 1 }, row], 0, 2)).toBe(1);
});
