import type { Scan } from 'edgemere';
import { UsageError } from '../errors.ts';
import type { TargetColumn } from '../input/reader.ts';
import type { Io } from '../io.ts';
import { type FileFormat, formatOfFile, nothingWritten, OutputFile } from '../output/file.ts';
import { counted, showBytes } from '../output/render.ts';
import { type RowFormat, rowRenderer } from '../output/rows.ts';
import { type ScanOptions, scanOf } from '../scan-options.ts';
import { type LakeOptions, openTable } from './context.ts';

export interface ScanCommandOptions extends LakeOptions, ScanOptions {
  readonly format?: FileFormat;
  /** A file instead of standard output. */
  readonly output?: string;
}

/** Rows that a table for people shows when nobody said how many. */
const tableLimit = 100;

export async function scan(args: readonly string[], options: ScanCommandOptions, io: Io): Promise<void> {
  const format = formatOf(options, io);
  // Parquet files know JSON.
  const { opened, table } = await openTable(args, { ...options, jsonAsText: format !== 'parquet' }, io);
  await using _ = opened;
  const isCut = format === 'table' && options.limit === undefined;
  const wanted = isCut ? { ...options, limit: tableLimit + 1 } : options;
  const { scan: rows, columns } = await scanOf(opened, table, wanted, io.signal);
  if (options.output !== undefined) return await intoFile(options.output, format, rows, columns, io);
  const renderer = rowRenderer(format as RowFormat, columns);
  let left = isCut ? tableLimit : Number.POSITIVE_INFINITY;
  let isMore = false;
  await io.stdout.write(renderer.begin());
  for await (const batch of rows.batches()) {
    const rowCount = Math.min(batch.rowCount, left);
    isMore ||= rowCount < batch.rowCount;
    left -= rowCount;
    for (const text of renderer.batch({ ...batch, rowCount })) await io.stdout.write(text);
  }
  await io.stdout.write(renderer.end());
  if (isMore) io.stderr.write(`the first ${tableLimit} rows: --limit N shows more, --format ndjson all\n`);
}

function formatOf({ json, format, output }: ScanCommandOptions, io: Io): FileFormat {
  if (json && format !== undefined && format !== 'json')
    throw new UsageError(`--json and --format ${format} say different things`);
  if (json) return 'json';
  if (output === undefined) {
    if (format === 'parquet') throw new UsageError('--format parquet is written to a file: add --output FILE');
    return format ?? (io.stdout.isTerminal ? 'table' : 'ndjson');
  }
  if (format === 'table') throw new UsageError('--format table is for people to read: --output takes the others');
  return format ?? formatOfFile(output);
}

async function intoFile(
  output: string,
  format: FileFormat,
  rows: Scan<unknown>,
  columns: readonly TargetColumn[],
  io: Io,
): Promise<void> {
  const file = await OutputFile.at(output, io);
  let rowCount = 0;
  let byteLength: number;
  try {
    if (format === 'parquet') ({ rowCount, byteLength } = await rows.writeParquet(file.store, file.location));
    else {
      const renderer = rowRenderer(format, columns);
      byteLength = await file.write(async (write) => {
        await write(renderer.begin());
        for await (const batch of rows.batches()) {
          rowCount += batch.rowCount;
          for (const text of renderer.batch(batch)) await write(text);
        }
        await write(renderer.end());
      });
    }
  } catch (error) {
    throw nothingWritten(error);
  }
  await io.stdout.line(`wrote ${counted(rowCount, 'row')} to ${output} (${showBytes(byteLength)})`);
}
