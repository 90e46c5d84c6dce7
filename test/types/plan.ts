/** What TypeScript infers of plans, tasks and counts. Nothing here runs. */
import { type Lake, type ObjectStore, readTask, type ScanTask, type Timestamp, t } from '../../src/index.ts';

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : { readonly got: A; readonly wanted: B };

/** Compiles only when the type argument is `true`. */
function same<_Check extends true>(): void {}

export async function plans(lake: Lake, store: ObjectStore): Promise<void> {
  const table = await lake.createTable('events', { id: t.int64().notNull(), at: t.timestamptz() });
  const { tasks, limit, snapshotId } = await table.scan({ columns: ['id'], where: { id: 5 }, limit: 3 }).plan();
  same<Equal<typeof tasks, readonly ScanTask[]>>();
  same<Equal<typeof limit, number | null>>();
  same<Equal<typeof snapshotId, number>>();
  const task = tasks[0]!;
  for await (const row of readTask(task, { store })) same<Equal<typeof row, Record<string, unknown>>>();
  for await (const row of readTask<{ at: Timestamp | null }>(task, { store }))
    same<Equal<typeof row.at, Timestamp | null>>();
  if (task.part.kind === 'file') same<Equal<typeof task.part.location, string>>();
  else same<Equal<typeof task.part.tableName, string>>();

  same<Equal<Awaited<ReturnType<typeof table.count>>, number>>();
  await table.count();
  await table.count({ at: { gte: new Date() }, not: { id: { in: [1, 2n] } } }, { asOf: { snapshot: 1 } });
  // @ts-expect-error no such column
  await table.count({ idd: 1 });
  // @ts-expect-error text for a number
  await table.count({ id: '1' });
  // @ts-expect-error a store is needed
  readTask(task, {});
  // @ts-expect-error a number
  await table.scan().plan({ maxByteLength: '1' });

  const { files, pruned, where } = await table.scan().explain();
  same<Equal<typeof where, string | null>>();
  same<Equal<(typeof pruned)[number]['by'], 'statistics' | 'partition' | 'limit'>>();
  same<Equal<(typeof files)[number]['readRowGroupCount'], number>>();
}
