import { type MemoryCatalog, memoryCatalog } from '../src/catalog/memory.ts';
import { type Lake, openLake } from '../src/lake.ts';
import type { OpenOptions } from '../src/opening.ts';
import { memoryStore } from '../src/storage/memory.ts';

export { type MemoryCatalog, type MemoryCatalogOptions, memoryCatalog } from '../src/catalog/memory.ts';
export { memoryStore } from '../src/storage/memory.ts';

/** Options for {@link memoryLake}: those of `openLake`, all of which may be left out. */
export interface MemoryLakeOptions extends Partial<OpenOptions> {
  /** A catalog to open instead of a new one: to look at its rows, or to open one lake twice. */
  readonly catalog?: MemoryCatalog;
}

/**
 * A lake in memory, for tests and for data that need not outlive the process. Nothing touches a disk or a network.
 *
 * Two handles on one lake share its store, and a catalog each:
 * `memoryLake({ store, catalog: memoryCatalog({ sharedWith: catalog }) })`.
 *
 * @example
 * ```ts
 * import { t } from 'edgemere';
 * import { memoryLake } from 'edgemere/memory';
 *
 * await using lake = await memoryLake();
 * const events = await lake.createTable('events', { id: t.int64().notNull(), kind: t.varchar() });
 * await events.insert([{ id: 1, kind: 'view' }, { id: 2 }]);
 * console.log(await events.scan().toArray()); // [{ id: 1n, kind: 'view' }, { id: 2n, kind: null }]
 * ```
 */
export function memoryLake(options: MemoryLakeOptions = {}): Promise<Lake> {
  const { catalog = memoryCatalog(), store = memoryStore(), dataPath = 'memory://lake/', ...more } = options;
  return openLake({ ...more, catalog, store, dataPath });
}
