import type { Field } from '../../src/schema/field.ts';
import { parseType } from '../../src/spec/types.ts';

export type Row = Readonly<Record<string, unknown>>;

/** A data set: the columns, and rows made from a seed. */
export interface DataSet {
  readonly name: string;
  readonly fields: readonly Field[];
  rows(count: number): Row[];
}

/** A number from 0 to 1, excluded; the same sequence for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

let nextId = 1;

export function field(name: string, type: string, children: readonly Field[] = []): Field {
  const nested = type === 'list' || type === 'struct' || type === 'map';
  return {
    id: nextId++,
    name,
    type: nested ? { name: type } : parseType(type),
    nullable: true,
    children,
    initialDefault: null,
    defaultValue: null,
    defaultValueType: null,
    beginSnapshot: 0,
  };
}

const eventNames =
  'page_view click scroll purchase signup login logout search add_to_cart remove share like comment follow play pause error install update open'.split(
    ' ',
  );

/** What an event collector writes: ids, times, text that repeats and text that doesn't, numbers with and without NULL. */
export const events: DataSet = {
  name: 'events',
  fields: [
    field('id', 'int64'),
    field('ts', 'timestamp'),
    field('user', 'varchar'),
    field('event', 'varchar'),
    field('url', 'varchar'),
    field('amount', 'float64'),
    field('qty', 'int32'),
    field('ok', 'boolean'),
  ],
  rows(count) {
    const random = randomOf(1);
    const users = Array.from({ length: 10_000 }, (_, i) => `user_${(i * 7919 + 13).toString(36)}`);
    return Array.from({ length: count }, (_, i) => ({
      id: BigInt(i),
      ts: new Date(1_700_000_000_000 + i * 37 + Math.floor(random() * 1000)),
      user: users[Math.floor(random() * users.length)],
      event: eventNames[Math.floor(random() * eventNames.length)],
      url: `https://example.com/products/${Math.floor(random() * 1e9).toString(36)}?ref=${i % 97}`,
      amount: Math.round(random() * 100_000) / 100,
      qty: random() < 0.1 ? null : Math.floor(random() * 100),
      ok: random() < 0.5,
    }));
  },
};

/** Integers and floats only. */
export const numbers: DataSet = {
  name: 'numbers',
  fields: [field('a', 'int64'), field('b', 'int64'), field('c', 'float64'), field('d', 'float64')],
  rows(count) {
    const random = randomOf(2);
    return Array.from({ length: count }, (_, i) => ({
      a: BigInt(i),
      b: BigInt(Math.floor(random() * 1e12)),
      c: random(),
      d: Math.round(random() * 1e6) / 100,
    }));
  },
};

/** Text of all sorts. */
export const strings: DataSet = {
  name: 'strings',
  fields: [field('short', 'varchar'), field('words', 'varchar'), field('accents', 'varchar'), field('json', 'varchar')],
  rows(count) {
    const random = randomOf(3);
    const word = (): string => Math.floor(random() * 1e4).toString(36);
    return Array.from({ length: count }, (_, i) => ({
      short: word(),
      words: Array.from({ length: 12 }, word).join(' '),
      accents: `Größe ${word()} – naïve café ${i}`,
      json: JSON.stringify({ id: i, tags: [word(), word()], at: 1_700_000_000 + i }),
    }));
  },
};

/** Columns of which most values are NULL. */
export const nulls: DataSet = {
  name: 'nulls',
  fields: Array.from({ length: 8 }, (_, c) =>
    field(`c${c}`, (['int32', 'float64', 'varchar', 'int64'] as const)[c % 4]!),
  ),
  rows(count) {
    const random = randomOf(4);
    const make = [
      () => Math.floor(random() * 1e6),
      () => random(),
      () => `text ${Math.floor(random() * 1e5)}`,
      () => BigInt(Math.floor(random() * 1e12)),
    ];
    return Array.from({ length: count }, () =>
      Object.fromEntries(
        Array.from({ length: 8 }, (_, c) => [`c${c}`, random() < 0.5 + c / 16 ? null : make[c % 4]!()]),
      ),
    );
  },
};

/** As many columns as asked for, of the kinds of `events`. */
export function wide(columnCount: number): DataSet {
  const kinds = events.fields;
  return {
    name: `wide${columnCount}`,
    fields: Array.from({ length: columnCount }, (_, c) => ({
      ...kinds[c % kinds.length]!,
      id: c + 1,
      name: `${kinds[c % kinds.length]!.name}${c}`,
    })),
    rows(count) {
      const names = this.fields.map(({ name }) => name);
      return events.rows(count).map((row) => {
        const values = Object.values(row);
        return Object.fromEntries(names.map((name, c) => [name, values[c % kinds.length]]));
      });
    },
  };
}

/** Orders with their items: a list of structs. */
export const nested: DataSet = {
  name: 'nested',
  fields: [
    field('id', 'int32'),
    field('items', 'list', [
      field('element', 'struct', [field('sku', 'varchar'), field('qty', 'int32'), field('price', 'float64')]),
    ]),
  ],
  rows(count) {
    const random = randomOf(5);
    return Array.from({ length: count }, (_, id) => ({
      id,
      items:
        random() < 0.05
          ? null
          : Array.from({ length: Math.floor(random() * 6) }, () => ({
              sku: `sku-${Math.floor(random() * 500)}`,
              qty: 1 + Math.floor(random() * 9),
              price: Math.round(random() * 10_000) / 100,
            })),
    }));
  },
};

/** Rows as one array for each column. */
export function columnsOf(set: DataSet, rows: readonly Row[]): unknown[][] {
  return set.fields.map(({ name }) => rows.map((row) => row[name]));
}
