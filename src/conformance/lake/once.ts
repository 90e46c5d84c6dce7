import { t } from '../../schema/builder.ts';
import type { FileReceipt } from '../../write/receipt.ts';
import { type ConformanceCase, collect, equal, rejects } from '../case.ts';
import { createNumbered, ids, type LakeTarget, numbered } from './target.ts';

const sent = (receipt: FileReceipt): FileReceipt => JSON.parse(JSON.stringify(receipt));

export const onceCases: readonly ConformanceCase<LakeTarget>[] = [
  {
    name: 'inserts, transactions, definitions and appends with a key are carried out once',
    async run(target) {
      await using lake = await target.open();
      await using other = await target.open();
      const table = await createNumbered(lake, 'events');
      const first = await table.insert(numbered(1, 20), { idempotencyKey: 'insert é"\'' });
      for (const one of [lake, other]) {
        const again = await one.table('events').insert(numbered(1, 20), { idempotencyKey: 'insert é"\'' });
        equal(again, { ...first, isRepeat: true }, 'the repeat');
      }
      let runs = 0;
      for (const one of [lake, other]) {
        const { value } = await one.transaction(
          async (tx) => {
            runs++;
            await tx.table('events').insert(numbered(21, 40));
            return { runs };
          },
          { idempotencyKey: 'transaction' },
        );
        equal(value, { runs: 1 }, 'the value');
      }
      for (const one of [lake, other])
        await one.createTable('more', { id: t.int32() }, { idempotencyKey: 'definition' });
      for (const one of [lake, other]) {
        await using writer = one.table('events').writer({ maxDelayMs: 0 });
        equal((await writer.append(numbered(41, 42), { idempotencyKey: 'append' })).rowCount, 2, 'the rows appended');
      }
      equal(
        await ids(other.table('events')),
        Array.from({ length: 42 }, (_, k) => k + 1),
        'the rows',
      );
      equal((await collect(lake.snapshots())).length, 6, 'the number of snapshots');
      await rejects(() => lake.table('more').insert([{ id: 1 }], { idempotencyKey: 'append' }), 'INVALID_ARGUMENT');
      equal(await lake.forgetKeys({ usedBefore: new Date(Date.now() - 3_600_000) }), 0, 'the keys forgotten');
    },
  },
  {
    name: 'files by receipt are registered once, in one snapshot, or discarded',
    async run(target) {
      await using lake = await target.open();
      await using other = await target.open();
      const table = await createNumbered(lake, 'events');
      const receipts = [];
      for (const start of [1, 11, 21])
        receipts.push(sent(await other.table('events').writeFiles(numbered(start, start + 9))));
      const [gone] = receipts.splice(2);
      await lake.discard([gone!]);
      await rejects(() => lake.register([gone!]), 'INVALID_ARGUMENT', 'registering what was discarded');
      const result = await lake.register(receipts, { check: 'footer', message: 'both' });
      equal(result.rowCount, 20, 'the rows');
      const again = await other.register(receipts);
      equal(again.snapshotId, undefined, 'the snapshot of the repeat');
      equal(
        again.receipts,
        receipts.map(({ id }) => ({ id, snapshotId: result.snapshotId, isRepeat: true })),
        'the receipts of the repeat',
      );
      const changed = { ...receipts[0]!, rowCount: 11 };
      await rejects(() => lake.register([changed]), 'INVALID_ARGUMENT', 'registering a receipt that was changed');
      equal(
        await ids(table),
        Array.from({ length: 20 }, (_, k) => k + 1),
        'the ids',
      );
      equal((await table.stats()).rowCount, 20, 'the row count of the statistics');
    },
  },
];
