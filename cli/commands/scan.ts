import { snapshotAsOf } from '../as-of.ts';
import { findColumn, parseColumnNames, tableAt } from '../columns.ts';
import { UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { showTableName } from '../names.ts';
import { type RowFormat, rowRenderer } from '../output/rows.ts';
import { type LakeOptions, openTable } from './context.ts';

export interface ScanCommandOptions extends LakeOptions {
  /** Names with commas between them, in double quotes where a name holds commas or quotes. */
  readonly columns?: string;
  readonly limit?: number;
  readonly asOf?: string;
  readonly format?: RowFormat;
}

/** Rows that a table for people shows when nobody said how many. */
const tableLimit = 100;

export async function scan(args: readonly string[], options: ScanCommandOptions, io: Io): Promise<void> {
  if (options.json && options.format !== undefined && options.format !== 'json')
    throw new UsageError(`--json and --format ${options.format} say different things`);
  const format = options.json ? 'json' : (options.format ?? (io.stdout.isTerminal ? 'table' : 'ndjson'));
  const names = options.columns === undefined ? undefined : parseColumnNames(options.columns);
  const { opened, table } = await openTable(args, { ...options, jsonAsText: true }, io);
  await using _ = opened;
  const { lake, catalog } = opened;
  const asOf = options.asOf === undefined ? undefined : await snapshotAsOf(lake, options.asOf, '--as-of');
  const { columns: known, snapshotId } = await tableAt(catalog, table, asOf);
  const columns = names === undefined ? known : names.map((name) => findColumn(known, name, showTableName(table)));
  const isCut = format === 'table' && options.limit === undefined;
  const batches = lake
    .table(table)
    .scan({
      columns: columns.map(({ name }) => name),
      limit: isCut ? tableLimit + 1 : options.limit,
      asOf: { snapshot: snapshotId },
      signal: io.signal,
    })
    .batches();
  const renderer = rowRenderer(format, columns);
  let left = isCut ? tableLimit : Number.POSITIVE_INFINITY;
  let isMore = false;
  await io.stdout.write(renderer.begin());
  for await (const batch of batches) {
    const rowCount = Math.min(batch.rowCount, left);
    isMore ||= rowCount < batch.rowCount;
    left -= rowCount;
    for (const text of renderer.batch({ ...batch, rowCount })) await io.stdout.write(text);
  }
  await io.stdout.write(renderer.end());
  if (isMore) io.stderr.write(`the first ${tableLimit} rows: --limit N shows more, --format ndjson all\n`);
}
