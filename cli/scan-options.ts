import type { Scan } from 'edgemere';
import { snapshotAsOf } from './as-of.ts';
import { findColumn, parseColumnNames, tableAt } from './columns.ts';
import type { TargetColumn } from './input/reader.ts';
import { showTableName, type TableName } from './names.ts';
import type { OpenLake } from './open.ts';
import { parseWhereOption } from './where.ts';

/** Options that say which rows of a table are meant. */
export interface RowOptions {
  /** A filter as JSON. */
  readonly where?: string;
  readonly asOf?: string;
}

/** Options that say what of a table is read. */
export interface ScanOptions extends RowOptions {
  /** Names with commas between them, in double quotes where a name holds commas or quotes. */
  readonly columns?: string;
  readonly limit?: number;
}

/** What a scan tells of a row beside the table's columns, when it is asked. */
const virtualColumns: readonly TargetColumn[] = [
  { name: 'rowid', type: 'int64' },
  { name: 'snapshot_id', type: 'int64' },
  { name: 'filename', type: 'varchar' },
  { name: 'file_row_number', type: 'int64' },
  { name: 'file_index', type: 'int64' },
];

interface MeantRows {
  readonly known: readonly TargetColumn[];
  readonly snapshotId: number;
  readonly where: Record<string, unknown> | undefined;
}

/** The rows that the options mean, and the table's columns at that snapshot. */
export async function rowsOf({ lake, catalog }: OpenLake, table: TableName, options: RowOptions): Promise<MeantRows> {
  const asOf = options.asOf === undefined ? undefined : await snapshotAsOf(lake, options.asOf, '--as-of');
  const { columns: known, snapshotId } = await tableAt(catalog, table, asOf);
  return {
    known,
    snapshotId,
    where: options.where === undefined ? undefined : parseWhereOption(options.where, known),
  };
}

/** The scan that the options mean, and what its rows consist of. */
export async function scanOf(
  opened: OpenLake,
  table: TableName,
  options: ScanOptions,
  signal: AbortSignal,
): Promise<{ readonly scan: Scan<Record<string, unknown>>; readonly columns: readonly TargetColumn[] }> {
  const names = options.columns === undefined ? undefined : parseColumnNames(options.columns);
  const { known, where, snapshotId } = await rowsOf(opened, table, options);
  const isSame = (name: string) => (column: TargetColumn) => column.name.toLowerCase() === name.toLowerCase();
  const columnOf = (name: string): TargetColumn => {
    const virtual = known.some(isSame(name)) ? undefined : virtualColumns.find(isSame(name));
    return virtual ?? findColumn(known, name, showTableName(table));
  };
  const columns = names === undefined ? known : names.map(columnOf);
  const scan = opened.lake.table(table).scan({
    columns: columns.map(({ name }) => name),
    where,
    limit: options.limit,
    asOf: { snapshot: snapshotId },
    signal,
  });
  return { scan, columns };
}
