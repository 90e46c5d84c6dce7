/**
 * One scan spread over worker threads. A task is JSON and needs no catalog: processes, machines or a job queue do as well, as long as
 * they reach the data files.
 */
import { once } from 'node:events';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { openLake, readTask, type ScanTask, t } from 'edgemere';
import { localStore } from 'edgemere/local';
import { sqliteCatalog } from 'edgemere/sqlite';

if (isMainThread) {
  const catalog = sqliteCatalog({ path: 'catalog.sqlite' });
  await using lake = await openLake({ catalog, store: localStore(), dataPath: 'data/' });
  const events = await lake.createTable('events', { id: t.int64(), size: t.int32() });
  for (let day = 0; day < 6; day++)
    await events.insert(Array.from({ length: 1000 }, (_, i) => ({ id: day * 1000 + i, size: i % 10 })));

  const { tasks } = await events.scan({ where: { id: { gte: 2500 } }, columns: ['size'] }).plan();
  console.log(tasks.length); // 4
  const queue = tasks.map((task) => JSON.stringify(task));
  const sums: number[] = [];
  const workers = [1, 2].map(async () => {
    const worker = new Worker(new URL(import.meta.url));
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
      worker.postMessage(task);
      const [sum] = (await once(worker, 'message')) as [number];
      sums.push(sum);
    }
    await worker.terminate();
  });
  await Promise.all(workers);
  console.log(sums.reduce((a, b) => a + b)); // 15750
} else {
  const store = localStore();
  parentPort!.on('message', async (text: string) => {
    const task = JSON.parse(text) as ScanTask;
    let sum = 0;
    for await (const { size } of readTask<{ size: number | null }>(task, { store })) sum += size ?? 0;
    parentPort!.postMessage(sum);
  });
}
