import { afterAll, expect, test } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localStore } from '../../adapters/local.ts';
import { sqliteCatalog } from '../../adapters/sqlite.ts';
import { everyFault, type FaultPlace, Scenario } from '../support/fault-scenario.ts';
import { Faults } from '../support/faults.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';

const folder = await mkdtemp(join(tmpdir(), 'edgemere-faults-'));
const duck = await openOracle();
afterAll(async () => {
  await duck.close();
  await rm(folder, { recursive: true, force: true });
}, 300_000);

interface Place extends FaultPlace {
  readonly name: string;
  readonly path: string;
}

let places = 0;

function place(): Place {
  const name = String(++places);
  const path = join(folder, name, 'catalog.sqlite');
  mkdirSync(join(folder, name));
  return {
    name,
    path,
    dataPath: `${folder}/${name}/data/`,
    store: localStore(),
    catalog: () => sqliteCatalog({ path }),
  };
}

// Every commit; of other calls the first and the last. The test in memory has them all.
const all = await everyFault(place());
const faults = all.filter(({ name, nth }) => {
  const last = all.findLast((fault) => fault.name === name)!.nth;
  return name === 'catalog.commit' || nth === 1 || nth === last;
});

for (const { name, nth, moment } of faults)
  test(`call ${nth} of ${name} fails ${moment} its effect`, async () => {
    const where = place();
    await using scenario = new Scenario(where, new Faults().failNext(name, moment, nth));
    await scenario.run();
    expect(scenario.faults.failed).toEqual([{ name, moment }]);
    await scenario.verify();
    if (/commit|close|initialize/.test(name)) await agreesWith(duck, where, scenario);
    await rm(join(folder, where.name), { recursive: true, force: true });
  }, 300_000);

/** DuckDB reads the same rows, with and without its statistics, and goes on from there. */
async function agreesWith(duck: Oracle, where: Place, scenario: Scenario): Promise<void> {
  await duck.attachSqlite(where.path, where.dataPath);
  try {
    for (const table of ['main.a', 's.b']) {
      const { all, maybe } = scenario.ids(table);
      const rows = await duck.rowsAgreed(`SELECT id FROM lake.${table} ORDER BY id`);
      const here = maybe.flat().filter((id) => rows.some((row) => row['id'] === `${id}`));
      expect(rows.map((row) => Number(row['id']))).toEqual([...all, ...here].sort((x, y) => x - y));
      const [totals] = await duck.rowsAgreed(`SELECT count(*) AS n, min(id) AS a, max(id) AS z FROM lake.${table}`);
      expect(totals).toEqual({ n: `${rows.length}`, a: rows[0]!['id']!, z: rows.at(-1)!['id']! });
    }
    await duck.run('INSERT INTO lake.main.a VALUES (2000000)');
  } finally {
    await duck.detach();
  }
}
