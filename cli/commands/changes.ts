import { snapshotAsOf, snapshotSince } from '../as-of.ts';
import { findColumn, parseColumnNames, tableAt } from '../columns.ts';
import { UsageError } from '../errors.ts';
import type { TargetColumn } from '../input/reader.ts';
import type { Io } from '../io.ts';
import { showTableName } from '../names.ts';
import { type RowFormat, rowRenderer } from '../output/rows.ts';
import { parseWhereOption } from '../where.ts';
import { type LakeOptions, openTable } from './context.ts';

export interface ChangesCommandOptions extends LakeOptions {
  /** A snapshot's id or a time. */
  readonly from?: string;
  readonly to?: string;
  readonly columns?: string;
  readonly where?: string;
  readonly limit?: number;
  readonly format?: RowFormat;
}

/** What comes before the table's columns. */
const own: readonly TargetColumn[] = [
  { name: 'snapshot_id', type: 'int64', children: [] },
  { name: 'rowid', type: 'int64', children: [] },
  { name: 'change_type', type: 'varchar', children: [] },
];

export async function changes(args: readonly string[], options: ChangesCommandOptions, io: Io): Promise<void> {
  if (options.from === undefined)
    throw new UsageError("--from is missing: a snapshot's id or a time; `edgemere snapshots` lists them");
  if (options.json && options.format !== undefined && options.format !== 'json')
    throw new UsageError(`--json and --format ${options.format} say different things`);
  const format = options.json ? 'json' : (options.format ?? (io.stdout.isTerminal ? 'table' : 'ndjson'));
  const names = options.columns === undefined ? undefined : parseColumnNames(options.columns);
  const { opened, table } = await openTable(args, { ...options, jsonAsText: true }, io);
  await using _ = opened;
  const { lake, catalog } = opened;
  const from = await snapshotSince(lake, options.from, '--from');
  const asOf = options.to === undefined ? undefined : await snapshotAsOf(lake, options.to, '--to');
  const { columns: known, snapshotId: to } = await tableAt(catalog, table, asOf);
  const columns = names === undefined ? known : names.map((name) => findColumn(known, name, showTableName(table)));
  const batches = lake
    .table(table)
    .changes({
      from,
      to,
      columns: columns.map(({ name }) => name),
      where: options.where === undefined ? undefined : parseWhereOption(options.where, known),
      limit: options.limit,
      signal: io.signal,
    })
    .batches();
  const renderer = rowRenderer(format, [...own, ...columns]);
  await io.stdout.write(renderer.begin());
  for await (const batch of batches) for (const text of renderer.batch(batch)) await io.stdout.write(text);
  await io.stdout.write(renderer.end());
}
