import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { localStore } from '../../adapters/local.ts';
import { type Lake, t } from '../../src/index.ts';
import { CATALOG_KINDS, type TestLake, testLake } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';
import { freshDatabase } from '../support/services.ts';
import { watchedStore } from '../support/watched-store.ts';

setDefaultTimeout(300_000);

const count = async (lake: Lake): Promise<number> => (await lake.table('t').scan().toArray()).length;

const stored = async (place: TestLake): Promise<string[]> =>
  (await watchedStore(localStore(), `${place.folder}/`).left())
    .map((location) => location.slice(place.folder.length))
    .filter((location) => location.endsWith('.parquet'))
    .map((location) => location.replace(/ducklake-.*$/, '*'));

for (const kind of CATALOG_KINDS)
  describe(`data paths, ${kind}`, () => {
    for (const [given, kept] of [
      ['data', 'data/'],
      ['data/', 'data/'],
      ['data//', 'data/'],
      ['a b/+%&#é', 'a b/+%&#é/'],
    ] as const)
      test(`made by us with ${given}`, async () => {
        await using place = await testLake(kind);
        await using duck = await openOracle();
        const lake = await place.open({ dataPath: join(place.folder, '/') + given });
        expect(lake.dataPath).toBe(`${place.folder}/${kept}`);
        const table = await lake.createTable('t', { i: t.int32() });
        await table.insert([{ i: 1 }]);
        // DuckDB finds the path in the catalog, and takes it with a slash or without.
        if (place.address.kind === 'sqlite') await duck.attachSqlite(place.address.path);
        else await duck.attachPostgres(place.address.url, undefined, { schema: 'public' });
        await duck.run('INSERT INTO lake.t VALUES (2)');
        expect(await count(lake)).toBe(2);
        expect(await duck.rowsAgreed('SELECT count(*) AS n FROM lake.t')).toEqual([{ n: '2' }]);
        expect(await stored(place)).toEqual(new Array(2).fill(`/${kept}main/t/*`));
        const again = await place.open({ dataPath: `${place.folder}/${kept.slice(0, -1)}`, create: false });
        expect(await count(again)).toBe(2);
      });

    for (const given of ['data', 'data/', 'a b/+%&#é'])
      test(`made by DuckDB with ${given}`, async () => {
        await using place = await testLake(kind);
        await using duck = await openOracle();
        const path = `${place.folder}/${given}`;
        if (place.address.kind === 'sqlite') await duck.attachSqlite(place.address.path, path);
        else await duck.attachPostgres(place.address.url, path, { schema: 'public' });
        await duck.run('CREATE TABLE lake.t (i INTEGER); INSERT INTO lake.t VALUES (1)');
        for (const dataPath of [undefined, path, path.endsWith('/') ? path.slice(0, -1) : `${path}/`]) {
          const lake = await place.open({ dataPath });
          await lake.table('t').insert([{ i: 2 }]);
          expect(lake.dataPath).toBe(path.endsWith('/') ? path : `${path}/`);
        }
        expect(await count(await place.open({ dataPath: undefined }))).toBe(4);
        expect(await duck.rowsAgreed('SELECT count(*) AS n FROM lake.t')).toEqual([{ n: '4' }]);
        expect(await stored(place)).toEqual(new Array(4).fill(`/${given.replace(/\/$/, '')}/main/t/*`));
      });

    test('a relative path stays relative', async () => {
      await using place = await testLake(kind);
      const store = localStore({ root: place.folder });
      const lake = await place.open({ store, dataPath: 'data/' });
      await (await lake.createTable('t', { i: t.int32() })).insert([{ i: 1 }]);
      expect(await place.sql("SELECT value FROM ducklake_metadata WHERE key = 'data_path'")).toMatchObject([
        { value: 'data/' },
      ]);
      expect(await stored(place)).toEqual(['/data/main/t/*']);
      const [file] = await lake.table('t').files();
      expect(file!.location).toMatch(/^data\/main\/t\/ducklake-.*\.parquet$/);
      expect(await count(await place.open({ store, dataPath: undefined }))).toBe(1);
      // DuckDB's relative paths are relative to its working directory: it has to be told where they are.
      await using duck = await openOracle();
      await place.attach(duck, { more: 'OVERRIDE_DATA_PATH true' });
      expect(await duck.rowsAgreed('SELECT i FROM lake.t')).toEqual([{ i: '1' }]);
    });

    test('another path than the catalog has is refused, unless the lake was moved', async () => {
      await using place = await testLake(kind);
      const lake = await place.open();
      await (await lake.createTable('t', { i: t.int32() })).insert([{ i: 1 }]);
      const moved = `${place.folder}/moved/`;
      const refused = place.open({ dataPath: moved });
      await expect(refused).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', context: { location: place.dataPath } });
      await rename(place.dataPath, moved);
      const other = await place.open({ dataPath: moved, overrideDataPath: true });
      expect(await count(other)).toBe(1);
      await other.table('t').insert([{ i: 2 }]);
      expect(await count(other)).toBe(2);
      expect(await stored(place)).toEqual(['/moved/main/t/*', '/moved/main/t/*']);
      // The catalog keeps its own.
      expect((await place.open({ dataPath: undefined })).dataPath).toBe(place.dataPath);
      await using duck = await openOracle();
      if (place.address.kind === 'sqlite')
        await duck.attachSqlite(place.address.path, moved, { more: 'OVERRIDE_DATA_PATH true' });
      else await duck.attachPostgres(place.address.url, moved, { schema: 'public', more: 'OVERRIDE_DATA_PATH true' });
      expect(await duck.rowsAgreed('SELECT i FROM lake.t ORDER BY i')).toEqual([{ i: '1' }, { i: '2' }]);
    });

    test('catalogs of another version are refused by name', async () => {
      await using place = await testLake(kind);
      await (await place.open()).createTable('t', { i: t.int32() });
      for (const version of ['0.3', '1.1-dev1', '1.00', '2.0', '']) {
        await place.sql(`UPDATE ducklake_metadata SET value = '${version}' WHERE key = 'version'`);
        const refused = await place.open().catch((error: unknown) => error);
        expect([version, refused]).toMatchObject([version, { code: 'VERSION', context: { version } }]);
        expect((refused as Error).message).toContain(version);
        expect((refused as Error).message).toContain('1.0');
      }
    });
  });

test('several lakes in one Postgres database, each in a schema of its own', async () => {
  await using database = await freshDatabase();
  const names = ['public', 'tenant a', 'SELECT', 'Ünï"quoted"', 'x'.repeat(63)];
  const places = await Promise.all(names.map((schema) => testLake('postgres', { url: database.url, schema })));
  try {
    await Promise.all(
      places.map(async (place, i) => {
        const lake = await place.open();
        const table = await lake.createTable('t', { i: t.int32() });
        await Promise.all([table.insert([{ i }]), table.insert([{ i: i + 100 }])]);
      }),
    );
    await using duck = await openOracle();
    for (const [i, place] of places.entries()) {
      await place.attach(duck, { as: `lake${i}` });
      expect(await duck.rowsAgreed(`SELECT count(*) AS n, min(i) AS low, max(i) AS high FROM lake${i}.t`)).toEqual([
        { n: '2', low: `${i}`, high: `${i + 100}` },
      ]);
      await duck.run(`INSERT INTO lake${i}.t VALUES (-1)`);
      const lake = await place.open();
      expect(await count(lake)).toBe(3);
      expect((await Array.fromAsync(lake.snapshots())).map(({ id }) => id)).toEqual([0, 1, 2, 3, 4]);
    }
  } finally {
    for (const place of places) await place[Symbol.asyncDispose]();
  }
});
