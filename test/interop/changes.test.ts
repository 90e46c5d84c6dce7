import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { rm } from 'node:fs/promises';
import { type ChangeRow, type ChangesOptions, isLakeError, type Lake } from '../../src/index.ts';
import { CATALOG_KINDS, type CatalogKind, type TestLake, testLake } from '../support/lakes.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';

setDefaultTimeout(300_000);

/** A lake that DuckDB made and still has attached, and has left alone since. */
interface MadeLake {
  readonly place: TestLake;
  readonly duck: Oracle;
  readonly lake: Lake;
  readonly head: number;
}

async function made(
  kind: CatalogKind,
  statements: readonly string[],
  run: (made: MadeLake) => Promise<void>,
  limit = 0,
): Promise<void> {
  await using place = await testLake(kind);
  await using duck = await openOracle();
  await place.attach(duck, { inliningRowLimit: limit });
  for (const sql of statements) await duck.run(sql.replaceAll('$DIR', place.folder));
  const [newest] = await duck.rows('SELECT max(snapshot_id) AS head FROM lake.snapshots()');
  await run({ place, duck, lake: await place.open(), head: Number(newest!['head']) });
}

const shown = (cells: readonly unknown[]): string =>
  cells.map((cell) => (cell === null ? 'NULL' : String(cell))).join(' ');

async function theirs(duck: Oracle, from: number | string, to: number | string, table = 't'): Promise<string[]> {
  const rows = await duck.rows(`FROM ducklake_table_changes('lake', 'main', '${table}', ${from}, ${to})`);
  return rows.map((row) => shown(Object.values(row)));
}

async function ours(lake: Lake, options: ChangesOptions, table = 't'): Promise<string[]> {
  const rows = (await lake.table(table).changes(options).toArray()) as ChangeRow[];
  return rows.map((row) => shown(Object.values(row)));
}

const codeOf = (run: () => Promise<unknown>): Promise<string> =>
  run().then(
    () => 'no error',
    (error) => (isLakeError(error) ? error.code : String(error)),
  );

/** In all of them the table is `t` at the end, and is there from snapshot 1 on. */
const histories: Readonly<Record<string, { readonly limit?: number; readonly sql: readonly string[] }>> = {
  files: {
    sql: [
      'CREATE TABLE lake.t (i INTEGER, v VARCHAR)',
      "INSERT INTO lake.t SELECT i, 'a' || i FROM range(8) r(i)",
      'DELETE FROM lake.t WHERE i = 1',
      "UPDATE lake.t SET v = 'u' WHERE i IN (2, 3)",
      "INSERT INTO lake.t VALUES (20, NULL), (21, 'y')",
      'DELETE FROM lake.t WHERE i IN (4, 20)',
      "BEGIN; UPDATE lake.t SET v = 'w' WHERE i = 2; DELETE FROM lake.t WHERE i = 5; INSERT INTO lake.t VALUES (30, 'z'); COMMIT",
      'DELETE FROM lake.t',
      'INSERT INTO lake.t VALUES (40, NULL)',
      'TRUNCATE lake.t',
    ],
  },
  'inlined rows and deletes, then flushed': {
    limit: 10,
    sql: [
      'CREATE TABLE lake.t (i INTEGER, v VARCHAR)',
      "INSERT INTO lake.t SELECT i, 'a' || i FROM range(5) r(i)",
      "UPDATE lake.t SET v = 'u' WHERE i IN (2, 3)",
      'DELETE FROM lake.t WHERE i = 1',
      "INSERT INTO lake.t SELECT i, 'b' || i FROM range(50, 70) r(i)",
      'DELETE FROM lake.t WHERE i IN (0, 50, 51)',
      "UPDATE lake.t SET v = 'w' WHERE i IN (4, 55)",
      "CALL ducklake_flush_inlined_data('lake')",
    ],
  },
  'columns that come, go and widen': {
    limit: 4,
    sql: [
      'CREATE TABLE lake.old (i SMALLINT, v VARCHAR)',
      "INSERT INTO lake.old SELECT i, 'a' || i FROM range(6) r(i)",
      "INSERT INTO lake.old VALUES (6, 'inlined')",
      'ALTER TABLE lake.old ADD COLUMN n INTEGER DEFAULT 7',
      'ALTER TABLE lake.old ALTER i SET DATA TYPE BIGINT',
      'INSERT INTO lake.old VALUES (9007199254740993, NULL, NULL)',
      'ALTER TABLE lake.old DROP COLUMN v',
      'ALTER TABLE lake.old RENAME n TO v',
      'DELETE FROM lake.old WHERE i IN (1, 6)',
      'ALTER TABLE lake.old RENAME TO t',
      'UPDATE lake.t SET v = 8 WHERE i > 3',
    ],
  },
  'merged files, and rewritten ones': {
    sql: [
      'CREATE TABLE lake.t (i INTEGER)',
      'INSERT INTO lake.t VALUES (1), (2), (3)',
      'INSERT INTO lake.t VALUES (4)',
      'INSERT INTO lake.t VALUES (5)',
      "CALL ducklake_merge_adjacent_files('lake')",
      'INSERT INTO lake.t FROM range(10, 20)',
      'DELETE FROM lake.t WHERE i IN (12, 13)',
      "CALL ducklake_rewrite_data_files('lake', delete_threshold => 0)",
      'DELETE FROM lake.t WHERE i = 14',
    ],
  },
  'deletion vectors, of which the newest alone is left': {
    sql: [
      "CALL lake.set_option('write_deletion_vectors', true)",
      'CREATE TABLE lake.t (i INTEGER)',
      'INSERT INTO lake.t FROM range(8)',
      'DELETE FROM lake.t WHERE i = 1',
      'DELETE FROM lake.t WHERE i IN (2, 3)',
      'UPDATE lake.t SET i = 50 WHERE i = 5',
    ],
  },
  'files that were added': {
    sql: [
      'CREATE TABLE lake.t (i INTEGER, v VARCHAR)',
      "COPY (SELECT 'a' || i AS v, i::INTEGER AS i FROM range(5) r(i)) TO '$DIR/added.parquet'",
      "CALL ducklake_add_data_files('lake', 't', '$DIR/added.parquet')",
      'DELETE FROM lake.t WHERE i = 2',
      "UPDATE lake.t SET v = 'u' WHERE i = 3",
    ],
  },
};

for (const kind of CATALOG_KINDS)
  describe(`changes, ${kind}`, () => {
    for (const [name, { sql, limit }] of Object.entries(histories))
      test(`${name}: between every two snapshots as DuckDB's feed`, () =>
        made(
          kind,
          sql,
          async ({ duck, lake, head }) => {
            const renamed = sql.findIndex((statement) => statement.includes('RENAME TO t'));
            for (let to = Math.max(1, renamed + 1); to <= head; to++)
              for (let from = 0; from <= to; from++)
                expect([from, to, ...(await ours(lake, { from, to })).sort()]).toEqual([
                  from,
                  to,
                  ...(await theirs(duck, from, to)).sort(),
                ]);
            expect(await ours(lake, { from: head, to: 1 }, renamed > 0 ? 'old' : 't')).toEqual([]);
          },
          limit,
        ));

    test('rows of merged files are deleted when they are, which DuckDB tells of its snapshots alone', () =>
      made(
        kind,
        [
          'CREATE TABLE lake.t (i INTEGER)',
          'INSERT INTO lake.t VALUES (1)',
          'INSERT INTO lake.t VALUES (2)',
          "CALL ducklake_merge_adjacent_files('lake')",
          'DELETE FROM lake.t WHERE i = 1',
        ],
        async ({ duck, lake }) => {
          expect(await theirs(duck, 5, 5)).toEqual(['2 0 delete 1']);
          expect(await ours(lake, { from: 5 })).toEqual(['5 0 delete 1']);
          expect(await ours(lake, { from: 0 })).toEqual(['2 0 insert 1', '3 1 insert 2', '5 0 delete 1']);
        },
      ));

    test('rows with inlined deletes are deleted once, though their file is rewritten', () =>
      made(
        kind,
        [
          'CREATE TABLE lake.t (i INTEGER)',
          'INSERT INTO lake.t FROM range(12)',
          'DELETE FROM lake.t WHERE i = 1',
          'DELETE FROM lake.t WHERE i > 2',
          "CALL ducklake_rewrite_data_files('lake', delete_threshold => 0)",
        ],
        async ({ lake }) => {
          const kept = [0, 2].map((i) => `5 ${i} update_preimage ${i}`);
          const anew = [0, 2].map((i) => `5 ${i} update_postimage ${i}`);
          expect(await ours(lake, { from: 3, to: 3 })).toEqual(['3 1 delete 1']);
          expect(await ours(lake, { from: 5 })).toEqual([...kept, ...anew]);
          expect(await ours(lake, { from: 5, rewrites: false })).toEqual([]);
          expect((await ours(lake, { from: 0, rewrites: false })).length).toBe(12 + 1 + 9);
        },
        10,
      ));

    test('options', () =>
      made(kind, histories['files']!.sql, async ({ duck, lake, head }) => {
        const all = await ours(lake, { from: 0 });
        expect(all.slice(8, 14)).toEqual([
          '3 1 delete 1 a1',
          '4 2 update_preimage 2 a2',
          '4 3 update_preimage 3 a3',
          '4 2 update_postimage 2 u',
          '4 3 update_postimage 3 u',
          '5 10 insert 20 NULL',
        ]);
        const ids = all.map((line) => Number(line.split(' ')[0]));
        expect(ids).toEqual(ids.toSorted((a, b) => a - b));
        for (const limit of [0, 1, 5, 8, 9, 1000])
          expect(await ours(lake, { from: 0, limit })).toEqual(all.slice(0, limit));
        const of = (types: readonly string[]): string[] => all.filter((line) => types.includes(line.split(' ')[2]!));
        for (const types of [['insert'], ['delete'], ['update_preimage', 'update_postimage'], []] as const)
          expect(await ours(lake, { from: 0, types })).toEqual(of(types));
        expect(await ours(lake, { from: 3, to: 4, columns: ['v'] })).toEqual(
          all.slice(8, 13).map((line) => line.replace(/ \d+ (\w+)$/, ' $1')),
        );
        expect(await ours(lake, { from: 0, columns: ['v'], where: { i: { gte: 20 } }, limit: 2 })).toEqual([
          '5 10 insert NULL',
          '5 11 insert y',
        ]);
        expect((await ours(lake, { from: 0, where: { v: 'u' } })).sort()).toEqual(
          (await theirs(duck, 0, head)).filter((line) => line.endsWith(' u')).sort(),
        );
        const batches = await Array.fromAsync(
          lake
            .table('t')
            .changes({ from: 2, to: 3, columns: ['i'] })
            .batches(),
        );
        expect(batches.map(({ rowCount, columns }) => [rowCount, Object.keys(columns)])).toEqual([
          [8, ['snapshot_id', 'rowid', 'change_type', 'i']],
          [1, ['snapshot_id', 'rowid', 'change_type', 'i']],
        ]);
      }));

    test('times: both ends are included', () =>
      made(kind, histories['files']!.sql.slice(0, 5), async ({ duck, lake }) => {
        const snapshots = await Array.fromAsync(lake.snapshots());
        const time = (id: number): Date => snapshots[id]!.time;
        expect(await ours(lake, { from: time(3), to: time(4) })).toEqual(await ours(lake, { from: 3, to: 4 }));
        expect(await ours(lake, { from: new Date(0), to: new Date('2999-01-01') })).toEqual(
          await ours(lake, { from: 0 }),
        );
        expect(await ours(lake, { from: 4n, to: 4n })).toEqual(await ours(lake, { from: 4, to: 4 }));
        const [third, fourth] = (
          await duck.rows(
            'SELECT snapshot_time AS time FROM lake.snapshots() WHERE snapshot_id IN (3, 4) ORDER BY snapshot_id',
          )
        ).map(({ time }) => `TIMESTAMPTZ '${time}'`);
        expect((await ours(lake, { from: time(3), to: time(4) })).sort()).toEqual(
          (await theirs(duck, third!, fourth!)).sort(),
        );
      }));

    test('what DuckDB refuses, what was expired and what is gone are errors, not fewer changes', () =>
      made(kind, histories['files']!.sql, async ({ place, duck, lake, head }) => {
        const code = (options: ChangesOptions, table?: string): Promise<string> =>
          codeOf(() => ours(lake, options, table));
        expect(await code({ from: head + 1 })).toBe('NOT_FOUND');
        expect(await code({ from: 0, to: head + 1 })).toBe('NOT_FOUND');
        expect(await code({ from: new Date('2999-01-01') })).toBe('NOT_FOUND');
        expect(await code({ from: 0, to: new Date(0) })).toBe('NOT_FOUND');
        expect(await code({ from: 0, to: 0 })).toBe('NOT_FOUND');
        expect(await code({ from: 0 }, 'u')).toBe('NOT_FOUND');
        for (const from of [undefined, -1, 1.5, 'x', new Date(Number.NaN), null])
          expect(await code({ from: from as never })).toBe('INVALID_ARGUMENT');
        expect(await code({ from: 0, types: ['update'] as never })).toBe('INVALID_ARGUMENT');
        expect(await code({ from: 0, limit: -1 })).toBe('INVALID_ARGUMENT');
        expect(await code({ from: 0, columns: ['x'] })).toBe('NOT_FOUND');
        expect(await code({ from: 0, columns: ['rowid'] })).toBe('INVALID_ARGUMENT');
        expect(await code({ from: 0, signal: AbortSignal.abort() })).toContain('Abort');

        await duck.run(
          'CREATE TABLE lake.named (rowid INTEGER, snapshot_id INTEGER, i INTEGER); INSERT INTO lake.named VALUES (1, 2, 3)',
        );
        expect(await code({ from: 0 }, 'named')).toBe('UNSUPPORTED');
        expect(await ours(lake, { from: 0, columns: ['i'] }, 'named')).toEqual([`${head + 2} 0 insert 3`]);

        await duck.run("CALL ducklake_expire_snapshots('lake', versions => [6])");
        expect(await code({ from: 5, to: 7 })).toBe('NOT_FOUND');
        expect(await code({ from: 6, to: 7 })).toBe('NOT_FOUND');
        // It deletes: files that lived in snapshot 6 alone are gone.
        expect(await code({ from: 7, to: 7 })).toBe('NOT_FOUND');
        expect((await ours(lake, { from: 8, to: 9 })).sort()).toEqual((await theirs(duck, 8, 9)).sort());
        expect((await ours(lake, { from: 0, to: 5 })).length).toBe(15);
        await duck.run("CALL ducklake_cleanup_old_files('lake', cleanup_all => true)");
        expect((await ours(lake, { from: 0, to: 5 })).length).toBe(15);
        await rm(place.dataPath, { recursive: true });
        expect(await code({ from: 0, to: 5 })).toBe('NOT_FOUND');
      }));
  });
