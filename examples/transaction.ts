/** Several tables in one snapshot: all of it is there, or nothing is. */
import { t } from 'edgemere';
import { memoryLake } from 'edgemere/memory';

await using lake = await memoryLake();
const { snapshotId } = await lake.transaction(
  async (tx) => {
    const orders = await tx.createTable('orders', { id: t.int64().notNull(), customer: t.varchar() });
    const lines = await tx.createTable('lines', { order: t.int64().notNull(), item: t.varchar(), count: t.int32() });
    await orders.insert([{ id: 1, customer: 'Ada' }]);
    await lines.insert([
      { order: 1, item: 'tea', count: 2 },
      { order: 1, item: 'milk', count: 1 },
    ]);
    // Inside it sees its own rows; others see them with the commit.
    console.log(await lines.count()); // 2
  },
  { author: 'shop', message: 'first order' },
);
console.log(snapshotId); // 1

// A throw leaves nothing behind: no rows, no file, no snapshot.
await lake
  .transaction(async (tx) => {
    await tx.table('orders').insert([{ id: 2, customer: 'Bob' }]);
    throw new Error('out of tea');
  })
  .catch((error: Error) => console.log(error.message));
console.log((await lake.table('orders').stats()).rowCount); // 1
