/** A worker of the soak, by this library: `node native.ts TASK`, a {@link WorkerTask} as JSON. Goes on until it is killed. */
import { localStore } from '../../adapters/local.ts';
import { randomOf } from '../../bench/lib/data.ts';
import { isLakeError, type Lake, type ObjectStore, openLake, t } from '../../src/index.ts';
import { catalogAt } from '../support/lakes.ts';
import { idOf, type Line, type RowsByTable, say, TABLES, type WorkerTask } from './lines.ts';

const task: WorkerTask = JSON.parse(process.argv[2]!);
const random = randomOf(task.seed);
const below = (n: number): number => Math.floor(random() * n);
const pick = <T>(items: readonly T[]): T => items[below(items.length)]!;

let round = 0;
const local = localStore();
/** Tells of each file before it is there. */
const store: ObjectStore = {
  name: local.name,
  open: (location, options) => local.open(location, options),
  create(location, options) {
    say({ event: 'file', round, location });
    return local.create(location, options);
  },
  delete: (locations, options) => local.delete(locations, options),
  list: (prefix, options) => local.list(prefix, options),
};

const columns = { id: t.int64().notNull(), worker: t.int32(), v: t.varchar() };
const text = 'x'.repeat(40);
let pieces = 0;
let calls = 0;

function piece(count = 1 + below(25)): [number, number] {
  return [idOf(task.worker, pieces++), count];
}

const rowsOf = ([first, count]: readonly [number, number]) =>
  Array.from({ length: count }, (_, i) => ({
    id: first + i,
    worker: task.worker,
    v: i % 7 === 0 ? null : `${text}${i}`,
  }));

/** Says what a call does and what became of it. */
async function told(
  what: { rows: RowsByTable; creates?: string; drops?: string },
  run: () => Promise<{ readonly snapshotId: number | undefined } | undefined>,
): Promise<boolean> {
  const call = calls++;
  inRound.push(call);
  say({ event: 'try', call, ...what });
  let line: Line;
  try {
    const result = await run();
    line = { event: 'done', call, snapshotId: result?.snapshotId };
  } catch (error) {
    if (!isLakeError(error)) throw error;
    line = {
      event: error.code === 'COMMIT_UNKNOWN' ? 'unknown' : 'refused',
      call,
      error: `${error.code}: ${error.message}`,
    };
  }
  say(line);
  return line.event === 'done';
}

let inRound: number[] = [];

const actions: readonly ((lake: Lake) => Promise<unknown>)[] = [
  async function insert(lake) {
    const table = pick(TABLES);
    const rows = piece();
    return told({ rows: { [table]: rows } }, () => lake.table(table).insert(rowsOf(rows)));
  },
  async function insertsAtOnce(lake) {
    return Promise.all(
      Array.from({ length: 2 + below(6) }, () => {
        const table = pick(TABLES);
        const rows = piece();
        return told({ rows: { [table]: rows } }, () => lake.table(table).insert(rowsOf(rows)));
      }),
    );
  },
  async function transaction(lake) {
    const rows = Object.fromEntries(TABLES.filter(() => random() < 0.7).map((name) => [name, piece()]));
    return told({ rows }, () =>
      lake.transaction(async (tx) => {
        for (const [name, ids] of Object.entries(rows)) await tx.table(name).insert(rowsOf(ids));
      }),
    );
  },
  async function buffered(lake) {
    const table = pick(TABLES);
    await using writer = lake.table(table).writer({ maxRows: 40, maxDelayMs: below(10) });
    await Promise.all(
      Array.from({ length: 2 + below(8) }, () => {
        const rows = piece();
        return told({ rows: { [table]: rows } }, () => writer.append(rowsOf(rows)));
      }),
    );
  },
  async function tables(lake) {
    const name = `t_${task.worker}_${calls}`;
    const mine = piece();
    const shared = piece();
    const isMade = await told({ rows: { [name]: mine, a: shared }, creates: name }, () =>
      lake.transaction(async (tx) => {
        const table = await tx.createTable(name, columns);
        await table.insert(rowsOf(mine));
        await tx.table('a').insert(rowsOf(shared));
      }),
    );
    if (!isMade) return;
    const more = piece();
    await told({ rows: { [name]: more } }, () => lake.table(name).insert(rowsOf(more)));
    if (random() < 0.8) await told({ rows: {}, drops: name }, async () => void (await lake.dropTable(name)));
  },
];

const { catalog } = catalogAt(task.address);
const open = (): Promise<Lake> => openLake({ catalog, store, dataPath: task.address.dataPath });
// The database may be locked by one that is paused, and the server may just have hung up.
const lake = await open().catch(async (error) => {
  if (!isLakeError(error, 'CATALOG_UNAVAILABLE')) throw error;
  return open();
});
for (;;) {
  inRound = [];
  // Each table that stays has to be looked at in the end.
  const action = actions[random() < 0.05 ? actions.length - 1 : below(actions.length - 1)]!;
  await action(lake);
  say({ event: 'round', round: round++, calls: inRound });
  if (random() < 0.3) await new Promise((resolve) => setTimeout(resolve, below(60)));
}
