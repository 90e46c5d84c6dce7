import { LakeError } from '../../errors.ts';
import type { Field } from '../../schema/field.ts';
import type { Physical } from '../../spec/values/codec.ts';
import type { Interval } from '../../spec/values/value-codec.ts';

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
export function fieldsOf(expression: Expression): readonly Field[] {
  const found = new Map<number, Field>();
  const visit = (part: Expression): void => {
    if ('part' in part) visit(part.part);
    else if ('parts' in part) part.parts.forEach(visit);
    else found.set(part.field.id, part.field);
  };
  visit(expression);
  return [...found.values()];
}

/** An {@link Expression} as JSON holds it: fields by id, values with their kind where JSON has no such value. */
export type ExpressionJson =
  | { readonly op: Comparison; readonly fieldId: number; readonly value: PhysicalJson }
  | { readonly op: 'in'; readonly fieldId: number; readonly values: readonly PhysicalJson[]; readonly hasNull: boolean }
  | { readonly op: 'isNull'; readonly fieldId: number }
  | { readonly op: 'constant'; readonly fieldId: number; readonly holds: boolean }
  | { readonly op: 'like' | 'startsWith'; readonly fieldId: number; readonly text: string }
  | { readonly op: 'not'; readonly part: ExpressionJson }
  | { readonly op: 'and' | 'or'; readonly parts: readonly ExpressionJson[] };

type PhysicalJson =
  | string
  | boolean
  | number
  | { readonly number: string }
  | { readonly bigint: string }
  | { readonly bytes: readonly number[] }
  | { readonly months: number; readonly days: number; readonly micros: string };

export function expressionToJson(expression: Expression): ExpressionJson {
  switch (expression.op) {
    case 'and':
    case 'or':
      return { op: expression.op, parts: expression.parts.map(expressionToJson) };
    case 'not':
      return { op: 'not', part: expressionToJson(expression.part) };
    case 'in': {
      const { op, field, values, hasNull } = expression;
      return { op, fieldId: field.id, values: values.map(physicalToJson), hasNull };
    }
    case 'isNull':
      return { op: 'isNull', fieldId: expression.field.id };
    case 'constant':
      return { op: 'constant', fieldId: expression.field.id, holds: expression.holds };
    case 'like':
    case 'startsWith':
      return { op: expression.op, fieldId: expression.field.id, text: expression.text };
    default:
      return { op: expression.op, fieldId: expression.field.id, value: physicalToJson(expression.value) };
  }
}

/** `fields` are those that the expression was made for: CORRUPT when one is missing. */
export function expressionFromJson(json: ExpressionJson, fields: readonly Field[]): Expression {
  const fieldOf = (id: number): Field => {
    const field = fields.find((candidate) => candidate.id === id);
    if (!field) throw new LakeError('CORRUPT', `the filter names field ${id}, which the task doesn't hold`);
    return field;
  };
  switch (json.op) {
    case 'and':
    case 'or':
      return { op: json.op, parts: json.parts.map((part) => expressionFromJson(part, fields)) };
    case 'not':
      return { op: 'not', part: expressionFromJson(json.part, fields) };
    case 'in': {
      const { op, values, hasNull } = json;
      return { op, field: fieldOf(json.fieldId), values: values.map(physicalFromJson), hasNull };
    }
    case 'isNull':
      return { op: 'isNull', field: fieldOf(json.fieldId) };
    case 'constant':
      return { op: 'constant', field: fieldOf(json.fieldId), holds: json.holds };
    case 'like':
    case 'startsWith':
      return { op: json.op, field: fieldOf(json.fieldId), text: json.text };
    default:
      return { op: json.op, field: fieldOf(json.fieldId), value: physicalFromJson(json.value) };
  }
}

function physicalToJson(value: Physical): PhysicalJson {
  if (typeof value === 'bigint') return { bigint: String(value) };
  if (typeof value === 'number')
    return Number.isFinite(value) && !Object.is(value, -0)
      ? value
      : { number: Object.is(value, -0) ? '-0' : `${value}` };
  if (typeof value !== 'object') return value;
  if (value instanceof Uint8Array) return { bytes: [...value] };
  const { months, days, micros } = value;
  return { months, days, micros: String(micros) };
}

function physicalFromJson(json: PhysicalJson): Physical {
  if (typeof json !== 'object') return json;
  if ('bigint' in json) return BigInt(json.bigint);
  if ('number' in json) return Number(json.number);
  if ('bytes' in json) return Uint8Array.from(json.bytes);
  const interval: Interval = { months: json.months, days: json.days, micros: BigInt(json.micros) };
  return interval;
}
