import { type Column, type TableSchema, t } from '../../src/index.ts';
import { type TypeCase, typeCases } from './type-cases.ts';

/** Evenly distributed in [0, 1), the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A column with what makes values for it. */
export interface RandomColumn {
  readonly column: Column;
  readonly value: () => unknown;
}

const fragments = [
  ...[
    'a',
    'B',
    ' ',
    '  ',
    '\t',
    '\n',
    ',',
    '[',
    ']',
    '{',
    '}',
    '(',
    ')',
    '=',
    ':',
    ';',
    '"',
    "'",
    '\\',
    '""',
    "''",
    '\\\\',
    "\\'",
  ],
  ...[
    'NULL',
    'null',
    'nullx',
    'CAST(',
    "CAST('x' AS DATE)",
    'é',
    '🦆',
    '\ufeff',
    '0',
    '-1',
    '%',
    '$1',
    '\u007f',
    'key=value',
    'x: 1',
  ],
];

export function randomText(random: () => number): string {
  const count = Math.floor(random() * 6);
  return Array.from({ length: count }, () => pick(random, fragments)).join('');
}

function pick<T>(random: () => number, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)]!;
}

const scalars: readonly TypeCase[] = typeCases.filter(({ name }) => name !== 'varchar' && name !== 'json');

/** A column of any type, nested up to `depth`; NULLs and members left out among the values. */
export function randomColumn(random: () => number, depth: number, isPart = false): RandomColumn {
  const made = randomKind(random, depth, isPart);
  return { column: made.column, value: () => (random() < 0.12 ? pick(random, [null, undefined]) : made.value()) };
}

function randomKind(random: () => number, depth: number, isPart: boolean): RandomColumn {
  const kind = depth === 0 ? 5 + Math.floor(random() * 5) : Math.floor(random() * 10);
  const count = (): number => Math.floor(random() ** 2 * 5);
  switch (kind) {
    case 0:
    case 1: {
      const element = randomColumn(random, depth - 1, true);
      return { column: t.list(element.column), value: () => Array.from({ length: count() }, element.value) };
    }
    case 2:
    case 3: {
      const names = [...new Set(Array.from({ length: 1 + count() }, () => pick(random, memberNames)))];
      const members = names.map((name) => [name, randomColumn(random, depth - 1, true)] as const);
      return {
        column: t.struct(Object.fromEntries(members.map(([name, { column }]) => [name, column])) as TableSchema),
        value: () => Object.fromEntries(members.map(([name, { value }]) => [name, value()])),
      };
    }
    case 4: {
      const key = randomKind(random, 0, true);
      const value = randomColumn(random, depth - 1, true);
      return {
        column: t.map(key.column, value.column),
        value: () => {
          // Keys of several forms may be equal to the column.
          const entries = Array.from({ length: count() }, () => [key.value(), value.value()] as const);
          return new Map(new Map(entries.map((entry) => [String(entry[0]), entry])).values());
        },
      };
    }
    case 5:
    case 6:
      return { column: t.varchar(), value: () => randomText(random) };
    case 7:
      if (isPart) return { column: t.varchar(), value: () => randomText(random) };
      return {
        column: t.json(),
        value: () =>
          pick<unknown>(random, [
            { a: randomText(random), b: [1, null, { c: 'x' }] },
            [randomText(random)],
            1.5,
            true,
            {},
            [],
          ]),
      };
    default: {
      const { column, values } = pick(random, scalars);
      return { column, value: () => pick(random, values).given };
    }
  }
}

const memberNames = ['a', 'B', 'a b', "q'x", 'k"y', 'back\\slash', 'é', 'x,y', '[z]', 'NULL', 'c:d', 'select'];
