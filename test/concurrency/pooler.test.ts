import { expect, setDefaultTimeout, test } from 'bun:test';
import postgres from 'postgres';
import { localStore } from '../../adapters/local.ts';
import { postgresCatalog } from '../../adapters/postgres.ts';
import { type Lake, openLake, t } from '../../src/index.ts';
import { type TestLake, testLake } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';
import { pgbouncer } from '../support/pgbouncer.ts';
import { type PostgresWire, postgresWire } from '../support/postgres-wire.ts';
import { freshDatabase } from '../support/services.ts';

setDefaultTimeout(900_000);

const WRITERS = 32;
const ROUNDS = 3;
const columns = { id: t.int64().notNull(), v: t.varchar() };

async function open(place: TestLake, url: string): Promise<Lake> {
  const sql = postgres(url, { prepare: false, max: 1, onnotice: () => {} });
  // All make and drop tables at once: what changes the schema supersedes what else does.
  const retry = { maxRetries: 1000, retryWaitMs: 100, retryBackoff: 1 };
  const catalog = postgresCatalog({ sql, end: true });
  return openLake({ catalog, store: localStore(), dataPath: place.dataPath, ...retry });
}

/** What outlives a transaction, and so what a pooler would hand to somebody else. */
const SESSION_STATE =
  /\b(SET|RESET|DISCARD|LISTEN|UNLISTEN|NOTIFY|PREPARE|DEALLOCATE|DECLARE|LOAD|TEMP|TEMPORARY)\b|\bset_config|pg_(try_)?advisory_lock|\bBEGIN\s*(;|$)/i;

/** Without the constants, which hold what callers say, and without the variables of a DO. */
const bare = (text: string): string =>
  text
    .replace(/E?'(?:[^'\\]|''|\\.)*'/g, "''")
    .replace(/\bUPDATE\b[^;]*?\bSET\b/g, '')
    .replace(/\$\w+\$DECLARE\b/g, '');

test('32 writers behind a transaction pooler: each commit happens, and none needs a session of its own', async () => {
  await using database = await freshDatabase();
  await using pooler = await pgbouncer(database.url);
  await using wire: PostgresWire = await postgresWire(pooler.url);
  await using place = await testLake('postgres', { url: database.url });
  wire.statements = [];
  {
    await using lake = await open(place, wire.url);
    for (const name of ['a', 'b']) await lake.createTable(name, columns);
  }
  let lastId = 0;
  const rows = (count: number): { id: number; v: string }[] =>
    Array.from({ length: count }, () => ({ id: lastId++, v: 'SET x' }));
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      await using lake = await open(place, wire.url);
      for (let round = 0; round < ROUNDS; round++) {
        await lake.table('a').insert(rows(20));
        // Few enough rows for the catalog, and with a key.
        await lake.table('a').insert(rows(2), { idempotencyKey: `${writer} ${round}` });
        await lake.transaction(async (tx) => {
          await tx.table('a').insert(rows(3));
          await tx.table('b').insert(rows(15));
        });
      }
      await lake.createTable(`t_${writer}`, columns);
      await lake.table(`t_${writer}`).insert(rows(30));
      await lake.table('a').scan().toArray();
      await lake.dropTable(`t_${writer}`);
    }),
  );
  const count = { a: WRITERS * ROUNDS * 25, b: WRITERS * ROUNDS * 15 };
  await using lake = await open(place, wire.url);
  for (const name of ['a', 'b'] as const) {
    const ids = (await lake.table(name).scan().toArray()).map(({ id }) => id);
    expect([ids.length, new Set(ids).size]).toEqual([count[name], count[name]]);
  }
  const snapshots = await Array.fromAsync(lake.snapshots());
  expect(snapshots.map(({ id }) => id)).toEqual(snapshots.map((_, i) => i));
  await using duck = await openOracle();
  await place.attach(duck);
  expect(await duck.rowsAgreed('SELECT count(*) AS n, count(DISTINCT id) AS ids FROM lake.a')).toEqual([
    { n: `${count.a}`, ids: `${count.a}` },
  ]);

  expect(wire.statements.length).toBeGreaterThan(WRITERS * ROUNDS * 3);
  expect([...new Set(wire.statements.map(bare).filter((text) => SESSION_STATE.test(text)))]).toEqual([]);
});

test('a client that was left to prepare statements behind a pooler loses and doubles nothing either', async () => {
  await using database = await freshDatabase();
  await using pooler = await pgbouncer(database.url);
  await using place = await testLake('postgres', { url: database.url });
  {
    await using lake = await open(place, database.url);
    await lake.createTable('a', columns);
  }
  const writers = 6;
  const rounds = 8;
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      const sql = postgres(pooler.url, { max: 1, fetch_types: false, onnotice: () => {} });
      const catalog = postgresCatalog({ sql, prepare: true, end: true });
      await using lake = await openLake({ catalog, store: localStore(), dataPath: place.dataPath });
      for (let round = 0; round < rounds; round++)
        await lake
          .table('a')
          .insert(Array.from({ length: 20 }, (_, i) => ({ id: (writer * rounds + round) * 20 + i })));
    }),
  );
  const sql = postgres(pooler.url, { max: 1, prepare: false, fetch_types: false, onnotice: () => {} });
  try {
    let count = 0;
    // Of all of the pooler's connections, which take turns: not each of them need know it.
    for (let turn = 0; turn < 16; turn++)
      count += (await sql.unsafe("SELECT name FROM pg_prepared_statements WHERE name LIKE 'edgemere%'")).length;
    expect(count).toBeGreaterThan(0);
  } finally {
    await sql.end();
  }
  await using lake = await open(place, database.url);
  const ids = (await lake.table('a').scan().toArray()).map(({ id }) => Number(id)).sort((a, b) => a - b);
  expect(ids).toEqual(Array.from({ length: writers * rounds * 20 }, (_, i) => i));
  const snapshots = await Array.fromAsync(lake.snapshots());
  expect(snapshots.map(({ id }) => id)).toEqual(snapshots.map((_, i) => i));
});

test('what would be found in a statement that needs a session', () => {
  for (const text of [
    'SELECT pg_advisory_lock(1)',
    'SET x = 1',
    'CREATE TEMP TABLE t (a int)',
    'PREPARE p AS SELECT 1',
    "SELECT 'a'; SET x = 'b'",
  ])
    expect([text, SESSION_STATE.test(bare(text))]).toEqual([text, true]);
  for (const text of ['SELECT pg_advisory_xact_lock(1)', 'UPDATE t SET x = 1 WHERE true', "SELECT E'it\\'s; SET x'"])
    expect([text, SESSION_STATE.test(bare(text))]).toEqual([text, false]);
});
