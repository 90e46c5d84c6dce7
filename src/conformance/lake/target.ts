import type { Lake } from '../../lake.ts';
import type { OpenOptions } from '../../opening.ts';
import { t } from '../../schema/builder.ts';
import type { Table } from '../../table.ts';

/** A place for a lake, empty at first: a catalog and a store with their adapters. */
export interface LakeTarget {
  /** Opens the place, making the lake unless told not to. Each call is a client with a catalog of its own. */
  open(options?: Partial<OpenOptions>): Promise<Lake>;
}

export type NumberedTable = Table<{ readonly id: number }, { id: bigint }>;

/** A table of one column, `id`, whose rows tell themselves apart. */
export function createNumbered(lake: Lake, name: string = 'numbers'): Promise<NumberedTable> {
  return lake.createTable(name, { id: t.int64().notNull() }) as Promise<NumberedTable>;
}

export const numbered = (from: number, to: number): { readonly id: number }[] =>
  Array.from({ length: to - from + 1 }, (_, k) => ({ id: from + k }));

export const range = (from: number, to: number): number[] => numbered(from, to).map(({ id }) => id);

/** The ids of a numbered table, in order of size. */
export async function ids(table: NumberedTable, snapshot?: number): Promise<number[]> {
  const rows = await table.scan(snapshot === undefined ? {} : { asOf: { snapshot } }).toArray();
  return rows.map(({ id }) => Number(id)).sort((a, b) => a - b);
}

/** The newest snapshot's id. */
export async function headId(lake: Lake): Promise<number> {
  let id = -1;
  for await (const snapshot of lake.snapshots()) id = snapshot.id;
  return id;
}

/** Names that any lake must take for schemas, tables and columns. */
export const weirdNames: readonly string[] = [
  'a b',
  'a.b',
  'a,b',
  'a"b',
  '"',
  '","',
  "it's",
  '\\',
  'a/b',
  '..',
  '$1',
  '?',
  '%41',
  'select',
  '🦆',
  'é',
  'a\nb',
  ' ',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'x'.repeat(200),
];
