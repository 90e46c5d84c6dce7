import type { Field } from '../schema/field.ts';
import type { ScanColumn } from './columns.ts';

/**
 * Columns to read where values are to be written again: JSON inside of nested ones as its text, of which the parsed values that
 * callers get have lost something.
 */
export function withTextOfJson(columns: readonly ScanColumn[]): ScanColumn[] {
  return columns.map((column) =>
    column.kind === 'field' ? { ...column, field: withTextParts(column.field) } : column,
  );
}

function withTextParts(field: Field): Field {
  return {
    ...field,
    children: field.children.map((child) =>
      child.type.name === 'json' ? { ...child, type: { name: 'varchar' } } : withTextParts(child),
    ),
  };
}
