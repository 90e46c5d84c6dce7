/** Several processes write files at once, and one makes a single snapshot of them all: how a queue or a cluster loads in parallel. */
import { fork } from 'node:child_process';
import { type FileReceipt, openLake, t } from 'edgemere';
import { localStore } from 'edgemere/local';
import { sqliteCatalog } from 'edgemere/sqlite';

const catalog = sqliteCatalog({ path: '/tmp/parallel.sqlite' });
await using lake = await openLake({ catalog, store: localStore(), dataPath: '/tmp/parallel/' });

if (process.send) {
  // A worker: writes its share, and sends the receipt. Nothing is committed yet.
  const from = Number(process.argv[2]);
  const rows = Array.from({ length: 1000 }, (_, k) => ({ id: from + k }));
  process.send(await lake.table('events').writeFiles(rows));
} else {
  const events = await lake.createTable('events', { id: t.int32() });
  const workers = [0, 1000, 2000].map((from) => fork(import.meta.filename, [`${from}`]));
  const receipts = await Promise.all(
    workers.map((worker) => new Promise<FileReceipt>((resolve) => worker.once('message', resolve as never))),
  );
  const { snapshotId, rowCount } = await lake.register(receipts, { message: 'loaded by three' });
  console.log(snapshotId, rowCount); // 2 3000
  // Delivered twice, registered once.
  const again = await lake.register(receipts);
  console.log(
    again.rowCount,
    again.receipts.every(({ isRepeat }) => isRepeat),
  ); // 0 true
  console.log((await events.stats()).rowCount); // 3000
}
