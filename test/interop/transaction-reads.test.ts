import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Lake, type Transaction, t } from '../../src/index.ts';
import { Random } from '../lakes/random.ts';
import { testLake } from '../support/lakes.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';

setDefaultTimeout(300_000);

// The same transaction in DuckDB and here, on lakes of their own: what it reads after each of its steps.

const columns = { id: t.int32(), name: t.varchar(), moment: t.timestamp(), tags: t.list(t.varchar()) };
const sqlColumns = 'id INTEGER, name VARCHAR, moment TIMESTAMP, tags VARCHAR[]';

type Event = {
  readonly id: number;
  readonly name: string | null;
  readonly moment: Date | null;
  readonly tags: readonly string[] | null;
};

/** Rows that tell themselves apart, some with NULLs. */
const rows = (from: number, count: number): Event[] =>
  Array.from({ length: count }, (_, i) => {
    const id = from + i;
    return {
      id,
      name: id % 5 === 0 ? null : `n'${id}`,
      moment: id % 3 === 0 ? null : new Date(id * 1000),
      tags: id % 4 === 0 ? null : [`a${id}`, 'b, "c"'],
    };
  });

const sqlRows = (from: number, count: number): string =>
  rows(from, count)
    .map(({ id, name, moment, tags }) => {
      const cells = [
        name === null ? 'NULL' : `'${name.replace("'", "''")}'`,
        moment === null ? 'NULL' : `TIMESTAMP '1970-01-01 00:00:00' + INTERVAL ${id} SECOND`,
        tags === null ? 'NULL' : `['a${id}', 'b, "c"']`,
      ];
      return `(${id}, ${cells.join(', ')})`;
    })
    .join(', ');

const filters = [
  { sql: 'true', where: {} },
  { sql: 'id > 103', where: { id: { gt: 103 } } },
  { sql: 'id IS NOT NULL AND name IS NULL', where: { name: { isNull: true } } },
  { sql: "name = 'n''104'", where: { name: "n'104" } },
  { sql: 'id < 3 OR id = 120', where: { or: [{ id: { lt: 3 } }, { id: 120 }] } },
] as const;

const tables = ['a', 'b', 'made'] as const;

async function bothRead(duck: Oracle, tx: Pick<Transaction, 'table'> | Lake, table: string): Promise<void> {
  for (const { sql, where } of filters) {
    const theirs = await duck.rows(
      `SELECT rowid, snapshot_id, id, name, epoch_ms(moment) AS moment, to_json(tags) AS tags FROM lake.${table} WHERE ${sql} ORDER BY rowid`,
    );
    const found = await (tx as Transaction)
      .table<Event, Event & { rowid: bigint; snapshot_id: bigint | null }>(table)
      .scan({ columns: ['rowid', 'snapshot_id', 'id', 'name', 'moment', 'tags'], where: where as never })
      .toArray();
    const ours = found
      .sort((a, b) => Number(a.rowid - b.rowid))
      .map((row) => ({
        rowid: String(row.rowid),
        snapshot_id: row.snapshot_id === null ? null : String(row.snapshot_id),
        id: String(row.id),
        name: row.name,
        moment: row.moment === null ? null : String(row.moment.getTime()),
        tags: row.tags === null ? null : JSON.stringify(row.tags),
      }));
    expect(ours).toEqual(theirs as typeof ours);
  }
}

describe.each([
  ['files', 0],
  ['inlined rows', 10],
] as const)('a transaction of %s', (_, inliningRowLimit) => {
  for (let seed = 1; seed <= 3; seed++)
    test(`of random steps reads what DuckDB's reads, seed ${seed}`, async () => {
      const random = new Random(seed);
      await using place = await testLake('sqlite');
      await using duckPlace = await testLake('sqlite');
      await using duck = await openOracle();
      await duckPlace.attach(duck, { inliningRowLimit });
      const lake = await place.open({ dataInliningRowLimit: inliningRowLimit });
      for (const table of ['a', 'b']) {
        await duck.run(`CREATE TABLE lake.${table} (${sqlColumns})`);
        await lake.createTable(table, columns);
        await duck.run(`INSERT INTO lake.${table} VALUES ${sqlRows(1, 4)}`);
        await lake.table(table).insert(rows(1, 4));
      }
      const live = new Set<string>(['a', 'b']);
      let next = 100;
      await duck.run('BEGIN');
      await lake.transaction(async (tx) => {
        for (let step = 0; step < 12; step++) {
          const table = random.pick(tables);
          if (!live.has(table)) {
            await duck.run(`CREATE TABLE lake.${table} (${sqlColumns})`);
            await tx.createTable(table, columns);
            live.add(table);
          } else if (random.chance(0.1)) {
            await duck.run(`DROP TABLE lake.${table}`);
            await tx.dropTable(table);
            live.delete(table);
          } else {
            const count = random.int(1, random.pick([3, 10, 30]));
            await duck.run(`INSERT INTO lake.${table} VALUES ${sqlRows(next, count)}`);
            await tx.table<Event>(table).insert(rows(next, count));
            next += count;
          }
          const theirs = await duck.rows("SELECT table_name AS name FROM duckdb_tables() WHERE database_name = 'lake'");
          expect((await tx.tables()).map(({ name }) => name).sort()).toEqual(theirs.map(({ name }) => name!).sort());
          if (live.has(table)) await bothRead(duck, tx, table);
        }
      });
      await duck.run('COMMIT');
      for (const table of live) await bothRead(duck, lake, table);
    });
});
