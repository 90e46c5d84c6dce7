import type { StagedFile, StagedRows } from '../catalog/pending.ts';
import type { CatalogView, TableInfo } from '../catalog/view.ts';
import type { ColumnBatch } from '../file/format.ts';
import type { Session } from '../session.ts';
import { batchesOf, type RowsInput } from './input.ts';
import { abortable, type WriteOptions, writeRows } from './table-writer.ts';
import { inliningLimit, targetOf, writeSettings } from './target.ts';

/** Rows that wait to be committed: in files that no snapshot knows yet, or few enough for the catalog itself. */
export interface Staged {
  readonly files: readonly StagedFile[];
  readonly inlined: StagedRows | undefined;
}

/** Validates rows and stages them for a table. All or nothing: when it throws, what it wrote has been removed. */
export async function stageRows(
  session: Session,
  view: CatalogView,
  table: TableInfo,
  rows: RowsInput<unknown>,
  options: WriteOptions,
): Promise<Staged> {
  const { signal, onProgress } = options;
  signal?.throwIfAborted();
  const target = targetOf(table);
  const limit = inliningLimit(view, table, session);
  let batches: Iterable<ColumnBatch> | AsyncIterable<ColumnBatch> = abortable(batchesOf(rows, target), signal);
  if (limit > 0 && !(Array.isArray(rows) && rows.length > limit)) {
    const { held, rest } = await takeUpTo(limit, batches);
    const rowCount = held.reduce((sum, batch) => sum + batch.rowCount, 0);
    if (rest === undefined && rowCount === 0) return { files: [], inlined: undefined };
    if (rest === undefined) {
      // Who writes large batches only doesn't load it: bundlers put it apart.
      const { inlineRows } = await import('./inline.ts');
      const staged = inlineRows(table, held);
      if (staged !== undefined) {
        onProgress?.({ rowCount, byteLength: 0, fileCount: 0 });
        return { files: [], inlined: { ...staged, into: table.inlinedTable } };
      }
    }
    batches = rest === undefined ? held : chain(held, rest);
  }
  const { store, format } = session;
  const files = await writeRows(batches, { ...options, ...writeSettings(view, table), table, target, store, format });
  return { files, inlined: undefined };
}

interface Taken {
  /** Copies: a batch is only valid until the next one. */
  readonly held: readonly ColumnBatch[];
  /** What comes after them; `undefined` when there is nothing more. */
  readonly rest: AsyncIterator<ColumnBatch> | undefined;
}

/** Takes batches until they are more than `limit` rows: then at once, so that hardly more than those are held. */
async function takeUpTo(limit: number, batches: AsyncIterable<ColumnBatch>): Promise<Taken> {
  const iterator = batches[Symbol.asyncIterator]();
  const held: ColumnBatch[] = [];
  for (let rowCount = 0; rowCount <= limit; ) {
    const next = await iterator.next();
    if (next.done) return { held, rest: undefined };
    held.push(copyOf(next.value));
    rowCount += next.value.rowCount;
  }
  return { held, rest: iterator };
}

function copyOf({ columns, rowCount, firstRow }: ColumnBatch): ColumnBatch {
  return { rowCount, firstRow, columns: columns.map((column) => Array.prototype.slice.call(column, 0, rowCount)) };
}

async function* chain(held: readonly ColumnBatch[], rest: AsyncIterator<ColumnBatch>): AsyncGenerator<ColumnBatch> {
  try {
    yield* held;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
