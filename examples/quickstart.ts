/** Rows into a lake on this machine, and out again. The lake opens in DuckDB: ATTACH 'ducklake:sqlite:/tmp/lake/catalog.sqlite' */
import { mkdir } from 'node:fs/promises';
import { openLake, t } from 'edgemere';
import { localStore } from 'edgemere/local';
import { sqliteCatalog } from 'edgemere/sqlite';

const folder = '/tmp/lake';
await mkdir(folder, { recursive: true });

await using lake = await openLake({
  catalog: sqliteCatalog({ path: `${folder}/catalog.sqlite` }),
  store: localStore(),
  dataPath: `${folder}/data/`,
});
const orders = await lake.createTable('orders', {
  id: t.int64().notNull(),
  placed: t.timestamptz().notNull(),
  total: t.decimal(12, 2),
  status: t.varchar().default('new'),
});

const { snapshotId, rowCount } = await orders.insert([
  { id: 1, placed: new Date('2024-01-15T12:30:00Z'), total: '19.90' },
  { id: 2n, placed: '2024-01-15T12:31:00.000001Z', total: 5, status: 'paid' },
]);
console.log(snapshotId, rowCount); // 2 2

for await (const { id, total, status } of orders.scan({ columns: ['id', 'total', 'status'] }))
  console.log(`${id}: ${total}, ${status}`);
