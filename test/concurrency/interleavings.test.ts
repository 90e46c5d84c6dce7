import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Lake } from '../../src/index.ts';
import { Random } from '../lakes/random.ts';
import { lakeParticipant, runOn, seenBy } from '../support/interleaved-lake.ts';
import {
  interleave,
  type Op,
  orders,
  type Participant,
  type Program,
  type Seen,
  start,
  startedModel,
  stepCount,
} from '../support/interleaving.ts';
import { type TestLake, testLake } from '../support/lakes.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';
import { programs } from '../support/programs.ts';

setDefaultTimeout(900_000);

/** Orders of the steps of programs, with rows that tell the programs apart: what a seed says. */
function sample(seed: number): { readonly chosen: readonly Program[]; readonly order: readonly number[] } {
  const random = new Random(seed);
  const chosen = [0, 1, 2].map((who): Program => {
    const { ops, ...rest } = random.pick(programs);
    return { ...rest, ops: ops.map((op, i) => ('id' in op ? { ...op, id: 100 * (who + 1) + i } : op)) };
  });
  const steps = chosen.flatMap((program, who) => new Array<number>(stepCount(program)).fill(who));
  return { chosen, order: random.shuffled(steps) };
}

const sqlOf = (op: Op): string => {
  switch (op.kind) {
    case 'createSchema':
      return `CREATE SCHEMA lake.${op.schema}`;
    case 'dropSchema':
      return `DROP SCHEMA lake.${op.schema}`;
    case 'create':
      return `CREATE TABLE lake.${op.table} (id INTEGER)`;
    case 'drop':
      return `DROP TABLE lake.${op.table}`;
    case 'insert':
      return `INSERT INTO lake.${op.table} VALUES (${op.id})`;
  }
};

async function seenByDuckDb(duck: Oracle): Promise<Seen> {
  const schemas = await duck.rows("SELECT schema_name AS name FROM duckdb_schemas() WHERE database_name = 'lake'");
  const found = await duck.rows(
    "SELECT schema_name || '.' || table_name AS ref FROM duckdb_tables() WHERE database_name = 'lake' ORDER BY ref",
  );
  const tables: Record<string, number[]> = {};
  for (const { ref } of found)
    tables[ref!] = (await duck.rowsAgreed(`SELECT id FROM lake.${ref} ORDER BY id`)).map(({ id }) => Number(id));
  return { schemas: schemas.map(({ name }) => name!).sort(), tables };
}

/** Errors of DuckDB that mean: that can't be done. */
const refusal = (error: unknown): Error =>
  /Catalog Error|already exists|does not exist|Transaction conflict|Dependency Error/.test(String(error))
    ? Object.assign(new Error(String(error)), { code: 'CONFLICT' })
    : (error as Error);

function duckParticipant(duck: Oracle): Participant {
  const run = (sql: string): Promise<void> =>
    duck.run(sql).catch((error: unknown) => {
      throw refusal(error);
    });
  return {
    async begin() {
      await duck.run('BEGIN');
      // A transaction begins with what it asks first.
      await duck.rows('FROM lake.current_snapshot()');
    },
    run: (op) => run(sqlOf(op)),
    see: () => seenByDuckDb(duck),
    async commit() {
      try {
        await duck.run('COMMIT');
        return true;
      } catch (error) {
        await duck.run('ROLLBACK').catch(() => undefined);
        if (/Transaction conflict/.test(String(error))) return false;
        throw error;
      }
    },
    abort: () => duck.run('ROLLBACK'),
    call: (op) => run(sqlOf(op)),
  };
}

/** Drops everything and starts again: a database of its own for each order would take longer. */
async function startAgain(lake: Lake): Promise<void> {
  await lake.transaction(async (tx) => {
    for (const { schema, name } of await tx.tables()) await tx.dropTable({ schema, name });
    for (const { name } of await tx.schemas()) if (name !== 'main') await tx.dropSchema(name);
  });
  for (const op of start) await runOn(lake as never, op);
}

describe.each(['sqlite', 'postgres'] as const)('sampled orders of the steps of three transactions, %s', (kind) => {
  let place: TestLake;
  let handles: readonly Lake[];
  let duck: Oracle;

  beforeAll(async () => {
    place = await testLake(kind);
    handles = await Promise.all([0, 10, 0].map((dataInliningRowLimit) => place.open({ dataInliningRowLimit })));
    duck = await openOracle();
    await place.attach(duck);
    await duck.run('SET ducklake_retry_wait_ms = 1');
  });
  afterAll(async () => {
    await duck?.close();
    await place?.[Symbol.asyncDispose]();
  });

  const runSample = async (seed: number, participants: readonly Participant[]): Promise<void> => {
    await startAgain(handles[0]!);
    const first = (await Array.fromAsync(handles[0]!.snapshots())).at(-1)!.id;
    const { chosen, order } = sample(seed);
    const model = startedModel();
    const before = model.log.length;
    await interleave({ programs: chosen, participants, order, model });
    const seen = model.head.seen();
    expect(await seenBy(handles[1]!)).toEqual(seen);
    expect(await seenByDuckDb(duck)).toEqual(seen);
    const last = (await Array.fromAsync(handles[0]!.snapshots())).at(-1)!.id;
    expect(last - first).toBe(model.log.length - before);
  };

  test('of ours', async () => {
    for (let seed = 1; seed <= 25; seed++) await runSample(seed, handles.map(lakeParticipant));
  });

  // DuckDB's transactions keep a lock on SQLite, which clients of one process don't see.
  if (kind === 'postgres')
    test('of ours and DuckDB', async () => {
      for (let seed = 101; seed <= 130; seed++)
        await runSample(seed, [duckParticipant(duck), ...handles.slice(1).map(lakeParticipant)]);
    });
});

test('samples are among all orders', () => {
  const { chosen, order } = sample(1);
  expect([...orders(chosen.map(stepCount))].map((one) => one.join())).toContain(order.join());
});
