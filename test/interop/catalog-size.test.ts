import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { DatabaseSync } from 'node:sqlite';
import postgres from 'postgres';
import { localStore } from '../../adapters/local.ts';
import { postgresCatalog } from '../../adapters/postgres.ts';
import { type SqliteDatabase, sqliteCatalog } from '../../adapters/sqlite.ts';
import { type Lake, openLake, t } from '../../src/index.ts';
import { type TestLake, testLake } from '../support/lakes.ts';
import { growCatalog } from '../support/large-catalog.ts';
import { openOracle } from '../support/oracle.ts';
import { type PostgresWire, postgresWire } from '../support/postgres-wire.ts';
import { freshDatabase } from '../support/services.ts';

setDefaultTimeout(300_000);

const size = { tables: 400, snapshots: 5000, files: 5000 };
/** Ids grow longer, and so does the text that they are in. */
const SLACK = 300;

const columns = { id: t.int64().notNull(), at: t.timestamp(), v: t.varchar() };
let lastId = 0;
const rows = (count: number): { id: number; at: Date; v: string }[] =>
  Array.from({ length: count }, () => ({ id: ++lastId, at: new Date(86_400_000 * lastId), v: 'value' }));

type Call = (lake: Lake) => Promise<unknown>;

/** What writers do again and again. The name is said in front of what was counted. */
const calls: Readonly<Record<string, Call>> = {
  append: (lake) => lake.table('events').insert(rows(30)),
  'inlined insert': (lake) => lake.table('events').insert(rows(3)),
  transaction: (lake) =>
    lake.transaction(async (tx) => {
      await tx.table('events').insert(rows(30));
      await tx.table('others').insert(rows(30));
    }),
  'transaction that makes a table': (lake) =>
    lake.transaction(async (tx) => {
      const made = await tx.createTable(`made_${++lastId}`, columns);
      await made.insert(rows(30));
      await tx.table('events').insert(rows(30));
    }),
};

/** Makes the tables, with rows of every kind and all that is made at first use. */
async function prepare(lake: Lake): Promise<void> {
  for (const table of ['events', 'others']) await lake.createTable(table, columns);
  await lake.table('others').insert(rows(30));
  for (const call of Object.values(calls)) await call(lake);
}

describe('Postgres', () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  let wire: PostgresWire;
  let place: TestLake;
  beforeAll(async () => {
    database = await freshDatabase();
    wire = await postgresWire(database.url);
    place = await testLake('postgres', { url: database.url });
    await using lake = await open();
    await prepare(lake);
  });
  afterAll(async () => {
    await wire?.[Symbol.asyncDispose]();
    await place?.[Symbol.asyncDispose]();
    await database?.[Symbol.asyncDispose]();
  });

  async function open(): Promise<Lake> {
    const sql = postgres(wire.url, { prepare: false, max: 1, fetch_types: false, onnotice: () => {} });
    return openLake({ catalog: postgresCatalog({ sql, end: true }), store: localStore(), dataPath: place.dataPath });
  }

  interface OnWire {
    readonly counts: object;
    readonly roundTrips: number;
    readonly sent: number;
    readonly received: number;
  }

  async function onWire(call: Call): Promise<OnWire> {
    await using lake = await open();
    // The schema is known from here on.
    await lake.table('events').describe();
    wire.reset();
    await call(lake);
    return {
      counts: wire.counts(),
      roundTrips: wire.roundTrips(),
      sent: wire.sentBytes(),
      received: wire.receivedBytes(),
    };
  }

  async function all(): Promise<Map<string, OnWire>> {
    const seen = new Map<string, OnWire>();
    for (const [name, call] of Object.entries(calls)) seen.set(name, await onWire(call));
    return seen;
  }

  const opening = async (): Promise<OnWire> => {
    wire.reset();
    await using _lake = await open();
    const { counts, roundTrips, sentBytes, receivedBytes } = wire;
    return { counts: counts(), roundTrips: roundTrips(), sent: sentBytes(), received: receivedBytes() };
  };

  function expectSame(name: string, now: OnWire, before: OnWire): void {
    expect([name, now.counts, now.roundTrips]).toEqual([name, before.counts, before.roundTrips]);
    for (const what of ['sent', 'received'] as const)
      if (Math.abs(now[what] - before[what]) > SLACK)
        throw new Error(`${name}: ${now[what]} bytes ${what}, ${before[what]} before`);
  }

  test('messages, round trips and bytes of a call are those of a new lake', async () => {
    const before = await all();
    const openedBefore = await opening();
    expect([...before].map(([name, { roundTrips }]) => [name, roundTrips])).toEqual([
      ['append', 1],
      ['inlined insert', 1],
      ['transaction', 2],
      ['transaction that makes a table', 2],
    ]);
    // What a lake opens with are its tables, however long it lived.
    await growCatalog(place, { ...size, tables: 0 });
    expectSame('opening', await opening(), openedBefore);
    await growCatalog(place, { ...size, snapshots: 1, files: 0 });
    for (const [name, now] of await all()) expectSame(name, now, before.get(name)!);
    const grown = await opening();
    expect([grown.counts, grown.roundTrips]).toEqual([openedBefore.counts, openedBefore.roundTrips]);
  });

  test('and DuckDB takes the grown catalog for one', async () => {
    await using duck = await openOracle();
    await place.attach(duck);
    const [row] = await duck.rows("SELECT count(*) AS n FROM duckdb_tables() WHERE table_name LIKE 'grown%'");
    expect(row).toEqual({ n: String(size.tables) });
    expect(
      await duck.rows(`SELECT count(*) > ${size.files} AS more FROM ducklake_list_files('lake', 'events')`),
    ).toEqual([{ more: 'true' }]);
  });
});

describe('SQLite', () => {
  let place: TestLake;
  beforeAll(async () => {
    place = await testLake('sqlite');
    await using lake = await place.open();
    await prepare(lake);
  });
  afterAll(() => place?.[Symbol.asyncDispose]());

  /** The statements that calls run, in order. */
  function watched(path: string): { database: SqliteDatabase; close(): void; readonly statements: string[] } {
    const statements: string[] = [];
    const real = new DatabaseSync(path);
    const database: SqliteDatabase = {
      exec(sql) {
        statements.push(sql);
        return real.exec(sql);
      },
      prepare(sql) {
        const statement = real.prepare(sql);
        return {
          all(...parameters) {
            statements.push(sql);
            return statement.all(...parameters);
          },
          run(...parameters) {
            statements.push(sql);
            return statement.run(...parameters);
          },
        };
      },
      close() {},
    };
    return { database, close: () => real.close(), statements };
  }

  async function all(): Promise<Map<string, string[]>> {
    const seen = new Map<string, string[]>();
    for (const [name, call] of Object.entries(calls)) {
      const { database, close, statements } = watched(place.address.kind === 'sqlite' ? place.address.path : '');
      const lake = await openLake({ catalog: sqliteCatalog({ database }), store: localStore() });
      await lake.table('events').describe();
      statements.length = 0;
      await call(lake);
      seen.set(name, [...statements]);
      await lake.close();
      close();
    }
    return seen;
  }

  test('a call runs as many statements as in a new lake, and none looks through all files or snapshots', async () => {
    // Once for all that is made at first use.
    await all();
    const before = await all();
    await growCatalog(place, size);
    const now = await all();
    for (const [name, statements] of now) expect([name, statements.length]).toEqual([name, before.get(name)!.length]);
    const large =
      /\b(ducklake_snapshot|ducklake_snapshot_changes|ducklake_data_file|ducklake_file_column_stats|ducklake_column)\b/;
    for (const [name, statements] of now)
      for (const text of new Set(statements)) {
        if (!/^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)/i.test(text)) continue;
        const plan = await place.sql(`EXPLAIN QUERY PLAN ${text}`);
        const aliases = new Map(
          [...text.matchAll(/\b(?:FROM|JOIN|,)\s+"?(ducklake_\w+)"?\s+(?:AS\s+)?(\w+)/gi)].map(([, table, alias]) => [
            alias,
            table,
          ]),
        );
        const scans = plan
          .map(({ detail }) => /^SCAN "?(\w+)"?/.exec(String(detail))?.[1])
          .filter((of) => of !== undefined && large.test(aliases.get(of) ?? of));
        expect([name, text, scans]).toEqual([name, text, []]);
      }
  });
});
