import { afterAll, expect, test } from 'bun:test';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localStore } from '../../adapters/local.ts';
import { sqliteCatalog } from '../../adapters/sqlite.ts';
import { type Lake, openLake, t } from '../../src/index.ts';
import { openOracle } from '../support/oracle.ts';

const KILLS = 6;
const folder = await mkdtemp(join(tmpdir(), 'edgemere-killed-'));
afterAll(() => rm(folder, { recursive: true, force: true }), 300_000);

interface Place {
  readonly path: string;
  readonly dataPath: string;
}

async function place(): Promise<Place> {
  const own = await mkdtemp(join(folder, 'lake-'));
  return { path: join(own, 'catalog.sqlite'), dataPath: `${own}/data/` };
}

const open = ({ path, dataPath }: Place): Promise<Lake> =>
  openLake({ dataInliningRowLimit: 0, catalog: sqliteCatalog({ path }), store: localStore(), dataPath });

interface Said {
  readonly tried: number[];
  readonly acknowledged: number[];
}

/** Runs a writer, and kills it `millis` after it first says `word`. */
async function runAndKill(where: Place, from: number, word: 'opening' | 'ok', millis: number): Promise<Said> {
  const script = join(import.meta.dir, '../support/append-loop.ts');
  const node = join(import.meta.dir, '../../node_modules/.bin/node');
  const child: ChildProcess = spawn(node, [script, JSON.stringify({ ...where, from })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said: Said = { tried: [], acknowledged: [] };
  const { promise: closed, resolve, reject } = Promise.withResolvers<void>();
  let rest = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      const [spoken, id] = line.split(' ');
      if (spoken === 'try') said.tried.push(Number(id));
      if (spoken === 'ok') said.acknowledged.push(Number(id));
      if (spoken === word) timer ??= setTimeout(() => child.kill('SIGKILL'), millis);
    }
  });
  child.on('error', reject);
  child.on('close', (_code, signal) => {
    if (signal === 'SIGKILL') resolve();
    else reject(new Error('the writer ended by itself'));
  });
  await closed;
  clearTimeout(timer);
  return said;
}

test('a writer killed at any point leaves every acknowledged row once, orphans at most, and a lake that goes on', async () => {
  const where = await place();
  const acknowledged: number[] = [];
  const maybe: number[] = [];
  for (let round = 0; round < KILLS; round++) {
    // One writer at first, two at once later: one of them may be killed while it holds what the other waits for.
    const from = round * 1_000_000;
    const millis = Math.floor(Math.random() * 300);
    const runs = [runAndKill(where, from, 'ok', millis)];
    if (round % 2) runs.push(runAndKill(where, from + 500_000, 'ok', Math.random() * 300));
    for (const { tried, acknowledged: done } of await Promise.all(runs)) {
      acknowledged.push(...done);
      maybe.push(...tried.filter((id) => !done.includes(id)));
    }
  }
  console.log(`${acknowledged.length} acknowledged, ${maybe.length} cut off`);
  expect(acknowledged.length).toBeGreaterThanOrEqual(KILLS);

  await using lake = await open(where);
  const rows: { id: number; part: number; table: string }[] = [];
  for (const table of ['a', 'b'])
    for await (const row of lake.table(table).scan())
      rows.push({ id: Number(row['id']), part: Number(row['part']), table });
  const byId = Map.groupBy(rows, ({ id }) => id);
  for (const id of acknowledged) expect([id, byId.get(id)?.length]).toEqual([id, 2]);
  for (const [id, found] of byId) {
    // Whole or not at all: both parts, of one table or of the two of a transaction.
    expect(found.map(({ part, table }) => `${table}${part}`).sort()).toEqual(
      id % 3 === 0 ? ['a0', 'b1'] : ['a0', 'a1'],
    );
    expect([...acknowledged, ...maybe]).toContain(id);
  }

  const registered = new Set<string>();
  for (const table of ['a', 'b']) {
    const files = await lake.table(table).files();
    let next = 0;
    for (const { location, byteLength, rowIdStart, rowCount } of files) {
      registered.add(location);
      expect([location, (await stat(location)).size]).toEqual([location, byteLength]);
      expect(rowIdStart).toBe(next);
      next += rowCount;
    }
  }
  const found = await readdir(where.dataPath, { recursive: true, withFileTypes: true });
  const orphans = found.filter((entry) => entry.isFile() && !registered.has(join(entry.parentPath, entry.name)));
  expect(orphans.length).toBeLessThanOrEqual(2 * maybe.length);

  await lake.table('a').insert([{ id: -1, part: 0 }]);
  await lake.close();
  await using duck = await openOracle();
  await duck.attachSqlite(where.path, where.dataPath);
  const counts = await duck.rowsAgreed('SELECT count(*) AS n, min(id) AS a, max(id) AS z FROM lake.a');
  const ofA = rows.filter(({ table }) => table === 'a').map(({ id }) => id);
  expect(counts).toEqual([{ n: `${ofA.length + 1}`, a: '-1', z: `${Math.max(...ofA)}` }]);
  await duck.run('INSERT INTO lake.a VALUES (-2, 0)');
  expect(await duck.rowsAgreed('SELECT id FROM lake.a WHERE id < 0 ORDER BY id')).toEqual([{ id: '-2' }, { id: '-1' }]);
  const rowIds = await duck.rows('SELECT count(DISTINCT rowid) AS d, count(*) AS n FROM lake.a');
  expect(rowIds[0]!['d']).toBe(rowIds[0]!['n']!);
}, 300_000);

test('a writer killed while it makes the lake and its tables leaves one lake that goes on, or none yet', async () => {
  for (let round = 0; round < 5; round++) {
    const where = await place();
    await runAndKill(where, 0, 'opening', Math.random() * 60);
    await using lake = await open(where);
    expect((await lake.schemas()).map(({ name }) => name)).toEqual(['main']);
    const table = await lake.createTable('a', { id: t.int64().notNull(), part: t.int32() }, { ifNotExists: true });
    const before = (await table.scan().toArray()).length;
    await table.insert([{ id: 1, part: 2 }]);
    expect((await table.scan().toArray()).length).toBe(before + 1);
    const snapshots = [];
    for await (const { id } of lake.snapshots()) snapshots.push(id);
    expect(snapshots).toEqual(snapshots.map((_, k) => k));
  }
}, 300_000);
