import { checkOptions, LakeError } from '../src/errors.ts';
import { concurrently } from '../src/storage/concurrently.ts';
import {
  type ListedObject,
  type ObjectReader,
  type ObjectStore,
  type ObjectWriter,
  type OpenOptions,
  type StoreOptions,
  TEMPORARY_SUFFIX,
} from '../src/storage/object-store.ts';
import { checkRange } from '../src/storage/range.ts';
import { sinkWriter } from '../src/storage/sink.ts';
import { localError } from './local/errors.ts';
import { createFile, entriesOf, fileSink, lengthOf, listed, readRange, removeFile } from './local/files.ts';
import type { LocalFs } from './local/fs.ts';
import { checkInside, folderOf, pathOf } from './local/paths.ts';

export type { LocalEntry, LocalFile, LocalFs } from './local/fs.ts';

/** Options for {@link localStore}. */
export interface LocalStoreOptions {
  /**
   * The folder that no location may leave: neither by `..`, nor as an absolute path elsewhere, nor through a symbolic
   * link. Relative locations are below it. Without it they are relative to the working directory, as in DuckDB, and any
   * path is allowed.
   */
  readonly root?: string | undefined;
  /** The file system; `node:fs/promises` by default, imported on first use. `memfs`' `fs.promises` fits. */
  readonly fs?: LocalFs | undefined;
}

const DELETES_AT_ONCE = 16;

/**
 * Objects as files. A location is a path with `/` between its parts, absolute or relative (see `root`), optionally with
 * `file://` before it; nothing in it is decoded.
 *
 * An object is written to a temporary name in its folder, flushed to the disk and renamed, so that a file is either whole
 * or not there, also after a power cut. Folders are made as needed and never removed. A reader opens the file for each
 * slice and holds nothing open between them. `list` does not follow symbolic links.
 *
 * @example
 * ```ts
 * import { localStore } from 'edgemere/local';
 *
 * const store = localStore({ root: '/tmp/lake' });
 * const writer = await store.create('main/events/a.parquet');
 * await writer.write(new TextEncoder().encode('PAR1'));
 * await writer.close();
 * console.log((await store.open('main/events/a.parquet')).byteLength); // 4
 * ```
 */
export function localStore(options: LocalStoreOptions = {}): ObjectStore {
  checkOptions<LocalStoreOptions>(options, { root: 'any', fs: 'any' });
  return new LocalStore(options);
}

class LocalStore implements ObjectStore {
  readonly name = 'local';
  readonly #root: string | undefined;
  readonly #given: LocalFs | undefined;

  constructor({ root, fs }: LocalStoreOptions) {
    if (root === '' || (root !== undefined && typeof root !== 'string'))
      throw new LakeError('INVALID_ARGUMENT', 'the root of localStore is a folder, and not an empty text');
    this.#root = root;
    this.#given = fs;
  }

  async open(location: string, options: OpenOptions = {}): Promise<ObjectReader> {
    const { signal } = options;
    const { fs, path } = await this.#resolve(location, 'read', signal);
    const byteLength = options.byteLength ?? (await lengthOf(fs, path, location));
    return {
      byteLength,
      async slice(start, end) {
        signal?.throwIfAborted();
        const stop = checkRange(location, byteLength, start, end);
        const bytes = await readRange(fs, path, location, start, stop);
        signal?.throwIfAborted();
        return bytes;
      },
    };
  }

  async create(location: string, { signal }: StoreOptions = {}): Promise<ObjectWriter> {
    const { fs, path } = await this.#resolve(location, 'write', signal);
    const folder = folderOf(path);
    if (folder === path) {
      throw new LakeError('INVALID_ARGUMENT', `${location} names a folder, not a file`, { context: { location } });
    }
    const temporary = `${folder}${crypto.randomUUID()}${TEMPORARY_SUFFIX}`;
    const file = await createFile(fs, temporary).catch((error: unknown) => {
      throw localError(error, 'write', location);
    });
    return sinkWriter(location, signal, () => fileSink(fs, file, temporary, path, location));
  }

  async delete(locations: readonly string[], { signal }: StoreOptions = {}): Promise<void> {
    const remove = async (location: string): Promise<void> => {
      const { fs, path } = await this.#resolve(location, 'delete', signal);
      await removeFile(fs, path, location);
    };
    await concurrently(locations, DELETES_AT_ONCE, remove, signal);
  }

  async *list(prefix: string, { signal }: StoreOptions = {}): AsyncIterable<ListedObject> {
    const start = folderOf(prefix);
    const folders = [start];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      const { fs, path } = await this.#resolve(folder, 'list', signal);
      for (const entry of await entriesOf(fs, path, folder)) {
        const location = folder + entry.name;
        if (entry.isDirectory()) {
          if (`${location}/`.startsWith(prefix) || prefix.startsWith(`${location}/`)) folders.push(`${location}/`);
        } else if (entry.isFile() && location.startsWith(prefix)) {
          const object = await listed(fs, path + entry.name, location);
          signal?.throwIfAborted();
          if (object) yield object;
          signal?.throwIfAborted();
        }
      }
    }
  }

  async #resolve(
    location: string,
    action: 'read' | 'write' | 'delete' | 'list',
    signal: AbortSignal | undefined,
  ): Promise<{ readonly fs: LocalFs; readonly path: string }> {
    signal?.throwIfAborted();
    if (location === '' && action !== 'list') {
      throw new LakeError('INVALID_ARGUMENT', 'an empty location names no file', { context: { location } });
    }
    const path = pathOf(location, this.#root);
    const fs = this.#given ?? (await import('node:fs/promises'));
    if (this.#root !== undefined) {
      try {
        await checkInside(fs, this.#root, path, location);
      } catch (error) {
        throw localError(error, action, location);
      }
    }
    signal?.throwIfAborted();
    return { fs, path };
  }
}
