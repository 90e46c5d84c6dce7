import type { Table } from '../../src/index.ts';
import { type Problem, sameRows } from './compare.ts';
import type { Duck } from './duck.ts';
import type { ExpectedTable } from './expected.ts';

/** What DuckLake tells of a row beside the table's columns. */
const names = ['rowid', 'snapshot_id', 'file_row_number', 'filename'] as const;

/** As texts; `undefined` where the table has a column of such a name. */
export async function expectVirtual(
  duck: Duck,
  from: string,
  columns: readonly string[],
): Promise<string[] | undefined> {
  if (columns.some((column) => (names as readonly string[]).includes(column.toLowerCase()))) return undefined;
  const rows = await duck.rows(`SELECT ${names.join(', ')} FROM ${from}`);
  return rows.map((row) => row.join(' '));
}

export async function compareVirtual(table: Table, { snapshotId, virtual }: ExpectedTable): Promise<Problem> {
  if (virtual === undefined) return undefined;
  const scan = table.scan({ columns: [...names], asOf: { snapshot: snapshotId } } as object);
  const rows = (await scan.toArray()) as Record<string, unknown>[];
  return sameRows(
    'virtual columns',
    rows.map((row) => names.map((name) => row[name]).join(' ')),
    [...virtual],
  );
}
