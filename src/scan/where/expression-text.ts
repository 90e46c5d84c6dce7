import type { Field } from '../../schema/field.ts';
import { codecFor, type Physical } from '../../spec/values/codec.ts';
import type { Comparison, Expression } from './expression.ts';

const symbols: Readonly<Record<Comparison, string>> = { eq: '=', ne: '<>', lt: '<', lte: '<=', gt: '>', gte: '>=' };
/** Values of an IN that are shown. */
const maxShown = 5;

/** A filter as people read it, much like SQL. */
export function expressionText(expression: Expression): string {
  switch (expression.op) {
    case 'and':
    case 'or': {
      const { op, parts } = expression;
      if (parts.length === 0) return op === 'and' ? 'true' : 'false';
      return parts.map((part) => nestedText(part)).join(op === 'and' ? ' AND ' : ' OR ');
    }
    case 'not':
      if (expression.part.op === 'isNull') return `${nameText(expression.part.field)} IS NOT NULL`;
      return `NOT ${nestedText(expression.part)}`;
    case 'in': {
      const { field, values, hasNull } = expression;
      const shown = values.slice(0, maxShown).map((value) => valueText(field, value));
      if (values.length > maxShown) shown.push(`… ${values.length - maxShown} more`);
      if (hasNull) shown.push('NULL');
      return `${nameText(field)} IN (${shown.join(', ')})`;
    }
    case 'isNull':
      return `${nameText(expression.field)} IS NULL`;
    case 'constant':
      // Of every value but NULL.
      return expression.holds ? `${nameText(expression.field)} IS NOT NULL` : 'false';
    case 'like':
      return `${nameText(expression.field)} LIKE ${quoted(expression.text)}`;
    case 'startsWith':
      return `starts_with(${nameText(expression.field)}, ${quoted(expression.text)})`;
    default:
      return `${nameText(expression.field)} ${symbols[expression.op]} ${valueText(expression.field, expression.value)}`;
  }
}

function nestedText(expression: Expression): string {
  const text = expressionText(expression);
  return 'parts' in expression && expression.parts.length > 0 ? `(${text})` : text;
}

const nameText = ({ name }: Field): string => `"${name.replaceAll('"', '""')}"`;

const quoted = (text: string): string => `'${shortened(text).replaceAll("'", "''")}'`;

function valueText({ type }: Field, value: Physical): string {
  const text = codecFor(type).text(value) ?? String(value);
  return /^(boolean|u?int\d+|float\d+|decimal)$/.test(type.name) ? text : quoted(text);
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57).toWellFormed()}…` : text;
}
