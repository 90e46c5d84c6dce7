import { expect, test } from 'bun:test';
import { memoryCatalog, memoryStore } from '../../adapters/memory.ts';
import { openLake, t } from '../../src/index.ts';
import { slowStore } from '../support/slow-store.ts';

test('a slow store holds up the source: bytes do not pile up in front of it', async () => {
  const store = slowStore(memoryStore(), 30);
  await using lake = await openLake({ dataInliningRowLimit: 0, catalog: memoryCatalog(), store, dataPath: 'lake/' });
  const events = await lake.createTable('events', { id: t.int64(), text: t.varchar() });
  const rowCount = 400_000;
  let whileBusy = 0;
  async function* rows(): AsyncGenerator<{ id: number; text: string }> {
    for (let id = 0; id < rowCount; id++) {
      if (store.pendingByteLength > 0) whileBusy += 1;
      yield { id, text: `event ${(id * 2_654_435_761) % 1_000_003}` };
    }
  }
  const { rowCount: inserted } = await events.insert(rows());
  expect(inserted).toBe(rowCount);
  expect(store.writtenByteLength).toBeGreaterThan(2_000_000);
  // Row groups are 122,880 rows: one may be on its way while the next one fills, no more.
  expect(whileBusy).toBeLessThanOrEqual(2 * 122_880);
  expect(store.mostPendingByteLength).toBeLessThan(store.writtenByteLength / 2);
}, 300_000);
