/** `--where`: a filter as the library takes it, written as JSON. */

import { CommandError, UsageError } from './errors.ts';
import { CellError } from './input/cells.ts';
import { elementSources, mayLoseDigits, memberEntries } from './input/json-text.ts';
import { columnReaders, short } from './input/nested.ts';
import type { TargetColumn } from './input/reader.ts';
import { quoteName } from './names.ts';
import { showType } from './sql-types.ts';

/** Deeper filters are refused by the library, too. */
const maxDepth = 500;

/**
 * A filter for the library's `where` from its JSON text. Values are written as in input files (`edgemere help values`): times,
 * intervals, blobs and numbers that JSON lacks are text. Names of columns are found in any case.
 */
export function parseWhereOption(text: string, columns: readonly TargetColumn[]): Record<string, unknown> {
  try {
    JSON.parse(text);
  } catch (cause) {
    throw new UsageError(
      `--where ${text}: not JSON: ${(cause as Error).message}; write {"id": 5} or {"at": {"gte": …}}`,
      {
        cause,
      },
    );
  }
  return filter(text.trim(), columns, 0);
}

function filter(source: string, columns: readonly TargetColumn[], depth: number): Record<string, unknown> {
  if (!source.startsWith('{')) throw new UsageError(`--where: a filter is an object of columns, not ${short(source)}`);
  if (depth > maxDepth) throw new UsageError(`--where is nested more than ${maxDepth} deep`);
  const inner = (part: string): Record<string, unknown> => filter(part, columns, depth + 1);
  return distinct(
    memberEntries(source).map(([name, value]) => {
      const isOperator = name === 'and' || name === 'or' || name === 'not';
      if (isOperator && value.startsWith('[')) return [name, elementSources(value).map(inner)];
      const exact = columns.find((column) => column.name === name);
      if (exact) return [exact.name, test(value, exact, depth)];
      if (name === 'not') return [name, inner(value)];
      if (isOperator) throw new UsageError(`--where: "${name}" takes an array of filters, not ${short(value)}`);
      const column = columns.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
      if (column) return [column.name, test(value, column, depth)];
      const all = columns.map((known) => quoteName(known.name)).join(', ');
      throw new CommandError(`--where: there is no column ${quoteName(name)}: there are ${all}`);
    }),
  );
}

/** What a column has to be: a value, or an object of operators. */
function test(source: string, column: TargetColumn, depth: number): unknown {
  if (!source.startsWith('{')) return operand(source, column);
  if (depth > maxDepth) throw new UsageError(`--where is nested more than ${maxDepth} deep`);
  return distinct(
    memberEntries(source).map(([operator, value]) => {
      switch (operator) {
        case 'not':
          return [operator, test(value, column, depth + 1)];
        case 'in':
          return [operator, value.startsWith('[') ? elementSources(value).map((one) => operand(one, column)) : value];
        case 'isNull':
        case 'like':
        case 'startsWith':
          return [operator, JSON.parse(value)];
        default:
          // What is no operator the library names.
          return [operator, operand(value, column)];
      }
    }),
  );
}

function operand(source: string, column: TargetColumn): unknown {
  const value: unknown = JSON.parse(source);
  // NULL is no value to compare with, nested columns have none: the library says so.
  if (value === null || (column.children ?? []).length > 0) return value;
  // Compared as it is, not as the column would round it.
  if (typeof value === 'number' && column.type.startsWith('decimal(') && !mayLoseDigits(source)) return value;
  try {
    return columnReaders(column).fromJson(value, source);
  } catch (error) {
    if (!(error instanceof CellError)) throw error;
    throw new UsageError(`--where: column ${quoteName(column.name)} (${showType(column)}): ${error.message}`);
  }
}

/** JSON.parse takes the last of two members of the same name: half a filter. */
function distinct(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const seen = new Set<string>();
  for (const [name] of entries) {
    if (seen.has(name))
      throw new UsageError(`--where: ${JSON.stringify(name)} stands there twice: put both into {"and": [{…}, {…}]}`);
    seen.add(name);
  }
  return Object.fromEntries(entries);
}
