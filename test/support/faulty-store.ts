import type { ListedObject, ObjectReader, ObjectStore, ObjectWriter } from '../../src/storage/object-store.ts';
import type { Faults } from './faults.ts';

/** The store, with its calls counted and made to fail by `faults`: `store.create`, `writer.write`, `reader.slice` and so on. */
export function faultyStore(store: ObjectStore, faults: Faults): ObjectStore {
  return {
    name: store.name,
    open: (location, options) =>
      faults.run('store.open', async () => faultyReader(await store.open(location, options), faults)),
    async create(location, options) {
      const moment = faults.next('store.create');
      if (moment === 'before') throw faults.error('store.create', moment);
      const writer = await store.create(location, options);
      if (moment === undefined) return faultyWriter(writer, faults);
      // A store that fails to hand out a writer has cleaned up after itself.
      await writer.abort();
      throw faults.error('store.create', moment);
    },
    delete: (locations, options) =>
      faults.run(
        'store.delete',
        () => store.delete(locations, options),
        () => store.delete(locations.slice(0, Math.ceil(locations.length / 2)), options),
      ),
    async *list(prefix, options): AsyncGenerator<ListedObject> {
      const moment = faults.next('store.list');
      if (moment === 'before') throw faults.error('store.list', moment);
      for await (const object of store.list(prefix, options)) {
        yield object;
        if (moment === 'during') throw faults.error('store.list', moment);
      }
      if (moment !== undefined) throw faults.error('store.list', moment);
    },
  };
}

function faultyReader(reader: ObjectReader, faults: Faults): ObjectReader {
  return {
    byteLength: reader.byteLength,
    slice: (start, end) => faults.run('reader.slice', () => reader.slice(start, end)),
  };
}

function faultyWriter(writer: ObjectWriter, faults: Faults): ObjectWriter {
  return {
    write: (bytes) =>
      faults.run(
        'writer.write',
        () => writer.write(bytes),
        () => writer.write(bytes.slice(0, bytes.length >> 1)),
      ),
    close: () => faults.run('writer.close', () => writer.close()),
    async abort() {
      const moment = faults.next('writer.abort');
      if (moment === 'before') faults.later.push(() => writer.abort());
      else await writer.abort();
      if (moment !== undefined) throw faults.error('writer.abort', moment);
    },
  };
}
