/**
 * The conformance cases on every adapter, in whichever runtime this is run:
 *
 *   node test/runtime/run.ts      bun test/runtime/run.ts      deno run -A --node-modules-dir=manual test/runtime/run.ts
 *
 * Arguments choose suites: memory, local, seaweedfs, swift, sqlite, postgres. The last line is the count, as JSON.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { localStore } from '../../adapters/local.ts';
import { postgresCatalog } from '../../adapters/postgres.ts';
import { s3Store } from '../../adapters/s3.ts';
import { type SqliteDatabase, sqliteCatalog } from '../../adapters/sqlite.ts';
import { catalogCases, storageCases } from '../../src/conformance/index.ts';
import { type CatalogStore, type ObjectStore, openLake } from '../../src/index.ts';
import { freshDatabase, type S3Server, s3Env } from '../support/services.ts';
import { allLakeCases, type CountedTarget } from './lake-cases.ts';
import { countFiles, memorySuites } from './memory.ts';
import { sqliteErrors } from './sqlite-errors.ts';
import { runSuites, type Suite, suite } from './suite.ts';

async function folder(stack: AsyncDisposableStack): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'edgemere-runtime-'));
  stack.defer(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function sqlite(stack: AsyncDisposableStack): Promise<() => CatalogStore> {
  const path = join(await folder(stack), 'catalog.sqlite');
  return () => sqliteCatalog({ path });
}

/** bun:sqlite, where there is one. */
async function bunSqlite(stack: AsyncDisposableStack): Promise<() => CatalogStore> {
  const path = join(await folder(stack), 'catalog.sqlite');
  const { Database } = await import('bun:sqlite');
  return () => {
    const database = new Database(path);
    stack.defer(() => database.close());
    return sqliteCatalog({ database: database as unknown as SqliteDatabase });
  };
}

/** One database for all; a schema for each case. */
async function postgresPlaces(): Promise<(stack: AsyncDisposableStack) => () => CatalogStore> {
  const { url } = await database();
  return (stack) => {
    const schema = `case ${crypto.randomUUID()}`;
    return () => {
      const sql = postgres(url, { max: 4, onnotice: () => {} });
      stack.defer(() => sql.end());
      return postgresCatalog({ sql, schema });
    };
  };
}

let opened: ReturnType<typeof freshDatabase> | undefined;

function database(): ReturnType<typeof freshDatabase> {
  opened ??= freshDatabase();
  return opened;
}

interface Bucket {
  readonly store: ObjectStore;
  prefix(): string;
}

async function bucket(server: S3Server): Promise<Bucket> {
  const { bucket, endpoint, region, accessKeyId, secretAccessKey } = await s3Env(server);
  const store = s3Store({
    // A server that shares its cores with others may take some attempts.
    config: { endpoint, region, credentials: { accessKeyId, secretAccessKey }, forcePathStyle: true, maxAttempts: 10 },
  });
  return { store, prefix: () => `s3://${bucket}/${crypto.randomUUID()}/` };
}

function lakeOn(catalog: () => CatalogStore, store: ObjectStore, dataPath: string): CountedTarget {
  return {
    open: (options) => openLake({ catalog: catalog(), store, dataPath, ...options }),
    fileCount: () => countFiles(store, dataPath),
  };
}

const isBun = 'Bun' in globalThis;

/** Built only when wanted: what they need is started then. */
const suites: Readonly<Record<string, () => Suite[] | Promise<Suite[]>>> = {
  memory: memorySuites,
  local: () => [
    suite('local store', storageCases, async (stack) => ({
      store: localStore(),
      prefix: `${await folder(stack)}/lake/`,
      capabilities: { exactKeys: false },
    })),
  ],
  async seaweedfs() {
    const { store, prefix } = await bucket('seaweedfs');
    // Its keys are paths.
    const capabilities = { exactKeys: false };
    return [suite('S3 store, SeaweedFS', storageCases, () => ({ store, prefix: prefix(), capabilities }))];
  },
  async swift() {
    const { store, prefix } = await bucket('swift');
    const capabilities = { exactKeys: true };
    return [suite('S3 store, Swift', storageCases, () => ({ store, prefix: prefix(), capabilities }), ['exactKeys'])];
  },
  sqlite: () => [
    sqliteErrors(folder),
    ...(isBun ? [sqlite, bunSqlite] : [sqlite]).flatMap((driver) => [
      suite(`SQLite catalog, ${driver.name}`, catalogCases, async (stack) => {
        const catalog = await driver(stack);
        return { open: async () => catalog() };
      }),
      suite(`lake on SQLite and local files, ${driver.name}`, allLakeCases, async (stack) =>
        lakeOn(await driver(stack), localStore(), `${await folder(stack)}/`),
      ),
    ]),
  ],
  async postgres() {
    const place = await postgresPlaces();
    const { store, prefix } = await bucket('seaweedfs');
    return [
      suite('Postgres catalog', catalogCases, (stack) => {
        const catalog = place(stack);
        return { open: async () => catalog() };
      }),
      suite('lake on Postgres and S3', allLakeCases, (stack) => lakeOn(place(stack), store, prefix())),
    ];
  },
};

const wanted = process.argv.slice(2);
const chosen: Suite[] = [];
for (const [name, make] of Object.entries(suites)) {
  if (wanted.length === 0 || wanted.includes(name)) chosen.push(...(await make()));
}
const counts = await runSuites(chosen, (line) => console.log(line));
await (await opened)?.[Symbol.asyncDispose]();
console.log(JSON.stringify(counts));
process.exit(counts.failed > 0 ? 1 : 0);
