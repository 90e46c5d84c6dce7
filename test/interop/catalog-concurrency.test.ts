import { expect, setDefaultTimeout, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { postgresCatalog } from '../../adapters/postgres.ts';
import { sqliteCatalog } from '../../adapters/sqlite.ts';
import type { CatalogStore, Snapshot } from '../../src/catalog/store.ts';
import { collect } from '../../src/conformance/case.ts';
import { appendUnless, committed, createTables, newLake } from '../../src/conformance/catalog/batches.ts';
import { openOracle } from '../support/oracle.ts';
import { freshDatabase } from '../support/services.ts';

setDefaultTimeout(300_000);

const FILES = 2;

/** That all snapshots are there without a gap, and that no two files share an id or a row id. */
async function checkLake(
  catalog: CatalogStore,
  tableId: number,
  base: Snapshot,
  reported: readonly number[],
): Promise<void> {
  const commits = reported.length;
  expect([...reported].sort((a, b) => a - b)).toEqual(Array.from({ length: commits }, (_, k) => base.id + 1 + k));
  const snapshots = await collect(catalog.readSnapshots());
  expect(snapshots.map(({ id }) => id)).toEqual(Array.from({ length: base.id + commits + 1 }, (_, k) => k));
  expect(snapshots.every((one, k) => k === 0 || one.time > snapshots[k - 1]!.time)).toBe(true);
  const head = snapshots.at(-1)!;
  expect(head.nextFileId).toBe(base.nextFileId + commits * FILES);
  const files = (await catalog.readFiles({ snapshotId: head.id, tableId, stats: 'all' })).files;
  expect(files.map(({ file }) => file.data_file_id)).toEqual(
    Array.from({ length: commits * FILES }, (_, k) => base.nextFileId + k),
  );
  // Ids and row ids grow together: files are in the order of both.
  expect(files.map(({ file }) => file.row_id_start)).toEqual(Array.from(files, (_, k) => k * 10));
  expect(files.every(({ stats }) => stats.length === 1)).toBe(true);
  const rowCount = commits * FILES * 10;
  expect((await catalog.readTableStats(tableId)).table).toEqual({
    table_id: tableId,
    record_count: rowCount,
    next_row_id: rowCount,
    file_size_bytes: rowCount * 100,
  });
}

for (const prepare of [true, false])
  test(`16 connections append to one table on Postgres${prepare ? '' : ' without prepared statements'}`, async () => {
    await using database = await freshDatabase();
    const sql = postgres(database.url, { max: 1, prepare, onnotice: () => {} });
    await using catalog = postgresCatalog({ sql, end: true, schema: 'lake' });
    await catalog.initialize(newLake());
    const [tableId] = (await createTables(catalog, 't')) as [number];
    const { snapshot: base } = await catalog.readHead();
    const reported: number[] = [];
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        await using one = postgresCatalog({
          sql: postgres(database.url, { max: 1, prepare, onnotice: () => {} }),
          end: true,
          schema: 'lake',
        });
        let known = base;
        for (let round = 0; round < 10; round++) {
          known = committed(await one.commit(appendUnless(known, tableId, FILES)));
          reported.push(known.id);
        }
      }),
    );
    await checkLake(catalog, tableId, base, reported);
  });

test('a database whose default is another isolation level loses nothing', async () => {
  await using database = await freshDatabase();
  const connect = (level: 'read committed' | 'repeatable read' | 'serializable'): CatalogStore =>
    postgresCatalog({
      sql: postgres(database.url, { max: 1, onnotice: () => {}, connection: { default_transaction_isolation: level } }),
      end: true,
    });
  await using catalog = connect('read committed');
  await catalog.initialize(newLake());
  const [tableId] = (await createTables(catalog, 't')) as [number];
  const { snapshot: base } = await catalog.readHead();
  const reported: number[] = [];
  await Promise.all(
    (['repeatable read', 'serializable', 'read committed', 'repeatable read'] as const).map(async (level) => {
      await using one = connect(level);
      for (let round = 0; round < 8; ) {
        const outcome = await one.commit(appendUnless(base, tableId, FILES));
        if (outcome.status !== 'committed') continue;
        reported.push(outcome.snapshot.id);
        round++;
      }
    }),
  );
  await checkLake(catalog, tableId, base, reported);
});

test('4 processes append to one table in a SQLite file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'edgemere-sqlite-'));
  try {
    const path = join(folder, 'catalog.sqlite');
    await using catalog = sqliteCatalog({ path });
    await catalog.initialize(newLake());
    const [tableId] = (await createTables(catalog, 't')) as [number];
    const { snapshot: base } = await catalog.readHead();
    const worker = fileURLToPath(new URL('../support/append-worker.ts', import.meta.url));
    const results = await Promise.all(
      Array.from({ length: 4 }, () => output(process.execPath, [worker, path, String(tableId), '12'])),
    );
    await checkLake(
      catalog,
      tableId,
      base,
      results.flatMap((text) => JSON.parse(text) as number[]),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('a DuckDB session that stays attached sees our appends, and we its own', async () => {
  await using database = await freshDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'edgemere-duck-'));
  await using duck = await openOracle();
  try {
    await duck.attachPostgres(database.url, `${folder}/`, { schema: 'lake' });
    await duck.run('CREATE TABLE lake.t(c1 BIGINT)');
    await using catalog = postgresCatalog({ sql: postgres(database.url, { max: 1 }), end: true, schema: 'lake' });
    for (let round = 0; round < 4; round++) {
      const { snapshot: base } = await catalog.readHead();
      await duck.run(`INSERT INTO lake.t SELECT i FROM range(${round * 100}, ${round * 100 + 30}) r(i)`);
      // On top of what DuckDB has just committed.
      committed(await catalog.commit(appendUnless(base, 1, FILES)));
    }
    const files = (await catalog.readFiles({ snapshotId: 9, tableId: 1, stats: 'none' })).files;
    expect(files.map(({ file }) => [file.data_file_id, file.row_id_start])).toEqual(
      Array.from({ length: 4 }, (_, round) => [
        [3 * round, 50 * round],
        [3 * round + 1, 50 * round + 30],
        [3 * round + 2, 50 * round + 40],
      ]).flat(),
    );
    expect((await catalog.readTableStats(1)).table).toMatchObject({ record_count: 200, next_row_id: 200 });
    expect((await catalog.readTableStats(1)).columns).toMatchObject([{ min_value: '0', max_value: '329' }]);
    await duck.detach();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

function output(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve(text) : reject(new Error(`${command} ended with ${code}`))));
  });
}
