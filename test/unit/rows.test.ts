import { describe, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { type CatalogTable, catalogTables, cellsOf, NEXT, relativeId, resolveId } from '../../src/spec/rows.ts';
import { literal, openOracle } from '../support/oracle.ts';

describe('relative ids', () => {
  test('count from the next id of a counter', () => {
    expect([0, 1, 2].map((k) => resolveId(relativeId(k), 7))).toEqual([7, 8, 9]);
    expect(resolveId(NEXT, 42)).toBe(42);
    expect(resolveId(relativeId(0), 0)).toBe(0);
  });

  test('leave ids alone that exist', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.nat(), fc.nat(), (id, k, next) => {
        expect(resolveId(id, next)).toBe(id);
        expect(resolveId(relativeId(k), next)).toBe(next + k);
      }),
    );
  });
});

describe('the catalog tables', () => {
  test('are those that DuckDB makes, column by column', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'edgemere-rows-'));
    await using duck = await openOracle();
    try {
      const catalog = join(dir, 'catalog.sqlite');
      await duck.attachSqlite(catalog, `${dir}/data/`);
      await duck.detach();
      await duck.run(`ATTACH ${literal(catalog)} AS c (TYPE sqlite, READ_ONLY)`);
      const made = await duck.rows(`
        SELECT * FROM sqlite_query('c', 'SELECT m.name AS "table", p.name, p.type, p.pk, p."notnull"
          FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = ''table'' ORDER BY m.name, p.cid')`);
      const tables = Object.keys(catalogTables).toSorted() as CatalogTable[];
      const ours = tables.flatMap((table) =>
        cellsOf(table).map(([name, { type, key }]) => ({
          table,
          name,
          // SQLite's booleans are 0 and 1; uuids and instants are text there.
          type: type === 'bigint' || type === 'boolean' ? 'BIGINT' : 'VARCHAR',
          pk: key === 'primary' ? '1' : '0',
          notnull: key === 'not null' ? '1' : '0',
        })),
      );
      expect(made).toEqual(ours);
      expect(tables).toHaveLength(28);
    } finally {
      await rm(dir, { recursive: true });
    }
  }, 300_000);

  test('know which cells take ids from which counter', () => {
    const counters = (table: CatalogTable): Record<string, string> =>
      Object.fromEntries(
        cellsOf(table).flatMap(([name, { counter }]) => (counter === undefined ? [] : [[name, counter]])),
      );
    expect(counters('ducklake_data_file')).toEqual({
      data_file_id: 'file',
      table_id: 'catalog',
      begin_snapshot: 'snapshot',
      end_snapshot: 'snapshot',
      row_id_start: 'row',
    });
    expect(counters('ducklake_schema_versions')).toEqual({
      begin_snapshot: 'snapshot',
      schema_version: 'schemaVersion',
      table_id: 'catalog',
    });
    expect(counters('ducklake_column')).toEqual({
      begin_snapshot: 'snapshot',
      end_snapshot: 'snapshot',
      table_id: 'catalog',
    });
    expect(counters('ducklake_metadata')).toEqual({});
  });
});
