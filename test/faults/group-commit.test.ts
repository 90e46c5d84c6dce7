import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import fc from 'fast-check';
import { memoryCatalog, memoryStore } from '../../adapters/memory.ts';
import { collect, rejects } from '../../src/conformance/case.ts';
import {
  type CatalogStore,
  type CommitBatch,
  type CommitOutcome,
  type Lake,
  LakeError,
  type ObjectStore,
  type OpenOptions,
  openLake,
  t,
} from '../../src/index.ts';
import { TestClock } from '../support/test-clock.ts';

setDefaultTimeout(300_000);

/** A catalog whose commits wait until they are let through, or fail. */
class Gate {
  readonly batches: CommitBatch[] = [];
  /** Rules the next commits; the catalog's own answer when there is none. */
  readonly answers: ((batch: CommitBatch, commit: () => Promise<unknown>) => unknown)[] = [];
  isClosed = false;
  #held: (() => void)[] = [];

  wrap(catalog: CatalogStore): CatalogStore {
    const commit = async (batch: CommitBatch): Promise<unknown> => {
      this.batches.push(batch);
      if (this.isClosed) await new Promise<void>((resolve) => this.#held.push(resolve));
      const answer = this.answers.shift();
      return answer ? answer(batch, () => catalog.commit(batch)) : catalog.commit(batch);
    };
    return new Proxy(catalog, {
      get: (target, key) => {
        if (key === 'commit') return commit;
        const value = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  /** Lets those through that wait, and all after them. */
  open(): void {
    this.isClosed = false;
    for (const resolve of this.#held.splice(0)) resolve();
  }

  /** Until so many commits have reached the catalog. */
  async reached(count: number): Promise<void> {
    while (this.batches.length < count) await settle();
  }
}

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));

interface Place {
  readonly lake: Lake;
  readonly gate: Gate;
  readonly store: ObjectStore;
  /** The catalog itself, which nothing holds up. */
  readonly catalog: CatalogStore;
  other(): Promise<Lake>;
}

async function place(options: Partial<OpenOptions> = {}): Promise<Place> {
  const rows = memoryCatalog();
  const store = memoryStore();
  const gate = new Gate();
  const lake = await openLake({
    dataInliningRowLimit: 0,
    catalog: gate.wrap(memoryCatalog({ sharedWith: rows })),
    store,
    dataPath: 'memory://lake/',
    retryWaitMs: 1,
    commitGapMs: 0,
    ...options,
  });
  for (const name of ['a', 'b']) await lake.createTable(name, { id: t.int64().notNull() });
  gate.batches.length = 0;
  return {
    lake,
    gate,
    store,
    catalog: rows,
    other: () => openLake({ dataInliningRowLimit: 0, catalog: memoryCatalog({ sharedWith: rows }), store }),
  };
}

const ids = async (lake: Lake, table: string): Promise<number[]> =>
  ((await lake.table(table).scan().toArray()) as { id: bigint }[]).map(({ id }) => Number(id));
const sorted = (numbers: readonly number[]): number[] => [...numbers].sort((x, y) => x - y);
const fileCount = async (store: ObjectStore): Promise<number> => (await collect(store.list(''))).length;

/** One commit is held at the catalog; what `start` begins waits behind it, staged, in the order of `start`. */
async function behindOne<T>({ lake, gate, store }: Place, start: (() => Promise<T>)[]): Promise<Promise<T>[]> {
  gate.isClosed = true;
  const first = lake.table('a').insert([{ id: 0 }]);
  await gate.reached(1);
  const running: Promise<T>[] = [];
  const before = await fileCount(store);
  for (const [k, run] of start.entries()) {
    const call = run();
    call.catch(() => undefined);
    running.push(call);
    while ((await fileCount(store)) < before + k + 1) await settle();
    await settle();
  }
  first.catch(() => undefined);
  return running;
}

/** Two inserts into `b` that become one commit. */
function twoBehindOne(here: Place): Promise<Promise<unknown>[]> {
  const insert = (id: number) => () => here.lake.table('b').insert([{ id }]);
  return behindOne(here, [insert(1), insert(2)]);
}

describe('commits that come while one is under way', () => {
  test('become one snapshot, over several tables, each with its own result; row ids follow the arrival', async () => {
    const here = await place();
    const { lake, gate } = here;
    const calls = await behindOne(here, [
      () => lake.table('a').insert([{ id: 1 }, { id: 2 }]),
      () => lake.table('b').insert([{ id: 3 }]),
      () => lake.table('a').insert([{ id: 4 }]),
    ]);
    gate.open();
    const results = await Promise.all(calls);
    expect(gate.batches.length).toBe(2);
    expect(results.map(({ snapshotId, rowCount, files }) => [snapshotId, rowCount, files.length])).toEqual([
      [4, 2, 1],
      [4, 1, 1],
      [4, 1, 1],
    ]);
    const files = await lake.table('a').files();
    expect(files.map(({ rowIdStart, rowCount, location }) => [rowIdStart, rowCount, location])).toEqual([
      [0, 1, files[0]!.location],
      [1, 2, results[0]!.files[0]!.location],
      [3, 1, results[2]!.files[0]!.location],
    ]);
    expect((await lake.table('a').stats()).columns[0]).toMatchObject({ min: '0', max: '4' });
    const [, , , , snapshot] = await Array.fromAsync(lake.snapshots());
    expect(snapshot!.changes).toEqual([
      { kind: 'inserted_into_table', id: 1 },
      { kind: 'inserted_into_table', id: 2 },
    ]);
  });

  test('with a transaction that only appends among them', async () => {
    const here = await place();
    const { lake, gate } = here;
    const calls = await behindOne<{ snapshotId: number | undefined }>(here, [
      () => lake.transaction((tx) => tx.table('b').insert([{ id: 1 }])),
      () => lake.table('b').insert([{ id: 2 }]),
    ]);
    gate.open();
    expect((await Promise.all(calls)).map(({ snapshotId }) => snapshotId)).toEqual([4, 4]);
  });

  test('go with those of equal messages only', async () => {
    const here = await place();
    const { lake, gate } = here;
    const calls = await behindOne(here, [
      () => lake.table('b').insert([{ id: 1 }], { author: 'x' }),
      () => lake.table('b').insert([{ id: 2 }]),
      () => lake.table('b').insert([{ id: 3 }], { author: 'x' }),
    ]);
    gate.open();
    const results = await Promise.all(calls);
    expect(results.map(({ snapshotId }) => snapshotId)).toEqual([4, 5, 4]);
    const snapshots = await Array.fromAsync(lake.snapshots({ from: 4 }));
    expect(snapshots.map(({ author }) => author)).toEqual(['x', null]);
  });

  test('a conflict of one does not concern the others', async () => {
    const here = await place();
    const { lake, gate, store, other } = here;
    const calls = await behindOne<{ snapshotId: number | undefined }>(here, [
      () => lake.transaction((tx) => tx.table('b').insert([{ id: 1 }])),
      () => lake.table('a').insert([{ id: 2 }]),
    ]);
    await using they = await other();
    await they.dropTable('b');
    gate.open();
    await rejects(() => calls[0]!, 'CONFLICT');
    expect((await calls[1]!).snapshotId).toBe(5);
    expect(sorted(await ids(lake, 'a'))).toEqual([0, 2]);
    expect(await fileCount(store)).toBe(2);
  });

  test('a change that only stands against a transaction leaves the inserts beside it', async () => {
    const here = await place();
    const { lake, gate } = here;
    await lake.table('b').insert([{ id: 9 }]);
    gate.batches.length = 0;
    const calls = await behindOne<{ snapshotId: number | undefined }>(here, [
      () => lake.transaction((tx) => tx.table('b').insert([{ id: 1 }])),
      () => lake.table('b').insert([{ id: 2 }]),
    ]);
    await deleteFrom(here.catalog, 2);
    gate.open();
    await rejects(() => calls[0]!, 'CONFLICT');
    expect((await calls[1]!).snapshotId).toBeGreaterThan(0);
    expect(sorted(await ids(lake, 'b'))).toEqual([2, 9]);
  });

  test('what the catalog refuses for one of them is committed without it', async () => {
    const here = await place();
    const { lake, gate, store } = here;
    const calls = await behindOne(here, [
      () => lake.table('b').insert([{ id: 1 }]),
      () => lake.table('b').insert([{ id: 2 }, { id: 3 }]),
      () => lake.table('b').insert([{ id: 4 }]),
    ]);
    const refuse = (batch: CommitBatch, commit: () => Promise<unknown>): unknown => {
      const isBad = batch.ops.some((op) => op.kind === 'addStats' && [2, 4].includes(op.stats.recordCount));
      if (isBad) throw new LakeError('INVALID_ARGUMENT', 'refused');
      return commit();
    };
    gate.answers.push((_, commit) => commit(), refuse, refuse, refuse, refuse);
    gate.open();
    await calls[0];
    await rejects(() => calls[1]!, 'INVALID_ARGUMENT');
    await calls[2];
    expect(sorted(await ids(lake, 'b'))).toEqual([1, 4]);
    expect(await fileCount(store)).toBe(3);
  });

  test('an unknown outcome is that of all, and all files stay', async () => {
    const here = await place();
    const { lake, gate, store } = here;
    const calls = await twoBehindOne(here);
    const lost = (): never => {
      throw new LakeError('COMMIT_UNKNOWN', 'lost');
    };
    // The second is what would keep the first from arriving late.
    gate.answers.push((_, commit) => commit(), lost, lost);
    gate.open();
    const errors = [];
    for (const call of calls) errors.push(await rejects(() => call, 'COMMIT_UNKNOWN'));
    expect(await fileCount(store)).toBe(3);
    expect(await ids(lake, 'b')).toEqual([]);
    // Each caller's token is about its own files.
    for (const [n, { context }] of errors.entries()) {
      expect(await lake.resolve(context.token!)).toEqual({ status: 'notCommitted' });
      expect(await fileCount(store)).toBe(2 - n);
    }
  });

  test('a certain failure is that of all, and all files go', async () => {
    const here = await place();
    const { gate, store } = here;
    const calls = await twoBehindOne(here);
    gate.answers.push(
      (_, commit) => commit(),
      () => {
        throw new LakeError('CATALOG_UNAVAILABLE', 'down', { retryable: true });
      },
    );
    gate.open();
    for (const call of calls) await rejects(() => call, 'CATALOG_UNAVAILABLE');
    expect(await fileCount(store)).toBe(1);
    expect(gate.batches.length).toBe(2);
  });

  test('an abort takes out the one that waits, with its file', async () => {
    const here = await place();
    const { lake, gate, store } = here;
    const stop = new AbortController();
    const calls = await behindOne(here, [
      () => lake.table('b').insert([{ id: 1 }], { signal: stop.signal }),
      () => lake.table('b').insert([{ id: 2 }]),
    ]);
    const reason = new Error('enough');
    stop.abort(reason);
    // Before the commit ahead of it is through.
    expect(await calls[0]!.catch((error) => error)).toBe(reason);
    expect(await fileCount(store)).toBe(2);
    gate.open();
    expect((await calls[1]!).rowCount).toBe(1);
    expect(await ids(lake, 'b')).toEqual([2]);
  });

  test('an abort while the catalog is at work waits for the outcome', async () => {
    const { lake, gate } = await place();
    const stop = new AbortController();
    gate.isClosed = true;
    const call = lake.table('a').insert([{ id: 1 }], { signal: stop.signal });
    await gate.reached(1);
    stop.abort();
    await settle();
    gate.open();
    expect((await call).snapshotId).toBe(3);
  });

  test('every row is there once, whatever the callers do', async () => {
    const step = fc.record({
      table: fc.constantFrom('a', 'b'),
      rowCount: fc.integer({ min: 0, max: 3 }),
      kind: fc.constantFrom('insert', 'transaction', 'create', 'abort', 'message'),
      waitMs: fc.integer({ min: 0, max: 3 }),
      outcome: fc.constantFrom('commits', 'commits', 'commits', 'superseded', 'fails', 'lost'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const { lake, gate, store } = await place();
        gate.answers.push(
          ...steps.map(({ outcome }) => async (_: CommitBatch, commit: () => Promise<unknown>): Promise<unknown> => {
            await settle();
            if (outcome === 'superseded') return { status: 'superseded' };
            if (outcome === 'fails') throw new LakeError('CATALOG_UNAVAILABLE', 'down');
            const result = (await commit()) as CommitOutcome;
            // `findCommit` finds it.
            if (outcome === 'lost' && result.status === 'committed') throw new LakeError('COMMIT_UNKNOWN', 'lost');
            return result;
          }),
        );
        const expected = { a: [] as number[], b: [] as number[] };
        let next = 0;
        await Promise.all(
          steps.map(async ({ table, rowCount, kind, waitMs }, k) => {
            const rows = Array.from({ length: rowCount }, () => ({ id: next++ }));
            await new Promise((resolve) => setTimeout(resolve, waitMs));
            const stop = new AbortController();
            if (kind === 'abort') setTimeout(() => stop.abort(), 1);
            try {
              if (kind === 'transaction' || kind === 'create')
                await lake.transaction(async (tx) => {
                  if (kind === 'create') await tx.createTable(`t${k}`, { id: t.int32() });
                  await tx.table(table).insert(rows);
                });
              else
                await lake.table(table).insert(rows, {
                  signal: stop.signal,
                  message: kind === 'message' ? 'm' : undefined,
                });
              expected[table as 'a' | 'b'].push(...rows.map(({ id }) => id));
            } catch (error) {
              const isExpected = stop.signal.aborted || (error as LakeError).code === 'CATALOG_UNAVAILABLE';
              if (!isExpected) throw error;
            }
          }),
        );
        let liveCount = 0;
        for (const name of ['a', 'b'] as const) {
          expect(sorted(await ids(lake, name))).toEqual(sorted(expected[name]));
          const files = await lake.table(name).files();
          let rowIdStart = 0;
          for (const file of files) {
            expect(file.rowIdStart).toBe(rowIdStart);
            rowIdStart += file.rowCount;
          }
          liveCount += files.length;
        }
        expect(await fileCount(store)).toBe(liveCount);
      }),
      { numRuns: 25 },
    );
  });
});

describe('retries', () => {
  const lose = (): unknown => ({ status: 'superseded' });

  test('of a transaction that wants none are left to the caller', async () => {
    const { lake, gate } = await place();
    gate.answers.push(lose);
    await rejects(
      () => lake.transaction((tx) => tx.table('a').insert([{ id: 1 }]), { retry: false }),
      'RETRIES_EXHAUSTED',
    );
    expect(gate.batches.length).toBe(1);
  });

  test('are told, and end when the time is over', async () => {
    const attempts: number[] = [];
    const { lake, gate, store } = await place({
      commitTimeoutMs: 0,
      onRetry: ({ attempt }) => void attempts.push(attempt),
    });
    gate.answers.push(lose);
    await rejects(() => lake.table('a').insert([{ id: 1 }]), 'RETRIES_EXHAUSTED');
    expect([gate.batches.length, attempts, await fileCount(store)]).toEqual([1, [], 0]);

    const patient = await place({ onRetry: ({ attempt }) => void attempts.push(attempt) });
    patient.gate.answers.push(lose, lose);
    await patient.lake.table('a').insert([{ id: 1 }]);
    expect(attempts).toEqual([1, 2]);
  });
});

describe('room for other writers', () => {
  test('is made while callers come together', async () => {
    const { lake, gate } = await place({ commitGapMs: 40 });
    using clock = new TestClock();
    const commits: { start: number; end: number }[] = [];
    gate.answers.push(
      ...Array.from({ length: 1000 }, () => async (_: CommitBatch, commit: () => Promise<unknown>) => {
        const start = clock.now;
        const result = await commit();
        clock.now += 10;
        commits.push({ start, end: clock.now });
        return result;
      }),
    );
    await Promise.all(
      Array.from({ length: 8 }, async (_, k) => {
        for (let n = 0; n < 20; n++) await lake.table('a').insert([{ id: k }]);
      }),
    );
    const waits = commits.slice(1).map(({ start }, k) => start - commits[k]!.end);
    expect(new Set(waits)).toEqual(new Set([0, 40]));
    const pauses = waits.flatMap((wait, k) => (wait > 0 ? [k] : []));
    expect(pauses.length).toBeGreaterThan(1);
    // From the end of the first to that of the fifth is a gap.
    for (const [n, k] of pauses.slice(1).entries()) expect(k - pauses[n]!).toBe(5);
  });

  test('is not taken from a caller that awaits each commit', async () => {
    const { lake } = await place({ commitGapMs: 60_000 });
    for (let k = 0; k < 50; k++) await lake.table('a').insert([{ id: k }]);
    expect((await ids(lake, 'a')).length).toBe(50);
  });
});

/** A delete by somebody else: the catalog is told so, the rows stay. */
async function deleteFrom(catalog: CatalogStore, id: number): Promise<void> {
  const { snapshot: base } = await catalog.readHead();
  const changes = [{ kind: 'deleted_from_table', id }] as const;
  await catalog.commit({
    ...{ base, changes, fence: { kind: 'exact' }, changesSchema: false, catalogIdCount: 0, fileIdCount: 0, ops: [] },
    ...{ author: null, message: null, extraInfo: null },
    witness: { table: 'ducklake_snapshot_changes', column: 'changes_made', value: `deleted_from_table:${id}` },
  });
}
