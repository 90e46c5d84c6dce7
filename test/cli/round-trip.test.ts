import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFile } from 'node:fs/promises';
import { localStore } from '../../adapters/local.ts';
import { sqliteCatalog } from '../../adapters/sqlite.ts';
import { compactJson } from '../../cli/input/json-text.ts';
import { openLake, type TableSchema, t } from '../../src/index.ts';
import { openOracle } from '../support/oracle.ts';
import { typeCases } from '../support/type-cases.ts';
import { type Cli, scratch, startCli } from './run.ts';

setDefaultTimeout(60_000);

const columns: TableSchema = {
  row: t.int32().notNull(),
  ...Object.fromEntries(typeCases.map(({ name, column }) => [name, column])),
};
const rowCount = Math.max(...typeCases.map(({ values }) => values.length)) + 1;
/** Every value of every type, and NULL. */
const rows = Array.from({ length: rowCount }, (_, row) => ({
  row,
  ...Object.fromEntries(typeCases.map(({ name, values }) => [name, values[row]?.given ?? null])),
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
