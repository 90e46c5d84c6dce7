import { check, equal, rejects } from '../case.ts';
import { get, locations, MEBIBYTE, pattern, put, type StorageCase } from './target.ts';

/** `create`, `write`, `close`, `abort`. */
export const writingCases: readonly StorageCase[] = [
  {
    name: 'write: chunks of any size, views into larger buffers among them, end up in order',
    async run({ store, prefix }) {
      const bytes = pattern(50_000);
      const chunks: Uint8Array[] = [];
      for (let at = 0, size = 0; at < bytes.length; at += size, size = (size * 3 + 1) % 4_099) {
        chunks.push(bytes.subarray(at, at + size));
      }
      await put(store, `${prefix}chunks`, ...chunks);
      equal(await get(store, `${prefix}chunks`), bytes, 'the content');
    },
  },
  {
    name: 'write: calls that are not awaited land in order',
    async run({ store, prefix }) {
      const bytes = pattern(100_000);
      const writer = await store.create(`${prefix}eager`);
      const writes: Promise<void>[] = [];
      for (let at = 0; at < bytes.length; at += 1_000) writes.push(writer.write(bytes.subarray(at, at + 1_000)));
      await Promise.all([...writes, writer.close()]);
      equal(await get(store, `${prefix}eager`), bytes, 'the content');
    },
  },
  {
    name: 'close: the object is invisible before, and whole after',
    async run({ store, prefix }) {
      const location = `${prefix}folder/late`;
      const writer = await store.create(location);
      const unseen = async (when: string): Promise<void> => {
        await rejects(() => store.open(location), 'NOT_FOUND', `open ${when}`);
        check(!(await locations(store, prefix)).includes(location), `list must not report it ${when}`);
      };
      await unseen('after create');
      await writer.write(pattern(1000));
      await unseen('after a write');
      await writer.write(pattern(1000, 2));
      await unseen('after two writes');
      await writer.close();
      equal((await store.open(location)).byteLength, 2000, 'byteLength after close');
      equal(await locations(store, prefix), [location], 'what is listed after close');
    },
  },
  {
    name: 'close: a large object is invisible before, and whole after (20 MiB in odd sizes)',
    async run({ store, prefix }) {
      const location = `${prefix}large`;
      const bytes = pattern(20 * MEBIBYTE + 12_345);
      const writer = await store.create(location);
      for (let at = 0; at < bytes.length; at += 777_777) await writer.write(bytes.subarray(at, at + 777_777));
      await rejects(() => store.open(location), 'NOT_FOUND', 'open before close');
      check(!(await locations(store, prefix)).includes(location), 'list must not report it before close');
      await writer.close();
      equal(await get(store, location), bytes, 'the content');
      const reader = await store.open(location);
      for (const border of [8 * MEBIBYTE, 16 * MEBIBYTE, bytes.length - 3]) {
        const slice = await reader.slice(border - 3, border + 3);
        equal(new Uint8Array(slice), bytes.slice(border - 3, border + 3), `the bytes around ${border}`);
      }
      equal(await locations(store, prefix), [location], 'what is listed after close');
    },
  },
  {
    name: 'close: a large object written at once, and one of a round length (16 MiB)',
    async run({ store, prefix }) {
      const bytes = pattern(16 * MEBIBYTE);
      await put(store, `${prefix}round`, bytes);
      equal(await get(store, `${prefix}round`), bytes, 'the content');
    },
  },
  {
    name: 'abort: after create, after a small write, after a large one: nothing is left',
    async run({ store, prefix }) {
      for (const chunks of [[], [pattern(10)], [pattern(9 * MEBIBYTE), pattern(9 * MEBIBYTE)]]) {
        const writer = await store.create(`${prefix}folder/aborted`);
        for (const chunk of chunks) await writer.write(chunk);
        await writer.abort();
        await rejects(() => store.open(`${prefix}folder/aborted`), 'NOT_FOUND', 'open after abort');
        equal(await locations(store, prefix), [], 'what is listed after abort');
      }
    },
  },
  {
    name: 'abort: while writes are under way',
    async run({ store, prefix }) {
      const writer = await store.create(`${prefix}hurried`);
      const writes = [1, 2, 3].map((seed) => writer.write(pattern(9 * MEBIBYTE, seed)));
      const settled = Promise.allSettled(writes);
      await writer.abort();
      for (const outcome of await settled) {
        if (outcome.status === 'rejected') await rejects(Promise.reject(outcome.reason), 'CLOSED', 'a write cut short');
      }
      equal(await locations(store, prefix), [], 'what is listed after abort');
    },
  },
  {
    name: 'abort: more than once is fine, after close it keeps the object',
    async run({ store, prefix }) {
      const aborted = await store.create(`${prefix}twice`);
      await aborted.write(pattern(10));
      await Promise.all([aborted.abort(), aborted.abort()]);
      await aborted.abort();
      const closed = await store.create(`${prefix}kept`);
      await closed.write(pattern(10));
      await closed.close();
      await closed.abort();
      equal(await get(store, `${prefix}kept`), pattern(10), 'the closed object');
      equal(await locations(store, prefix), [`${prefix}kept`], 'what is listed');
    },
  },
  {
    name: 'a writer that has ended rejects with CLOSED',
    async run({ store, prefix }) {
      const closed = await store.create(`${prefix}closed`);
      await closed.close();
      const aborted = await store.create(`${prefix}aborted`);
      await aborted.abort();
      for (const writer of [closed, aborted]) {
        await rejects(() => writer.write(pattern(1)), 'CLOSED', 'write');
        await rejects(() => writer.close(), 'CLOSED', 'close');
      }
      equal(await locations(store, prefix), [`${prefix}closed`], 'what is listed');
    },
  },
  {
    name: 'replacing: the old object stays until close, and stays for good after abort',
    async run({ store, prefix }) {
      const location = `${prefix}replaced`;
      await put(store, location, pattern(100, 1));
      const aborted = await store.create(location);
      await aborted.write(pattern(50, 2));
      equal(await get(store, location), pattern(100, 1), 'the content while another is written');
      await aborted.abort();
      equal(await get(store, location), pattern(100, 1), 'the content after abort');
      const writer = await store.create(location);
      await writer.write(pattern(30, 3));
      equal(await get(store, location), pattern(100, 1), 'the content before close');
      await writer.close();
      equal(await get(store, location), pattern(30, 3), 'the content after close');
      equal(await locations(store, prefix), [location], 'what is listed');
    },
  },
  {
    name: 'two writers of one location: the object is one of the two, whole',
    async run({ store, prefix }) {
      const location = `${prefix}contended`;
      const [first, second] = [await store.create(location), await store.create(location)];
      await first.write(pattern(500, 1));
      await second.write(pattern(700, 2));
      await first.write(pattern(500, 3));
      await first.close();
      equal((await store.open(location)).byteLength, 1000, 'byteLength after the first close');
      await second.close();
      equal(await get(store, location), pattern(700, 2), 'the content after the second close');
      equal(await locations(store, prefix), [location], 'what is listed');
    },
  },
  {
    name: 'many writers at once, in one folder that is not there yet',
    async run({ store, prefix }) {
      const names = Array.from({ length: 16 }, (_, i) => `${prefix}new/folder/object-${i}`);
      await Promise.all(names.map((name, i) => put(store, name, pattern(1_000 + i, i), pattern(10, i + 100))));
      for (const [i, name] of names.entries()) {
        const bytes = await get(store, name);
        equal(bytes.slice(0, 1_000 + i), pattern(1_000 + i, i), `the start of ${name}`);
        equal(bytes.slice(1_000 + i), pattern(10, i + 100), `the end of ${name}`);
      }
      equal(await locations(store, prefix), names.sort(), 'what is listed');
    },
  },
];
