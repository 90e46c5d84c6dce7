import type { ObjectStore } from '../../storage/object-store.ts';
import type { ConformanceCase } from '../case.ts';

/** What a storage case runs on. */
export interface StorageTarget {
  readonly store: ObjectStore;
  /** Begins every location that the case uses. Ends in a slash; nothing is there yet: a new one for each case. */
  readonly prefix: string;
  readonly capabilities: {
    /**
     * Whether any two different strings are two different locations. False for file systems, and for object stores that
     * treat keys as paths: there `a//b` is `a/b`.
     */
    readonly exactKeys: boolean;
  };
}

export type StorageCase = ConformanceCase<StorageTarget>;

/** Bytes that are the same for the same seed, and in which no part looks like another. */
export function pattern(byteLength: number, seed: number = 1): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(Math.ceil(byteLength / 4));
  let state = (seed * 2654435761) | 1;
  for (let i = 0; i < words.length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[i] = state;
  }
  return new Uint8Array(words.buffer, 0, byteLength);
}

/** Writes one object, in one piece unless chunks are given. */
export async function put(store: ObjectStore, location: string, ...chunks: readonly Uint8Array[]): Promise<void> {
  const writer = await store.create(location);
  try {
    for (const chunk of chunks) await writer.write(chunk);
    await writer.close();
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

/** All bytes of one object. */
export async function get(store: ObjectStore, location: string): Promise<Uint8Array> {
  const reader = await store.open(location);
  return new Uint8Array(await reader.slice(0));
}

/** The locations that `list` reports, sorted. */
export async function locations(store: ObjectStore, prefix: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { location } of store.list(prefix)) found.push(location);
  return found.sort();
}

export const MEBIBYTE: number = 1024 * 1024;
