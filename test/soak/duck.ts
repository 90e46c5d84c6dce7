/** A worker of the soak, by DuckDB: `node duck.ts TASK`, a {@link WorkerTask} as JSON. Goes on until it is killed. */
import { randomOf } from '../../bench/lib/data.ts';
import { openOracle } from '../support/oracle.ts';
import { idOf, say, TABLES, type WorkerTask } from './lines.ts';

const task: WorkerTask = JSON.parse(process.argv[2]!);
const random = randomOf(task.seed);
const below = (n: number): number => Math.floor(random() * n);
const pick = <T>(items: readonly T[]): T => items[below(items.length)]!;

const duck = await openOracle();
const { address } = task;
const options = { inliningRowLimit: 10 };
const attach = (): Promise<void> =>
  address.kind === 'sqlite'
    ? duck.attachSqlite(address.path, undefined, options)
    : duck.attachPostgres(address.url, undefined, { ...options, schema: address.schema });
for (let isAttached = false; !isAttached; )
  isAttached = await attach().then(
    () => true,
    (error) => {
      // Others are at work, and DuckDB waits for them five seconds at most.
      if (!/locked/i.test(String(error))) throw error;
      return false;
    },
  );

let calls = 0;
let pieces = 0;
const mine: { table: string; ids: [number, number] }[] = [];

/** An error that the connection's end caused leaves open what happened; DuckDB has no code for it. */
const isLost = (error: unknown): boolean => /connection|server closed/i.test(String(error));

async function told(what: object, sql: string): Promise<boolean> {
  const call = calls++;
  say({ event: 'try', call, rows: {}, ...what });
  try {
    await duck.run(sql);
    say({ event: 'done', call });
    return true;
  } catch (error) {
    await duck.run('ROLLBACK').catch(() => {});
    say({ event: isLost(error) ? 'unknown' : 'refused', call, error: String(error).slice(0, 300) });
    return false;
  }
}

function piece(): [number, number] {
  return [idOf(task.worker, pieces++), 1 + below(25)];
}

const insert = (table: string, [first, count]: [number, number]): string =>
  `INSERT INTO lake.${table} SELECT ${first} + i, ${task.worker}, CASE WHEN i % 7 > 0 THEN 'duck' || i END FROM range(${count}) t(i)`;

for (;;) {
  const chance = random();
  if (chance < 0.6) {
    const table = pick(TABLES);
    const ids = piece();
    if (await told({ rows: { [table]: ids } }, insert(table, ids))) mine.push({ table, ids });
  } else if (chance < 0.75) {
    const [x, y] = [piece(), piece()];
    await told({ rows: { a: x, b: y } }, `BEGIN; ${insert('a', x)}; ${insert('b', y)}; COMMIT`);
  } else if (chance < 0.85 && mine.length > 0) {
    const [gone] = mine.splice(below(mine.length), 1);
    const { table, ids } = gone!;
    await told({ deletes: gone }, `DELETE FROM lake.${table} WHERE id >= ${ids[0]} AND id < ${ids[0] + ids[1]}`);
  } else if (chance < 0.93) await told({}, "CALL ducklake_flush_inlined_data('lake')");
  else await told({}, "CALL ducklake_merge_adjacent_files('lake')");
  await new Promise((resolve) => setTimeout(resolve, below(80)));
}
