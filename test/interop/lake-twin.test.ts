import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Column, type Lake, type TableSchema, t } from '../../src/index.ts';
import type { CatalogKind } from '../support/lakes.ts';
import { weirdNames } from '../support/names.ts';
import { identifier, literal, openOracle } from '../support/oracle.ts';
import { type KnownDifference, type TwinStep, twinDifferences } from '../support/twin.ts';
import { typeCases } from '../support/type-cases.ts';

setDefaultTimeout(300_000);

const step = (sql: string, ours: (lake: Lake) => Promise<unknown>): TwinStep => ({ sql, ours });

const createTable = (name: string, columns: Readonly<Record<string, readonly [string, Column]>>): TwinStep =>
  step(
    `CREATE TABLE ${identifier(name)} (${Object.entries(columns)
      .map(([column, [type]]) => `${identifier(column)} ${type}`)
      .join(', ')})`,
    (lake) =>
      lake.createTable(
        name,
        Object.fromEntries(Object.entries(columns).map(([column, [, definition]]) => [column, definition])),
      ),
  );

const insert = (table: string, rows: readonly Readonly<Record<string, readonly [string, unknown]>>[]): TwinStep => {
  const names = Object.keys(rows[0]!);
  return step(
    `INSERT INTO ${identifier(table)} (${names.map(identifier).join(', ')}) VALUES ${rows
      .map((row) => `(${names.map((name) => row[name]![0]).join(', ')})`)
      .join(', ')}`,
    (lake) =>
      lake.table(table).insert(rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name]![1]])))),
  );
};

const number = (value: number): readonly [string, number] => [String(value), value];
const text = (value: string): readonly [string, string] => [literal(value), value];
const nothing: readonly [string, null] = ['NULL', null];

const namesSteps = (names: readonly string[]): TwinStep[] => [
  ...names.map((name) => step(`CREATE SCHEMA ${identifier(name)}`, (lake) => lake.createSchema(name))),
  ...names.map((name) =>
    step(`CREATE TABLE ${identifier(name)}.${identifier(name)} (${identifier(name)} INTEGER)`, (lake) =>
      lake.createTable({ schema: name, name }, Object.fromEntries([[name, t.int32()]])),
    ),
  ),
  ...names
    .slice(0, 3)
    .flatMap((name) => [createTable(name, { i: ['INTEGER', t.int32()] }), insert(name, [{ i: number(1) }])]),
  step('CREATE TABLE wide ("a b" INTEGER, "a""b" INTEGER, "ä" INTEGER, "Ä" INTEGER, "__proto__" INTEGER)', (lake) =>
    lake.createTable(
      'wide',
      Object.fromEntries(['a b', 'a"b', 'ä', 'Ä', '__proto__'].map((name) => [name, t.int32()])),
    ),
  ),
];

const defaults: Readonly<Record<string, readonly [string, Column]>> = {
  // Strings, where SQL has no literal of the type: DuckDB would store the expression.
  a: ["BOOLEAN DEFAULT 'true'", t.boolean().default(true)],
  b: ['INTEGER DEFAULT 42', t.int32().default(42)],
  c: ['INTEGER DEFAULT -1', t.int32().default(-1)],
  d: ["VARCHAR DEFAULT ''", t.varchar().default('')],
  e: ["VARCHAR DEFAULT 'it''s'", t.varchar().default("it's")],
  f: ['VARCHAR DEFAULT NULL', t.varchar()],
  g: ['DECIMAL(5, 2) DEFAULT 1.50', t.decimal(5, 2).default('1.50')],
  h: ["DATE DEFAULT '2024-01-15'", t.date().default('2024-01-15')],
  i: ['DOUBLE DEFAULT 1.5', t.float64().default(1.5)],
  j: ["BLOB DEFAULT 'a\\x00'", t.blob().default(new Uint8Array([97, 0]))],
  k: ["TIMESTAMP DEFAULT '2024-01-15 12:30:00.5'", t.timestamp().default('2024-01-15 12:30:00.5')],
  l: [
    'BIGINT NOT NULL DEFAULT 9223372036854775807',
    t
      .int64()
      .notNull()
      .default(2n ** 63n - 1n),
  ],
};

const defaultsSteps: readonly TwinStep[] = [
  createTable('d', defaults),
  createTable('n', { a: ['INTEGER NOT NULL', t.int32().notNull()], b: ['VARCHAR NOT NULL', t.varchar().notNull()] }),
  insert('d', [{ b: number(1) }]),
  insert('d', [{ a: nothing, b: nothing, c: nothing, d: nothing }]),
  insert('n', [{ a: number(1), b: text('x') }]),
];

const column = (name: string): string => name.replaceAll(/\W/g, '_');

/** DuckDB counts nothing in columns of these types, and so lets itself skip files that hold NULLs or values. Ours are the true figures. */
const uncounted: readonly KnownDifference[] = typeCases.flatMap(({ name }, i) =>
  name !== 'timetz' && name !== 'interval'
    ? []
    : [
        ...['column_size_bytes', 'value_count', 'null_count'].map((column) => ({
          table: 'ducklake_file_column_stats' as const,
          column,
          where: { column_id: String(i + 1) },
          theirs: '0',
          reason: 'DuckDB counts nothing here',
        })),
        {
          table: 'ducklake_table_column_stats' as const,
          column: 'contains_null',
          where: { column_id: String(i + 1) },
          ours: 'true',
          theirs: 'false',
          reason: 'there was a NULL',
        },
      ],
);

const typesSteps: readonly TwinStep[] = [
  createTable('all', Object.fromEntries(typeCases.map((type) => [column(type.name), [type.sqlType, type.column]]))),
  insert('all', [Object.fromEntries(typeCases.map((type) => [column(type.name), nothing]))]),
  // Each row takes the next value of each type, round and round.
  ...[0, 3, 6, 9].map((start) =>
    insert(
      'all',
      [0, 1, 2].map((i) =>
        Object.fromEntries(
          typeCases.map((type) => {
            const { sql, given } = type.values[(start + i) % type.values.length]!;
            return [column(type.name), [`CAST(${sql} AS ${type.sqlType})`, given] as const];
          }),
        ),
      ),
    ),
  ),
];

const floats: TableSchema = { f: t.float32(), d: t.float64(), s: t.varchar(), i: t.int32() };

const floatsSteps: readonly TwinStep[] = [
  step('CREATE TABLE f (f FLOAT, d DOUBLE, s VARCHAR, i INTEGER)', (lake) => lake.createTable('f', floats)),
  step('INSERT INTO f SELECT * FROM f', (lake) => lake.table('f').insert([])),
  step('INSERT INTO f VALUES (NULL, NULL, NULL, NULL), (NULL, NULL, NULL, NULL)', (lake) =>
    lake.table('f').insert([{}, { f: null }]),
  ),
  step("INSERT INTO f VALUES ('nan', 'nan', '', 0)", (lake) =>
    lake.table('f').insert([{ f: Number.NaN, d: Number.NaN, s: '', i: 0 }]),
  ),
  step("INSERT INTO f VALUES ('inf', '-inf', 'b', -5)", (lake) =>
    lake.table('f').insert([{ f: Number.POSITIVE_INFINITY, d: Number.NEGATIVE_INFINITY, s: 'b', i: -5 }]),
  ),
  step("INSERT INTO f VALUES (1.5, NULL, 'a', NULL), ('nan', 2, NULL, 10)", (lake) =>
    lake.table('f').insert([
      { f: 1.5, s: 'a' },
      { f: Number.NaN, d: 2, i: 10 },
    ]),
  ),
];

// One new table for each commit: DuckDB gives several their ids in the order of a hash table, we as they were created.
const transactionSteps: readonly TwinStep[] = [
  createTable('gone', { i: ['INTEGER', t.int32()] }),
  createTable('kept', { i: ['INTEGER', t.int32()] }),
  insert('gone', [{ i: number(1) }]),
  step(
    `BEGIN;
     CREATE SCHEMA s;
     CREATE TABLE s.made (i INTEGER NOT NULL, v VARCHAR DEFAULT 'x');
     INSERT INTO s.made (i) VALUES (1), (2);
     INSERT INTO kept VALUES (3);
     INSERT INTO kept VALUES (NULL), (-7);
     INSERT INTO s.made (i) VALUES (5);
     DROP TABLE gone;
     CALL twin.set_commit_message('ann', 'it''s "done"', extra_info => '{"a": 1}');
     COMMIT`,
    (lake) =>
      lake.transaction(
        async (tx) => {
          await tx.createSchema('s');
          const inSchema = await tx.createTable(
            { schema: 's', name: 'made' },
            { i: t.int32().notNull(), v: t.varchar().default('x') },
          );
          await inSchema.insert([{ i: 1 }, { i: 2 }]);
          await tx.table('kept').insert([{ i: 3 }]);
          await tx.table('kept').insert([{ i: null }, { i: -7 }]);
          await inSchema.insert([{ i: 5 }]);
          await tx.dropTable('gone');
        },
        { author: 'ann', message: 'it\'s "done"', extraInfo: '{"a": 1}' },
      ),
  ),
  // What is created and dropped in one transaction leaves no trace.
  step('BEGIN; CREATE TABLE brief (i INTEGER); INSERT INTO brief VALUES (1); DROP TABLE brief; COMMIT', (lake) =>
    lake.transaction(async (tx) => {
      const brief = await tx.createTable('brief', { i: t.int32() });
      await brief.insert([{ i: 1 }]);
      await tx.dropTable('brief');
    }),
  ),
  // A name taken again.
  step('BEGIN; DROP TABLE kept; CREATE TABLE kept (v VARCHAR); INSERT INTO kept VALUES (NULL); COMMIT', (lake) =>
    lake.transaction(async (tx) => {
      await tx.dropTable('kept');
      const kept = await tx.createTable('kept', { v: t.varchar() });
      await kept.insert([{ v: null }]);
    }),
  ),
];

const dropSteps: readonly TwinStep[] = [
  createTable('one', { i: ['INTEGER', t.int32()] }),
  insert('one', [{ i: number(1) }]),
  step('CREATE SCHEMA r', (lake) => lake.createSchema('r')),
  step('CREATE TABLE r.a (i INTEGER)', (lake) => lake.createTable({ schema: 'r', name: 'a' }, { i: t.int32() })),
  step('CREATE TABLE r.b (i INTEGER)', (lake) => lake.createTable({ schema: 'r', name: 'b' }, { i: t.int32() })),
  step('INSERT INTO r.b VALUES (1)', (lake) => lake.table({ schema: 'r', name: 'b' }).insert([{ i: 1 }])),
  step('DROP TABLE one', (lake) => lake.dropTable('one')),
  step('DROP TABLE IF EXISTS one', (lake) => lake.dropTable('one', { ifExists: true })),
  step('DROP SCHEMA r CASCADE', (lake) => lake.dropSchema('r', { cascade: true })),
  step('CREATE SCHEMA r', (lake) => lake.createSchema('r')),
  step('CREATE SCHEMA IF NOT EXISTS r', (lake) => lake.createSchema('r', { ifNotExists: true })),
  step('DROP SCHEMA r', (lake) => lake.dropSchema('r')),
  step('CREATE TABLE IF NOT EXISTS one (v VARCHAR)', (lake) =>
    lake.createTable('one', { v: t.varchar() }, { ifNotExists: true }),
  ),
  step('CREATE TABLE IF NOT EXISTS one (v VARCHAR)', (lake) =>
    lake.createTable('one', { v: t.varchar() }, { ifNotExists: true }),
  ),
];

const many = (count: number): { i: number }[] => Array.from({ length: count }, (_, i) => ({ i }));

const mixedSteps: readonly TwinStep[] = [
  createTable('a', { i: ['INTEGER', t.int32()] }),
  createTable('b', { i: ['INTEGER', t.int32()] }),
  step('INSERT INTO a SELECT i FROM range(10) r(i)', (lake) => lake.table('a').insert(many(10))),
  step('INSERT INTO a SELECT i FROM range(11) r(i)', (lake) => lake.table('a').insert(many(11))),
  step(
    `BEGIN;
     INSERT INTO a VALUES (100);
     INSERT INTO b SELECT i FROM range(20) r(i);
     INSERT INTO a SELECT i FROM range(30) r(i);
     INSERT INTO a VALUES (NULL), (102);
     INSERT INTO b VALUES (NULL);
     COMMIT`,
    (lake) =>
      lake.transaction(async (tx) => {
        await tx.table('a').insert([{ i: 100 }]);
        await tx.table('b').insert(many(20));
        await tx.table('a').insert(many(30));
        await tx.table('a').insert([{}, { i: 102 }]);
        await tx.table('b').insert([{}]);
      }),
  ),
  // The next file's id has a gap before it: each table with rows in the catalog alone takes one.
  step('BEGIN; INSERT INTO a VALUES (7); INSERT INTO b SELECT i FROM range(12) r(i); COMMIT', (lake) =>
    lake.transaction(async (tx) => {
      await tx.table('a').insert([{ i: 7 }]);
      await tx.table('b').insert(many(12));
    }),
  ),
];

/** Every row and column of the catalog equals what DuckDB writes for the same statements. */
async function expectTwins(
  kind: CatalogKind,
  steps: readonly TwinStep[],
  known: readonly KnownDifference[] = [],
  inliningRowLimit = 0,
): Promise<void> {
  await using duck = await openOracle();
  expect(await twinDifferences(kind, duck, steps, known, inliningRowLimit)).toEqual([]);
}

/** DuckDB orders these by their text, which is not the order of the values; its own bounds of blobs in files are other text. */
const inlinedBounds: readonly KnownDifference[] = typeCases.flatMap(({ name }, i) =>
  ['timetz', 'interval', 'blob'].includes(name)
    ? (name === 'blob' ? (['max_value'] as const) : (['min_value', 'max_value'] as const)).map((column) => ({
        table: 'ducklake_table_column_stats' as const,
        column,
        where: { column_id: String(i + 1) },
        reason: 'the order of text',
      }))
    : [],
);

describe('the same statements leave the same catalog, sqlite', () => {
  test('schemas and tables of any name', () => expectTwins('sqlite', namesSteps(weirdNames)));
  test('defaults and NOT NULL', () => expectTwins('sqlite', defaultsSteps));
  test('every type: NULLs, edges, several files', () => expectTwins('sqlite', typesSteps, uncounted));
  test('columns of NULL, NaN and infinities; nothing inserted', () => expectTwins('sqlite', floatsSteps));
  test('transactions: several tables, said by whom and why', () => expectTwins('sqlite', transactionSteps));
  test('drops', () => expectTwins('sqlite', dropSteps));
});

const blobDefault: readonly KnownDifference[] = ['min_value', 'max_value'].map((column) => ({
  table: 'ducklake_table_column_stats' as const,
  column,
  ours: '6100',
  theirs: 'a\\x00',
  reason: "DuckDB's own bounds of blobs in files are other text",
}));

describe('the same small statements leave the same rows in the catalog, sqlite', () => {
  const inlined = (steps: readonly TwinStep[], known: readonly KnownDifference[] = []): Promise<void> =>
    expectTwins('sqlite', steps, known, 10);
  test('schemas and tables of any name', () => inlined(namesSteps(weirdNames)));
  test('defaults and NOT NULL', () => inlined(defaultsSteps, blobDefault));
  test('every type: NULLs, edges', () => inlined(typesSteps, inlinedBounds));
  test('columns of NULL, NaN and infinities; nothing inserted', () => inlined(floatsSteps));
  test('transactions: several tables, said by whom and why', () => inlined(transactionSteps));
  test('drops', () => inlined(dropSteps));
  test('files and rows in the catalog, in several transactions', () => inlined(mixedSteps));
});

// DuckDB attaches and commits much slower there.
const postgresSteps: readonly TwinStep[] = [
  ...typesSteps,
  ...namesSteps(weirdNames.slice(0, 4)),
  ...defaultsSteps,
  ...floatsSteps,
  ...transactionSteps,
  ...dropSteps,
];

test('the same statements leave the same catalog, postgres', () => expectTwins('postgres', postgresSteps, uncounted));

test('the same small statements leave the same rows in the catalog, postgres', () =>
  expectTwins('postgres', [...postgresSteps, ...mixedSteps], [...inlinedBounds, ...blobDefault], 10));
