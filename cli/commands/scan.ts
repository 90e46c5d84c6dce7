import { snapshotAsOf } from '../as-of.ts';
import { tableAt } from '../columns.ts';
import { CommandError, UsageError } from '../errors.ts';
import type { TargetColumn } from '../input/reader.ts';
import type { Io } from '../io.ts';
import { quoteName, showTableName } from '../names.ts';
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
  const names = options.columns === undefined ? undefined : parseNames(options.columns);
  const { opened, table } = await openTable(args, { ...options, jsonAsText: true }, io);
  await using _ = opened;
  const { lake, catalog } = opened;
  const asOf = options.asOf === undefined ? undefined : await snapshotAsOf(lake, options.asOf);
  const { columns: known, snapshotId } = await tableAt(catalog, table, asOf);
  const columns = names === undefined ? known : names.map((name) => find(known, name, showTableName(table)));
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

function find(columns: readonly TargetColumn[], name: string, table: string): TargetColumn {
  const column =
    columns.find((candidate) => candidate.name === name) ??
    columns.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
  if (column !== undefined) return column;
  const all = columns.map((known) => quoteName(known.name)).join(', ');
  throw new CommandError(`${table} has no column ${quoteName(name)}: it has ${all}`);
}

function parseNames(text: string): string[] {
  const names: string[] = [];
  const pattern = /\s*("(?:[^"]|"")+"|[^",]+)\s*(,|$)/y;
  while (pattern.lastIndex < text.length) {
    const found = pattern.exec(text);
    if (!found)
      throw new UsageError(`--columns ${text}: write names with commas between them, odd names in double quotes`);
    const name = found[1]!.trim();
    names.push(name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name);
  }
  if (names.length === 0) throw new UsageError('--columns is empty: write names with commas between them');
  return names;
}
