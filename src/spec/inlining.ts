import { foldName } from './names.ts';
import type { RowOf } from './rows.ts';
import type { ColumnType } from './types.ts';

/** A table's column, as a catalog table of inlined rows has it. */
export interface InlinedColumn {
  readonly name: string;
  readonly type: ColumnType;
}

/** What tables of the catalog's database can take. */
export interface InliningLimits {
  readonly maxNameByteLength: number;
  readonly maxColumnCount: number;
  /** Names that no column can have, in lower case. */
  readonly reservedNames: readonly string[];
}

/** Rows of a table go here, inlined, from a schema version on. */
export function inlinedTableName(tableId: number, schemaVersion: number): string {
  return `ducklake_inlined_data_${tableId}_${schemaVersion}`;
}

/** Names that columns of inlined tables have, or get when they are flushed. */
const systemNames: readonly string[] = [
  'row_id',
  'begin_snapshot',
  'end_snapshot',
  '_ducklake_internal_snapshot_id',
  '_ducklake_internal_row_id',
];

const utf8 = new TextEncoder();

/** Whether rows of a table with these columns can be kept in the catalog: those with values of a type that can be, see `isSupported`. */
export function canInline(columns: readonly { readonly name: string }[], limits: InliningLimits): boolean {
  return (
    columns.length <= limits.maxColumnCount &&
    columns.every(({ name }) => {
      const folded = foldName(name);
      return (
        !systemNames.includes(folded) &&
        !limits.reservedNames.includes(folded) &&
        (name.length * 3 <= limits.maxNameByteLength || utf8.encode(name).length <= limits.maxNameByteLength)
      );
    })
  );
}

/** Of those of one table the one that takes rows. */
export function newestInlined(rows: readonly RowOf<'ducklake_inlined_data_tables'>[]): string | undefined {
  const version = (row: (typeof rows)[number]): number => row.schema_version ?? -1;
  return rows.toSorted((a, b) => version(b) - version(a))[0]?.table_name ?? undefined;
}
