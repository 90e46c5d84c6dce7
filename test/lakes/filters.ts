import { identifier, literal } from '../support/oracle.ts';
import type { Random } from './random.ts';

export type Comparison = 'eq' | 'ne' | 'lt' | 'lte' | 'gt' | 'gte';

/** A condition on a table's rows, before it is SQL for DuckDB or data for edgemere. Values are DuckDB's texts of them. */
export type Filter =
  | { readonly op: Comparison; readonly column: FilterColumn; readonly text: string }
  | { readonly op: 'between'; readonly column: FilterColumn; readonly low: string; readonly high: string }
  | { readonly op: 'in'; readonly column: FilterColumn; readonly texts: readonly string[] }
  | { readonly op: 'isNull'; readonly column: FilterColumn; readonly isNull: boolean }
  | { readonly op: 'like' | 'startsWith'; readonly column: FilterColumn; readonly text: string }
  | { readonly op: 'not'; readonly filter: Filter }
  | { readonly op: 'and' | 'or'; readonly filters: readonly Filter[] };

export interface FilterColumn {
  readonly name: string;
  /** DuckDB's name of the type. */
  readonly type: string;
  /** Some values that the column has. */
  readonly samples: readonly string[];
}

/** Types whose values have an order that DuckDB and edgemere agree to compare by. */
const ordered =
  /^(BOOLEAN|U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL\(.*\)|VARCHAR|BLOB|UUID|DATE|TIME|TIMESTAMP(_S|_MS|_NS| WITH TIME ZONE)?)$/;

/** Some filters over the columns; `textsOf` gives further values of a type. */
export function randomFilters(
  random: Random,
  columns: readonly FilterColumn[],
  textsOf: (type: string) => readonly string[],
  count: number,
): Filter[] {
  return Array.from({ length: count }, () => randomFilter(random, columns, textsOf, 0));
}

function randomFilter(
  random: Random,
  columns: readonly FilterColumn[],
  textsOf: (type: string) => readonly string[],
  depth: number,
): Filter {
  const again = (): Filter => randomFilter(random, columns, textsOf, depth + 1);
  if (depth < 3 && random.chance(depth === 0 ? 0.4 : 0.2)) {
    const op = random.pick(['not', 'and', 'or', 'and', 'or'] as const);
    if (op === 'not') return { op, filter: again() };
    return { op, filters: Array.from({ length: random.pick([0, 1, 2, 2, 3]) }, again) };
  }
  const column = random.pick(columns);
  if (!ordered.test(column.type) || random.chance(0.1)) return { op: 'isNull', column, isNull: random.chance(0.5) };
  const value = (): string =>
    random.pick(column.samples.length > 0 && random.chance(0.7) ? column.samples : textsOf(column.type));
  if (column.type === 'VARCHAR' && random.chance(0.3)) {
    const text = [...value()];
    const prefix = text.slice(0, random.int(0, 3)).join('');
    if (random.chance(0.5)) return { op: 'startsWith', column, text: prefix };
    const rest = text.slice(-2).join('');
    return { op: 'like', column, text: random.pick([`${prefix}%`, `%${rest}`, `%${rest}%`, `_${prefix}%`, prefix]) };
  }
  switch (random.weighted({ compare: 6, between: 2, in: 2 })) {
    case 'compare':
      return { op: random.pick(['eq', 'eq', 'ne', 'lt', 'lte', 'gt', 'gte'] as const), column, text: value() };
    case 'between':
      return { op: 'between', column, low: value(), high: value() };
    case 'in':
      return { op: 'in', column, texts: Array.from({ length: random.pick([1, 2, 5]) }, value) };
  }
}

const operators: Readonly<Record<Comparison, string>> = { eq: '=', ne: '<>', lt: '<', lte: '<=', gt: '>', gte: '>=' };

export function filterSql(filter: Filter): string {
  const typed = (column: FilterColumn, text: string): string => `CAST(${literal(text)} AS ${column.type})`;
  switch (filter.op) {
    case 'between': {
      const name = identifier(filter.column.name);
      return `(${name} >= ${typed(filter.column, filter.low)} AND ${name} < ${typed(filter.column, filter.high)})`;
    }
    case 'in':
      return `${identifier(filter.column.name)} IN (${filter.texts.map((text) => typed(filter.column, text)).join(', ')})`;
    case 'isNull':
      return `${identifier(filter.column.name)} IS ${filter.isNull ? '' : 'NOT '}NULL`;
    case 'like':
      return `${identifier(filter.column.name)} LIKE ${literal(filter.text)}`;
    case 'startsWith':
      return `starts_with(${identifier(filter.column.name)}, ${literal(filter.text)})`;
    case 'not':
      return `NOT (${filterSql(filter.filter)})`;
    case 'and':
    case 'or':
      if (filter.filters.length === 0) return filter.op === 'and' ? 'true' : 'false';
      return `(${filter.filters.map(filterSql).join(filter.op === 'and' ? ' AND ' : ' OR ')})`;
    default:
      return `${identifier(filter.column.name)} ${operators[filter.op]} ${typed(filter.column, filter.text)}`;
  }
}

/** The same as edgemere's `where`. `parse` makes a caller's value of DuckDB's text. */
export function filterWhere(filter: Filter, parse: (type: string, text: string) => unknown): Record<string, unknown> {
  const on = (column: FilterColumn, test: unknown): Record<string, unknown> => ({ [column.name]: test });
  switch (filter.op) {
    case 'between':
      return on(filter.column, {
        gte: parse(filter.column.type, filter.low),
        lt: parse(filter.column.type, filter.high),
      });
    case 'in':
      return on(filter.column, { in: filter.texts.map((text) => parse(filter.column.type, text)) });
    case 'isNull':
      return on(filter.column, { isNull: filter.isNull });
    case 'like':
    case 'startsWith':
      return on(filter.column, { [filter.op]: filter.text });
    case 'not':
      return { not: filterWhere(filter.filter, parse) };
    case 'and':
    case 'or':
      return { [filter.op]: filter.filters.map((part) => filterWhere(part, parse)) };
    case 'eq': {
      const value = parse(filter.column.type, filter.text);
      return on(filter.column, filter.text.length % 2 === 0 ? value : { eq: value });
    }
    default:
      return on(filter.column, { [filter.op]: parse(filter.column.type, filter.text) });
  }
}
