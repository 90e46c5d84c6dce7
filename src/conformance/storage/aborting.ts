import { check, collect, equal, rejects, rejectsWith } from '../case.ts';
import { get, locations, MEBIBYTE, pattern, put, type StorageCase } from './target.ts';

/** Reasons that callers abort with: nothing says that they are errors. */
const reasons: readonly unknown[] = [new Error('no longer wanted'), 'stopped', { code: 42 }, 0];

/** `signal`. */
export const abortingCases: readonly StorageCase[] = [
  {
    name: 'signal: already aborted: every call rejects with its reason and does nothing',
    async run({ store, prefix }) {
      await put(store, `${prefix}there`, pattern(10));
      for (const reason of reasons) {
        const signal = AbortSignal.abort(reason);
        await rejectsWith(() => store.open(`${prefix}there`, { signal }), reason, 'open');
        await rejectsWith(() => store.open(`${prefix}there`, { signal, byteLength: 10 }), reason, 'open with a length');
        await rejectsWith(() => store.create(`${prefix}new`, { signal }), reason, 'create');
        await rejectsWith(() => store.delete([`${prefix}there`], { signal }), reason, 'delete');
        await rejectsWith(() => collect(store.list(prefix, { signal })), reason, 'list');
        await rejectsWith(() => collect(store.list(`${prefix}none`, { signal })), reason, 'list of nothing');
      }
      equal(await locations(store, prefix), [`${prefix}there`], 'what is listed');
    },
  },
  {
    name: 'signal: one that never fires changes nothing',
    async run({ store, prefix }) {
      const { signal } = new AbortController();
      const writer = await store.create(`${prefix}calm`, { signal });
      await writer.write(pattern(10));
      await writer.close();
      const reader = await store.open(`${prefix}calm`, { signal });
      equal(new Uint8Array(await reader.slice(2, 5)), pattern(10).slice(2, 5), 'the slice');
      equal((await collect(store.list(prefix, { signal }))).length, 1, 'the number of objects');
      await store.delete([`${prefix}calm`], { signal });
      equal(await locations(store, prefix), [], 'what is left');
    },
  },
  {
    name: 'signal: fired between create and write, and between write and close',
    async run({ store, prefix }) {
      for (const reason of reasons) {
        const beforeWrite = new AbortController();
        const first = await store.create(`${prefix}first`, { signal: beforeWrite.signal });
        beforeWrite.abort(reason);
        await rejectsWith(() => first.write(pattern(10)), reason, 'write');
        await rejectsWith(() => first.close(), reason, 'close after the failed write');
        await first.abort();

        const beforeClose = new AbortController();
        const second = await store.create(`${prefix}second`, { signal: beforeClose.signal });
        await second.write(pattern(10));
        beforeClose.abort(reason);
        await rejectsWith(() => second.close(), reason, 'close');
        await second.abort();
      }
      equal(await locations(store, prefix), [], 'what is listed');
    },
  },
  {
    name: 'signal: fired while a large object is written',
    async run({ store, prefix }) {
      const reason = new Error('enough');
      const controller = new AbortController();
      const writer = await store.create(`${prefix}large`, { signal: controller.signal });
      await writer.write(pattern(9 * MEBIBYTE));
      const rest = writer.write(pattern(9 * MEBIBYTE, 2)).then(() => writer.close());
      controller.abort(reason);
      await rejectsWith(rest, reason, 'write, then close');
      await writer.abort();
      await rejects(() => store.open(`${prefix}large`), 'NOT_FOUND', 'open after the abort');
      equal(await locations(store, prefix), [], 'what is listed');
    },
  },
  {
    name: 'signal: fired while closing: the object is there whole, or the reason comes and nothing is there',
    async run({ store, prefix }) {
      for (const byteLength of [1_000, 9 * MEBIBYTE]) {
        const location = `${prefix}closing-${byteLength}`;
        const reason = new Error('enough');
        const controller = new AbortController();
        const writer = await store.create(location, { signal: controller.signal });
        await writer.write(pattern(byteLength));
        const closing = writer.close().then(
          () => 'closed',
          (error: unknown) => error,
        );
        controller.abort(reason);
        const outcome = await closing;
        if (outcome === 'closed') {
          equal(await get(store, location), pattern(byteLength), 'the content');
        } else {
          check(outcome === reason, `close should have rejected with signal.reason, but threw ${outcome}`);
          equal(await locations(store, prefix), [], 'what is listed');
        }
        await store.delete([location]);
      }
    },
  },
  {
    name: 'signal: given to open, it stops later slices',
    async run({ store, prefix }) {
      await put(store, `${prefix}read`, pattern(1_000));
      for (const reason of reasons) {
        const controller = new AbortController();
        const reader = await store.open(`${prefix}read`, { signal: controller.signal });
        equal((await reader.slice(0, 5)).byteLength, 5, 'the slice before');
        controller.abort(reason);
        await rejectsWith(() => reader.slice(5, 10), reason, 'slice');
      }
    },
  },
  {
    name: 'signal: fired between two objects of a list',
    async run({ store, prefix }) {
      for (let i = 0; i < 3; i++) await put(store, `${prefix}${i}`, pattern(5));
      const reason = new Error('enough');
      const controller = new AbortController();
      let seen = 0;
      const listing = async (): Promise<void> => {
        for await (const _ of store.list(prefix, { signal: controller.signal })) {
          seen += 1;
          controller.abort(reason);
        }
      };
      await rejectsWith(listing, reason, 'list');
      equal(seen, 1, 'objects seen before the abort');
    },
  },
  {
    name: 'signal: an aborted call leaves the store usable',
    async run({ store, prefix }) {
      const controller = new AbortController();
      const writer = await store.create(`${prefix}cut`, { signal: controller.signal });
      controller.abort(new Error('enough'));
      await writer.abort();
      await put(store, `${prefix}cut`, pattern(10));
      equal(await get(store, `${prefix}cut`), pattern(10), 'the content');
    },
  },
];
