/** Every commit is a snapshot, with its author and message, and every snapshot can be read. */
import { t } from 'edgemere';
import { memoryLake } from 'edgemere/memory';

await using lake = await memoryLake();
const prices = await lake.createTable('prices', { item: t.varchar().notNull(), price: t.decimal(8, 2) });
const first = await prices.insert([{ item: 'tea', price: '3.50' }], { author: 'ada', message: 'opening' });
await prices.insert([{ item: 'milk', price: '1.20' }], { author: 'bob' });

console.log((await prices.scan().toArray()).length); // 2
const then = await prices.scan({ asOf: { snapshot: first.snapshotId! } }).toArray();
console.log(then); // [{ item: 'tea', price: '3.50' }]

for await (const { id, author, changes } of lake.snapshots({ from: 2 }))
  console.log(id, author, changes.map((change) => change.kind).join(', '));
