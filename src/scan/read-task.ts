import { checkBackend, checkOptions, type OptionKinds } from '../errors.ts';
import type { Compressors } from '../file/compressors.ts';
import type { FileReader, ReaderHint } from '../file/format.ts';
import type { ObjectReader, ObjectStore } from '../storage/object-store.ts';
import { Rows } from './output.ts';
import { parseTask } from './parse-task.ts';
import type { ScanTask } from './task.ts';

export interface ReadTaskOptions {
  /** Where the lake's data files are, by the same locations as where the scan was planned. */
  readonly store: ObjectStore;
  /** Codecs that the runtime lacks. */
  readonly compressors?: Compressors | undefined;
  readonly signal?: AbortSignal | undefined;
}

const readTaskOptions: OptionKinds<ReadTaskOptions> = { store: 'any', compressors: 'any', signal: 'any' };

/**
 * The rows of one task of a plan: all that it takes is the object store. The rows of all tasks, one after the other, are those of
 * the scan. Nothing is read until they are iterated.
 *
 * Errors: INVALID_ARGUMENT for what is no task, or one of another version of the library; while reading those of a scan.
 *
 * @example
 * ```ts
 * import { readTask, t } from 'edgemere';
 * import { memoryCatalog, memoryLake, memoryStore } from 'edgemere/memory';
 *
 * const store = memoryStore();
 * await using lake = await memoryLake({ store });
 * const events = await lake.createTable('events', { id: t.int64(), kind: t.varchar() });
 * await events.insert([{ id: 1, kind: 'click' }, { id: 2, kind: 'view' }]);
 * const { tasks } = await events.scan({ where: { id: { gte: 2 } } }).plan();
 * for (const task of tasks) {
 *   const elsewhere = JSON.parse(JSON.stringify(task));
 *   console.log(await readTask(elsewhere, { store }).toArray()); // [ { id: 2n, kind: 'view' } ]
 * }
 * ```
 */
export function readTask<Row = Record<string, unknown>>(task: ScanTask, options: ReadTaskOptions): Rows<Row> {
  checkOptions(options, readTaskOptions);
  const { store, compressors = {}, signal } = options;
  checkBackend('store', 'open', store);
  const { read, part } = parseTask(task);
  // Not the whole format: who only reads needs nothing of what writes files.
  const openReader = async (object: ObjectReader, hint?: ReaderHint): Promise<FileReader> =>
    (await import('../file/parquet/reader.ts')).openReader(object, { ...hint, compressors });
  return new Rows(async (stop) => {
    stop?.throwIfAborted();
    return { read, parts: { count: 1, part: () => part }, from: { store, format: { openReader }, signal: stop } };
  }, signal);
}
