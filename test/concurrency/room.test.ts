import { expect, setDefaultTimeout, test } from 'bun:test';
import postgres from 'postgres';
import { t } from '../../src/index.ts';
import { type TestLake, testLake } from '../support/lakes.ts';

setDefaultTimeout(120_000);

/** Two of three that begin are waited for, in spans of 400 ms. */
const TRIES = 100;
const ENOUGH = 5;

/** Commits as DuckDB does: reads the head, thinks, and writes a snapshot after it. How often it was the first to do so. */
async function commitSlowly(place: TestLake, tries: number): Promise<number> {
  const sql = postgres(place.address.kind === 'postgres' ? place.address.url : '', { max: 1, onnotice: () => {} });
  let wins = 0;
  try {
    for (let n = 0; n < tries && wins < ENOUGH; n++)
      await sql
        .begin('isolation level repeatable read', async (tx) => {
          const [head] = await tx`SELECT * FROM ducklake_snapshot ORDER BY snapshot_id DESC LIMIT 1`;
          await new Promise((resolve) => setTimeout(resolve, 30));
          const id = Number(head!['snapshot_id']) + 1;
          await tx`INSERT INTO ducklake_snapshot VALUES (${id}, now(), ${head!['schema_version']}, ${head!['next_catalog_id']}, ${head!['next_file_id']})`;
          await tx`INSERT INTO ducklake_snapshot_changes (snapshot_id, changes_made) VALUES (${id}, ${`created_schema:"s${id}"`})`;
          wins++;
        })
        // Somebody was faster.
        .catch((error: { code?: string }) => expect(['23505', '40001']).toContain(error.code!));
  } finally {
    await sql.end();
  }
  return wins;
}

for (const commitGapMs of [0, 100])
  test(`commits in a row let another client in, unless they are told not to: commitGapMs ${commitGapMs}`, async () => {
    await using place = await testLake('postgres');
    const lake = await place.open({ commitGapMs });
    const events = await lake.createTable('events', { id: t.int64() });
    let isOver = false;
    let id = 0;
    const writing = (async () => {
      while (!isOver) await events.insert([{ id: id++ }]);
    })();
    while (id < 20) await new Promise((resolve) => setTimeout(resolve, 5));
    const wins = await commitSlowly(place, commitGapMs > 0 ? TRIES : 12);
    isOver = true;
    await writing;
    if (commitGapMs > 0) expect(wins).toBe(ENOUGH);
    else expect(wins).toBeLessThan(ENOUGH);
    expect((await events.scan().toArray()).length).toBe(id);
  });
