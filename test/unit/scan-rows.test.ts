import { expect, test } from 'bun:test';
import { rowsOf } from '../../src/scan/rows.ts';

for (const width of [0, 1, 7, 8, 9, 20, 100, 101, 300])
  test(`rows of ${width} columns have their cells under their own keys, in order`, () => {
    const names = Array.from({ length: width }, (_, c) => (c === width - 2 ? '__proto__' : `c${c}`));
    const rowCount = 5;
    const values = names.map((_, c) => {
      const numbers = Array.from({ length: rowCount }, (_, i) => c * 10 + i);
      return c % 3 === 0 ? Float64Array.from(numbers) : numbers;
    });
    const columns = Object.fromEntries(names.map((name, c) => [name, values[c]!]));
    for (const [from, to] of [
      [0, rowCount],
      [2, 4],
      [3, 3],
    ] as const) {
      const rows = rowsOf({ rowCount, columns }, from, to);
      expect(rows.length).toBe(to - from);
      for (const [i, row] of rows.entries()) {
        expect(Object.keys(row)).toEqual(names);
        expect(Object.values(row)).toEqual(names.map((_, c) => c * 10 + from + i));
        expect(Object.getPrototypeOf(row)).toBe(Object.prototype);
      }
    }
  });
