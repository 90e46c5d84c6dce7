import { LakeError } from '../errors.ts';
import type { Field } from '../schema/field.ts';
import { fieldsOf } from '../schema/tree.ts';
import { newestInlined } from '../spec/inlining.ts';
import { foldName } from '../spec/names.ts';
import { resolvePath } from '../spec/paths.ts';
import type { RowOf } from '../spec/rows.ts';
import type { MetadataRow } from '../spec/settings.ts';
import type { CatalogRows, Snapshot } from './store.ts';

/** A table's name: a schema's and its own. */
export interface TableName {
  readonly schema: string;
  readonly name: string;
}

export interface SchemaInfo {
  readonly id: number;
  readonly name: string;
  /** As stored. */
  readonly path: string;
  /** The folder below which its tables lie, in the store's terms. */
  readonly location: string;
}

export interface TableInfo {
  readonly id: number;
  readonly uuid: string;
  readonly schema: SchemaInfo;
  readonly name: string;
  readonly path: string;
  readonly location: string;
  readonly fields: readonly Field[];
  /** Whether the table is partitioned: its files then need partition values. */
  readonly isPartitioned: boolean;
  /** The catalog table that takes inlined rows, if there is one. */
  readonly inlinedTable?: string | undefined;
}

export const nameOf = ({ schema, name }: TableInfo): TableName => ({ schema: schema.name, name });

/** The schema of a lake at one snapshot, with names resolved as DuckDB resolves them. Immutable. */
export interface CatalogView {
  readonly snapshot: Snapshot;
  readonly metadata: readonly MetadataRow[];
  readonly schemas: readonly SchemaInfo[];
  readonly tables: readonly TableInfo[];
  readonly views: CatalogRows['views'];
  readonly macros: CatalogRows['macros'];
  findSchema(name: string): SchemaInfo | undefined;
  findTable(name: TableName): TableInfo | undefined;
  findTableById(id: number): TableInfo | undefined;
  /** Views share the tables' name space. */
  hasView(name: TableName): boolean;
  /** What lies in a schema beside its tables. */
  othersIn(schemaId: number): 'views' | 'macros' | undefined;
}

/** The same schema at a later snapshot that changed nothing in it. */
export function advanceView(view: CatalogView, snapshot: Snapshot): CatalogView {
  return { ...view, snapshot };
}

export function viewOf(rows: CatalogRows, dataPath: string): CatalogView {
  const schemas = rows.schemas.map((row): SchemaInfo => {
    if (row.schema_name === null || row.path === null) throw corrupt('ducklake_schema', row.schema_id);
    return {
      id: row.schema_id,
      name: row.schema_name,
      path: row.path,
      location: resolvePath(dataPath, row.path, row.path_is_relative),
    };
  });
  const schemaById = new Map(schemas.map((schema) => [schema.id, schema]));
  const columns = Map.groupBy(rows.columns, (row) => row.table_id);
  const partitioned = new Set(rows.partitions.map((row) => row.table_id));
  const inlined = Map.groupBy(rows.inlinedTables, (row) => row.table_id);
  const tables = rows.tables.map((row): TableInfo => {
    const schema = schemaById.get(row.schema_id ?? -1);
    if (row.table_id === null || row.table_name === null || row.path === null || row.table_uuid === null || !schema)
      throw corrupt('ducklake_table', row.table_id);
    const { table_id: id, table_name: name } = row;
    let fields: readonly Field[] | undefined;
    return {
      id,
      uuid: row.table_uuid,
      schema,
      name,
      path: row.path,
      location: resolvePath(schema.location, row.path, row.path_is_relative),
      get fields() {
        // On demand: a lake may have thousands of tables, and some with columns that can't be read here.
        fields ??= fieldsOf(columns.get(id) ?? [], name);
        return fields;
      },
      isPartitioned: partitioned.has(row.table_id),
      inlinedTable: newestInlined(inlined.get(id) ?? []),
    };
  });
  const schemaByName = new Map(schemas.map((schema) => [foldName(schema.name), schema]));
  const key = (schemaId: number, name: string): string => `${schemaId} ${foldName(name)}`;
  const tableByName = new Map(tables.map((table) => [key(table.schema.id, table.name), table]));
  const tableById = new Map(tables.map((table) => [table.id, table]));
  const viewKeys = new Set(rows.views.map((row) => viewKey(row, key)));
  const findSchema = (name: string): SchemaInfo | undefined => schemaByName.get(foldName(name));
  return {
    snapshot: rows.snapshot,
    metadata: rows.metadata,
    schemas,
    tables,
    views: rows.views,
    macros: rows.macros,
    findSchema,
    findTable({ schema, name }) {
      const found = findSchema(schema);
      return found && tableByName.get(key(found.id, name));
    },
    findTableById: (id) => tableById.get(id),
    hasView({ schema, name }) {
      const found = findSchema(schema);
      return found !== undefined && viewKeys.has(key(found.id, name));
    },
    othersIn(schemaId) {
      if (rows.views.some((row) => row.schema_id === schemaId)) return 'views';
      return rows.macros.some((row) => row.schema_id === schemaId) ? 'macros' : undefined;
    },
  };
}

const viewKey = (row: RowOf<'ducklake_view'>, key: (schemaId: number, name: string) => string): string =>
  key(row.schema_id ?? -1, row.view_name ?? '');

const corrupt = (table: string, id: number | null): LakeError =>
  new LakeError('CORRUPT', `row ${id} of ${table} lacks a value that the format requires`);
