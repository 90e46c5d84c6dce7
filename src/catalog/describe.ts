import { LakeError } from '../errors.ts';
import type { Field } from '../schema/field.ts';
import { type Change, parseChanges } from '../spec/changes.ts';
import { typeText } from '../spec/types.ts';
import { Timestamp } from '../spec/values/timestamp.ts';
import { timestampCodec } from '../spec/values/timestamp-codec.ts';
import type { SnapshotRecord } from './store.ts';
import type { CatalogView, SchemaInfo, TableInfo } from './view.ts';

/** One committed version of a lake. */
export interface SnapshotInfo {
  readonly id: number;
  readonly time: Timestamp;
  readonly schemaVersion: number;
  readonly author: string | null;
  readonly message: string | null;
  readonly extraInfo: string | null;
  readonly changes: readonly Change[];
}

/** A column as `table.describe` tells it. */
export interface ColumnDescription {
  readonly id: number;
  readonly name: string;
  /** DuckLake's name: `int64`, `decimal(12,2)`, `list`, … */
  readonly type: string;
  readonly nullable: boolean;
  /** DuckDB's text of the default; `null` when there is none. */
  readonly defaultValue: string | null;
  /** The parts of a nested column. */
  readonly children: readonly ColumnDescription[];
}

export interface TableDescription {
  /** Negative for a table that is not committed yet: it gets its id with the commit. */
  readonly id: number;
  readonly uuid: string;
  readonly schema: string;
  readonly name: string;
  /** The folder of its files, in the store's terms. */
  readonly location: string;
  readonly columns: readonly ColumnDescription[];
}

export interface SchemaSummary {
  /** Negative for a schema that is not committed yet. */
  readonly id: number;
  readonly name: string;
  /** The folder of its tables, in the store's terms. */
  readonly location: string;
}

export interface TableSummary {
  /** Negative for a table that is not committed yet. */
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  /** The folder of its files, in the store's terms. */
  readonly location: string;
}

/** A view. It is listed, not run: its definition is SQL. */
export interface ViewSummary {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  /** Whose SQL it is: `duckdb`. */
  readonly dialect: string;
  /** The query. */
  readonly sql: string;
  /** Names that the view gives to its first columns instead of the query's. */
  readonly columnAliases: readonly string[];
}

/** A macro, scalar or table. It is listed, not run. */
export interface MacroSummary {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
}

export function describeTable({ id, uuid, schema, name, location, fields }: TableInfo): TableDescription {
  return { id, uuid, schema: schema.name, name, location, columns: fields.map(describeField) };
}

function describeField({ id, name, type, nullable, defaultValue, children }: Field): ColumnDescription {
  return { id, name, type: typeText(type), nullable, defaultValue, children: children.map(describeField) };
}

export const summarizeSchema = ({ id, name, location }: SchemaInfo): SchemaSummary => ({ id, name, location });

export const summarizeTable = ({ id, schema, name, location }: TableInfo): TableSummary => ({
  id,
  schema: schema.name,
  name,
  location,
});

export const summarizeViews = ({ schemas, views }: CatalogView): ViewSummary[] =>
  views.map(({ view_id, schema_id, view_name, dialect, sql, column_aliases }) => ({
    id: required(view_id),
    schema: required(schemas.find(({ id }) => id === schema_id)).name,
    name: required(view_name),
    dialect: dialect ?? 'duckdb',
    sql: required(sql),
    // `"a","b"`, quotes in names doubled.
    columnAliases: [...(column_aliases ?? '').matchAll(/"((?:[^"]|"")*)"/g)].map(([, name]) =>
      name!.replaceAll('""', '"'),
    ),
  }));

export const summarizeMacros = ({ schemas, macros }: CatalogView): MacroSummary[] =>
  macros.map(({ macro_id, schema_id, macro_name }) => ({
    id: required(macro_id),
    schema: required(schemas.find(({ id }) => id === schema_id)).name,
    name: required(macro_name),
  }));

function required<T>(value: T | null | undefined): T {
  if (value === null || value === undefined)
    throw new LakeError('CORRUPT', 'a row of ducklake_view or ducklake_macro lacks a value that the format requires');
  return value;
}

const instants = timestampCodec('us', true);

export function summarizeSnapshot(record: SnapshotRecord): SnapshotInfo {
  const { id, time, schemaVersion, author, message, extraInfo, changes } = record;
  return {
    id,
    time: new Timestamp(instants.fromText(time)),
    schemaVersion,
    author,
    message,
    extraInfo,
    changes: parseChanges(changes),
  };
}
