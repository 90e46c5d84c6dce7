import { check, equal, rejects } from '../case.ts';
import { get, pattern, put, type StorageCase } from './target.ts';

/** `open` and `slice`. */
export const readingCases: readonly StorageCase[] = [
  {
    name: 'open: the length is that of the bytes written, and they come back',
    async run({ store, prefix }) {
      const bytes = pattern(1000);
      await put(store, `${prefix}whole`, bytes);
      const reader = await store.open(`${prefix}whole`);
      equal(reader.byteLength, 1000, 'byteLength');
      equal(new Uint8Array(await reader.slice(0)), bytes, 'the content');
    },
  },
  {
    name: 'open: a location that is not there is NOT_FOUND, and the error names it',
    async run({ store, prefix }) {
      await put(store, `${prefix}folder/there`, pattern(3));
      const missing = ['folder/absent', 'folder/ther', 'folder/there2', 'folder', 'no/such/folder/x', 'x'.repeat(200)];
      for (const name of missing) {
        const error = await rejects(() => store.open(prefix + name), 'NOT_FOUND', `open(${name})`);
        equal(error.context.location, prefix + name, 'context.location');
        check(!error.retryable, 'NOT_FOUND must not be retryable');
      }
    },
  },
  {
    name: 'open: a known length is taken at its word, and what is missing is found out by the first slice',
    async run({ store, prefix }) {
      const bytes = pattern(64);
      await put(store, `${prefix}known`, bytes);
      const reader = await store.open(`${prefix}known`, { byteLength: 64 });
      equal(reader.byteLength, 64, 'byteLength');
      equal(new Uint8Array(await reader.slice(60, 64)), bytes.slice(60), 'the last bytes');
      const absent = await store.open(`${prefix}absent`, { byteLength: 64 });
      await rejects(() => absent.slice(0, 4), 'NOT_FOUND', 'slice of an absent object');
      const noFolder = await store.open(`${prefix}no/folder/absent`, { byteLength: 64 });
      await rejects(() => noFolder.slice(0, 4), 'NOT_FOUND', 'slice in an absent folder');
    },
  },
  {
    name: 'slice: an object shorter than promised is CORRUPT, never fewer bytes',
    async run({ store, prefix }) {
      await put(store, `${prefix}short`, pattern(10));
      const reader = await store.open(`${prefix}short`, { byteLength: 20 });
      await rejects(() => reader.slice(5, 11), 'CORRUPT', 'a range that the end cuts');
      await rejects(() => reader.slice(9, 20), 'CORRUPT', 'a range that the end cuts');
      await rejects(() => reader.slice(10, 11), 'CORRUPT', 'a range that starts at the end');
      await rejects(() => reader.slice(15), 'CORRUPT', 'a range past the end');
      equal((await reader.slice(4, 10)).byteLength, 6, 'what is there');
    },
  },
  {
    name: 'slice: every range inside the object, the empty ones too',
    async run({ store, prefix }) {
      const bytes = pattern(8);
      await put(store, `${prefix}ranges`, bytes);
      const reader = await store.open(`${prefix}ranges`);
      for (let start = 0; start <= 8; start++) {
        equal(new Uint8Array(await reader.slice(start)), bytes.slice(start), `slice(${start})`);
        for (const end of new Set([start, Math.min(start + 1, 8), 8])) {
          const slice = await reader.slice(start, end);
          check(slice instanceof ArrayBuffer, 'a slice is an ArrayBuffer of exactly its bytes');
          equal(new Uint8Array(slice), bytes.slice(start, end), `slice(${start}, ${end})`);
        }
      }
    },
  },
  {
    name: 'slice: past the end is CORRUPT, what is no range is INVALID_ARGUMENT',
    async run({ store, prefix }) {
      await put(store, `${prefix}bad`, pattern(8));
      const reader = await store.open(`${prefix}bad`);
      for (const [start, end] of [
        [0, 9],
        [8, 9],
        [9, 10],
        [9, undefined],
        [9, 9],
      ] as const) {
        await rejects(() => reader.slice(start, end), 'CORRUPT', `slice(${start}, ${end})`);
      }
      for (const [start, end] of [
        [-1, 4],
        [-4, undefined],
        [5, 4],
        [0.5, 4],
        [0, Number.NaN],
        [0, 2 ** 53],
      ] as const) {
        await rejects(() => reader.slice(start, end), 'INVALID_ARGUMENT', `slice(${start}, ${end})`);
      }
    },
  },
  {
    name: 'slice: many at once, each its own bytes',
    async run({ store, prefix }) {
      const bytes = pattern(100_000);
      await put(store, `${prefix}parallel`, bytes);
      const reader = await store.open(`${prefix}parallel`);
      const starts = Array.from({ length: 40 }, (_, i) => i * 2_400);
      const slices = await Promise.all(starts.map((start) => reader.slice(start, start + 2_500)));
      slices.forEach((slice, i) => {
        equal(new Uint8Array(slice), bytes.slice(starts[i], starts[i]! + 2_500), `the slice at ${starts[i]}`);
      });
    },
  },
  {
    name: 'slice: the bytes are the caller’s: changing them changes no object',
    async run({ store, prefix }) {
      const bytes = pattern(100);
      await put(store, `${prefix}own`, bytes.slice());
      const reader = await store.open(`${prefix}own`);
      new Uint8Array(await reader.slice(0)).fill(0);
      equal(new Uint8Array(await reader.slice(0)), bytes, 'the second read');
    },
  },
  {
    name: 'slice: NOT_FOUND once the object has been deleted',
    async run({ store, prefix }) {
      await put(store, `${prefix}gone`, pattern(100));
      const reader = await store.open(`${prefix}gone`);
      await store.delete([`${prefix}gone`]);
      await rejects(() => reader.slice(0, 10), 'NOT_FOUND');
    },
  },
  {
    name: 'an empty object exists, has no bytes, and can be sliced at 0',
    async run({ store, prefix }) {
      await put(store, `${prefix}no-write`);
      await put(store, `${prefix}empty-writes`, new Uint8Array(0), new Uint8Array(0));
      for (const name of ['no-write', 'empty-writes']) {
        const reader = await store.open(prefix + name);
        equal(reader.byteLength, 0, `byteLength of ${name}`);
        equal((await reader.slice(0)).byteLength, 0, 'slice(0)');
        equal((await reader.slice(0, 0)).byteLength, 0, 'slice(0, 0)');
        await rejects(() => reader.slice(0, 1), 'CORRUPT', 'slice(0, 1)');
        equal(await get(store, prefix + name), new Uint8Array(0), name);
      }
    },
  },
];
