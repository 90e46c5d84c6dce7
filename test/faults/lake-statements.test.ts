import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { t } from '../../src/index.ts';
import type { DeathTask } from '../support/die-at-statement.ts';
import { testLake } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';

const node = join(import.meta.dir, '../../node_modules/.bin/node');
const script = join(import.meta.dir, '../support/die-at-statement.ts');

test('a process that dies before each statement of a commit leaves all of it or nothing, SQLite', async () => {
  await using place = await testLake('sqlite');
  const path = place.address.kind === 'sqlite' ? place.address.path : '';
  const lake = await place.open({ dataInliningRowLimit: 10 });
  for (const name of ['a', 'b']) await lake.createTable(name, { id: t.int64() });
  const run = (statement: number): number | undefined => {
    const task: DeathTask = { path, dataPath: place.dataPath, id: statement, statement };
    const { stdout, stderr, signal } = spawnSync(node, [script, JSON.stringify(task)], { encoding: 'utf8' });
    if (signal !== 'SIGKILL') throw new Error(stderr);
    return stdout === '' ? undefined : Number(stdout);
  };
  const idsOf = async (table: string): Promise<number[]> =>
    (await lake.table(table).scan().toArray()).map(({ id }) => Number(id)).sort((x, y) => x - y);

  let count: number | undefined;
  let last = 0;
  while (count === undefined) {
    count = run(++last);
    const names = (await lake.tables()).map(({ name }) => name).sort();
    // Only who lived to say how many statements there were has committed.
    const isThere = count !== undefined;
    expect([last, names]).toEqual([last, isThere ? ['a', 'b', `made_${last}`] : ['a', 'b']]);
    expect([last, await idsOf('a'), await idsOf('b')]).toEqual([
      last,
      isThere ? new Array(21).fill(last) : [],
      isThere ? [last] : [],
    ]);
  }
  expect(count).toBe(last - 1);
  expect(count).toBeGreaterThan(15);
  expect(await idsOf(`made_${last}`)).toEqual([last]);
  const snapshots = await Array.fromAsync(lake.snapshots());
  expect(snapshots.map(({ id }) => id)).toEqual([0, 1, 2, 3]);
  await lake.close();
  await using duck = await openOracle();
  await place.attach(duck);
  expect(
    await duck.rowsAgreed('SELECT count(*) AS n, max(id) AS high, count(DISTINCT rowid) AS ids FROM lake.a'),
  ).toEqual([{ n: '21', high: `${last}`, ids: '21' }]);
}, 300_000);
