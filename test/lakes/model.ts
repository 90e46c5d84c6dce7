import { identifier } from '../support/oracle.ts';
import type { Random } from './random.ts';
import type { SqlType } from './types.ts';

/** What the generator believes that the lake holds. It may be wrong: then DuckDB refuses what follows from it. */
export interface Model {
  schemas: string[];
  tables: TableModel[];
  views: { schema: string; name: string }[];
  macros: { schema: string; name: string; isTable: boolean }[];
}

export interface TableModel {
  readonly schema: string;
  name: string;
  columns: ColumnModel[];
  isPartitioned: boolean;
  isSorted: boolean;
}

export interface ColumnModel {
  name: string;
  type: SqlType;
  notNull: boolean;
}

export const emptyModel = (): Model => ({ schemas: ['main'], tables: [], views: [], macros: [] });

export const tableSql = ({ schema, name }: { readonly schema: string; readonly name: string }): string =>
  `lake.${identifier(schema)}.${identifier(name)}`;

const columnNames: readonly string[] = [
  ...[
    'id',
    'a',
    'b',
    'c',
    'v',
    'ts',
    'Name',
    'amount',
    'select',
    'order',
    'a b',
    'x"y',
    "o'clock",
    'ü',
    '😀',
    'col.dot',
    'constructor',
  ],
  ...[
    'array',
    'element',
    'list',
    'key',
    'value',
    'year',
    'toString',
    '__proto__',
    'i',
    'length',
    'hasOwnProperty',
    'then',
    '1',
    '0x',
    'file',
  ],
  ...['a,b', '[c]', '{d}', 'e=f', 'tab\there', '日本', 'UPPER', 'with/slash', '%20', 'null', 'NULL', ' space '],
];

const tableNames: readonly string[] = [
  ...[
    't',
    'u',
    'events',
    'Orders',
    'a b',
    'x"y',
    "o'c",
    'ü',
    '😀',
    'a.b',
    'select',
    'a/b',
    '..',
    '__proto__',
    'constructor',
    '%41',
    'T2',
    'v',
  ],
];

const schemaNames: readonly string[] = ['s', 's1', 'S p', 'x.y', 'ö', 'order', 'a/b', 'q"r'];

const fresh = (random: Random, names: readonly string[], taken: readonly string[]): string => {
  const used = new Set(taken.map((name) => name.toLowerCase()));
  // Mostly plain ones: odd names must not hide what else there is.
  for (let k = 0; k < 30; k++) {
    const name = random.chance(0.6) ? random.pick(names.slice(0, 8)) : random.pick(names);
    if (!used.has(name.toLowerCase())) return name;
  }
  for (let k = 1; ; k++) if (!used.has(`n${k}`)) return `n${k}`;
};

export const freshColumn = (random: Random, table: TableModel): string =>
  random.chance(0.005)
    ? `long ${'n'.repeat(70)}`
    : fresh(
        random,
        columnNames,
        table.columns.map(({ name }) => name),
      );

export const freshTable = (random: Random, model: Model, schema: string): string =>
  fresh(
    random,
    tableNames,
    [...model.tables, ...model.views].filter((table) => table.schema === schema).map(({ name }) => name),
  );

export const freshSchema = (random: Random, model: Model): string => fresh(random, schemaNames, model.schemas);

/** The names of a new struct's members. */
export function memberNames(random: Random): string[] {
  const names: string[] = [];
  const count = random.pick([1, 2, 2, 3, 4]);
  while (names.length < count)
    names.push(
      fresh(
        random,
        columnNames.filter((name) => name !== '__proto__'),
        names,
      ),
    );
  return names;
}

/** Every path within the table's columns that ends in a struct, with that struct. */
export function structPaths(
  table: TableModel,
): { path: string[]; members: readonly { name: string; type: SqlType }[] }[] {
  const found: { path: string[]; members: readonly { name: string; type: SqlType }[] }[] = [];
  const walk = (type: SqlType, path: string[]): void => {
    if (type.kind === 'struct') {
      found.push({ path, members: type.members });
      for (const member of type.members) walk(member.type, [...path, member.name]);
    } else if (type.kind === 'list') walk(type.item, [...path, 'element']);
    else if (type.kind === 'map') walk(type.value, [...path, 'value']);
  };
  for (const column of table.columns) walk(column.type, [column.name]);
  return found;
}

/** The same type with the members of the struct at `path` (without the column's own name) changed. */
export function withMembers(
  type: SqlType,
  path: readonly string[],
  change: (members: readonly { name: string; type: SqlType }[]) => { name: string; type: SqlType }[],
): SqlType {
  const [first, ...rest] = path;
  if (type.kind === 'struct') {
    if (first === undefined) return { kind: 'struct', members: change(type.members) };
    return {
      kind: 'struct',
      members: type.members.map((member) =>
        member.name === first ? { name: member.name, type: withMembers(member.type, rest, change) } : member,
      ),
    };
  }
  if (type.kind === 'list') return { kind: 'list', item: withMembers(type.item, rest, change) };
  if (type.kind === 'map') return { ...type, value: withMembers(type.value, rest, change) };
  return type;
}
