import type { CatalogRow, CatalogTable } from '../../spec/rows.ts';
import { catalogTables, cellsOf } from '../../spec/rows.ts';
import type { LakeInit } from '../store.ts';
import { quoteName, type SqlDialect } from './dialect.ts';

/** The statements that make the tables of an empty catalog, as DuckDB makes them. */
export function createTables(dialect: SqlDialect): string[] {
  return (Object.keys(catalogTables) as CatalogTable[]).map((table) => {
    const columns = cellsOf(table).map(([name, { type, key }]) =>
      [quoteName(name), dialect.type(type), key === 'primary' ? 'PRIMARY KEY' : key === 'not null' ? 'NOT NULL' : '']
        .join(' ')
        .trim(),
    );
    return `CREATE TABLE ${dialect.table(table)} (${columns.join(', ')})`;
  });
}

/** The rows of a lake without tables: snapshot 0 and the schema `main`. `time` is the database's now. */
export function initialRows(init: LakeInit, time: string): [table: CatalogTable, row: CatalogRow][] {
  const metadata = {
    version: '1.0',
    created_by: init.createdBy,
    data_path: init.dataPath,
    encrypted: 'false',
  };
  return [
    ...Object.entries(metadata).map(([key, value]): [CatalogTable, CatalogRow] => [
      'ducklake_metadata',
      { key, value },
    ]),
    [
      'ducklake_snapshot',
      { snapshot_id: 0, snapshot_time: time, schema_version: 0, next_catalog_id: 1, next_file_id: 0 },
    ],
    ['ducklake_snapshot_changes', { snapshot_id: 0, changes_made: 'created_schema:"main"' }],
    [
      'ducklake_schema',
      {
        schema_id: 0,
        schema_uuid: init.schemaUuid,
        begin_snapshot: 0,
        schema_name: 'main',
        path: 'main/',
        path_is_relative: true,
      },
    ],
  ];
}
