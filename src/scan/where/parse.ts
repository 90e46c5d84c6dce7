import { LakeError, showValue } from '../../errors.ts';
import type { Field } from '../../schema/field.ts';
import { isSupported } from '../../spec/types.ts';
import { ValueError } from '../../spec/values/codec.ts';
import { isBytes, isDate } from '../../spec/values/value-codec.ts';
import { placeConstant } from './constant.ts';
import type { Comparison, Expression } from './expression.ts';

/** The table that a filter is for: named in errors. */
export interface FilteredTable {
  readonly schema: string;
  readonly table: string;
  /** Columns that the filter may name. */
  readonly fields: readonly Field[];
}

/**
 * A caller's filter as an expression over the table's fields. NOT_FOUND for a column that the table doesn't have, INVALID_ARGUMENT
 * for what is no filter or no value of the column's type, UNSUPPORTED for comparisons of nested columns. See `Where` for the language.
 */
export function parseWhere(where: unknown, table: FilteredTable): Expression {
  return new Parser(table).filter(where, 0);
}

const comparisons: readonly string[] = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte'];
const operators = 'eq, ne, lt, lte, gt, gte, in, isNull, not, like, startsWith';
/** Deeper ones would overflow the stack somewhere. */
const maxDepth = 500;

class Parser {
  readonly #table: FilteredTable;

  constructor(table: FilteredTable) {
    this.#table = table;
  }

  filter(where: unknown, depth: number): Expression {
    if (!isPlain(where))
      throw this.#invalid(`a filter is an object of columns, such as { id: 5 }, not ${showValue(where)}`);
    if (depth > maxDepth) throw this.#invalid(`the filter is nested more than ${maxDepth} deep`);
    return all(Object.entries(where).map(([key, value]) => this.#entry(key, value, depth)));
  }

  #entry(key: string, value: unknown, depth: number): Expression {
    const isOperator = key === 'and' || key === 'or' || key === 'not';
    if (isOperator && Array.isArray(value)) {
      const parts = value.map((part) => this.filter(part, depth + 1));
      return key === 'not' ? { op: 'not', part: all(parts) } : { op: key, parts };
    }
    const field = this.#table.fields.find(({ name }) => name === key);
    if (field) return this.#test(field, value, depth);
    if (key === 'not') return { op: 'not', part: this.filter(value, depth + 1) };
    if (isOperator) throw this.#invalid(`"${key}" takes an array of filters, not ${showValue(value)}`);
    throw this.#unknown(key);
  }

  #test(field: Field, test: unknown, depth: number): Expression {
    if (depth > maxDepth) throw this.#invalid(`the filter is nested more than ${maxDepth} deep`);
    if (!isPlain(test)) return this.#compare(field, 'eq', test);
    const entries = Object.entries(test);
    if (entries.length === 0)
      throw this.#invalid(`the filter on column "${field.name}" is empty; expected ${operators}`, field);
    return all(entries.map(([op, value]) => this.#operator(field, op, value, depth)));
  }

  #operator(field: Field, op: string, value: unknown, depth: number): Expression {
    if (comparisons.includes(op)) return this.#compare(field, op as Comparison, value);
    switch (op) {
      case 'isNull': {
        if (typeof value !== 'boolean') throw this.#invalid('isNull takes true or false', field, value);
        if (!isSupported(field.type)) throw this.#unsupported(field);
        const isNull: Expression = { op: 'isNull', field };
        return value ? isNull : { op: 'not', part: isNull };
      }
      case 'in':
        return this.#in(field, value);
      case 'not':
        return { op: 'not', part: this.#test(field, value, depth + 1) };
      case 'like':
      case 'startsWith':
        this.#checkComparable(field);
        if (field.type.name !== 'varchar' && field.type.name !== 'json')
          throw this.#invalid(`${op} needs a column of text; "${field.name}" is of type ${field.type.name}`, field);
        if (typeof value !== 'string' || !value.isWellFormed())
          throw this.#invalid(`${op} takes a string without lone surrogates`, field, value);
        return { op, field, text: value };
      default: {
        const hint =
          field.type.name === 'json' || field.type.name === 'interval' ? '; a value goes into { eq: … }' : '';
        throw this.#invalid(`"${op}" is no operator; there are ${operators}${hint}`, field, value);
      }
    }
  }

  #in(field: Field, values: unknown): Expression {
    this.#checkComparable(field);
    if (!Array.isArray(values)) throw this.#invalid('in takes an array of values', field, values);
    // Nothing is in an empty list, NULL not even perhaps.
    if (values.length === 0) return { op: 'or', parts: [] };
    const found = [];
    for (const value of values) {
      if (value === null) continue;
      const placed = this.#place(field, value);
      if (placed.kind === 'exact') found.push(placed.value);
    }
    return { op: 'in', field, values: found, hasNull: values.includes(null) };
  }

  #compare(field: Field, op: Comparison, value: unknown): Expression {
    this.#checkComparable(field);
    const placed = this.#place(field, value);
    if (placed.kind === 'exact') return { op, field, value: placed.value };
    if (op === 'eq' || op === 'ne') return { op: 'constant', field, holds: op === 'ne' };
    const isUpper = op === 'lt' || op === 'lte';
    if (placed.kind === 'between') return { op: isUpper ? 'lte' : 'gt', field, value: placed.floor };
    return { op: 'constant', field, holds: isUpper === placed.side > 0 };
  }

  #place(field: Field, value: unknown): ReturnType<typeof placeConstant> {
    if (value === null || value === undefined)
      throw this.#invalid(`${value} is no value to compare with: for NULL ask { isNull: true }`, field, value);
    try {
      return placeConstant(field.type, value);
    } catch (error) {
      if (error instanceof ValueError) throw this.#invalid(error.message, field, value);
      throw error;
    }
  }

  #checkComparable(field: Field): void {
    if (field.children.length > 0 || !isSupported(field.type)) throw this.#unsupported(field);
  }

  #unsupported(field: Field): LakeError {
    const { schema, table } = this.#table;
    const what = field.children.length > 0 ? 'filters on nested columns are limited to isNull' : 'it can not be read';
    return new LakeError(
      'UNSUPPORTED',
      `where: table "${table}", column "${field.name}" is of type ${field.type.name}: ${what}`,
      { context: { schema, table, column: field.name } },
    );
  }

  #unknown(name: string): LakeError {
    const { schema, table, fields } = this.#table;
    const names = fields.map((field) => `"${field.name}"`).join(', ');
    return new LakeError('NOT_FOUND', `where: table "${table}" has no column "${name}"; it has ${names}`, {
      context: { schema, table, column: name },
    });
  }

  #invalid(reason: string, field?: Field, ...values: readonly unknown[]): LakeError {
    const { schema, table } = this.#table;
    const value = values.length > 0 ? { value: showValue(values[0]) } : {};
    const where = field ? `where: table "${table}", column "${field.name}": ` : `where: table "${table}": `;
    const shown = values.length > 0 ? ` (it is ${showValue(values[0])})` : '';
    return new LakeError('INVALID_ARGUMENT', `${where}${reason}${shown}`, {
      context: { schema, table, ...(field ? { column: field.name } : {}), ...value },
    });
  }
}

function all(parts: readonly Expression[]): Expression {
  return parts.length === 1 ? parts[0]! : { op: 'and', parts };
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isDate(value) && !isBytes(value);
}
