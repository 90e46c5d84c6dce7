import { describe, expect, test } from 'bun:test';
import { collect, rejects } from '../../src/conformance/case.ts';
import { type Lake, t } from '../../src/index.ts';
import { CATALOG_KINDS, catalogAt, type TestLake, testLake } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';

const makeEvents = (lake: Lake): Promise<unknown> => lake.createTable('events', { id: t.int32(), name: t.varchar() });
const rows = (...ids: number[]): { id: number; name: string }[] => ids.map((id) => ({ id, name: `n${id}` }));

for (const kind of CATALOG_KINDS)
  describe(`idempotency keys on ${kind}`, () => {
    test('DuckDB attaches, reads, writes, expires and cleans up beside them, and a repeat gets the first result for ever', async () => {
      await using place = await testLake(kind);
      await using duck = await openOracle();
      const options = { idempotencyKey: 'load 1' };
      let lake = await place.open();
      await makeEvents(lake);
      const first = await lake.table('events').insert(rows(1, 2), options);
      expect([first.snapshotId, first.rowCount, first.files.length, first.isRepeat]).toEqual([2, 2, 1, undefined]);
      const repeat = { ...first, isRepeat: true };
      expect(await lake.table('events').insert(rows(1, 2), options)).toEqual(repeat as never);
      // What is in the rows doesn't matter, nor whether they fit: it was done.
      expect(await lake.table('EVENTS').insert([{ id: 'x' }], options)).toEqual(repeat as never);
      await lake.close();

      await place.attach(duck);
      const all = (): Promise<unknown> => duck.rowsAgreed('SELECT * FROM lake.events ORDER BY id');
      const ofIds = (...ids: number[]): unknown => ids.map((id) => ({ id: `${id}`, name: `n${id}` }));
      expect(await all()).toEqual(ofIds(1, 2));
      await duck.run(`INSERT INTO lake.events VALUES (3, 'n3'); UPDATE lake.events SET name = 'n1' WHERE id = 1`);
      expect(await all()).toEqual(ofIds(1, 2, 3));
      await duck.run(`CALL ducklake_merge_adjacent_files('lake')`);
      await duck.run(`CALL ducklake_expire_snapshots('lake', older_than => now())`);
      await duck.run(`CALL ducklake_cleanup_old_files('lake', cleanup_all => true)`);
      expect(await all()).toEqual(ofIds(1, 2, 3));
      await duck.detach();

      lake = await place.open();
      expect((await collect(lake.snapshots())).map(({ id }) => id)).not.toContain(first.snapshotId);
      expect(await lake.table('events').insert(rows(1, 2), options)).toEqual(repeat as never);
      expect((await lake.table('events').insert(rows(4), { idempotencyKey: 'load 2' })).isRepeat).toBeUndefined();
      await lake.close();
      await place.attach(duck);
      expect(await all()).toEqual(ofIds(1, 2, 3, 4));
      await duck.run(`INSERT INTO lake.events VALUES (5, 'n5')`);
      expect(await all()).toEqual(ofIds(1, 2, 3, 4, 5));
    });

    test('a snapshot without changes, which settles an unknown outcome, is none of DuckDB’s business', async () => {
      await using place = await testLake(kind);
      await using duck = await openOracle();
      const lake = await place.open();
      await makeEvents(lake);
      await lake.table('events').insert(rows(1));
      const { snapshots, settle } = await emptySnapshots(place);
      if (kind === 'sqlite') await lake.close();
      await settle();
      await place.attach(duck);
      await duck.run('BEGIN');
      await duck.run(`INSERT INTO lake.events VALUES (2, 'n2')`);
      // In between on Postgres; SQLite would lock the two out of each other.
      if (kind === 'postgres') {
        await settle();
        await lake.table('events').insert(rows(3));
        await settle();
      }
      await duck.run('COMMIT');
      expect(await snapshots()).toBe(kind === 'postgres' ? 3 : 1);
      const ids = kind === 'postgres' ? ['1', '2', '3'] : ['1', '2'];
      expect(await duck.rowsAgreed('SELECT id FROM lake.events ORDER BY id')).toEqual(ids.map((id) => ({ id })));
      const told = await duck.rows('SELECT changes FROM lake.snapshots() ORDER BY snapshot_id');
      expect(told.filter(({ changes }) => changes === '{}').length).toBe(await snapshots());
      await duck.run(`DELETE FROM lake.events WHERE id = 1`);
      expect(await duck.rowsAgreed('SELECT count(*) AS n FROM lake.events')).toEqual([{ n: `${ids.length - 1}` }]);
    });

    test('callers that race with one key, of several handles, commit once and get the same', async () => {
      await using place = await testLake(kind);
      const lakes = await Promise.all(Array.from({ length: 4 }, () => place.open()));
      await makeEvents(lakes[0]!);
      for (let round = 0; round < 3; round++) {
        const options = { idempotencyKey: `round ${round}` };
        const calls = lakes.flatMap((lake) => [
          lake.table('events').insert(rows(round), options),
          lake.table('events').insert(rows(round), options),
        ]);
        const results = await Promise.all(calls);
        expect(results.filter(({ isRepeat }) => !isRepeat).length).toBe(1);
        for (const { isRepeat, ...result } of results) expect(result).toEqual(plain(results[0]!));
      }
      const found = await lakes[0]!
        .table('events')
        .scan({ columns: ['id'] })
        .toArray();
      expect(found.map(({ id }) => id).sort()).toEqual([0, 1, 2]);
      expect((await collect(lakes[0]!.snapshots())).length).toBe(5);
      const files = await lakes[0]!.table('events').files();
      expect(await localFiles(place)).toBe(files.length);
    });

    test('a transaction runs its callback once for a key, and its value is kept', async () => {
      await using place = await testLake(kind);
      const [lake, other] = [await place.open(), await place.open()];
      let runs = 0;
      const run = (target: Lake): Promise<unknown> =>
        target.transaction(
          async (tx) => {
            runs++;
            const events = await tx.createTable('events', { id: t.int32() });
            const { rowCount } = await events.insert([{ id: 1 }]);
            return { rowCount, text: 'é"\'\\\n', list: [1.5, null, true, {}] };
          },
          { idempotencyKey: 'setup' },
        );
      const value = { rowCount: 1, text: 'é"\'\\\n', list: [1.5, null, true, {}] };
      const outcomes = await Promise.all([run(lake), run(other), run(lake)]);
      expect(outcomes.filter((one) => !(one as { isRepeat?: true }).isRepeat)).toEqual([{ snapshotId: 1, value }]);
      for (const outcome of outcomes) expect(outcome).toMatchObject({ snapshotId: 1, value });
      const before = runs;
      expect(await run(other)).toEqual({ snapshotId: 1, value, isRepeat: true });
      expect(runs).toBe(before);
      expect(await localFiles(place)).toBe(1);
      expect(await lake.table('events').scan().toArray()).toEqual([{ id: 1 }]);
    });

    test('definitions take keys too', async () => {
      await using place = await testLake(kind);
      const lake = await place.open();
      for (let k = 0; k < 2; k++) {
        await lake.createTable('a', { id: t.int32() }, { idempotencyKey: 'make a' });
        await lake.createSchema('s', { idempotencyKey: 'make s' });
      }
      for (let k = 0; k < 2; k++) await lake.dropTable('a', { idempotencyKey: 'drop a' });
      expect((await collect(lake.snapshots())).length).toBe(4);
    });
  });

describe('idempotency keys', () => {
  test('are refused for another use than the first, and where they can be none', async () => {
    await using place = await testLake('sqlite');
    const lake = await place.open();
    await makeEvents(lake);
    await lake.createTable('other', { id: t.int32() });
    const key = { idempotencyKey: 'k' };
    await lake.table('events').insert(rows(1), key);
    const error = await rejects(() => lake.table('other').insert([{ id: 1 }], key), 'INVALID_ARGUMENT');
    expect(error.message).toContain('an insert into "main"."events" in snapshot 3');
    expect(error.message).toContain('an insert into "main"."other"');
    let runs = 0;
    await rejects(() => lake.transaction(() => void runs++, key), 'INVALID_ARGUMENT');
    expect(runs).toBe(0);
    const bad = ['', 'x'.repeat(256), 'a\0b', '\ud800', 7, null, {}];
    for (const idempotencyKey of bad as string[]) {
      await rejects(() => lake.table('other').insert([{ id: 1 }], { idempotencyKey }), 'INVALID_ARGUMENT');
      await rejects(() => lake.transaction(() => {}, { idempotencyKey }), 'INVALID_ARGUMENT');
    }
    await lake.table('other').insert([{ id: 1 }], { idempotencyKey: '🦆'.repeat(127) });
    expect(await localFiles(place)).toBe(2);
  });

  test('ask of a transaction that its value can be given again', async () => {
    await using place = await testLake('sqlite');
    const lake = await place.open();
    await makeEvents(lake);
    const values = [1n, new Date(0), Number.NaN, -0, new Map(), [undefined], { a: { b: 1n } }, () => 1, Symbol('s')];
    for (const [k, value] of values.entries())
      await rejects(
        () =>
          lake.transaction(
            async (tx) => {
              await tx.table('events').insert(rows(k));
              return value;
            },
            { idempotencyKey: `value ${k}` },
          ),
        'INVALID_ARGUMENT',
        String(value),
      );
    expect(await localFiles(place)).toBe(0);
    const nothing = (): Promise<unknown> =>
      lake.transaction(async (tx) => void (await tx.table('events').insert(rows(1))), { idempotencyKey: 'nothing' });
    expect(await nothing()).toEqual({ snapshotId: 2, value: undefined });
    expect(await nothing()).toEqual({ snapshotId: 2, value: undefined, isRepeat: true });
  });

  test('are free again when what used them failed, wrote nothing, or was forgotten', async () => {
    await using place = await testLake('sqlite');
    const lake = await place.open();
    await makeEvents(lake);
    const events = lake.table('events');
    const key = { idempotencyKey: 'k' };
    await rejects(() => events.insert([{ id: 1 }, { id: 'x' }], key), 'INVALID_VALUE');
    expect(await events.insert([], key)).toEqual({ ...(await events.insert([])) });
    expect((await lake.transaction(() => 1, key)).snapshotId).toBeUndefined();
    await rejects(
      () =>
        lake.transaction(async (tx) => {
          await tx.table('events').insert(rows(1));
          throw new TypeError('mine');
        }, key),
      'INVALID_VALUE',
    ).catch((failure) => expect(String(failure.cause)).toContain('mine'));
    expect((await events.insert(rows(1), key)).isRepeat).toBeUndefined();
    expect(await lake.forgetKeys({ usedBefore: new Date(Date.now() - 3_600_000) })).toBe(0);
    expect((await events.insert(rows(1), key)).isRepeat).toBe(true);
    expect(await lake.forgetKeys({ usedBefore: new Date(Date.now() + 3_600_000) })).toBe(1);
    expect((await events.insert(rows(1), key)).isRepeat).toBeUndefined();
    for (const usedBefore of [new Date(Number.NaN), undefined, '2020-01-01'] as Date[])
      await rejects(() => lake.forgetKeys({ usedBefore }), 'INVALID_ARGUMENT');
  });

  test('stop an upload that is under way when the key turns out to be used', async () => {
    await using place = await testLake('postgres');
    const lake = await place.open();
    await makeEvents(lake);
    const key = { idempotencyKey: 'k' };
    await lake.table('events').insert(rows(1), key);
    let isEnded = false;
    async function* endless(): AsyncGenerator<{ id: number }> {
      try {
        for (let id = 0; ; id++) {
          if (id % 1000 === 0) await Bun.sleep(1);
          yield { id };
        }
      } finally {
        isEnded = true;
      }
    }
    expect((await lake.table('events').insert(endless(), key)).isRepeat).toBe(true);
    while (!isEnded) await Bun.sleep(1);
    expect(await localFiles(place)).toBe(1);
    // The caller's own abort is the caller's.
    const reason = new Error('mine');
    const abort = AbortSignal.abort(reason);
    const aborted = await lake
      .table('events')
      .insert(rows(1), { ...key, signal: abort })
      .then(
        () => undefined,
        (error) => error,
      );
    expect(aborted).toBe(reason);
  });
});

const plain = <T extends { isRepeat?: true | undefined }>({ isRepeat, ...result }: T): never => result as never;

async function localFiles(place: TestLake): Promise<number> {
  const glob = new Bun.Glob('**/*.parquet');
  return (await collect(glob.scan({ cwd: place.folder }))).length;
}

/** Snapshots as an unknown outcome leaves them, and how many of them there are. */
async function emptySnapshots(place: TestLake): Promise<{ snapshots(): Promise<number>; settle(): Promise<void> }> {
  return {
    async snapshots() {
      const found = await place.sql('SELECT count(*) AS n FROM ducklake_snapshot_changes WHERE changes_made IS NULL');
      return Number(found[0]!['n']);
    },
    async settle() {
      const lake = await place.open();
      const { catalog, close } = catalogAt(place.address);
      const { id, time } = (await catalog.readHead()).snapshot;
      const token = {
        witness: { table: 'ducklake_data_file', column: 'path', value: 'none' },
        base: { id, time },
        fence: 'unless',
        changes: ['inserted_into_table:1'],
        keys: [],
      };
      expect(await lake.resolve(JSON.stringify(token))).toEqual({ status: 'notCommitted' });
      await lake.close();
      await catalog[Symbol.asyncDispose]();
      await close();
    },
  };
}
