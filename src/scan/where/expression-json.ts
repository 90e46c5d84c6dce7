import type { Field } from '../../schema/field.ts';
import type { ColumnType } from '../../spec/types.ts';
import { hexBytes, hexText } from '../../spec/values/blob.ts';
import { type Physical, ValueError } from '../../spec/values/codec.ts';
import type { JsonValue } from '../json-value.ts';
import type { Comparison, Expression } from './expression.ts';

/** A filter as JSON: fields by id, values as their types say where JSON has no such value. */
export type ExpressionJson =
  | { readonly op: Comparison; readonly fieldId: number; readonly value: PhysicalJson }
  | { readonly op: 'in'; readonly fieldId: number; readonly values: readonly PhysicalJson[]; readonly hasNull: boolean }
  | { readonly op: 'isNull'; readonly fieldId: number }
  | { readonly op: 'constant'; readonly fieldId: number; readonly holds: boolean }
  | { readonly op: 'like' | 'startsWith'; readonly fieldId: number; readonly text: string }
  | { readonly op: 'not'; readonly part: ExpressionJson }
  | { readonly op: 'and' | 'or'; readonly parts: readonly ExpressionJson[] };

/** Integers of 64 bits and more, decimals, times and timestamps are digits, blobs hex digits; `NaN`, `Infinity`, `-Infinity`, `-0`. */
export type PhysicalJson =
  | string
  | boolean
  | number
  | { readonly months: number; readonly days: number; readonly micros: string };

/** Above what filters may be nested, see `parseWhere`. */
const maxDepth = 2500;

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

const operators = [
  ...(['eq', 'ne', 'lt', 'lte', 'gt', 'gte'] as const),
  ...(['in', 'isNull', 'constant', 'like', 'startsWith', 'not', 'and', 'or'] as const),
] as const;

/** INVALID_ARGUMENT for what is no filter over these fields. */
export function expressionFromJson(json: JsonValue, fields: readonly Field[]): Expression {
  const byId = new Map(fields.map((field) => [field.id, field]));
  const read = (at: JsonValue, depth: number): Expression => {
    if (depth > maxDepth) throw at.not(`a filter that is not nested more than ${maxDepth} deep`);
    const op = at.at('op').oneOf(operators);
    if (op === 'not') return { op, part: read(at.at('part'), depth + 1) };
    if (op === 'and' || op === 'or') return { op, parts: at.at('parts').list((part) => read(part, depth + 1)) };
    const fieldId = at.at('fieldId');
    const field = byId.get(fieldId.whole());
    if (!field) throw fieldId.not('the id of a field that the task holds');
    if (op === 'isNull') return { op, field };
    if (field.children.length > 0) throw fieldId.not('the id of a field that is not nested');
    switch (op) {
      case 'in': {
        const values = at.at('values').list((value) => physicalFromJson(value, field.type));
        return { op, field, values, hasNull: at.at('hasNull').boolean() };
      }
      case 'constant':
        return { op, field, holds: at.at('holds').boolean() };
      case 'like':
      case 'startsWith':
        if (field.type.name !== 'varchar' && field.type.name !== 'json') throw fieldId.not('the id of a field of text');
        return { op, field, text: at.at('text').text() };
      default:
        return { op, field, value: physicalFromJson(at.at('value'), field.type) };
    }
  };
  return read(json, 0);
}

function physicalToJson(value: Physical): PhysicalJson {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') {
    if (Object.is(value, -0)) return '-0';
    return Number.isFinite(value) ? value : String(value);
  }
  if (typeof value !== 'object') return value;
  if (value instanceof Uint8Array) return hexText(value);
  const { months, days, micros } = value;
  return { months, days, micros: String(micros) };
}

function physicalFromJson(at: JsonValue, { name }: ColumnType): Physical {
  switch (name) {
    case 'boolean':
      return at.boolean();
    case 'varchar':
    case 'json':
    case 'uuid':
      return at.text();
    case 'blob':
      return bytes(at);
    case 'interval':
      return {
        months: at.at('months').number(),
        days: at.at('days').number(),
        micros: at.at('micros').bigint(),
      };
    case 'float32':
    case 'float64':
      return typeof at.value === 'string' ? Number(at.oneOf(['NaN', 'Infinity', '-Infinity', '-0'])) : at.number();
    case 'int8':
    case 'int16':
    case 'int32':
    case 'uint8':
    case 'uint16':
    case 'uint32':
    case 'date':
      return at.number();
    default:
      return at.bigint();
  }
}

function bytes(at: JsonValue): Uint8Array {
  try {
    return hexBytes(at.text());
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    throw at.not(error.message.replace('expected ', ''));
  }
}
