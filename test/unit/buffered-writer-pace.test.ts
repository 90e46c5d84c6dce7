import { describe, expect, spyOn, test } from 'bun:test';
import { memoryLake, memoryStore } from '../../adapters/memory.ts';
import { collect, rejects } from '../../src/conformance/case.ts';
import { type Lake, LakeError, type ObjectStore, t } from '../../src/index.ts';
import { Batches } from '../../src/write/batch.ts';
import type { Append } from '../../src/write/buffered.ts';

/** Longer than any test: a batch that waits for its time never goes. */
const never = 2 ** 31 - 1;

/** A file that is whole but for its close. */
interface HeldClose {
  finish(error?: Error): void;
}

/** A store that closes a file of table `a` when it is told to. */
function heldStore(): {
  readonly store: ObjectStore;
  readonly closes: HeldClose[];
  reached(count: number): Promise<void>;
} {
  const store = memoryStore();
  const closes: HeldClose[] = [];
  let tell = Promise.withResolvers<void>();
  return {
    closes,
    async reached(count) {
      while (closes.length < count) await tell.promise;
    },
    store: {
      name: store.name,
      open: (location, options) => store.open(location, options),
      delete: (locations, options) => store.delete(locations, options),
      list: (prefix, options) => store.list(prefix, options),
      async create(location, options) {
        const writer = await store.create(location, options);
        if (!location.includes('/a/')) return writer;
        return {
          write: (bytes) => writer.write(bytes),
          abort: () => writer.abort(),
          async close() {
            const { promise, resolve, reject } = Promise.withResolvers<void>();
            closes.push({ finish: (error) => (error ? reject(error) : resolve()) });
            tell.resolve();
            tell = Promise.withResolvers();
            await promise;
            await writer.close();
          },
        };
      },
    },
  };
}

async function place(store: ObjectStore = memoryStore()): Promise<Lake> {
  const lake = await memoryLake({ store, dataInliningRowLimit: 0 });
  for (const name of ['a', 'b']) await lake.createTable(name, { id: t.int32().notNull() });
  return lake;
}

const rowsOf = (...of: number[]): { id: number }[] => of.map((id) => ({ id }));
const ids = async (lake: Lake): Promise<number[]> =>
  ((await collect(lake.table('a').scan())) as { id: number }[]).map(({ id }) => id);

describe('a batch goes without waiting for its time', () => {
  test('when all callers are back that were there before', async () => {
    await using lake = await place();
    const writer = lake.table('a').writer({ maxDelayMs: never });
    const first = [1, 2, 3].map((id) => writer.append(rowsOf(id)));
    await writer.flush();
    await Promise.all(first);
    const second = [4, 5].map((id) => writer.append(rowsOf(id)));
    // Two of three wait, while others commit.
    const { snapshotId } = await lake.table('b').insert(rowsOf(0));
    second.push(writer.append(rowsOf(6)));
    const ends = await Promise.all(second);
    for (const end of ends) expect(end.snapshotId).toBe(snapshotId! + 1);
    expect(await ids(lake)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('in a loop of callers that await theirs, however many there are', async () => {
    await using lake = await place();
    const writer = lake.table('a').writer({ maxDelayMs: never });
    const caller = async (k: number): Promise<void> => {
      for (let i = 0; i < 10; i++) await writer.append(rowsOf(100 * k + i));
    };
    await Promise.all([writer.append(rowsOf(1000)), writer.flush()]);
    for (const count of [1, 7]) await Promise.all(Array.from({ length: count }, (_, k) => caller(k)));
    expect((await ids(lake)).length).toBe(81);
    // A lone caller has a snapshot for each of its calls; seven of them share theirs.
    expect((await lake.table('a').files()).length).toBeLessThanOrEqual(1 + 10 + 20);
  });

  test('with everything that was appended in the same moment', async () => {
    await using lake = await place();
    const writer = lake.table('a').writer({ maxDelayMs: never });
    await Promise.all([writer.append(rowsOf(0)), writer.flush()]);
    const ends = await Promise.all(Array.from({ length: 50 }, (_, k) => writer.append(rowsOf(k + 1))));
    expect(new Set(ends.map(({ snapshotId }) => snapshotId)).size).toBe(1);
  });

  test('when there is no room for more', async () => {
    await using lake = await place();
    const writer = lake.table('a').writer({ maxRows: 100, maxPendingRows: 3, maxDelayMs: never });
    const ends = await Promise.all(Array.from({ length: 7 }, (_, id) => writer.append(rowsOf(id))).slice(0, 6));
    expect(new Set(ends.map(({ snapshotId }) => snapshotId)).size).toBe(2);
    await writer.close();
    expect(await ids(lake)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });
});

test('callers are those under way at once, of the last time, and forgotten after a silence', async () => {
  let now = 0;
  const clock = spyOn(performance, 'now').mockImplementation(() => now);
  try {
    const waiting: Append[] = [];
    const append = (): void => {
      const settle = (): void => {};
      waiting.push({ rows: [{}], byteLength: 0, key: undefined, bad: [], resolve: settle, reject: settle });
    };
    let arriving = 0;
    const batches = new Batches(
      {
        session: {} as never,
        table: { schema: 'main', name: 'a' },
        async insert() {
          for (; arriving > 0; arriving--) append();
          return { snapshotId: 1 };
        },
      },
      { maxDelayMs: 200 },
    );
    const commit = async (count: number, meanwhile = 0): Promise<void> => {
      for (let k = 0; k < count; k++) append();
      arriving = meanwhile;
      await batches.commit(waiting, 1000, 1000).done;
    };
    expect(batches.knownCallers()).toBe(Number.POSITIVE_INFINITY);
    await commit(3);
    expect(batches.knownCallers()).toBe(3);
    await commit(4, 2);
    expect(batches.knownCallers()).toBe(6);
    // Ten times the delay.
    now = 2001;
    expect(batches.knownCallers()).toBe(6);
    await commit(1);
    expect(batches.knownCallers()).toBe(6);
    now = 4002;
    expect(batches.knownCallers()).toBe(3);
    now = 9000;
    expect(batches.knownCallers()).toBe(Number.POSITIVE_INFINITY);
  } finally {
    clock.mockRestore();
  }
});

describe('full batches', () => {
  test('are made while others are, and committed in their order', async () => {
    const { store, closes, reached } = heldStore();
    await using lake = await place(store);
    const writer = lake.table('a').writer({ maxRows: 2, maxDelayMs: never });
    const calls = [0, 2, 4].map((id) => writer.append(rowsOf(id, id + 1)));
    await reached(3);
    for (const k of [2, 1]) closes[k]!.finish();
    const { snapshotId } = await lake.table('b').insert(rowsOf(0));
    closes[0]!.finish();
    const ends = await Promise.all(calls);
    expect(ends.map((end) => end.snapshotId)).toEqual([1, 2, 3].map((k) => snapshotId! + k));
    expect(await ids(lake)).toEqual([0, 1, 2, 3, 4, 5]);
    await writer.close();
  });

  test('keep their order beside one of which nothing is left to commit', async () => {
    const { store, closes, reached } = heldStore();
    await using lake = await place(store);
    const writer = lake.table('a').writer({ maxRows: 2, maxDelayMs: never });
    const first = writer.append(rowsOf(0, 1));
    const bad = writer.append([{ id: 'x' }, { id: 'y' }] as never);
    const third = writer.append(rowsOf(2, 3));
    await rejects(() => bad, 'INVALID_VALUE');
    await reached(2);
    closes[1]!.finish();
    const { snapshotId } = await lake.table('b').insert(rowsOf(0));
    closes[0]!.finish();
    expect([(await first).snapshotId, (await third).snapshotId]).toEqual([snapshotId! + 1, snapshotId! + 2]);
    expect(await ids(lake)).toEqual([0, 1, 2, 3]);
    await writer.close();
  });

  test('are four at most, and one that fails leaves the others alone', async () => {
    const { store, closes, reached } = heldStore();
    await using lake = await place(store);
    const writer = lake.table('a').writer({ maxRows: 2, maxPendingRows: 100, maxDelayMs: never });
    const calls = Array.from({ length: 7 }, (_, k) => writer.append(rowsOf(2 * k, 2 * k + 1)));
    const settled = Promise.allSettled(calls);
    await reached(4);
    await lake.table('b').insert(rowsOf(0));
    expect(closes.length).toBe(4);
    for (const k of [3, 2, 1]) closes[k]!.finish();
    closes[0]!.finish(new LakeError('STORE_UNAVAILABLE', 'the disk is full'));
    await reached(7);
    for (const close of closes.slice(4)) close.finish();
    await writer.close();
    expect((await settled).map(({ status }) => status === 'fulfilled')).toEqual([
      false,
      ...calls.slice(1).map(() => true),
    ]);
    await rejects(() => calls[0]!, 'STORE_UNAVAILABLE');
    expect(await ids(lake)).toEqual(Array.from({ length: 12 }, (_, k) => k + 2));
  });

  test('with one key hold its rows once', async () => {
    const { store, closes, reached } = heldStore();
    await using lake = await place(store);
    const writer = lake.table('a').writer({ maxRows: 2, maxDelayMs: never });
    const calls = ['x', 'x', 'y'].map((idempotencyKey, k) =>
      writer.append(rowsOf(2 * k, 2 * k + 1), { idempotencyKey }),
    );
    await reached(3);
    for (const close of closes) close.finish();
    const [first, second, third] = await Promise.all(calls);
    expect(second).toEqual({ ...first!, isRepeat: true });
    expect(third!.snapshotId).toBe(first!.snapshotId! + 1);
    expect(await ids(lake)).toEqual([0, 1, 4, 5]);
  });
});
