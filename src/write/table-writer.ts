import type { StagedFile } from '../catalog/pending.ts';
import type { TableInfo } from '../catalog/view.ts';
import type { OptionKinds } from '../errors.ts';
import type { ColumnBatch, FileFormat, FileOptions, FileWriter } from '../file/format.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { uuidv7 } from '../util/uuid.ts';
import type { TargetTable } from './gather.ts';

/** What has been written so far. */
export interface WriteProgress {
  readonly rowCount: number;
  /** Of the files so far, the open one estimated. */
  readonly byteLength: number;
  readonly fileCount: number;
}

export interface WriteOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called as rows are written. It must not throw: that fails the insert. */
  readonly onProgress?: ((progress: WriteProgress) => void) | undefined;
}

export const writeOptions: OptionKinds<WriteOptions> = { signal: 'any', onProgress: 'function' };

export interface WriteRequest extends WriteOptions {
  readonly table: TableInfo;
  readonly target: TargetTable;
  readonly format: FileFormat;
  readonly store: ObjectStore;
  readonly fileOptions: FileOptions;
  /** A file that has grown to this is closed and another begun. */
  readonly targetFileSize: number;
}

/**
 * Writes rows into new files of a table, rolled at the target size. All or nothing: when it throws, what it wrote has
 * been removed, as far as the store lets it.
 */
export async function writeRows(
  batches: Iterable<ColumnBatch> | AsyncIterable<ColumnBatch>,
  request: WriteRequest,
): Promise<StagedFile[]> {
  const { table, target, store, signal, onProgress } = request;
  const files: StagedFile[] = [];
  let open: { readonly path: string; readonly location: string; readonly writer: FileWriter } | undefined;
  let rowCount = 0;

  const begin = (): NonNullable<typeof open> => {
    const path = `ducklake-${uuidv7()}${request.format.extension}`;
    const location = table.location + path;
    const writer = request.format.createWriter({
      table: { schema: target.schema, table: target.table },
      fields: table.fields,
      options: request.fileOptions,
      open: () => store.create(location, { signal }),
    });
    return { path, location, writer };
  };
  const finish = async (): Promise<void> => {
    if (!open) return;
    const { path, location, writer } = open;
    const { rowCount, byteLength, footerLength, columns } = await writer.close();
    open = undefined;
    files.push({ path, location, rowCount, byteLength, footerLength, columns });
  };
  const report = (): void => {
    const closed = files.reduce((sum, file) => sum + file.byteLength, 0);
    onProgress?.({
      rowCount,
      byteLength: closed + (open?.writer.byteLength ?? 0),
      fileCount: files.length + (open ? 1 : 0),
    });
  };

  try {
    signal?.throwIfAborted();
    for await (const batch of batches) {
      open ??= begin();
      await open.writer.write(batch);
      rowCount += batch.rowCount;
      if (open.writer.byteLength >= request.targetFileSize) await finish();
      report();
    }
    await finish();
    signal?.throwIfAborted();
    if (rowCount > 0) report();
    return files;
  } catch (error) {
    await open?.writer.abort().catch(() => {});
    await removeFiles(store, files);
    throw error;
  }
}

/** Removes files that no snapshot knows. A failure leaves orphans, which are safe. */
export async function removeFiles(store: ObjectStore, files: readonly StagedFile[]): Promise<void> {
  if (files.length > 0) await store.delete(files.map((file) => file.location)).catch(() => {});
}

/** Batches until the signal aborts, also while the source keeps its next one waiting. */
export async function* abortable<T>(
  source: Iterable<T> | AsyncIterable<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T> {
  if (!(Symbol.asyncIterator in source)) {
    for (const item of source) {
      signal?.throwIfAborted();
      yield item;
    }
    return;
  }
  if (!signal) {
    yield* source;
    return;
  }
  const iterator = source[Symbol.asyncIterator]();
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  const stop = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await Promise.race([iterator.next(), aborted.promise]);
      if (next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    // Not awaited: a source that is stuck in `next` would never answer.
    void iterator.return?.()?.catch(() => {});
  }
}
