import { describe, expect, test } from 'bun:test';
import { memoryCatalog, memoryStore } from '../../adapters/memory.ts';
import { collect, rejects } from '../../src/conformance/case.ts';
import { type Lake, type LakeError, type ObjectStore, openLake, t, type WriterBatch } from '../../src/index.ts';
import { type HeldCommits, heldCommits } from '../support/held-commits.ts';

interface Place {
  readonly lake: Lake;
  readonly net: HeldCommits;
  readonly store: ObjectStore;
  open(): Promise<Lake>;
}

async function place(): Promise<Place> {
  const rows = memoryCatalog();
  const net = heldCommits(memoryCatalog({ sharedWith: rows }));
  const store = memoryStore();
  // Files, which can be counted.
  const options = { store, dataPath: 'memory://lake/', dataInliningRowLimit: 0 };
  const lake = await openLake({ ...options, catalog: net.catalog });
  for (const name of ['a', 'b']) await lake.createTable(name, { id: t.int32().notNull(), text: t.varchar() });
  return { lake, net, store, open: () => openLake({ ...options, catalog: memoryCatalog({ sharedWith: rows }) }) };
}

const ids = async (lake: Lake, name = 'a'): Promise<number[]> =>
  ((await lake.table(name).scan().toArray()) as { id: number }[]).map(({ id }) => id);
const fileCount = async (store: ObjectStore): Promise<number> => (await collect(store.list(''))).length;
const rowsOf = (...of: unknown[]): { id: number }[] => of.map((id) => ({ id: id as number }));

describe('a batch is full', () => {
  test('by bytes, and appends wait for room by bytes too', async () => {
    const { lake } = await place();
    const writer = lake.table('a').writer({ maxBytes: 1000, maxPendingBytes: 1500, maxDelayMs: 60_000 });
    const text = 'x'.repeat(392);
    const calls = Array.from({ length: 7 }, (_, id) => writer.append([{ id, text }]));
    // Two fit; the third makes it full. Three are pending at most.
    const results = [];
    for (const call of calls.slice(0, 6)) results.push((await call).snapshotId);
    await writer.close();
    results.push((await calls[6]!).snapshotId);
    const counts = Map.groupBy(results, (id) => id);
    for (const [, group] of counts) expect(group.length).toBeLessThanOrEqual(2);
    expect(await ids(lake)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test('never without options that make sense', async () => {
    const { lake } = await place();
    const bad = [{ maxBytes: 0 }, { maxBytes: Number.NaN }, { maxPendingBytes: -1 }, { badRows: 'x' as never }];
    for (const options of bad)
      await rejects(async () => lake.table('a').writer(options), 'INVALID_ARGUMENT', JSON.stringify(options));
  });
});

describe('rows that do not fit', () => {
  test('are left out and named when the writer skips them, each with its own number, in one snapshot with the rest', async () => {
    const { lake, store } = await place();
    const writer = lake.table('a').writer({ badRows: 'skip', maxDelayMs: 60_000 });
    const many: unknown[] = Array.from({ length: 3000 }, (_, id) => id);
    for (const k of [0, 7, 8, 1023, 1024, 1025, 2500, 2999]) many[k] = k % 2 === 0 ? null : 'x';
    const calls = [
      writer.append(rowsOf(5000)),
      writer.append([...rowsOf(...many.slice(0, 2000)), { nope: 1 } as never, ...rowsOf(...many.slice(2000))]),
      writer.append(rowsOf('bad')),
      writer.append(rowsOf(5001)),
    ];
    await writer.close();
    const [first, second, third, fourth] = await Promise.all(calls);
    expect([first, fourth]).toEqual([
      { snapshotId: 3, rowCount: 1 },
      { snapshotId: 3, rowCount: 1 },
    ]);
    expect([second!.snapshotId, second!.rowCount]).toEqual([3, 2992]);
    const bad = second!.badRows!.map(({ row, error }) => [row, error.code, error.context.row]);
    const expected = [0, 7, 8, 1023, 1024, 1025, 2000, 2501, 3000];
    expect(bad).toEqual(expected.map((row) => [row, 'INVALID_VALUE', row]));
    for (const { row, error } of second!.badRows!) expect(error.message).toMatch(new RegExp(`\\brow ${row}\\b`));
    expect([third!.snapshotId, third!.rowCount, third!.badRows!.length]).toEqual([undefined, 0, 1]);
    expect((await ids(lake)).length).toBe(2994);
    expect((await collect(lake.snapshots())).length).toBe(4);
    expect(await fileCount(store)).toBe(1);
  });

  test('reject their append alone otherwise, and the others share one snapshot', async () => {
    const { lake } = await place();
    const writer = lake.table('a').writer({ maxDelayMs: 60_000 });
    const calls = [[1], [2, 'x'], [3], [null], [4]].map((of) => writer.append(rowsOf(...of)));
    const ends = Promise.allSettled(calls);
    await writer.close();
    const told = (await ends).map((end) =>
      end.status === 'fulfilled' ? end.value.snapshotId : (end.reason as LakeError).context.row,
    );
    expect(told).toEqual([3, 1, 3, 0, 3]);
  });
});

describe('a batch that fails', () => {
  test('says which rows were in it, to each append and to the writer', async () => {
    const { lake, net } = await place();
    const failed: { error: unknown; batch: WriterBatch }[] = [];
    const writer = lake.table('a').writer({
      maxDelayMs: 60_000,
      onBatchError(error, batch) {
        failed.push({ error, batch });
        throw new Error('the callback’s own');
      },
    });
    await Promise.all([writer.append(rowsOf(1)), writer.flush()]);
    const calls = [writer.append(rowsOf(2, 3)), writer.append(rowsOf(4)), writer.append(rowsOf(5, 6, 7))];
    net.hold(true);
    const ends = Promise.allSettled(calls);
    await writer.flush();
    net.connect();
    const errors = (await ends).map((end) => (end as PromiseRejectedResult).reason as LakeError);
    for (const [k, { code, context }] of errors.entries()) {
      expect(code).toBe('COMMIT_UNKNOWN');
      expect(context['batch']).toEqual({ index: 1, appendCount: 3, rowCount: 6, firstRow: [0, 2, 3][k] });
    }
    expect(failed.map(({ batch }) => batch)).toEqual([{ index: 1, rows: rowsOf(2, 3, 4, 5, 6, 7) }]);
    // One commit, one token: whoever asks first settles it for all.
    expect(await lake.resolve(errors[1]!.context.token!)).toEqual({ status: 'notCommitted' });
    await Promise.all([writer.append(rowsOf(8)), writer.close()]);
    expect(await ids(lake)).toEqual([1, 8]);
  });
});

describe('keys', () => {
  test('of appends: each is committed once, by whatever writer and in whatever batch', async () => {
    const { lake, open, store } = await place();
    const other = await open();
    const append = (key: string, ...of: unknown[]): Parameters<ReturnType<typeof writer>['append']> => [
      rowsOf(...of),
      { idempotencyKey: key },
    ];
    function writer(of: Lake) {
      return of.table('a').writer({ maxDelayMs: 60_000 });
    }
    const first = writer(lake);
    const calls = [
      first.append(...append('k1', 1, 2)),
      first.append(...append('k2', 3)),
      first.append(...append('k1', 1, 2)),
      first.append(rowsOf(4)),
    ];
    await first.close();
    expect(await Promise.all(calls)).toEqual([
      { snapshotId: 3, rowCount: 2 },
      { snapshotId: 3, rowCount: 1 },
      { snapshotId: 3, rowCount: 2, isRepeat: true },
      { snapshotId: 4, rowCount: 1 },
    ]);
    const second = writer(other);
    const again = [
      second.append(...append('k2', 3)),
      second.append(...append('k3', 5)),
      second.append(...append('k1', 1, 2)),
    ];
    await second.close();
    expect(await Promise.all(again)).toEqual([
      { snapshotId: 3, rowCount: 1, isRepeat: true },
      { snapshotId: 5, rowCount: 1 },
      { snapshotId: 3, rowCount: 2, isRepeat: true },
    ]);
    expect((await other.table('a').insert(rowsOf(5), { idempotencyKey: 'k3' })).isRepeat).toBe(true);
    expect(await ids(other)).toEqual([1, 2, 3, 4, 5]);
    expect(await fileCount(store)).toBe(3);
  });

  test('of appends that race in several writers', async () => {
    const { lake, open, store } = await place();
    const lakes = [lake, await open(), await open()];
    for (let round = 0; round < 5; round++) {
      const results = await Promise.all(
        lakes.flatMap((one, k) => {
          const writer = one.table('a').writer({ maxDelayMs: 0 });
          const order = [0, 1, 2].map((n) => 100 * round + ((n + k) % 3));
          return order.map((id) => writer.append(rowsOf(id), { idempotencyKey: `${id}` }));
        }),
      );
      expect(results.filter(({ isRepeat }) => !isRepeat).length).toBe(3);
    }
    expect((await ids(lake)).length).toBe(15);
    expect(new Set(await ids(lake)).size).toBe(15);
    expect(await fileCount(store)).toBe((await lake.table('a').files()).length);
  });

  test('of batches: a log that is replayed in the same batches is committed once', async () => {
    const { lake, open } = await place();
    const replay = async (of: Lake, from: number, batches: readonly number[][]): Promise<(boolean | undefined)[]> => {
      const writer = of.table('a').writer({
        maxDelayMs: 60_000,
        idempotencyKey: ({ index, rows }) => `log@${from + index}+${rows.length}`,
      });
      const results = [];
      for (const batch of batches) {
        const calls = batch.map((id) => writer.append(rowsOf(id)));
        await writer.flush();
        for (const call of calls) results.push((await call).isRepeat);
      }
      return results;
    };
    const yes = true;
    expect(await replay(lake, 0, [[1, 2], [3]])).toEqual([undefined, undefined, undefined]);
    expect(await replay(await open(), 0, [[1, 2], [3], [4]])).toEqual([yes, yes, yes, undefined]);
    const named = lake.table('a').writer({ idempotencyKey: 'x', maxDelayMs: 0 });
    await named.append(rowsOf(5));
    expect((await lake.table('a').insert(rowsOf(5), { idempotencyKey: 'x:0' })).isRepeat).toBe(true);
    expect(await ids(lake)).toEqual([1, 2, 3, 4, 5]);
  });

  test('that were used for something else, or can be none, reject their append alone', async () => {
    const { lake } = await place();
    await lake.table('b').insert(rowsOf(1), { idempotencyKey: 'b' });
    const writer = lake.table('a').writer({ maxDelayMs: 60_000 });
    const calls = [
      writer.append(rowsOf(1), { idempotencyKey: 'b' }),
      writer.append(rowsOf(2), { idempotencyKey: '' }),
      writer.append(rowsOf(3), { idempotencyKey: 'a' }),
    ];
    const ends = Promise.allSettled(calls);
    await writer.close();
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
    for (const call of calls.slice(0, 2)) await rejects(() => call, 'INVALID_ARGUMENT');
    const bad = lake.table('a').writer({ idempotencyKey: () => 7 as never, maxDelayMs: 0 });
    await rejects(() => bad.append(rowsOf(4)), 'INVALID_ARGUMENT');
    expect(await ids(lake)).toEqual([3]);
  });
});

test('writers of several tables of one lake share snapshots', async () => {
  const { lake } = await place();
  const writers = ['a', 'b', 'a', 'b'].map((name) => lake.table(name).writer({ maxDelayMs: 60_000 }));
  const calls = writers.map((writer, id) => writer.append(rowsOf(id)));
  await Promise.all(writers.map((writer) => writer.close()));
  const snapshots = new Set((await Promise.all(calls)).map(({ snapshotId }) => snapshotId));
  // One may go ahead alone; those that come while it is committed are one.
  expect(snapshots.size).toBeLessThanOrEqual(2);
  expect([(await ids(lake, 'a')).sort(), (await ids(lake, 'b')).sort()]).toEqual([
    [0, 2],
    [1, 3],
  ]);
});
