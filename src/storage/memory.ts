import { LakeError } from '../errors.ts';
import { concatenate } from './bytes.ts';
import type { ObjectStore } from './object-store.ts';
import { checkRange } from './range.ts';
import { sinkWriter } from './sink.ts';

interface MemoryObject {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lastModified: number;
}

/**
 * An object store in memory, for tests and for lakes that need not outlive the process. Any string is a location.
 *
 * @example
 * ```ts
 * import { memoryStore } from 'edgemere/memory';
 *
 * const store = memoryStore();
 * const writer = await store.create('a/b');
 * await writer.write(new Uint8Array([1, 2, 3]));
 * await writer.close();
 * console.log((await store.open('a/b')).byteLength); // 3
 * ```
 */
export function memoryStore(): ObjectStore {
  const objects = new Map<string, MemoryObject>();

  const find = (location: string): MemoryObject => {
    const object = objects.get(location);
    if (object) return object;
    throw new LakeError('NOT_FOUND', `${location} does not exist in the memory store`, { context: { location } });
  };

  return {
    name: 'memory',
    async open(location, options = {}) {
      options.signal?.throwIfAborted();
      const byteLength = options.byteLength ?? find(location).bytes.length;
      return {
        byteLength,
        async slice(start, end) {
          options.signal?.throwIfAborted();
          const stop = checkRange(location, byteLength, start, end);
          const { bytes } = find(location);
          checkRange(location, bytes.length, start, stop);
          return bytes.buffer.slice(start, stop);
        },
      };
    },
    async create(location, options = {}) {
      options.signal?.throwIfAborted();
      const chunks: Uint8Array[] = [];
      return sinkWriter(location, options.signal, () => ({
        async write(bytes) {
          chunks.push(bytes);
        },
        async finish() {
          objects.set(location, { bytes: concatenate(chunks), lastModified: Date.now() });
        },
        async discard() {
          chunks.length = 0;
        },
      }));
    },
    async delete(locations, options = {}) {
      options.signal?.throwIfAborted();
      for (const location of locations) objects.delete(location);
    },
    async *list(prefix, options = {}) {
      options.signal?.throwIfAborted();
      for (const [location, { bytes, lastModified }] of [...objects]) {
        options.signal?.throwIfAborted();
        if (location.startsWith(prefix)) yield { location, byteLength: bytes.length, lastModified };
      }
    },
  };
}
