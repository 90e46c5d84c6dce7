import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFile } from 'node:fs/promises';
import { localStore } from '../../adapters/local.ts';
import { sqliteCatalog } from '../../adapters/sqlite.ts';
import { compactJson } from '../../cli/input/json-text.ts';
import { openLake, type TableSchema, t } from '../../src/index.ts';
import { openOracle } from '../support/oracle.ts';
import { typeCases } from '../support/type-cases.ts';
import { type Cli, scratch, startCli } from './run.ts';

setDefaultTimeout(300_000);

const flat = Object.fromEntries(typeCases.map(({ name, column }) => [name, column]));
const columns: TableSchema = {
  row: t.int32().notNull(),
  ...flat,
  // JSON's own null is in the flat column.
  ...Object.fromEntries(typeCases.map(({ name, column }) => [`list of ${name}`, t.list(column)])),
  struct: t.struct(flat),
  'text map': t.map(t.varchar(), t.list(t.json())),
  'integer map': t.map(t.int64(), t.struct({ 'a"b': t.decimal(38, 10), m: t.map(t.date(), t.blob()) })),
};
const rowCount = Math.max(...typeCases.map(({ values }) => values.length)) + 1;

/**
 * Value `i` of every type; past the last one NULL. JSON as it is kept inside of other values: without white space, and without JSON's
 * own null.
 */
function valuesAt(i: number): Record<string, unknown> {
  const values = Object.fromEntries(typeCases.map(({ name, values }) => [name, values[i]?.given ?? null]));
  const { json } = values;
  return { ...values, json: json === 'null' ? null : typeof json === 'string' ? compactJson(json) : json };
}

const nested: readonly Record<string, unknown>[] = [
  {
    'text map': new Map([
      ['a "b"', [1.5, { c: 12345678901234567890n }, null]],
      ['__proto__', []],
      ['', null],
    ]),
    'integer map': new Map([
      [
        9007199254740993n,
        { 'a"b': '9999999999999999999999999999.9999999999', m: new Map([['2024-02-29', new Uint8Array([1, 255])]]) },
      ],
      [-1n, null],
    ]),
  },
  { 'text map': new Map(), 'integer map': new Map([[0n, { 'a"b': null, m: new Map() }]]) },
];

/** Every value of every type, alone and as part of others, and NULL. */
const rows = Array.from({ length: rowCount }, (_, row) => ({
  row,
  ...Object.fromEntries(typeCases.map(({ name, values }) => [name, values[row]?.given ?? null])),
  ...Object.fromEntries(
    typeCases.map(({ name }) => [
      `list of ${name}`,
      [[], null][row] ?? [valuesAt(row)[name], null, valuesAt(row - 1)[name]],
    ]),
  ),
  struct: row === 0 ? null : valuesAt(row),
  ...nested[row],
}));

/** NDJSON has one null for NULL and for JSON's own, and no room for line breaks. */
function asJsonKeepsIt(text: string | null, format: string): string | null {
  if (format === 'csv' || text === null) return text;
  return compactJson(text) === 'null' ? null : compactJson(text);
}

let cli: Cli;
beforeAll(() => {
  cli = startCli();
});
afterAll(() => cli[Symbol.asyncDispose]());

describe('append(scan(x)) is x, for every type', () => {
  for (const format of ['ndjson', 'json', 'csv'])
    test(`as ${format}, in DuckDB's eyes`, async () => {
      await using folder = await scratch();
      const path = `${folder.path}/catalog.sqlite`;
      {
        await using lake = await openLake({
          catalog: sqliteCatalog({ path }),
          store: localStore(),
          dataPath: `${folder.path}/data/`,
        });
        const first = await lake.createTable('first', columns);
        await lake.createTable('second', columns);
        await first.insert(rows);
      }
      const text = await cli.ok(['scan', path, 'first', '--format', format]);
      const file = `${folder.path}/rows.${format}`;
      await writeFile(file, text);
      await cli.ok(['append', path, 'second', file]);

      await using duck = await openOracle();
      await duck.attachSqlite(path);
      const before = await duck.rows('SELECT * FROM lake.first ORDER BY row');
      const after = await duck.rows('SELECT * FROM lake.second ORDER BY row');
      expect(before).toHaveLength(rowCount);
      for (const [i, row] of before.entries()) {
        const json = asJsonKeepsIt(row['json']!, format);
        expect(after[i]).toEqual({ ...row, json });
      }
    });
});
