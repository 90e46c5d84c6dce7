import { describe, expect, test } from 'bun:test';
import { memoryCatalog, memoryStore } from '../../adapters/memory.ts';
import { collect, rejects } from '../../src/conformance/case.ts';
import {
  type CatalogStore,
  type Lake,
  LakeError,
  type ObjectStore,
  openLake,
  type RetryPolicy,
  t,
} from '../../src/index.ts';
import { Faults } from '../support/faults.ts';
import { faultyCatalog } from '../support/faulty-catalog.ts';
import { faultyStore } from '../support/faulty-store.ts';

interface Place {
  readonly lake: Lake;
  readonly faults: Faults;
  readonly store: ObjectStore;
  /** Another client, whose calls don't fail. */
  open(): Promise<Lake>;
}

async function place(retry: Partial<RetryPolicy> = {}, wrap = (catalog: CatalogStore) => catalog): Promise<Place> {
  const rows = memoryCatalog();
  const store = memoryStore();
  const faults = new Faults();
  const dataPath = 'memory://lake/';
  const lake = await openLake({
    dataInliningRowLimit: 0,
    catalog: faultyCatalog(wrap(memoryCatalog({ sharedWith: rows })), faults),
    store: faultyStore(store, faults),
    dataPath,
    retryWaitMs: 1,
    ...retry,
  });
  await lake.createTable('t', { id: t.int64().notNull() });
  return {
    lake,
    faults,
    store,
    open: () => openLake({ dataInliningRowLimit: 0, catalog: memoryCatalog({ sharedWith: rows }), store }),
  };
}

const rowsOf = async (lake: Lake): Promise<number[]> =>
  ((await lake.table('t').scan().toArray()) as { id: bigint }[]).map(({ id }) => Number(id)).sort((a, b) => a - b);
const fileCount = async (store: ObjectStore): Promise<number> => (await collect(store.list(''))).length;

describe('a commit whose answer is lost', () => {
  test('is found, acknowledged once, and its file written once', async () => {
    const { lake, faults, store } = await place();
    faults.failNext('catalog.commit', 'after');
    const { snapshotId } = await lake.table('t').insert([{ id: 1 }]);
    expect(snapshotId).toBe(2);
    expect(await rowsOf(lake)).toEqual([1]);
    expect([faults.count('store.create'), await fileCount(store)]).toEqual([1, 1]);
  });

  test('is found although looking for it fails at first', async () => {
    const { lake, faults } = await place();
    faults.failNext('catalog.commit', 'after').failNext('catalog.findCommit', 'before');
    expect((await lake.table('t').insert([{ id: 1 }])).snapshotId).toBe(2);
    expect(await rowsOf(lake)).toEqual([1]);
  });

  test('is COMMIT_UNKNOWN when it can not be looked for, and its files stay', async () => {
    const { lake, faults, store, open } = await place();
    faults.failNext('catalog.commit', 'after');
    for (let k = 0; k < 4; k++) faults.failNext('catalog.findCommit', 'before');
    const error = await rejects(() => lake.table('t').insert([{ id: 1 }]), 'COMMIT_UNKNOWN');
    expect(error.retryable).toBe(false);
    expect(await fileCount(store)).toBe(1);
    await using other = await open();
    expect(await rowsOf(other)).toEqual([1]);
    await lake.table('t').insert([{ id: 2 }]);
    expect(await rowsOf(lake)).toEqual([1, 2]);
  });

  test('is made again when it never arrived: a snapshot without changes keeps the first from arriving later', async () => {
    const { lake, faults, store } = await place();
    faults.failNext('catalog.commit', 'lost');
    expect((await lake.table('t').insert([{ id: 1 }])).snapshotId).toBe(3);
    expect((await collect(lake.snapshots())).map(({ changes }) => changes.length)).toEqual([1, 1, 0, 1]);
    expect([await fileCount(store), faults.count('store.create')]).toEqual([1, 1]);
    expect(await rowsOf(lake)).toEqual([1]);
  });

  test('is not made again where the caller wants no retry, and its file is gone', async () => {
    const { lake, faults, store } = await place();
    faults.failNext('catalog.commit', 'lost');
    const attempt = (): Promise<unknown> =>
      lake.transaction((tx) => tx.table('t').insert([{ id: 1 }]), { retry: false });
    await rejects(attempt, 'RETRIES_EXHAUSTED');
    expect([await fileCount(store), await rowsOf(lake)]).toEqual([0, []]);
  });

  test('is COMMIT_UNKNOWN when nothing can make sure that it does not arrive, and the file stays', async () => {
    const { lake, faults, store } = await place();
    faults.failNext('catalog.commit', 'lost').failNext('catalog.commit', 'lost');
    const { context } = await rejects(() => lake.table('t').insert([{ id: 1 }]), 'COMMIT_UNKNOWN');
    expect(await fileCount(store)).toBe(1);
    expect(await rowsOf(lake)).toEqual([]);
    await lake.table('t').insert([{ id: 2 }]);
    expect(await lake.resolve(context.token!)).toEqual({ status: 'notCommitted' });
    expect([await fileCount(store), await rowsOf(lake)]).toEqual([1, [2]]);
  });

  test('settles a creation and a drop as well', async () => {
    const { lake, faults } = await place();
    faults.failNext('catalog.commit', 'after');
    await lake.createSchema('s');
    faults.failNext('catalog.commit', 'after');
    await lake.createTable({ schema: 's', name: 'u' }, { id: t.int64() });
    faults.failNext('catalog.commit', 'after');
    await lake.dropTable('t');
    expect((await lake.tables()).map(({ name }) => name)).toEqual(['u']);
    expect((await collect(lake.snapshots())).map(({ id }) => id)).toEqual([0, 1, 2, 3, 4]);
  });

  test('settles one that others have committed after', async () => {
    const { lake, faults, open } = await place();
    await using other = await open();
    faults.failNext('catalog.commit', 'after').failNext('catalog.findCommit', 'before');
    const [mine] = await Promise.all([
      lake.table('t').insert([{ id: 1 }]),
      (async () => {
        for (let id = 10; id < 20; id++) await other.table('t').insert([{ id }]);
      })(),
    ]);
    const then = await lake
      .table<{ id: number }, { id: bigint }>('t')
      .scan({ asOf: { snapshot: mine.snapshotId! } })
      .toArray();
    expect(then.map(({ id }) => id)).toContain(1n);
    expect(await rowsOf(lake)).toEqual([1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  });
});

test('what creates tables and adds rows goes on top of rows that others commit meanwhile, at once', async () => {
  const { lake, faults, open } = await place();
  await using other = await open();
  const before = faults.count('catalog.commit');
  await lake.transaction(async (tx) => {
    const made = await tx.createTable('u', { id: t.int64() });
    await made.insert([{ id: 1 }]);
    await tx.dropTable('t');
    for (let id = 0; id < 3; id++) await other.table('t').insert([{ id }]);
  });
  expect(faults.count('catalog.commit') - before).toBe(1);
  expect((await other.tables()).map(({ name }) => name)).toEqual(['u']);
});

describe('a commit that fails otherwise', () => {
  test('with an error that is none of ours, after its effect, keeps the rows', async () => {
    const { lake, store } = await place({}, (catalog) => {
      const broken = Object.create(catalog) as CatalogStore;
      let commits = 0;
      Object.assign(broken, {
        name: 'broken',
        commit: async (batch: Parameters<CatalogStore['commit']>[0]) => {
          const outcome = await catalog.commit(batch);
          if (++commits === 2) throw new TypeError('a bug in an adapter');
          return outcome;
        },
        readHead: (since?: number) => catalog.readHead(since),
        readCatalog: (asOf?: never) => catalog.readCatalog(asOf),
        initialize: (init: never) => catalog.initialize(init),
        readFiles: (request: never) => catalog.readFiles(request),
        findCommit: (batch: never) => catalog.findCommit(batch),
        [Symbol.asyncDispose]: () => catalog[Symbol.asyncDispose](),
      });
      return broken;
    });
    expect((await lake.table('t').insert([{ id: 1 }])).snapshotId).toBe(2);
    expect([await rowsOf(lake), await fileCount(store)]).toEqual([[1], 1]);
  });

  test('before its effect removes its files and says that the catalog was not there', async () => {
    const { lake, faults, store } = await place();
    faults.failNext('catalog.commit', 'before');
    const error = await rejects(() => lake.table('t').insert([{ id: 1 }]), 'CATALOG_UNAVAILABLE');
    expect(error.retryable).toBe(true);
    expect([await fileCount(store), await rowsOf(lake)]).toEqual([0, []]);
  });

  test('leaves an orphan, not an error of its own, when the files can not be removed', async () => {
    const { lake, faults, store } = await place();
    faults.failNext('catalog.commit', 'before').failNext('store.delete', 'before');
    await rejects(() => lake.table('t').insert([{ id: 1 }]), 'CATALOG_UNAVAILABLE');
    expect([await fileCount(store), await rowsOf(lake)]).toEqual([1, []]);
  });
});

describe('lost races', () => {
  /** A catalog that says `superseded` the first `count` times that something is inserted. */
  const contended =
    (count: number, error?: LakeError) =>
    (catalog: CatalogStore): CatalogStore => {
      let left = count;
      return {
        name: 'contended',
        inlining: catalog.inlining,
        initialize: (init) => catalog.initialize(init),
        readCatalog: (asOf) => catalog.readCatalog(asOf),
        readHead: (since) => catalog.readHead(since),
        readSnapshots: (range) => catalog.readSnapshots(range),
        readFiles: (request) => catalog.readFiles(request),
        readHistory: (request) => catalog.readHistory(request),
        readTableStats: (tableId) => catalog.readTableStats(tableId),
        findCommit: (batch) => catalog.findCommit(batch),
        findKeys: (keys) => catalog.findKeys(keys),
        forgetKeys: (request) => catalog.forgetKeys(request),
        [Symbol.asyncDispose]: () => catalog[Symbol.asyncDispose](),
        async commit(batch) {
          if (batch.changes.some(({ kind }) => kind === 'inserted_into_table') && left-- > 0) {
            if (error) throw error;
            return { status: 'superseded' };
          }
          return catalog.commit(batch);
        },
      };
    };

  test('are tried again without writing the file again or running the callback again', async () => {
    const { lake, faults, store } = await place({}, contended(7));
    let runs = 0;
    const { snapshotId } = await lake.transaction(async (tx) => {
      runs++;
      await tx.table('t').insert([{ id: 1 }]);
    });
    expect([snapshotId, runs, await rowsOf(lake)]).toEqual([2, 1, [1]]);
    expect([faults.count('catalog.commit') - 1, faults.count('store.create'), await fileCount(store)]).toEqual([
      8, 1, 1,
    ]);
  });

  test('end after maxRetries with RETRIES_EXHAUSTED, and the files are gone', async () => {
    const { lake, faults, store } = await place({ maxRetries: 4 }, contended(100));
    const error = await rejects(() => lake.table('t').insert([{ id: 1 }]), 'RETRIES_EXHAUSTED');
    expect(error.retryable).toBe(true);
    expect([faults.count('catalog.commit') - 1, await fileCount(store)]).toEqual([5, 0]);
    expect(await rowsOf(lake)).toEqual([]);
  });

  test('end at once when the signal aborts, and the files are gone', async () => {
    const reason = new Error('enough');
    const controller = new AbortController();
    // The waits are drawn from zero to a day: one that does not end with the signal is one without end.
    const { lake, store } = await place(
      {
        maxRetries: 1000,
        retryWaitMs: 86_400_000,
        retryBackoff: 1,
        onRetry: ({ waitMs }) => {
          if (waitMs > 600_000) setTimeout(() => controller.abort(reason), 10);
        },
      },
      contended(10_000),
    );
    const attempt = lake.table('t').insert([{ id: 1 }], { signal: controller.signal });
    expect(
      await attempt.then(
        () => undefined,
        (error) => error,
      ),
    ).toBe(reason);
    expect([await fileCount(store), await rowsOf(lake)]).toEqual([0, []]);
  });

  test('are none when the catalog refuses: no second attempt', async () => {
    const denied = new LakeError('ACCESS_DENIED', 'no');
    const { lake, faults, store } = await place({}, contended(1, denied));
    await rejects(() => lake.table('t').insert([{ id: 1 }]), 'ACCESS_DENIED');
    expect([faults.count('catalog.commit') - 1, await fileCount(store)]).toEqual([1, 0]);
  });
});
