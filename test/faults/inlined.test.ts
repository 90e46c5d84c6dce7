import { expect, setDefaultTimeout, test } from 'bun:test';
import { memoryCatalog, memoryLake, memoryStore } from '../../adapters/memory.ts';
import { isLakeError, type Lake, t } from '../../src/index.ts';
import { type FaultMoment, Faults } from '../support/faults.ts';
import { faultyCatalog } from '../support/faulty-catalog.ts';
import { testLake } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';

setDefaultTimeout(300_000);

interface Place extends AsyncDisposable {
  readonly faults: Faults;
  readonly lake: Lake;
  ids(): Promise<number[]>;
}

async function placeWith(): Promise<Place> {
  const catalog = memoryCatalog();
  const store = memoryStore();
  const faults = new Faults();
  const lake = await memoryLake({ catalog: faultyCatalog(catalog, faults) as never, store });
  await lake.createTable('t', { id: t.int32() });
  const other = await memoryLake({ catalog: memoryCatalog({ sharedWith: catalog }), store });
  return {
    faults,
    lake,
    async ids() {
      const rows = await other.table('t').scan().toArray();
      return rows.map((row) => Number(row['id'])).sort((a, b) => a - b);
    },
    async [Symbol.asyncDispose]() {
      await lake.close();
      await other.close();
    },
  };
}

for (const moment of ['before', 'after', 'lost'] as const satisfies FaultMoment[])
  for (const extraInfo of [undefined, 'mine'])
    test(`a commit of inlined rows that fails ${moment} it had its effect is told truly, extra info ${extraInfo}`, async () => {
      await using place = await placeWith();
      const table = place.lake.table<{ id: number }>('t');
      await table.insert([{ id: 1 }], { extraInfo });
      place.faults.failNext('catalog.commit', moment);
      const outcome = await table.insert([{ id: 2 }], { extraInfo }).then(
        () => 'committed',
        (error: unknown) => (isLakeError(error) ? error.code : String(error)),
      );
      const found = await place.ids();
      if (outcome === 'committed') expect(found).toEqual([1, 2]);
      else if (outcome === 'COMMIT_UNKNOWN') expect([[1], [1, 2]]).toContainEqual(found);
      else expect(found).toEqual([1]);
      // Where the snapshot says what the caller wants it to, others may have made one like it.
      expect(outcome === 'COMMIT_UNKNOWN').toBe(moment === 'after' && extraInfo !== undefined);
      await table.insert([{ id: 3 }]);
      expect(await place.ids()).toEqual([...found, 3]);
    });

test('with a key a commit of inlined rows whose answer was lost is found', async () => {
  await using place = await placeWith();
  const table = place.lake.table<{ id: number }>('t');
  place.faults.failNext('catalog.commit', 'after');
  await table.insert([{ id: 1 }], { idempotencyKey: 'k' });
  expect(await place.ids()).toEqual([1]);
});

test('DuckDB and our callers inline into one table, and both flush it', async () => {
  await using duck = await openOracle();
  await using place = await testLake('postgres');
  const lakes = await Promise.all([0, 1, 2].map(() => place.open({ dataInliningRowLimit: 10 })));
  await lakes[0]!.createTable('t', { id: t.int32(), v: t.varchar() });
  await place.attach(duck, { inliningRowLimit: 10 });
  let isOver = false;
  const theirs: number[] = [];
  const { promise: theyAreIn, resolve: areIn } = Promise.withResolvers<void>();
  const duckLoop = (async () => {
    for (let id = 100_000; !isOver; id++) {
      await duck.run(`INSERT INTO lake.t VALUES (${id}, 'duck')`).then(
        () => {
          theirs.push(id);
          areIn();
        },
        // Its retries may run out.
        () => undefined,
      );
      if (id % 7 === 0) await duck.run("CALL ducklake_flush_inlined_data('lake')").catch(() => undefined);
      await Bun.sleep(10);
    }
  })();
  const mine: number[] = [];
  await Promise.all(
    lakes.map(async (lake, n) => {
      for (let i = 0; i < 40; i++) {
        const id = n * 1000 + i;
        // Ours all come to an end before DuckDB's first where the machine is slow.
        if (i === 20) await theyAreIn;
        await lake.table<{ id: number; v: string }>('t').insert([{ id, v: 'ours' }]);
        mine.push(id);
        if (n === 0 && i % 10 === 9) await lake.maintenance.flushInlined();
        await Bun.sleep(5);
      }
    }),
  );
  isOver = true;
  await duckLoop;
  const expected = [...mine, ...theirs].sort((a, b) => a - b).map(String);
  expect((await duck.rows('SELECT id FROM lake.t ORDER BY id')).map(({ id }) => id)).toEqual(expected);
  expect(await duck.rowsAgreed('SELECT count(*) AS c, count(DISTINCT rowid) AS r FROM lake.t')).toEqual([
    { c: String(expected.length), r: String(expected.length) },
  ]);
  const ours = await lakes[1]!.table('t').scan().toArray();
  expect(ours.map((row) => String(row['id'])).sort((a, b) => Number(a) - Number(b))).toEqual(expected);
  await duck.detach();
});
