import type { Field } from '../../../src/schema/field.ts';
import { parseType } from '../../../src/spec/types.ts';

/** A column of a table, by the catalog's text of its type. */
export function fieldOf(id: number, name: string, type: string, children: readonly Field[] = []): Field {
  return {
    id,
    name,
    type: parseType(type),
    nullable: true,
    children,
    initialDefault: null,
    defaultValue: null,
    defaultValueType: null,
    beginSnapshot: 1,
  };
}
