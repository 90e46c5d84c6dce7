import type { Field } from '../schema/field.ts';
import { typeText } from '../spec/types.ts';
import type { SchemaInfo, TableInfo } from './view.ts';

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
