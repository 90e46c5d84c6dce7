import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { localStore } from '../../adapters/local.ts';
import { type Compressors, type RowBatch, readTask, type ScanTask, type Table } from '../../src/index.ts';
import { shown } from '../support/type-cases.ts';

/** What not all runtimes have. */
export const compressors: Compressors = { zstd: { compress: zstdCompressSync, decompress: zstdDecompressSync } };

/** What a scan may ask for. */
export interface TaskOptions {
  readonly columns: readonly string[];
  readonly asOf: { readonly snapshot: number };
  readonly where?: Record<string, unknown>;
  readonly limit?: number;
}

const VIRTUAL = ['rowid', 'snapshot_id', 'filename', 'file_row_number', 'file_index'];

/**
 * The tasks of a scan, each read without the catalog after a way through JSON, must give the scan's own rows in their order.
 * Data files of more than `maxByteLength` are split.
 */
export async function compareTasks(
  table: Table,
  options: TaskOptions,
  maxByteLength: number,
): Promise<{ readonly kind: string; readonly detail: string } | undefined> {
  const names = options.columns;
  const columns = [...names, ...VIRTUAL.filter((name) => !names.includes(name))];
  const scan = table.scan({ ...options, columns });
  const wanted = await rowsOf(scan.batches(), columns);
  const { tasks, limit } = await scan.plan({ maxByteLength });
  const found: string[] = [];
  const store = localStore();
  for (const task of tasks) {
    const sent = JSON.parse(JSON.stringify(task)) as ScanTask;
    const rows = await rowsOf(readTask(sent, { store, compressors }).batches(), columns);
    if (limit !== null && rows.length > limit)
      return { kind: 'tasks: more than the limit', detail: `${rows.length} rows, limit ${limit}` };
    found.push(...rows);
  }
  const joined = limit === null ? found : found.slice(0, limit);
  const at = wanted.findIndex((row, i) => row !== joined[i]);
  if (at < 0 && wanted.length === joined.length) return undefined;
  return {
    kind: 'tasks: other rows than the scan',
    detail: `${joined.length} rows of ${tasks.length} tasks, ${wanted.length} of the scan; row ${at}:\n  ${joined[at]}\n  ${wanted[at]}`,
  };
}

async function rowsOf(batches: AsyncIterable<RowBatch>, names: readonly string[]): Promise<string[]> {
  const rows: string[] = [];
  for await (const { rowCount, columns } of batches) {
    const values = names.map((name) => columns[name]!);
    for (let i = 0; i < rowCount; i++) rows.push(values.map((column) => shown(column[i])).join(' | '));
  }
  return rows;
}
