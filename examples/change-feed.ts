/** A copy that follows a table: it reads what changed since the last snapshot that it has seen. */
import { t } from 'edgemere';
import { memoryLake } from 'edgemere/memory';

await using lake = await memoryLake();
const prices = await lake.createTable('prices', { item: t.varchar().notNull(), price: t.decimal(8, 2).notNull() });

const copy = new Map<bigint, string>();
let seen = (await Array.fromAsync(lake.snapshots())).at(-1)!.id;

async function follow(): Promise<void> {
  const newest = (await Array.fromAsync(lake.snapshots({ from: seen }))).at(-1)!.id;
  if (newest === seen) return;
  for await (const { change_type, rowid, item, price } of prices.changes({ from: seen + 1, to: newest })) {
    // The old image of an update comes before the new one, which has the same row id.
    if (change_type === 'delete' || change_type === 'update_preimage') copy.delete(rowid);
    else copy.set(rowid, `${item} ${price}`);
  }
  seen = newest;
}

await prices.insert([{ item: 'tea', price: '3.50' }]);
await follow();
await prices.insert([{ item: 'milk', price: '1.20' }]);
await prices.insert([{ item: 'salt', price: '0.80' }]);
await follow();
await follow();
console.log([...copy.values()]); // [ 'tea 3.50', 'milk 1.20', 'salt 0.80' ]
