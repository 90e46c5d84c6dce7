import { describe, expect, test } from 'bun:test';
import { storageCases } from '../../src/conformance/storage.ts';
import { memoryStore } from '../../src/storage/memory.ts';
import type { ObjectReader, ObjectStore, ObjectWriter } from '../../src/storage/object-store.ts';

/** Stores that are wrong in one way each, and a word of a case that must notice. */
const wrong: Readonly<Record<string, readonly [noticedBy: string, store: () => ObjectStore]>> = {
  'is visible before close': [
    'invisible before',
    () =>
      writing((store, location, writer) => ({
        ...writer,
        write: async (bytes) => {
          await writer.write(bytes);
          await (await store.create(location)).close();
        },
      })),
  ],
  'keeps what was aborted': [
    'abort:',
    () => writing((_store, _location, writer) => ({ ...writer, abort: writer.close })),
  ],
  'rejects a second abort': [
    'more than once',
    () =>
      writing((_store, _location, writer) => {
        let aborted = false;
        const abort = async (): Promise<void> => {
          if (aborted) throw new Error('again');
          aborted = true;
          await writer.abort();
        };
        return { ...writer, abort };
      }),
  ],
  'deletes on an abort after close': [
    'after close it keeps',
    () =>
      writing((store, location, writer) => ({
        ...writer,
        abort: async () => {
          await writer.abort();
          await store.delete([location]);
        },
      })),
  ],
  'drops writes that nobody awaits': [
    'not awaited',
    () =>
      writing((_store, _location, writer) => {
        let busy = false;
        const write = async (bytes: Uint8Array): Promise<void> => {
          if (busy) return;
          busy = true;
          await Promise.resolve();
          await writer.write(bytes);
          busy = false;
        };
        return { ...writer, write };
      }),
  ],
  'gives fewer bytes than asked for': [
    'CORRUPT',
    () =>
      reading((reader, inner) => ({ ...reader, slice: (start, end) => inner.slice(start, Math.min(end ?? 1e9, 10)) })),
  ],
  'gives views into its own bytes': [
    'changing them changes no object',
    () => {
      const whole = new Map<string, Promise<ArrayBuffer>>();
      return reading((reader, _inner, location) => ({
        ...reader,
        slice(start, end) {
          if (start !== 0 || end !== undefined) return reader.slice(start, end);
          const shared = whole.get(location) ?? reader.slice(0);
          whole.set(location, shared);
          return shared;
        },
      }));
    },
  ],
  'is off by one at the end': [
    'every range',
    () => reading((reader) => ({ ...reader, slice: (start, end = reader.byteLength) => reader.slice(start, end - 1) })),
  ],
  'decodes names': ['percent%20encoded', () => renaming((name) => name.replaceAll('%20', ' '))],
  'takes plus for a space': ['plus+plus', () => renaming((name) => name.replaceAll('+', ' '))],
  'takes plus for a space where nobody looks': ['look alike', () => renaming((name) => name.replaceAll('a+b', 'a b'))],
  'encodes names twice': ['key byte for byte', () => renaming((name) => name.replaceAll('%', '%25'))],
  'cuts names at a question mark': ['question?question=1', () => renaming((name) => name.replace(/[?].*/, ''))],
  'merges slashes': ['keys exactly', () => renaming((name) => name.replace(/\/+/g, '/'))],
  'lists folders, not prefixes': [
    'prefix is a string',
    () => {
      const store = memoryStore();
      return {
        ...store,
        async *list(prefix, options) {
          for await (const object of store.list(prefix, options)) {
            if (prefix.endsWith('/') || object.location === prefix) yield object;
          }
        },
      };
    },
  ],
  'calls missing objects an error on delete': [
    'delete: what is not there',
    () => {
      const store = memoryStore();
      const remove: ObjectStore['delete'] = async (locations, options) => {
        for (const location of locations) await store.open(location);
        await store.delete(locations, options);
      };
      return { ...store, delete: remove };
    },
  ],
  'rejects an abort with an error of its own': [
    'signal:',
    () => {
      const store = memoryStore();
      return {
        ...store,
        open: (location, options) =>
          options?.signal?.aborted ? Promise.reject(new Error('aborted')) : store.open(location, options),
      };
    },
  ],
  'ignores the signal while writing': [
    'signal: fired between',
    () => {
      const store = memoryStore();
      return {
        ...store,
        create: (location, options) => {
          options?.signal?.throwIfAborted();
          return store.create(location);
        },
      };
    },
  ],
  'writes to nowhere': ['write', () => ({ ...memoryStore(), create: (location) => memoryStore().create(location) })],
};

describe('the storage cases notice a store that', () => {
  for (const [fault, [noticedBy, make]] of Object.entries(wrong)) {
    test(fault, async () => {
      const failed: string[] = [];
      for (const { name, run } of storageCases) {
        const target = { store: make(), prefix: 'lake/', capabilities: { exactKeys: true } };
        await run(target).catch(() => failed.push(name));
      }
      expect(failed.join('\n')).toContain(noticedBy);
    }, 300_000);
  }
});

function writing(change: (store: ObjectStore, location: string, writer: ObjectWriter) => ObjectWriter): ObjectStore {
  const store = memoryStore();
  return {
    ...store,
    create: async (location, options) => change(store, location, await store.create(location, options)),
  };
}

function reading(change: (reader: ObjectReader, inner: ObjectReader, location: string) => ObjectReader): ObjectStore {
  const store = memoryStore();
  return {
    ...store,
    async open(location, options) {
      const reader = await store.open(location, options);
      return change(reader, reader, location);
    },
  };
}

function renaming(rename: (name: string) => string): ObjectStore {
  const store = memoryStore();
  return {
    name: store.name,
    open: (location, options) => store.open(rename(location), options),
    create: (location, options) => store.create(rename(location), options),
    delete: (locations, options) => store.delete(locations.map(rename), options),
    list: (prefix, options) => store.list(rename(prefix), options),
  };
}
