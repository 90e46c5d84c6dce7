import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Lake, t } from '../../src/index.ts';
import { CATALOG_KINDS, type TestLake, testLake } from '../support/lakes.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';
import { lakeDifferences, type TwinStep, twinDifferences } from '../support/twin.ts';

setDefaultTimeout(300_000);

const step = (sql: string, ours: (lake: Lake) => Promise<unknown>): TwinStep => ({ sql, ours });
const flush = step("CALL ducklake_flush_inlined_data('twin')", (lake) => lake.maintenance.flushInlined());

/** Every snapshot of every table, with row ids and the snapshots of rows. */
async function history(duck: Oracle, tables: readonly string[]): Promise<Record<string, unknown>> {
  const snapshots = await duck.rows('SELECT snapshot_id FROM lake.snapshots() ORDER BY 1');
  const found: Record<string, unknown> = {};
  for (const table of tables)
    for (const { snapshot_id: id } of snapshots) {
      const rows = duck.rows(
        `SELECT rowid, snapshot_id, * FROM lake.${table} AT (VERSION => ${id}) ORDER BY rowid, snapshot_id`,
      );
      // Some snapshots are older than the table.
      found[`${table} at ${id}`] = await rows.catch(() => 'none');
    }
  return found;
}

async function ourHistory(lake: Lake, tables: readonly string[]): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const table of tables)
    for await (const { id } of lake.snapshots()) {
      const scan = lake.table(table).scan({ asOf: { snapshot: id } });
      const rows = await scan.toArray().catch(() => 'none' as const);
      found[`${table} at ${id}`] =
        rows === 'none'
          ? rows
          : rows.map((row) => JSON.stringify(row, (_, v) => (typeof v === 'bigint' ? `${v}` : v))).sort();
    }
  return found;
}

/** What DuckDB inlined, altered, updated and deleted, in rows and in files. */
const statements = [
  'CREATE TABLE lake.a(i INTEGER, v VARCHAR, l VARCHAR[])',
  "INSERT INTO lake.a VALUES (1, 'x', ['a', NULL]), (2, NULL, []), (3, '', NULL)",
  "INSERT INTO lake.a VALUES (4, 'y', ['it''s'])",
  'DELETE FROM lake.a WHERE i = 2',
  'ALTER TABLE lake.a ADD COLUMN d DATE',
  "INSERT INTO lake.a VALUES (5, 'z', [], DATE '2024-01-15')",
  "UPDATE lake.a SET v = 'changed' WHERE i IN (1, 5)",
  'ALTER TABLE lake.a RENAME COLUMN v TO w',
  'ALTER TABLE lake.a ALTER COLUMN i SET DATA TYPE BIGINT',
  "INSERT INTO lake.a VALUES (6000000000, 'w', [], NULL)",
  'DELETE FROM lake.a WHERE i = 4',
  'CREATE TABLE lake.b AS SELECT i FROM range(100) r(i)',
  'DELETE FROM lake.b WHERE i IN (3, 4)',
  'DELETE FROM lake.b WHERE i = 50',
  'INSERT INTO lake.b VALUES (1000)',
];

async function made(place: TestLake, duck: Oracle): Promise<void> {
  await place.attach(duck, { inliningRowLimit: 10 });
  for (const sql of statements) await duck.run(sql);
}

for (const kind of CATALOG_KINDS)
  describe(`flushing, ${kind}`, () => {
    test('what DuckDB inlined shows the same at every snapshot, to both', async () => {
      await using duck = await openOracle();
      await using place = await testLake(kind);
      await made(place, duck);
      const before = await history(duck, ['a', 'b']);
      await duck.detach();
      const lake = await place.open();
      const ours = await ourHistory(lake, ['a', 'b']);
      const { tables, snapshotId } = await lake.maintenance.flushInlined();
      expect(tables).toEqual([
        { schema: 'main', name: 'a', rowCount: 8, deleteCount: 0 },
        { schema: 'main', name: 'b', rowCount: 1, deleteCount: 3 },
      ]);
      expect(await lake.maintenance.flushInlined()).toEqual({ snapshotId: undefined, tables: [] });
      const left = Object.entries(await place.dumpInlined()).filter(([, rows]) =>
        rows.some((row) => !/^\S.* (bigint|varchar|character varying|bytea|integer)$/i.test(row)),
      );
      expect(left).toEqual([]);
      const now = await ourHistory(lake, ['a', 'b']);
      expect(now).toMatchObject(ours);
      expect(now[`a at ${snapshotId}`]).toEqual(ours[`a at ${snapshotId! - 1}`]);
      await place.attach(duck, { inliningRowLimit: 10 });
      const after = await history(duck, ['a', 'b']);
      expect(after).toMatchObject(before);
      expect(after[`a at ${snapshotId}`]).toEqual(before[`a at ${snapshotId! - 1}`]);
      expect(after[`b at ${snapshotId}`]).toEqual(before[`b at ${snapshotId! - 1}`]);
      expect(await duck.rowsAgreed('SELECT count(*), min(i), max(i) FROM lake.b')).toEqual([
        { 'count_star()': '98', 'min(i)': '0', 'max(i)': '1000' },
      ]);
      // DuckDB goes on from here.
      await duck.run("INSERT INTO lake.a VALUES (7, 'v', [], NULL); DELETE FROM lake.b WHERE i IN (5, 6)");
      await duck.run("CALL ducklake_flush_inlined_data('lake')");
      expect(await history(duck, ['a', 'b'])).toMatchObject(before);
      await duck.detach();
    });

    test('rows that have ended, and deletes from files, leave the catalog that DuckDB leaves', async () => {
      await using duck = await openOracle();
      await using mine = await testLake(kind);
      await using theirs = await testLake(kind);
      const before = [
        'CREATE TABLE lake.a(i INTEGER, l VARCHAR[], f DOUBLE)',
        "INSERT INTO lake.a VALUES (1, ['x'], 1.5), (2, [], NULL), (3, NULL, 'nan')",
        "INSERT INTO lake.a VALUES (4, ['y'], '-inf')",
        'DELETE FROM lake.a WHERE i = 2',
        'UPDATE lake.a SET i = 30 WHERE i = 3',
        'DELETE FROM lake.a WHERE i = 4',
        'CREATE TABLE lake.b AS SELECT i FROM range(100) r(i)',
        'DELETE FROM lake.b WHERE i IN (3, 4)',
        'DELETE FROM lake.b WHERE i = 50',
      ];
      for (const place of [mine, theirs]) {
        await place.attach(duck, { inliningRowLimit: 10 });
        for (const sql of before) await duck.run(sql);
        await duck.detach();
      }
      const rounds: [table: string, more: string][] = [
        ['a', 'DELETE FROM lake.b WHERE i = 51'],
        ['b', 'DELETE FROM lake.b WHERE i IN (7, 8)'],
        ['b', 'DELETE FROM lake.b WHERE i = 9'],
        ['b', 'INSERT INTO lake.a VALUES (9, [NULL], 2)'],
        ['a', ''],
      ];
      for (const [table, more] of rounds) {
        const lake = await mine.open();
        await lake.maintenance.flushInlined({ table });
        await lake.close();
        await theirs.attach(duck, { inliningRowLimit: 10 });
        await duck.run(`CALL ducklake_flush_inlined_data('lake', table_name => '${table}')`);
        await duck.detach();
        expect([table, more, ...(await lakeDifferences(mine, theirs))]).toEqual([table, more]);
        if (more === '') continue;
        for (const place of [mine, theirs]) {
          await place.attach(duck, { inliningRowLimit: 10 });
          await duck.run(more);
          await duck.detach();
        }
      }
    });

    test('the catalog is what DuckDB makes of it', async () => {
      await using duck = await openOracle();
      const steps = [
        step('CREATE TABLE t(i INTEGER, v VARCHAR, l INTEGER[])', (lake) =>
          lake.createTable('t', { i: t.int32(), v: t.varchar(), l: t.list(t.int32()) }),
        ),
        step("INSERT INTO t VALUES (1, 'x', [1, NULL]), (2, NULL, [])", (lake) =>
          lake.table('t').insert([
            { i: 1, v: 'x', l: [1, null] },
            { i: 2, l: [] },
          ]),
        ),
        step("INSERT INTO t VALUES (NULL, 'y', NULL)", (lake) => lake.table('t').insert([{ v: 'y' }])),
        flush,
        step("INSERT INTO t VALUES (5, 'z', [7])", (lake) => lake.table('t').insert([{ i: 5, v: 'z', l: [7] }])),
        flush,
        flush,
      ];
      expect(await twinDifferences(kind, duck, steps, [], 10)).toEqual([]);
    });
  });
