import type { ListedObject, ObjectReader, ObjectStore, ObjectWriter } from '../../src/storage/object-store.ts';
import type { Faults } from './faults.ts';

/** The store, with its calls counted and made to fail by `faults`: `store.create`, `writer.write`, `reader.slice` and so on. */
export function faultyStore(store: ObjectStore, faults: Faults): ObjectStore {
  return {
    name: store.name,
    open: (location, options) =>
      faults.run('store.open', async () => faultyReader(await store.open(location, options), faults)),
    create: (location, options) =>
      faults.run('store.create', async () => faultyWriter(await store.create(location, options), faults)),
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
    abort: () => faults.run('writer.abort', () => writer.abort()),
  };
}
