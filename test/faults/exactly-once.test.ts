import { expect, test } from 'bun:test';
import { memoryCatalog, memoryStore } from '../../adapters/memory.ts';
import { type FileReceipt, isLakeError, type Lake, openLake, t } from '../../src/index.ts';
import { Faults } from '../support/faults.ts';
import { faultyCatalog } from '../support/faulty-catalog.ts';
import { faultyStore } from '../support/faulty-store.ts';

/** Numbers from 0 to 1, the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Ways to deliver a message; each tells the snapshot that has its row. */
const deliveries: readonly ((lake: Lake, id: number, receipt: FileReceipt) => Promise<number | undefined>)[] = [
  async (lake, id) => (await lake.table('t').insert([{ id }], { idempotencyKey: `m${id}` })).snapshotId,
  async (lake, id) => {
    const insert = lake.transaction(
      (tx) =>
        tx
          .table('t')
          .insert([{ id }])
          .then(() => id),
      { idempotencyKey: `m${id}` },
    );
    const { snapshotId, value } = await insert;
    expect(value).toBe(id);
    return snapshotId;
  },
  async (lake, id) => {
    await using writer = lake.table('t').writer({ maxDelayMs: 0 });
    const other = writer.append([{ id: id + 1000 }], { idempotencyKey: `m${id + 1000}` }).catch(() => undefined);
    const { snapshotId, rowCount } = await writer.append([{ id }], { idempotencyKey: `m${id}` });
    expect(rowCount).toBe(1);
    await other;
    return snapshotId;
  },
  async (lake, _, receipt) => (await lake.register([receipt])).receipts[0]!.snapshotId,
];

for (let seed = 1; seed <= 40; seed++)
  test(`messages that are delivered until they are acknowledged are there once, whatever fails (seed ${seed})`, async () => {
    const random = randomOf(seed);
    const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
    const rows = memoryCatalog();
    const store = memoryStore();
    const options = { dataPath: 'memory://lake/', dataInliningRowLimit: pick([0, 10]), retryWaitMs: 1 };
    const sound = await openLake({ ...options, catalog: memoryCatalog({ sharedWith: rows }), store });
    await sound.createTable('t', { id: t.int32() });
    const faults = Array.from({ length: 3 }, () => new Faults());
    const lakes = await Promise.all(
      faults.map((fault) =>
        openLake({
          ...options,
          catalog: faultyCatalog(memoryCatalog({ sharedWith: rows }), fault),
          store: faultyStore(store, fault),
        }),
      ),
    );
    const ids = Array.from({ length: 8 }, (_, id) => id);
    const receipts = await Promise.all(ids.map((id) => sound.table('t').writeFiles([{ id }])));
    for (const fault of faults) fault.failAtRandom(0.15, random);
    const told = new Map<number, Set<number | undefined>>(ids.map((id) => [id, new Set()]));
    await Promise.all(
      ids.map(async (id) => {
        // Redelivered by anybody until somebody acknowledged it, and once more.
        const deliver = pick(deliveries);
        for (let acknowledged = 0, attempt = 0; acknowledged < 2; attempt++) {
          // In the end the network is sound, or it might never be.
          const lake = attempt > 30 ? sound : pick(lakes);
          try {
            told.get(id)!.add(await deliver(lake, id, receipts[id]!));
            acknowledged++;
          } catch (error) {
            if (!isLakeError(error)) throw error;
          }
        }
      }),
    );
    for (const fault of faults) fault.stop();
    const found = ((await sound.table('t').scan().toArray()) as { id: number }[]).map(({ id }) => id);
    const mine = found.filter((id) => id < 1000).sort((a, b) => a - b);
    expect(mine).toEqual(ids);
    // Those beside them were delivered at least never, and at most once.
    expect(new Set(found).size).toBe(found.length);
    for (const [id, snapshots] of told) expect([id, [...snapshots].length]).toEqual([id, 1]);
    for (const fault of faults) for (const undo of fault.later) await undo();
  });
