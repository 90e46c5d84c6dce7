import { expect, setDefaultTimeout, test } from 'bun:test';
import postgres from 'postgres';
import { t } from '../../src/index.ts';
import { type TestLake, testLake } from '../support/lakes.ts';

setDefaultTimeout(300_000);

const ROUNDS = 3;

/** What became of an insert that began while a client was between reading the head and its own snapshot. */
type Insert = 'went ahead' | 'waits';

/**
 * Commits as DuckDB does: reads the head, thinks, and writes a snapshot after it. `meanwhile` begins an insert of ours after the head was
 * read. Whether the client was the first to make a snapshot after that head.
 */
async function commitSlowly(sql: postgres.Sql, meanwhile: () => Promise<Insert>): Promise<boolean> {
  return sql
    .begin('isolation level repeatable read', async (tx) => {
      const [head] = await tx`SELECT * FROM ducklake_snapshot ORDER BY snapshot_id DESC LIMIT 1`;
      await meanwhile();
      const id = Number(head!['snapshot_id']) + 1;
      await tx`INSERT INTO ducklake_snapshot VALUES (${id}, now(), ${head!['schema_version']}, ${head!['next_catalog_id']}, ${head!['next_file_id']})`;
      await tx`INSERT INTO ducklake_snapshot_changes (snapshot_id, changes_made) VALUES (${id}, ${`created_schema:"s${id}"`})`;
    })
    .then(
      () => true,
      (error: { code?: string }) => {
        // Somebody was faster.
        expect(['23505', '40001']).toContain(error.code!);
        return false;
      },
    );
}

/** A pause for others that is longer than the test, now and for minutes in one of the two of three spans that are waited for. */
async function longGapMs(sql: postgres.Sql): Promise<number> {
  const [{ now }] = (await sql`SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now`) as unknown as [
    { now: number },
  ];
  // Spans are of four gaps. The first of the two, so that the other comes after it.
  for (let gapMs = 100_000; ; gapMs += 1000) if (Math.floor(now / (4 * gapMs)) % 3 === 1) return gapMs;
}

const connect = (place: TestLake): postgres.Sql =>
  postgres(place.address.kind === 'postgres' ? place.address.url : '', { max: 1, onnotice: () => {} });

test('commits in a row let another client in that is about to commit', async () => {
  await using place = await testLake('postgres');
  const [theirs, watcher] = [connect(place), connect(place)];
  const lake = await place.open({ commitGapMs: await longGapMs(watcher) });
  const events = await lake.createTable('events', { id: t.int64() });
  let id = 0;
  const insert = (): Promise<unknown> => events.insert([{ id: id++ }]);
  let pending: Promise<unknown> = Promise.resolve();
  const meanwhile = async (): Promise<Insert> => {
    let isThrough = false;
    pending = insert().then(() => {
      isThrough = true;
    });
    pending.catch(() => undefined);
    for (;;) {
      if (isThrough) return 'went ahead';
      const [row] = await watcher`
        SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`;
      if (row!['n'] > 0) return 'waits';
    }
  };
  // The first two are in a row, and see nobody.
  await insert();
  await insert();
  // Who is there is looked for now and then, so that the first times nothing waits for the client; it keeps trying, as DuckDB does.
  for (let rounds = 0; rounds < ROUNDS; ) {
    let first: Insert | undefined;
    const isFirst = await commitSlowly(theirs, async () => {
      first = await meanwhile();
      return first;
    });
    await pending;
    expect(isFirst).toBe(first === 'waits');
    if (isFirst) rounds++;
  }
  expect((await events.scan().toArray()).length).toBe(id);
  await theirs.end();
  await watcher.end();
});

test('and don’t where they are told not to', async () => {
  await using place = await testLake('postgres');
  const theirs = connect(place);
  const lake = await place.open({ commitGapMs: 0 });
  const events = await lake.createTable('events', { id: t.int64() });
  let id = 0;
  for (let round = 0; round < ROUNDS; round++) {
    // It would wait for ever for a client that waits for it.
    const isFirst = await commitSlowly(theirs, async () => {
      await events.insert([{ id: id++ }]);
      return 'went ahead';
    });
    expect(isFirst).toBe(false);
  }
  expect((await events.scan().toArray()).length).toBe(id);
  await theirs.end();
});
