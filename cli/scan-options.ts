import type { Scan } from 'edgemere';
import { snapshotAsOf } from './as-of.ts';
import { findColumn, parseColumnNames, tableAt } from './columns.ts';
import type { TargetColumn } from './input/reader.ts';
import { showTableName, type TableName } from './names.ts';
import type { OpenLake } from './open.ts';
import { parseWhereOption } from './where.ts';

/** Options that say what of a table is read. */
export interface ScanOptions {
  /** Names with commas between them, in double quotes where a name holds commas or quotes. */
  readonly columns?: string;
  /** A filter as JSON. */
  readonly where?: string;
  readonly limit?: number;
  readonly asOf?: string;
}

/** The scan that the options mean, and what its rows consist of. */
export async function scanOf(
  { lake, catalog }: OpenLake,
  table: TableName,
  options: ScanOptions,
  signal: AbortSignal,
): Promise<{ readonly scan: Scan<Record<string, unknown>>; readonly columns: readonly TargetColumn[] }> {
  const names = options.columns === undefined ? undefined : parseColumnNames(options.columns);
  const asOf = options.asOf === undefined ? undefined : await snapshotAsOf(lake, options.asOf, '--as-of');
  const { columns: known, snapshotId } = await tableAt(catalog, table, asOf);
  const columns = names === undefined ? known : names.map((name) => findColumn(known, name, showTableName(table)));
  const scan = lake.table(table).scan({
    columns: columns.map(({ name }) => name),
    where: options.where === undefined ? undefined : parseWhereOption(options.where, known),
    limit: options.limit,
    asOf: { snapshot: snapshotId },
    signal,
  });
  return { scan, columns };
}
