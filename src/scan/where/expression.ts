import type { Field } from '../../schema/field.ts';
import type { Physical } from '../../spec/values/codec.ts';

export type Comparison = 'eq' | 'ne' | 'lt' | 'lte' | 'gt' | 'gte';

/** A filter over fields and stored values, with SQL's three truth values. */
export type Expression =
  | { readonly op: Comparison; readonly field: Field; readonly value: Physical }
  /** `hasNull`: NULL was among the values. */
  | { readonly op: 'in'; readonly field: Field; readonly values: readonly Physical[]; readonly hasNull: boolean }
  | { readonly op: 'isNull'; readonly field: Field }
  /** The same for every value but NULL, for which it is unknown: comparisons with what the type can't hold. */
  | { readonly op: 'constant'; readonly field: Field; readonly holds: boolean }
  | { readonly op: 'like' | 'startsWith'; readonly field: Field; readonly text: string }
  | { readonly op: 'not'; readonly part: Expression }
  /** Of none: true for `and`, false for `or`. */
  | { readonly op: 'and' | 'or'; readonly parts: readonly Expression[] };

/** The fields that an expression looks at, each once. */
export function fieldsIn(expression: Expression): readonly Field[] {
  const found = new Map<number, Field>();
  const visit = (part: Expression): void => {
    if ('part' in part) visit(part.part);
    else if ('parts' in part) part.parts.forEach(visit);
    else found.set(part.field.id, part.field);
  };
  visit(expression);
  return [...found.values()];
}
