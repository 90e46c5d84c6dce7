import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdir } from 'node:fs/promises';
import { localStore } from '../../adapters/local.ts';
import type { CatalogStore } from '../../src/catalog/store.ts';
import type { Lake } from '../../src/index.ts';
import { openLake } from '../../src/lake.ts';
import { Random } from '../lakes/random.ts';
import { CATALOG_KINDS, catalogAt, type TestLake, testLake } from '../support/lakes.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';

setDefaultTimeout(300_000);

let duck: Oracle;
beforeAll(async () => {
  duck = await openOracle();
});
afterAll(() => duck.close());

/** How tables' files were asked for: all, or those that are newer than what was known. */
interface Asked {
  all: number;
  newer: number;
}

async function openCounted(
  place: TestLake,
  asked: Asked,
  dataInliningRowLimit = 0,
): Promise<AsyncDisposable & { readonly lake: Lake }> {
  const { catalog, close } = catalogAt(place.address);
  const readFiles = catalog.readFiles.bind(catalog);
  const counted: CatalogStore = Object.assign(catalog, {
    readFiles(request: Parameters<typeof readFiles>[0]) {
      asked[request.fromFileId === undefined ? 'all' : 'newer']++;
      return readFiles(request);
    },
  });
  const { dataPath } = place;
  const lake = await openLake({ catalog: counted, store: localStore(), dataPath, dataInliningRowLimit });
  return {
    lake,
    async [Symbol.asyncDispose]() {
      await lake.close();
      await close();
    },
  };
}

const filters = [
  undefined,
  { id: { lt: 40 } },
  { id: { in: [3, 50, 900] } },
  { name: { startsWith: 'n1' } },
  { name: { isNull: true } },
  { or: [{ id: 7 }, { name: 'n77' }] },
];

async function readAll(lake: Lake): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const table of ['t', 'u'])
    for (const where of filters) {
      try {
        const rows = await lake.table(table).scan({ where, columns: undefined }).toArray();
        found.push({ table, where, rows });
      } catch (error) {
        found.push({ table, where, error: (error as Error).message });
      }
    }
  return found;
}

/** A statement that changes the lake in some way. What DuckDB refuses is passed over. */
function change(random: Random, folder: string, k: number): string {
  const table = random.chance(0.8) ? 'lake.t' : 'lake.u';
  const low = random.int(0, 100);
  const rows = random.pick([1, 3, 30]);
  const insert = `INSERT INTO ${table} (id, name) SELECT i, CASE WHEN i % 7 = 0 THEN NULL ELSE 'n' || i END FROM range(${low}, ${low + rows}) r(i)`;
  const where = random.pick([`id % 5 = ${k % 5}`, `id < ${low}`, `id = ${low}`, 'true']);
  const name = table.slice(5);
  return random.weighted({
    [insert]: 40,
    [`DELETE FROM ${table} WHERE ${where}`]: 8,
    [`UPDATE ${table} SET name = name || 'x' WHERE ${where}`]: 5,
    [`BEGIN; ${insert}; DELETE FROM ${table} WHERE ${where}; COMMIT`]: 3,
    [`CALL ducklake_flush_inlined_data('lake')`]: 4,
    [`CALL ducklake_merge_adjacent_files('lake')`]: 4,
    [`CALL ducklake_rewrite_data_files('lake', '${name}', delete_threshold => 0)`]: 2,
    [`CALL ducklake_expire_snapshots('lake', older_than => now())`]: 4,
    [`CALL ducklake_expire_snapshots('lake', versions => [${k}])`]: 2,
    [`CALL ducklake_cleanup_old_files('lake', cleanup_all => true)`]: 2,
    [`ALTER TABLE ${table} ADD COLUMN c${k} INTEGER DEFAULT ${k}`]: 2,
    [`ALTER TABLE ${table} RENAME COLUMN name TO name2; ALTER TABLE ${table} RENAME COLUMN name2 TO name`]: 1,
    [`ALTER TABLE ${table} ALTER id TYPE BIGINT`]: 1,
    [`COPY (SELECT ${k} AS id, 'n1' AS name) TO '${folder}/${k}.parquet'; CALL ducklake_add_data_files('lake', '${name}', '${folder}/${k}.parquet', allow_missing => true)`]: 4,
    [`DROP TABLE ${table}; CREATE TABLE ${table} (id INTEGER, name VARCHAR); ${insert}`]: 1,
    [`ALTER TABLE ${table} RENAME TO w; ALTER TABLE lake.w RENAME TO ${name}`]: 1,
    [`ALTER TABLE ${table} SET PARTITIONED BY (bucket(3, id))`]: 1,
    [`CREATE TABLE lake.other${k} (x INTEGER); INSERT INTO lake.other${k} VALUES (1)`]: 2,
  });
}

for (const kind of CATALOG_KINDS)
  describe(kind, () => {
    test.each(Array.from({ length: kind === 'sqlite' ? 5 : 1 }, (_, seed) => [seed]))(
      'a handle that stays open reads what one reads that was opened now, whatever DuckDB did between (history %i)',
      async (seed) => {
        const random = new Random(seed * 31 + (kind === 'sqlite' ? 0 : 1000));
        await using place = await testLake(kind);
        const folder = `${place.folder}/outside`;
        await mkdir(folder);
        const dataInliningRowLimit = random.pick([0, 10]);
        await place.attach(duck, { inliningRowLimit: dataInliningRowLimit });
        const asked = { all: 0, newer: 0 };
        const seen: string[] = [];
        try {
          await duck.run(
            'CREATE TABLE lake.t (id INTEGER, name VARCHAR); CREATE TABLE lake.u (id INTEGER, name VARCHAR); INSERT INTO lake.t VALUES (1, NULL)',
          );
          await using open = await openCounted(place, asked, dataInliningRowLimit);
          for (let k = 0; k < 40; k++) {
            if (random.chance(0.15))
              await open.lake
                .table('t')
                .insert([{ id: k, name: `n1${k}` }])
                .catch(() => undefined);
            else {
              const sql = change(random, folder, k);
              seen.push(sql);
              await duck.run(sql).catch(() => duck.run('ROLLBACK').catch(() => {}));
            }
            if (random.chance(0.3)) continue;
            await using fresh = await openCounted(place, { all: 0, newer: 0 });
            const [kept, anew] = [await readAll(open.lake), await readAll(fresh.lake)];
            expect({ seen, rows: kept }).toEqual({ seen, rows: anew });
            const first = kept[0] as { readonly rows?: readonly { id: number | bigint }[]; readonly error?: string };
            const ids = first.rows?.map(({ id }) => Number(id)) ?? [];
            const ours = first.error ?? `${ids.length} rows, ${ids.reduce((a, b) => a + b, 0)}`;
            const [row] = await duck.rows(
              'SELECT count(*) AS n, coalesce(sum(id), 0) AS s FROM lake.t WHERE id < 1000000',
            );
            expect({ seen, first: ours }).toEqual({ seen, first: `${row!['n']} rows, ${row!['s']}` });
          }
        } finally {
          await duck.detach();
        }
        // It did rely on what it knew, and not always.
        expect(asked.newer).toBeGreaterThan(20);
        expect(asked.all).toBeGreaterThan(12);
      },
    );
  });
