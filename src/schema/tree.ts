import { LakeError } from '../errors.ts';
import type { RowOf } from '../spec/rows.ts';
import { parseType } from '../spec/types.ts';
import type { Field } from './field.ts';

type ColumnRow = RowOf<'ducklake_column'>;

/** The fields of one table from its live column rows, nested and in order. */
export function fieldsOf(columns: readonly ColumnRow[], table: string): Field[] {
  const byParent = Map.groupBy(columns, (row) => row.parent_column);
  const build = (parent: number | null): Field[] =>
    (byParent.get(parent) ?? [])
      .toSorted((a, b) => (a.column_order ?? 0) - (b.column_order ?? 0))
      .map((row) => fieldOf(row, build(row.column_id), table));
  return build(null);
}

function fieldOf(row: ColumnRow, children: Field[], table: string): Field {
  if (row.column_id === null || row.column_name === null || row.column_type === null || row.begin_snapshot === null)
    throw new LakeError(
      'CORRUPT',
      `a column of table "${table}" has no id, name, type or first snapshot in the catalog`,
      {
        context: { table },
      },
    );
  // DuckDB writes the text NULL, not SQL's NULL, where a column has no default.
  const none = row.default_value === null || (row.default_value === 'NULL' && row.default_value_type !== 'expression');
  return {
    id: row.column_id,
    name: row.column_name,
    type: parseType(row.column_type),
    nullable: row.nulls_allowed !== false,
    children,
    initialDefault: row.initial_default,
    defaultValue: none ? null : row.default_value,
    defaultValueType: none ? null : row.default_value_type,
    beginSnapshot: row.begin_snapshot,
  };
}

/** The fields with all their parts, each before its own. */
export function withParts(fields: readonly Field[]): Field[] {
  return fields.flatMap((field) => [field, ...withParts(field.children)]);
}
