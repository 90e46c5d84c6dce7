import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import postgres from 'postgres';
import { localStore } from '../../adapters/local.ts';
import { postgresCatalog } from '../../adapters/postgres.ts';
import { isLakeError, type Lake, openLake, t } from '../../src/index.ts';
import { type TestLake, testLake } from '../support/lakes.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';
import { type PostgresWire, postgresWire } from '../support/postgres-wire.ts';
import { freshDatabase } from '../support/services.ts';
import { watchedStore } from '../support/watched-store.ts';

setDefaultTimeout(900_000);

/** Lakes that are cut off side by side. */
const LANES = 6;
/** Between the cuts of a long request: its text is one message, of which the server does nothing until it is whole. */
const STRIDE = 1499;

let database: Awaited<ReturnType<typeof freshDatabase>>;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database?.[Symbol.asyncDispose]());

interface Cut {
  readonly direction: 'request' | 'response';
  readonly byteCount: number;
}

/** Rows that are committed together, one in each table, all with one id; and what their caller is told. */
interface Part {
  readonly id: number;
  readonly tables: readonly string[];
  readonly told: Promise<unknown>;
}

interface Kind {
  readonly prepare: boolean;
  /** Every so many bytes of an answer the connection is cut. */
  readonly step: number;
  run(lake: Lake, id: number): readonly Part[];
}

const columns = { id: t.int64().notNull(), v: t.varchar() };
const row = (id: number): { id: bigint; v: string }[] => [{ id: BigInt(id), v: `${id}` }];

const insert = (lake: Lake, id: number): Part[] => [{ id, tables: ['a'], told: lake.table('a').insert(row(id)) }];

const kinds: Readonly<Record<string, Kind>> = {
  'an insert as one message': { prepare: false, step: 1, run: insert },
  'an insert by a prepared statement': { prepare: true, step: 1, run: insert },
  'a transaction over two tables that makes a third': {
    prepare: false,
    step: 5,
    run(lake, id) {
      const told = lake.transaction(async (tx) => {
        await tx.table('a').insert(row(id));
        await tx.table('b').insert(row(id));
        const made = await tx.createTable(`made_${id}`, columns);
        await made.insert(row(id));
      });
      return [{ id, tables: ['a', 'b', `made_${id}`], told }];
    },
  },
  'appends of a buffered writer': {
    prepare: false,
    step: 5,
    run(lake, id) {
      const writer = lake.table('a').writer({ maxDelayMs: 0 });
      // The first is committed at once, the others together after it.
      return [id, id + 1, id + 2].map((one) => ({ id: one, tables: ['a'], told: writer.append(row(one)) }));
    },
  },
};

interface Lane {
  readonly place: TestLake;
  readonly wire: PostgresWire;
  readonly lake: Lake;
  readonly created: string[];
  close(): Promise<void>;
}

async function openLane(prepare: boolean): Promise<Lane> {
  const wire = await postgresWire(database.url);
  const schema = `cut_${crypto.randomUUID()}`;
  const place = await testLake('postgres', { url: database.url, schema });
  const sql = postgres(wire.url, { prepare, max: 1, onnotice: () => {}, backoff: () => 0.01 });
  const { store, created } = watchedStore(localStore());
  const catalog = postgresCatalog({ sql, schema, prepare });
  const lake = await openLake({ dataInliningRowLimit: 0, catalog, store, dataPath: place.dataPath });
  for (const name of ['a', 'b']) await lake.createTable(name, columns);
  return {
    place,
    wire,
    lake,
    created,
    async close() {
      await lake.close();
      await sql.end({ timeout: 1 });
      await place[Symbol.asyncDispose]();
      await wire[Symbol.asyncDispose]();
    },
  };
}

/** Every boundary of an answer, but of a request only some within its long text: the server begins when it has all of it. */
function cutsOf(sent: number, received: number, step: number): Cut[] {
  const cuts: Cut[] = [];
  for (let byteCount = 1; byteCount < received; byteCount += step) cuts.push({ direction: 'response', byteCount });
  for (let byteCount = 1; byteCount < sent; byteCount += byteCount < 8 || byteCount > sent - 20 ? 1 : STRIDE)
    cuts.push({ direction: 'request', byteCount: Math.min(byteCount, sent - 1) });
  return cuts;
}

/** All three or four at most a call, and ids that don't meet. */
let lastId = 0;
const newId = (): number => (lastId += 4);

interface Outcome {
  readonly part: Part;
  /** The cut, when the exchange was long enough for it. */
  readonly cut: Cut | undefined;
  readonly state: 'done' | 'refused' | 'unknown';
}

async function call(lane: Lane, kind: Kind, cut: Cut | undefined): Promise<Outcome[]> {
  lane.wire.cutAfter = cut;
  const parts = kind.run(lane.lake, newId());
  const results = await Promise.allSettled(parts.map(({ told }) => told));
  if (lane.wire.cutAfter !== undefined) cut = undefined;
  lane.wire.cutAfter = undefined;
  return results.map((result, i): Outcome => {
    const part = parts[i]!;
    if (result.status === 'fulfilled') return { part, cut, state: 'done' };
    if (isLakeError(result.reason, 'COMMIT_UNKNOWN')) return { part, cut, state: 'unknown' };
    if (!isLakeError(result.reason, 'CATALOG_UNAVAILABLE')) throw result.reason;
    return { part, cut, state: 'refused' };
  });
}

for (const [name, kind] of Object.entries(kinds))
  test(`${name}, cut off at each byte of its exchange`, async () => {
    const lanes = await Promise.all(Array.from({ length: LANES }, () => openLane(kind.prepare)));
    try {
      const [first] = lanes;
      const outcomes = new Map(lanes.map((lane): [Lane, Outcome[]] => [lane, []]));
      // Once for the schema, and once to see how long the exchange is.
      for (let n = 0; n < 2; n++) {
        first!.wire.reset();
        outcomes.get(first!)!.push(...(await call(first!, kind, undefined)));
      }
      const cuts = cutsOf(first!.wire.sentBytes(), first!.wire.receivedBytes(), kind.step);
      await Promise.all(
        lanes.map(async (lane) => {
          for (let cut = cuts.pop(); cut; cut = cuts.pop()) outcomes.get(lane)!.push(...(await call(lane, kind, cut)));
          // It goes on, on the connection that it has.
          outcomes.get(lane)!.push(...(await call(lane, kind, undefined)));
        }),
      );
      await using duck = await openOracle();
      for (const [lane, told] of outcomes) await check(lane, told, duck);
      const all = [...outcomes.values()].flat();
      // The catalog can be asked afterwards, and so each call knows how it ended.
      for (const direction of ['request', 'response'] as const)
        expect(all.filter(({ cut }) => cut?.direction === direction).length).toBeGreaterThan(5);
      expect(all.filter(({ state }) => state === 'unknown')).toEqual([]);
    } finally {
      for (const lane of lanes) await lane.close();
    }
  });

/** Everybody was told the truth, and unknown outcomes kept their files. */
async function check(lane: Lane, outcomes: readonly Outcome[], duck: Oracle): Promise<void> {
  const rows = new Map<string, number[]>();
  for (const { name } of await lane.lake.tables())
    rows.set(
      name,
      (await lane.lake.table(name).scan().toArray()).map(({ id }) => Number(id)),
    );
  const seen = (table: string, id: number): number => rows.get(table)?.filter((other) => other === id).length ?? 0;
  let unknown = 0;
  for (const { part, state, cut } of outcomes) {
    const counts = part.tables.map((table) => seen(table, part.id));
    const [count] = counts;
    expect([cut, counts]).toEqual([cut, part.tables.map(() => count!)]);
    if (state === 'unknown') unknown += part.tables.length;
    expect([cut, state, count]).toEqual([
      cut,
      state,
      state === 'unknown' ? Math.min(count!, 1) : state === 'done' ? 1 : 0,
    ]);
  }
  expect([...rows.values()].flat().length).toBe(
    outcomes.reduce((sum, { part }) => sum + part.tables.filter((table) => seen(table, part.id) > 0).length, 0),
  );
  const registered = new Set<string>();
  for (const name of rows.keys())
    for (const { location } of await lane.lake.table(name).files()) registered.add(location);
  const stored = await watchedStore(localStore(), lane.place.dataPath).left();
  expect([...registered].filter((location) => !stored.includes(location))).toEqual([]);
  expect(stored.filter((location) => !registered.has(location)).length).toBeLessThanOrEqual(unknown);
  const snapshots = await Array.fromAsync(lane.lake.snapshots());
  expect(snapshots.map(({ id }) => id)).toEqual(snapshots.map((_, i) => i));
  await lane.place.attach(duck);
  const ids = rows.get('a')!;
  expect(
    await duck.rowsAgreed('SELECT count(*) AS n, max(id) AS high, count(DISTINCT rowid) AS ids FROM lake.a'),
  ).toEqual([{ n: `${ids.length}`, high: `${Math.max(...ids)}`, ids: `${ids.length}` }]);
  await duck.detach();
}
