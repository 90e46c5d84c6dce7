import { describe, expect, test } from 'bun:test';
import { memoryCatalog } from '../../adapters/memory.ts';
import { type Lake, openLake, t } from '../../src/index.ts';
import { oneAhead } from '../../src/storage/ahead.ts';
import { type GatedStore, gatedStore } from '../support/gated-store.ts';

const groupRowCount = 122_880;

interface Place extends AsyncDisposable {
  readonly lake: Lake;
  readonly store: GatedStore;
}

/** A table `t` of files with so many row groups each; none is read whole with its footer. */
async function place(...groupCounts: readonly number[]): Promise<Place> {
  const store = gatedStore();
  const lake = await openLake({ catalog: memoryCatalog(), store, dataPath: 'memory://lake/', dataInliningRowLimit: 0 });
  const table = await lake.createTable('t', { id: t.int32(), x: t.float64() });
  let first = 0;
  for (const groupCount of groupCounts) {
    const id = Int32Array.from({ length: groupCount * groupRowCount }, (_, i) => first + i);
    await table.insert({ columns: { id, x: Float64Array.from(id, (n) => (n * Math.SQRT2) % 1) } });
    first += id.length;
  }
  store.reads.length = 0;
  store.mostPendingByteLength = 0;
  return { lake, store, [Symbol.asyncDispose]: () => lake.close() };
}

describe('the next row group is on its way while one is used', () => {
  test('each is asked for before the one before it is handed over, one at a time', async () => {
    await using at = await place(3);
    const { store } = at;
    const batches = at.lake.table('t').scan().batches();
    // The footer, then the first group; what comes after it waits.
    store.holds = () => store.reads.length > 2;
    expect((await batches.next()).value?.rowCount).toBe(groupRowCount);
    await store.asked(3);
    expect(store.reads.length).toBe(3);
    store.release();
    const rest = await Array.fromAsync(batches);
    expect(rest.map(({ rowCount }) => rowCount)).toEqual([groupRowCount, groupRowCount]);
    expect(store.reads.length).toBe(4);
    const [, ...groups] = store.reads;
    const lengths = groups.map(({ start, end }) => end - start);
    expect(Math.min(...lengths)).toBeGreaterThan(1 << 18);
    expect(store.mostPendingByteLength).toBe(Math.max(...lengths));
  });

  test('that of the next file too', async () => {
    await using at = await place(1, 1, 1);
    const { store } = at;
    const batches = at.lake.table('t').scan().batches();
    const first = await batches.next();
    expect(first.value?.rowCount).toBe(groupRowCount);
    // All three footers, and two of the groups.
    await store.asked(5);
    expect(store.reads.length).toBe(5);
    const rest = await Array.fromAsync(batches);
    expect(rest.map(({ rowCount }) => rowCount)).toEqual([groupRowCount, groupRowCount]);
    expect(store.reads.length).toBe(6);
  });

  test('a limit that is reached reads nothing ahead, a limit that is not reads what it needs', async () => {
    await using at = await place(3, 1);
    const { store } = at;
    const requests = async (options: object): Promise<number> => {
      store.reads.length = 0;
      await at.lake.table('t').scan(options).toArray();
      return store.reads.length;
    };
    expect(await requests({ limit: 5 })).toBe(2);
    expect(await requests({ limit: groupRowCount })).toBe(2);
    expect(await requests({ limit: groupRowCount + 1 })).toBe(3);
    expect(await requests({ limit: 3 * groupRowCount })).toBe(4);
    expect(await requests({ limit: 3 * groupRowCount + 1 })).toBe(6);
  });

  test('a filter and a limit, or a caller that stops, cost one group more at the most', async () => {
    await using at = await place(4);
    const { store } = at;
    const table = at.lake.table('t');
    const found = await table.scan({ where: { x: { ne: 1 } }, limit: 5 }).toArray();
    expect(found.length).toBe(5);
    // Of each group the indexes of its pages, too.
    expect(store.reads.length).toBeLessThanOrEqual(1 + 2 * 2);
    store.reads.length = 0;
    for await (const _ of table.scan()) break;
    expect(store.reads.length).toBeLessThanOrEqual(3);
  });

  test('a caller that stops does not wait for what is on its way, and ends it', async () => {
    await using at = await place(3);
    const { store } = at;
    store.holds = () => store.reads.length > 2;
    for await (const _ of at.lake.table('t').scan().batches()) {
      await store.asked(3);
      break;
    }
    expect(store.reads.length).toBe(3);
  });

  test('a signal ends it, with its reason', async () => {
    await using at = await place(3);
    const { store } = at;
    const controller = new AbortController();
    const reason = new Error('enough');
    store.holds = () => store.reads.length > 2;
    const batches = at.lake.table('t').scan({ signal: controller.signal }).batches();
    await batches.next();
    await store.asked(3);
    controller.abort(reason);
    await expect(batches.next()).rejects.toBe(reason);
    expect(store.reads.length).toBe(3);
  });

  test('a group that cannot be read fails when it is its turn', async () => {
    await using at = await place(2);
    const { store } = at;
    store.holds = () => {
      if (store.reads.length > 2) throw new Error('broken');
      return false;
    };
    const batches = at.lake.table('t').scan().batches();
    expect((await batches.next()).value?.rowCount).toBe(groupRowCount);
    await store.asked(3);
    await expect(batches.next()).rejects.toThrow('broken');
  });
});

test('of items one is made ahead, in order, and none after a failure', async () => {
  const made: number[] = [];
  async function* items(): AsyncGenerator<{ byteLength: number; n: number }> {
    for (let n = 0; n < 5; n++) {
      made.push(n);
      if (n === 3) throw new Error('no more');
      yield { byteLength: n === 1 ? 1 << 20 : 0, n };
    }
  }
  const seen: number[] = [];
  const error = await (async () => {
    for await (const { n } of oneAhead(items())) {
      seen.push(n);
      expect(made.length).toBeLessThanOrEqual(n + 2);
    }
  })().catch((reason) => reason);
  expect([seen, error.message]).toEqual([[0, 1, 2], 'no more']);
});
