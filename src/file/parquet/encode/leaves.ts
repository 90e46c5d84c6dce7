import type { SchemaElement } from 'hyparquet';
import type { Field } from '../../../schema/field.ts';
import { leafElement, schemaElements } from '../schema.ts';
import type { Leaf } from './column.ts';

/** The elements of a file's schema, as the footer lists them. Shapes of nested columns are those that DuckDB writes. */
export function fileSchema(fields: readonly Field[]): SchemaElement[] {
  const root = { ...schemaElements([])[0]!, num_children: fields.length };
  return [root, ...fields.flatMap((field) => elementsOf(field, field.name, 'OPTIONAL'))];
}

type Repetition = 'REQUIRED' | 'OPTIONAL';

function elementsOf(field: Field, name: string, repetition_type: Repetition): SchemaElement[] {
  const { type, children, id } = field;
  const group = { name, repetition_type, field_id: id };
  switch (type.name) {
    case 'struct':
      return [
        { ...group, num_children: children.length },
        ...children.flatMap((child) => elementsOf(child, child.name, 'OPTIONAL')),
      ];
    case 'list':
      return [
        { ...group, num_children: 1, converted_type: 'LIST' },
        { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
        ...elementsOf(children[0]!, 'element', 'OPTIONAL'),
      ];
    case 'map':
      return [
        { ...group, num_children: 1, converted_type: 'MAP' },
        { name: 'key_value', repetition_type: 'REPEATED', num_children: 2 },
        ...elementsOf(children[0]!, 'key', 'REQUIRED'),
        ...elementsOf(children[1]!, 'value', 'OPTIONAL'),
      ];
    default:
      return [{ ...leafElement(name, type, id), repetition_type }];
  }
}

/** Where a field stands: the names above it, and the levels at which it is there. */
export interface Place {
  readonly path: readonly string[];
  readonly repetition: number;
  readonly definition: number;
}

/** The leaf of a field without children. `definition` of its place counts the field itself. */
export function leafOf(field: Field, place: Place): Leaf {
  return {
    field,
    path: place.path,
    element: leafElement(place.path.at(-1)!, field.type, field.id),
    maxRepetition: place.repetition,
    maxDefinition: place.definition,
  };
}

export function isNested(field: Field): boolean {
  return field.type.name === 'list' || field.type.name === 'struct' || field.type.name === 'map';
}
