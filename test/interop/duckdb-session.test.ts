import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Lake, t } from '../../src/index.ts';
import { CATALOG_KINDS, type TestLake, testLake } from '../support/lakes.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';

setDefaultTimeout(300_000);

const columns = { id: t.int64().notNull(), at: t.timestamp(), v: t.varchar() };

/** DuckDB keeps statistics by `next_file_id` and schemas by `schema_version`: a session that stays must see past what it kept. */
for (const kind of CATALOG_KINDS)
  describe(`a DuckDB session that stays attached, ${kind}`, () => {
    let place: TestLake;
    let lake: Lake;
    let duck: Oracle;
    /** Ids by table, as both have to have them. */
    let expected: Map<string, number[]>;
    let lastId = 0;

    beforeEach(async () => {
      place = await testLake(kind);
      lake = await place.open({ dataInliningRowLimit: 10 });
      duck = await openOracle();
      await lake.createTable('events', columns);
      await place.attach(duck, { inliningRowLimit: 10 });
      expected = new Map([['main.events', []]]);
      await check();
    });
    afterEach(async () => {
      await duck?.close();
      await place?.[Symbol.asyncDispose]();
    });

    const rows = (table: string, count: number): { id: number; at: Date; v: string }[] => {
      // Lower and higher than all before by turns.
      const made = Array.from({ length: count }, () => ((++lastId % 2) * 2 - 1) * lastId);
      expected.get(table)!.push(...made);
      return made.map((id) => ({ id, at: new Date(id * 86_400_000), v: `v${id}` }));
    };
    const insert = async (table: string, count: number): Promise<void> => {
      const [schema, name] = table.split('.') as [string, string];
      await lake.table({ schema, name }).insert(rows(table, count));
    };
    const duckInserts = (table: string, count: number): Promise<void> => {
      const values = rows(table, count).map(
        ({ id, at, v }) => `(${id}, TIMESTAMP '${at.toISOString().slice(0, -1)}', '${v}')`,
      );
      return duck.run(`INSERT INTO lake.${table} VALUES ${values.join(', ')}`);
    };

    /** In DuckDB's next transaction: all rows, and what it answers from statistics. */
    async function check(): Promise<void> {
      const found = await duck.rows(
        "SELECT schema_name || '.' || table_name AS name FROM duckdb_tables() WHERE database_name = 'lake' ORDER BY name",
      );
      expect(found.map(({ name }) => name!)).toEqual([...expected.keys()].sort());
      for (const [table, ids] of expected) {
        const sorted = ids.toSorted((a, b) => a - b);
        const seen = await duck.rowsAgreed(`SELECT id FROM lake.${table} ORDER BY id`);
        expect([table, seen.map(({ id }) => Number(id))]).toEqual([table, sorted]);
        const [totals] = await duck.rowsAgreed(
          `SELECT count(*) AS n, min(id) AS low, max(id) AS high, (epoch(max("at")) / 86400)::BIGINT AS day, count(DISTINCT rowid) AS ids FROM lake.${table}`,
        );
        const bound = (id: number | undefined): string | null => (id === undefined ? null : String(id));
        const n = String(ids.length);
        expect(totals).toEqual({
          n,
          low: bound(sorted[0]),
          high: bound(sorted.at(-1)),
          day: bound(sorted.at(-1)),
          ids: n,
        });
      }
    }

    test('sees each append and inlined insert, between its own', async () => {
      for (const count of [30, 3, 2, 40, 1]) {
        await insert('main.events', count);
        await check();
        await insert('main.events', count);
        await duckInserts('main.events', count);
        await check();
        await insert('main.events', 50 - count);
        await check();
      }
    });

    test('sees tables and schemas come and go, and those made anew under an old name', async () => {
      await insert('main.events', 20);
      await lake.createSchema('s');
      for (let round = 0; round < 2; round++) {
        await lake.createTable({ schema: 's', name: 'made' }, columns);
        expected.set('s.made', []);
        await check();
        await insert('s.made', 3);
        await check();
        await insert('s.made', 30);
        await duckInserts('s.made', 2);
        await duckInserts('main.events', 20);
        await check();
        await lake.dropTable({ schema: 's', name: 'made' });
        expected.delete('s.made');
        await check();
      }
      await lake.transaction(async (tx) => {
        const made = await tx.createTable('both', columns);
        expected.set('main.both', []);
        await made.insert(rows('main.both', 4));
        await tx.table('events').insert(rows('main.events', 25));
        await tx.dropSchema('s');
      });
      await check();
      await duckInserts('main.both', 30);
      await insert('main.both', 5);
      await check();
    });

    test('sees the lake in its open transaction as it was', async () => {
      await insert('main.events', 20);
      await insert('main.events', 2);
      const before = structuredClone(expected);
      await duck.run('BEGIN');
      await check();
      await insert('main.events', 20);
      await insert('main.events', 2);
      await lake.createTable('late', columns);
      const after = expected;
      expected = before;
      await check();
      await duck.run('COMMIT');
      expected = after;
      expected.set('main.late', []);
      await check();
    });
  });
