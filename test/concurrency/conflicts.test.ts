import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { localStore } from '../../adapters/local.ts';
import { type Lake, t } from '../../src/index.ts';
import { CATALOG_KINDS, type TestLake, testLake } from '../support/lakes.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';
import { watchedStore } from '../support/watched-store.ts';

setDefaultTimeout(300_000);

const columns = { id: t.int32().notNull(), v: t.varchar() };

for (const kind of CATALOG_KINDS)
  describe(`two clients, ${kind}`, () => {
    let place: TestLake;
    let ours: Lake;
    let theirs: Lake;
    let created: readonly string[];

    beforeEach(async () => {
      place = await testLake(kind);
      const watched = watchedStore(localStore());
      created = watched.created;
      ours = await place.open({ store: watched.store });
      theirs = await place.open();
      await ours.createTable('events', columns);
      // Both have seen it.
      await theirs.table('events').insert([{ id: 0 }]);
      await ours.table('events').insert([{ id: 1 }]);
    });
    afterEach(() => place[Symbol.asyncDispose]());

    const ids = async (lake: Lake, table = 'events'): Promise<unknown[]> =>
      (await lake.table(table).scan().toArray()).map(({ id }) => id).sort();

    /** Data files that lie in the store, and those that the catalog knows: the same ones. */
    const checkFiles = async (): Promise<void> => {
      const stored = await watchedStore(localStore(), place.dataPath).left();
      const known = await place.sql('SELECT path FROM ducklake_data_file');
      expect(stored.map((location) => location.split('/').at(-1)).sort()).toEqual(
        known.map(({ path }) => path as string).sort(),
      );
    };

    const head = async (): Promise<number> => (await Array.fromAsync(ours.snapshots())).at(-1)!.id;

    test('one name is created once', async () => {
      const outcomes = await Promise.allSettled(
        [ours, theirs, ours, theirs].map((lake) => lake.createTable('made', columns)),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBe(1);
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') expect(['ALREADY_EXISTS', 'CONFLICT']).toContain(outcome.reason.code);
      expect((await theirs.tables()).map(({ name }) => name)).toEqual(['events', 'made']);
      expect(await place.sql("SELECT count(*) AS n FROM ducklake_table WHERE table_name = 'made'")).toMatchObject([
        { n: kind === 'sqlite' ? 1 : '1' },
      ]);
    });

    test('different names, schemas and appends at once all happen', async () => {
      const before = await head();
      await Promise.all([
        ours.createTable('a', columns),
        theirs.createTable('b', columns),
        ours.createSchema('s'),
        theirs.createSchema('r'),
        ours.table('events').insert([{ id: 2 }]),
        theirs.table('events').insert([{ id: 3 }]),
        ours.transaction(async (tx) => {
          const c = await tx.createTable('c', columns);
          await c.insert([{ id: 4 }]);
          await tx.table('events').insert([{ id: 5 }]);
        }),
      ]);
      expect(await head()).toBe(before + 7);
      expect(await ids(theirs)).toEqual([0, 1, 2, 3, 5]);
      expect(await ids(theirs, 'c')).toEqual([4]);
      const [tables, schemas] = [await theirs.tables(), await theirs.schemas()];
      expect(tables.map(({ name }) => name).sort()).toEqual(['a', 'b', 'c', 'events']);
      const all = [...tables, ...schemas].map(({ id }) => id);
      expect(new Set(all).size).toBe(all.length);
      await checkFiles();
    });

    test('an append to a table that was dropped', async () => {
      await theirs.dropTable('events');
      const before = created.length;
      await expect(ours.table('events').insert([{ id: 2 }])).rejects.toMatchObject({ code: 'NOT_FOUND' });
      const stream = (async function* () {
        yield { id: 3 };
      })();
      await expect(ours.table('events').insert(stream)).rejects.toMatchObject({ code: 'NOT_FOUND' });
      expect(created.length).toBeGreaterThanOrEqual(before);
      await checkFiles();
    });

    test('an append whose table is dropped while its rows still come', async () => {
      const rows = async function* () {
        yield { id: 2 };
        await theirs.dropTable('events');
        yield { id: 3 };
      };
      await expect(ours.table('events').insert(rows())).rejects.toMatchObject({ code: 'CONFLICT', retryable: true });
      await checkFiles();
    });

    test('an append to a table that was made anew goes to the new one', async () => {
      await theirs.dropTable('events');
      await theirs.createTable('events', { id: t.int64(), w: t.float64().default(1.5) });
      await ours.table('events').insert([{ id: 2n }]);
      expect(await theirs.table('events').scan().toArray()).toEqual([{ id: 2n, w: 1.5 }]);
      await checkFiles();
    });

    test('a transaction whose table was dropped, or whose name was taken, leaves nothing', async () => {
      let runs = 0;
      const conflicting = ours.transaction(async (tx) => {
        runs++;
        await tx.table('events').insert([{ id: 2 }]);
        await theirs.dropTable('events');
      });
      await expect(conflicting).rejects.toMatchObject({ code: 'CONFLICT', retryable: true });
      const taken = ours.transaction(async (tx) => {
        runs++;
        const made = await tx.createTable('made', columns);
        await made.insert([{ id: 1 }]);
        await theirs.createTable('MADE', columns);
      });
      await expect(taken).rejects.toMatchObject({ code: 'CONFLICT' });
      expect(runs).toBe(2);
      await checkFiles();
      expect((await ours.tables()).map(({ name }) => name)).toEqual(['MADE']);
    });

    test('what goes into a dropped schema, or is in one', async () => {
      await ours.createSchema('s');
      const into = ours.transaction(async (tx) => {
        const made = await tx.createTable({ schema: 's', name: 'made' }, columns);
        await made.insert([{ id: 1 }]);
        await theirs.dropSchema('s');
      });
      await expect(into).rejects.toMatchObject({ code: 'CONFLICT' });
      await ours.createSchema('r');
      const dropping = ours.transaction(async (tx) => {
        await tx.dropSchema('r');
        await theirs.createTable({ schema: 'r', name: 'late' }, columns);
      });
      await expect(dropping).rejects.toMatchObject({ code: 'CONFLICT' });
      expect((await ours.schemas()).map(({ name }) => name)).toEqual(['main', 'r']);
      await checkFiles();
    });

    test('dropping what was dropped', async () => {
      const both = [ours, theirs].map((lake) => lake.dropTable('events'));
      const outcomes = await Promise.allSettled(both);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const { reason } = outcomes.find((outcome) => outcome.status === 'rejected') as PromiseRejectedResult;
      expect(['CONFLICT', 'NOT_FOUND']).toContain(reason.code);
    });

    describe('and DuckDB', () => {
      let duck: Oracle;
      beforeEach(async () => {
        duck = await openOracle();
        await place.attach(duck);
      });
      afterEach(() => duck.close());

      test('a transaction conflicts with rows that DuckDB deleted meanwhile, an insert does not', async () => {
        const deleted = ours.transaction(async (tx) => {
          await tx.table('events').insert([{ id: 2 }]);
          await duck.run('DELETE FROM lake.events WHERE id = 0');
        });
        await expect(deleted).rejects.toMatchObject({ code: 'CONFLICT' });
        const rows = async function* () {
          yield { id: 3 };
          await duck.run('DELETE FROM lake.events WHERE id = 1');
        };
        await ours.table('events').insert(rows());
        expect(await duck.rowsAgreed('SELECT id FROM lake.events')).toEqual([{ id: '3' }]);
      });

      test('an append of rows at hand follows DuckDB altering the table', async () => {
        await duck.run('ALTER TABLE lake.events ADD COLUMN w INTEGER DEFAULT 7');
        await ours.table('events').insert([{ id: 2 }]);
        await ours.table('events').insert({ columns: { id: [3], w: [8] } });
        expect(await duck.rowsAgreed('SELECT id, w FROM lake.events ORDER BY id')).toEqual([
          { id: '0', w: '7' },
          { id: '1', w: '7' },
          { id: '2', w: '7' },
          { id: '3', w: '8' },
        ]);
        const rows = async function* () {
          yield { id: 4 };
          await duck.run('ALTER TABLE lake.events DROP COLUMN w');
        };
        await expect(ours.table('events').insert(rows())).rejects.toMatchObject({ code: 'CONFLICT' });
        await ours.table('events').insert([{ id: 5 }]);
        expect(await duck.rowsAgreed('SELECT * FROM lake.events WHERE id > 3')).toEqual([{ id: '5', v: null }]);
      });

      test('an append goes to the table that has the name, not to the one that had it', async () => {
        await duck.run(`CREATE TABLE lake.next (id INTEGER NOT NULL, v VARCHAR);
          ALTER TABLE lake.events RENAME TO old;
          ALTER TABLE lake.next RENAME TO events`);
        await ours.table('events').insert([{ id: 2 }]);
        const rows = async function* () {
          yield { id: 3 };
          await duck.run('ALTER TABLE lake.events RENAME TO older; ALTER TABLE lake.old RENAME TO events');
        };
        await expect(ours.table('events').insert(rows())).rejects.toMatchObject({ code: 'CONFLICT', retryable: true });
        // This one never saw that another table had the name for a while.
        await theirs.table('events').insert([{ id: 4 }]);
        expect(await duck.rowsAgreed('SELECT id FROM lake.events ORDER BY id')).toEqual([
          { id: '0' },
          { id: '1' },
          { id: '4' },
        ]);
        expect(await duck.rowsAgreed('SELECT id FROM lake.older ORDER BY id')).toEqual([{ id: '2' }]);
        await checkFiles();
      });

      test('an append finds no table that was renamed, however old the handle; a transaction that began before does', async () => {
        const renaming = ours.transaction(async (tx) => {
          await tx.table('events').insert([{ id: 2 }]);
          await duck.run('ALTER TABLE lake.events RENAME TO old');
        });
        // As DuckDB: the table is the same, whatever it is called since.
        await renaming;
        await expect(theirs.table('events').insert([{ id: 3 }])).rejects.toMatchObject({ code: 'NOT_FOUND' });
        const rows = async function* () {
          yield { id: 4 };
          await duck.run('ALTER TABLE lake.old RENAME TO older');
        };
        await expect(ours.table('old').insert(rows())).rejects.toMatchObject({ code: 'CONFLICT', retryable: true });
        expect(await duck.rowsAgreed('SELECT id FROM lake.older ORDER BY id')).toEqual(
          ['0', '1', '2'].map((id) => ({ id })),
        );
        await checkFiles();
      });

      test("DuckDB's open transaction commits on top of our appends", async () => {
        await duck.run("BEGIN; INSERT INTO lake.events VALUES (10, 'duck')");
        await ours.table('events').insert([{ id: 2 }]);
        await duck.run('COMMIT');
        await theirs.table('events').insert([{ id: 3 }]);
        expect(await duck.rowsAgreed('SELECT rowid, id FROM lake.events ORDER BY rowid')).toEqual([
          { rowid: '0', id: '0' },
          { rowid: '1', id: '1' },
          { rowid: '2', id: '2' },
          { rowid: '3', id: '10' },
          { rowid: '4', id: '3' },
        ]);
        expect(await duck.rowsAgreed('SELECT min(id) AS low, max(id) AS high, count(*) AS n FROM lake.events')).toEqual(
          [{ low: '0', high: '10', n: '5' }],
        );
      });
    });
  });
