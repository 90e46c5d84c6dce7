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
afterAll(() => rm(folder, { recursive: true, force: true }), 60_000);

const path = join(folder, 'catalog.sqlite');
const dataPath = `${folder}/data/`;
const open = (): Promise<Lake> => openLake({ catalog: sqliteCatalog({ path }), store: localStore(), dataPath });

interface Said {
  readonly tried: number[];
  readonly acknowledged: number[];
}

/** Runs a writer, and kills it `millis` after its first acknowledged rows. */
async function runAndKill(from: number, millis: number): Promise<Said> {
  const script = join(import.meta.dir, '../support/append-loop.ts');
  const node = join(import.meta.dir, '../../node_modules/.bin/node');
  const child: ChildProcess = spawn(node, [script, JSON.stringify({ path, dataPath, from })], {
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
      const [word, id] = line.split(' ');
      if (word === 'try') said.tried.push(Number(id));
      if (word !== 'ok') continue;
      said.acknowledged.push(Number(id));
      timer ??= setTimeout(() => child.kill('SIGKILL'), millis);
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
  {
    await using lake = await open();
    const columns = { id: t.int64().notNull(), part: t.int32().notNull() };
    await lake.transaction(async (tx) => {
      await tx.createTable('a', columns);
      await tx.createTable('b', columns);
    });
  }
  const acknowledged: number[] = [];
  const maybe: number[] = [];
  for (let round = 0; round < KILLS; round++) {
    // One writer at first, two at once later: one of them may be killed while it holds what the other waits for.
    const from = round * 1_000_000;
    const millis = Math.floor(Math.random() * 300);
    const runs = [runAndKill(from, millis), ...(round % 2 ? [runAndKill(from + 500_000, Math.random() * 300)] : [])];
    for (const { tried, acknowledged: done } of await Promise.all(runs)) {
      acknowledged.push(...done);
      maybe.push(...tried.filter((id) => !done.includes(id)));
    }
  }
  console.log(`${acknowledged.length} acknowledged, ${maybe.length} cut off`);
  expect(acknowledged.length).toBeGreaterThanOrEqual(KILLS);

  await using lake = await open();
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
  const found = await readdir(dataPath, { recursive: true, withFileTypes: true });
  const orphans = found.filter((entry) => entry.isFile() && !registered.has(join(entry.parentPath, entry.name)));
  expect(orphans.length).toBeLessThanOrEqual(2 * maybe.length);

  await lake.table('a').insert([{ id: -1, part: 0 }]);
  await lake.close();
  await using duck = await openOracle();
  await duck.attachSqlite(path, dataPath);
  const counts = await duck.rowsAgreed('SELECT count(*) AS n, min(id) AS a, max(id) AS z FROM lake.a');
  const ofA = rows.filter(({ table }) => table === 'a').map(({ id }) => id);
  expect(counts).toEqual([{ n: `${ofA.length + 1}`, a: '-1', z: `${Math.max(...ofA)}` }]);
  await duck.run('INSERT INTO lake.a VALUES (-2, 0)');
  expect(await duck.rowsAgreed('SELECT id FROM lake.a WHERE id < 0 ORDER BY id')).toEqual([{ id: '-2' }, { id: '-1' }]);
  const rowIds = await duck.rows('SELECT count(DISTINCT rowid) AS d, count(*) AS n FROM lake.a');
  expect(rowIds[0]!['d']).toBe(rowIds[0]!['n']!);
}, 120_000);
