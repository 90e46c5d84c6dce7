import { nameOf, type TableInfo, type TableName } from '../catalog/view.ts';
import { LakeError, showValue } from '../errors.ts';
import type { Field } from '../schema/field.ts';
import { withParts } from '../schema/tree.ts';
import { isSupported, typeText } from '../spec/types.ts';

/**
 * What DuckLake tells of a row beside the table's columns, under its names for them: a scan gives those that its `columns` ask for. A
 * column of the table with the same name goes first.
 */
export interface VirtualColumns<SnapshotId = bigint> {
  rowid: bigint;
  /** The snapshot that added the row. In a transaction `null` for its own rows, which have none yet. */
  snapshot_id: SnapshotId;
  /** The file's location; of rows that are kept in the catalog the name of their table there. */
  filename: string;
  /** The row's position in its file, from 0; of rows that are kept in the catalog their row id, as in DuckDB. */
  file_row_number: bigint;
  /** The file's position among those of the scan, from 0. */
  file_index: bigint;
}

/** A row of a scan: the columns that were asked for. */
export type ScannedRow<Out, Name extends PropertyKey, Virtual = VirtualColumns> = {
  [K in Name]: K extends keyof Out ? Out[K] : K extends keyof Virtual ? Virtual[K] : never;
};

export type VirtualName = keyof VirtualColumns;

export const virtualNames: readonly VirtualName[] = [
  'rowid',
  'snapshot_id',
  'filename',
  'file_row_number',
  'file_index',
];

/** A column of a scan's rows. */
export type ScanColumn =
  | { readonly kind: 'field'; readonly name: string; readonly field: Field }
  | { readonly kind: 'virtual'; readonly name: VirtualName };

/** A column as a field, for what is written of it: a virtual one too. */
export function fieldOf(column: ScanColumn, index: number): Field {
  if (column.kind === 'field') return column.field;
  const { name } = column;
  return {
    // Above those of a table's columns, and each another.
    id: 2 ** 31 - 2 ** 16 + index,
    name,
    type: { name: name === 'filename' ? 'varchar' : 'int64' },
    nullable: true,
    children: [],
    initialDefault: null,
    defaultValue: null,
    defaultValueType: null,
    beginSnapshot: 0,
  };
}

/** What a scan's rows consist of: the named columns, all of the table's by default. UNSUPPORTED for those that can't be read. */
export function scanColumns(table: TableInfo, names: unknown): ScanColumn[] {
  if (names !== undefined && !Array.isArray(names))
    throw new LakeError('INVALID_ARGUMENT', `columns is ${showValue(names)}; expected an array of names`, {
      context: { value: showValue(names) },
    });
  const columns = names
    ? (names as unknown[]).map((name) => columnOf(table, name))
    : table.fields.map((field): ScanColumn => ({ kind: 'field', name: field.name, field }));
  for (const column of columns)
    if (column.kind === 'field')
      for (const { type } of withParts([column.field])) if (!isSupported(type)) throw unreadable(table, column, type);
  return columns;
}

/** A table's own column comes before what DuckLake would call the same. */
function columnOf(table: TableInfo, name: unknown): ScanColumn {
  const field = table.fields.find((candidate) => candidate.name === name);
  if (field) return { kind: 'field', name: field.name, field };
  const virtual = virtualNames.find((candidate) => candidate === name);
  if (virtual) return { kind: 'virtual', name: virtual };
  const shown = typeof name === 'string' ? name : showValue(name);
  const names = table.fields.map((candidate) => `"${candidate.name}"`).join(', ');
  throw new LakeError('NOT_FOUND', `table "${table.name}" has no column "${shown}"; it has ${names}`, {
    context: { schema: table.schema.name, table: table.name, column: shown },
  });
}

function unreadable(table: TableInfo, { name }: ScanColumn, type: Field['type']): LakeError {
  return unsupported(nameOf(table), `column "${name}" is of type ${typeText(type)}`, { column: name });
}

export function unsupported(
  { schema, name }: TableName,
  reason: string,
  context: Record<string, unknown> = {},
): LakeError {
  return new LakeError('UNSUPPORTED', `table "${name}" can't be read here yet: ${reason}`, {
    context: { schema, table: name, ...context },
  });
}
