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
  let batches: AsyncIterable<ColumnBatch> = abortable(batchesOf(rows, target), signal);
  if (limit > 0 && !(Array.isArray(rows) && rows.length > limit)) {
    // Who writes large batches only doesn't load it: bundlers put it apart.
    const { inlineUpTo } = await import('./inline.ts');
    const few = await inlineUpTo(limit, table, batches);
    if (!few.isOver) {
      const { inlined, rowCount } = few;
      if (rowCount > 0) onProgress?.({ rowCount, byteLength: 0, fileCount: 0 });
      return { files: [], inlined };
    }
    batches = few.batches;
  }
  const { store, format } = session;
  const files = await writeRows(batches, { ...options, ...writeSettings(view, table), table, target, store, format });
  return { files, inlined: undefined };
}
