import type { TableName } from '../catalog/view.ts';
import type { FileBinding, MappedName } from '../file/format.ts';
import type { Field } from '../schema/field.ts';
import { typeText } from '../spec/types.ts';
import type { ScanColumn, VirtualName } from './columns.ts';
import type { FilePart, InlinedPart, ScanPart, ScanRead } from './parts.ts';
import { fieldsIn } from './where/expression.ts';
import { type ExpressionJson, expressionToJson } from './where/expression-json.ts';

/** The version of tasks that this version of the library makes and reads. */
export const TASK_VERSION = 1;

/**
 * A part of a scan that can be read anywhere, without the catalog: see `readTask`. A JSON value. It says which locations of the
 * store are read: take tasks only from who may read those.
 */
export interface ScanTask {
  readonly version: typeof TASK_VERSION;
  readonly table: TableName;
  readonly snapshotId: number;
  readonly columns: readonly TaskColumn[];
  /** Which rows; `null` for all. */
  readonly where: ExpressionJson | null;
  /** The columns that `where` looks at. */
  readonly whereFields: readonly TaskField[];
  /** The most rows that this part gives. The scan's own limit: whoever joins the rows of several takes the first so many. */
  readonly limit: number | null;
  readonly part: FileTaskPart | InlinedTaskPart;
}

export type TaskColumn = { readonly field: TaskField } | { readonly virtual: VirtualName };

/** A column of the table, or a part of a nested one. */
export interface TaskField {
  readonly id: number;
  readonly name: string;
  /** DuckLake's name. */
  readonly type: string;
  /** DuckDB's text of the value of rows from before the column was added. */
  readonly initialDefault: string | null;
  readonly children: readonly TaskField[];
}

/** A data file, or the row groups that begin within `range`. */
export interface FileTaskPart extends Omit<FilePart, 'binding'> {
  readonly binding: TaskBinding;
}

/** How the file's columns are found: by field id or position, or by name. */
export type TaskBinding =
  | Exclude<FileBinding, { readonly kind: 'names' }>
  | { readonly kind: 'names'; readonly names: readonly TaskName[] };

export interface TaskName {
  readonly sourceName: string;
  readonly fieldId: number;
  /** The value in the file's path. */
  readonly partition: { readonly value: string | null } | null;
  readonly children: readonly TaskName[];
}

/** Rows that the catalog held. */
export interface InlinedTaskPart extends Omit<InlinedPart, 'fields'> {
  readonly fields: readonly TaskField[];
}

/** Makes tasks of the parts of one read. */
export function taskMaker({ table, snapshotId, columns, where, limit }: ScanRead): (part: ScanPart) => ScanTask {
  const common = {
    version: TASK_VERSION,
    table,
    snapshotId,
    columns: columns.map(columnToJson),
    where: where ? expressionToJson(where) : null,
    whereFields: where ? fieldsIn(where).map(fieldToJson) : [],
    limit: limit === Number.POSITIVE_INFINITY ? null : limit,
  } as const;
  return (part) => ({ ...common, part: partToJson(part) });
}

function columnToJson(column: ScanColumn): TaskColumn {
  return column.kind === 'field' ? { field: fieldToJson(column.field) } : { virtual: column.name };
}

function fieldToJson({ id, name, type, initialDefault, children }: Field): TaskField {
  return { id, name, type: typeText(type), initialDefault, children: children.map(fieldToJson) };
}

function partToJson(part: ScanPart): FileTaskPart | InlinedTaskPart {
  if (part.kind === 'inlined') return { ...part, fields: part.fields.map(fieldToJson) };
  const { binding } = part;
  if (binding.kind !== 'names') return { ...part, binding };
  return { ...part, binding: { kind: 'names', names: binding.names.map(nameToJson) } };
}

function nameToJson({ sourceName, fieldId, partition, children }: MappedName): TaskName {
  return { sourceName, fieldId, partition: partition ?? null, children: children.map(nameToJson) };
}
