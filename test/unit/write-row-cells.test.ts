import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { RowCells } from '../../src/write/row-cells.ts';

const names = ['a', 'b', 'constructor', '__proto__', 'e'];

function read(rows: readonly unknown[], start = 0, end = rows.length) {
  const columns = names.map(() => new Array<unknown>(100).fill('before'));
  const found = new RowCells(names).read(rows, start, end, columns);
  return {
    found,
    cells: columns.map((cells) => cells.slice(0, found - start)),
    rest: columns.map((cells) => cells[end - start]),
  };
}

/** A row with these keys, in this order, as its own, whatever they are called. */
function rowOf(keys: readonly string[], value: number): object {
  const row = {};
  for (const key of keys)
    Object.defineProperty(row, key, {
      value: value + key.length,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  return row;
}

describe('cells of rows', () => {
  const keys = fc.uniqueArray(fc.constantFrom(...names), { maxLength: names.length });
  const shapes = fc.array(keys, { minLength: 1, maxLength: 3 });

  test('with keys in any order, and some left out', () => {
    fc.assert(
      fc.property(shapes, fc.array(fc.nat(2), { maxLength: 60 }), fc.nat(5), (some, picks, start) => {
        const rows = picks.map((pick, i) => rowOf(some[pick % some.length]!, i * 10));
        const from = Math.min(start, rows.length);
        const { found, cells, rest } = read(rows, from);
        expect(found).toBe(rows.length);
        expect(rest).toEqual(names.map(() => 'before'));
        for (const [c, name] of names.entries())
          expect(cells[c]!).toEqual(
            rows
              .slice(from)
              .map((row) => (Object.hasOwn(row, name) ? (row as Record<string, unknown>)[name] : undefined)),
          );
      }),
      { numRuns: 500 },
    );
  });

  test('of classes, getters among them, and of objects without a prototype', () => {
    class Event {
      a = 1;
      get b(): number {
        return this.a + 1;
      }
    }
    const bare = Object.assign(Object.create(null) as object, { a: 5 });
    const { cells } = read([{ a: 0, b: 0 }, new Event(), bare, { a: 7 }]);
    expect(cells.slice(0, 3)).toEqual([
      [0, 1, 5, 7],
      [0, 2, undefined, undefined],
      [undefined, undefined, undefined, undefined],
    ]);
  });

  test('the first row that does not fit is found', () => {
    const strange = [
      null,
      undefined,
      5,
      'text',
      [1],
      [],
      new Map([['a', 1]]),
      new Date(),
      { a: 1, z: 1 },
      { A: 1 },
      { '': 1 },
    ];
    for (const row of strange)
      for (const before of [[], [{ a: 1 }], [{ a: 1, b: 2 }, {}]])
        expect(read([...before, row, { a: 1 }]).found).toBe(before.length);
  });
});
