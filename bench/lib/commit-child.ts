/**
 * Commits for a while in a process of its own: `node bench/lib/commit-child.ts TASK`, a {@link CommitTask} as JSON. Prints `ready` when
 * its lakes are open, begins when its standard input says so, and prints {@link CommitFigures} as JSON.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CatalogStore } from '../../src/index.ts';
import type { LakeAddress } from '../../test/support/lakes.ts';

export interface CommitTask {
  readonly client: 'edgemere' | 'duckdb';
  readonly address: LakeAddress;
  /** Clients with a lake handle and a connection each. */
  readonly writers: number;
  /** Callers of each handle that await every commit of their own. */
  readonly callers: number;
  /** `writer`: through one buffered writer for each handle. */
  readonly call: 'insert' | 'writer';
  readonly rows: number;
  /** Whether rows go into the catalog, where there are few enough of them. */
  readonly inlines: boolean;
  /** Each caller commits once at least. */
  readonly seconds: number;
  readonly commitGapMs?: number;
}

export interface CommitFigures {
  /** For each writer, how long each commit took, in milliseconds. */
  readonly millis: readonly (readonly number[])[];
  readonly failures: number;
  /** What the first failure said. */
  readonly error: string | undefined;
  readonly peakMiB: number;
}

/** One commit. */
type Commit = () => Promise<unknown>;

const start = Date.UTC(2024, 0, 1);

function rowOf(i: number): Record<string, unknown> {
  return {
    id: BigInt(i),
    ts: new Date(start + i * 1000),
    user: `user_${i % 1000}`,
    event: ['view', 'click', 'purchase', 'login'][i % 4],
    url: `https://example.com/products/${(Math.imul(i, 2_654_435_761) >>> 0).toString(36)}`,
    amount: (i % 10_000) / 100,
    qty: i % 10 === 0 ? null : i % 100,
    ok: i % 2 === 0,
  };
}

// Each client is loaded by itself: what loading takes is part of a fresh process' first commit.
async function edgemere(task: CommitTask): Promise<Commit> {
  const { openLake } = await import('../../src/index.ts');
  const { localStore } = await import('../../adapters/local.ts');
  const { commitGapMs } = task;
  const catalog = await catalogAt(task.address);
  const lake = await openLake({ catalog, store: localStore(), ...(commitGapMs === undefined ? {} : { commitGapMs }) });
  const events = lake.table('events');
  const rows = Array.from({ length: task.rows }, (_, i) => rowOf(i));
  if (task.call === 'insert') return () => events.insert(rows);
  const writer = events.writer();
  return () => writer.append(rows);
}

async function catalogAt(address: LakeAddress): Promise<CatalogStore> {
  if (address.kind === 'sqlite') {
    const { sqliteCatalog } = await import('../../adapters/sqlite.ts');
    return sqliteCatalog({ path: address.path });
  }
  const { postgresCatalog } = await import('../../adapters/postgres.ts');
  const { default: postgres } = await import('postgres');
  const sql = postgres(address.url, { max: 1, fetch_types: false, onnotice: () => {} });
  return postgresCatalog({ sql, schema: address.schema });
}

async function duckdb({ address, rows, inlines }: CommitTask): Promise<Commit> {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const { extensionsFolder } = await import('../../test/support/extensions.ts');
  const folder = await extensionsFolder();
  const instance = await DuckDBInstance.create(':memory:', { autoinstall_known_extensions: 'false' });
  const db = await instance.connect();
  const isSqlite = address.kind === 'sqlite';
  for (const name of [isSqlite ? 'sqlite_scanner' : 'postgres_scanner', 'ducklake'])
    await db.run(`LOAD '${join(folder, `${name}.duckdb_extension`)}'`);
  const place = isSqlite ? `sqlite:${address.path}` : `postgres:${address.url}`;
  await db.run(`ATTACH 'ducklake:${place}' AS lake${inlines ? '' : ' (DATA_INLINING_ROW_LIMIT 0)'}`);
  const insert = `INSERT INTO lake.events SELECT i AS id, TIMESTAMP '2024-01-01' + to_seconds(i), 'user_' || (i % 1000),
    ['view', 'click', 'purchase', 'login'][1 + i % 4], 'https://example.com/products/' || hash(i), (i % 10000) / 100,
    CASE WHEN i % 10 = 0 THEN NULL ELSE i % 100 END, i % 2 = 0 FROM range(${rows}) t(i)`;
  return () => db.run(insert);
}

async function main(task: CommitTask): Promise<CommitFigures> {
  const open = task.client === 'edgemere' ? edgemere : duckdb;
  const commits = await Promise.all(Array.from({ length: task.writers }, () => open(task)));
  const begin = once(process.stdin, 'data');
  process.stdout.write('ready\n');
  await begin;
  const until = performance.now() + task.seconds * 1000;
  const millis = commits.map((): number[] => []);
  let failures = 0;
  let error: string | undefined;
  const call = async (commit: Commit, taken: number[]): Promise<void> => {
    do {
      const began = performance.now();
      try {
        await commit();
        taken.push(performance.now() - began);
      } catch (reason) {
        failures++;
        error ??= String(reason);
      }
    } while (performance.now() < until);
  };
  await Promise.all(
    commits.flatMap((commit, i) => Array.from({ length: task.callers }, () => call(commit, millis[i]!))),
  );
  return { millis, failures, error, peakMiB: (await peakKiB()) / 1024 };
}

/** Linux counts what the parent took to the `maxRSS` of its child; its other figure begins anew. */
async function peakKiB(): Promise<number> {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '');
  return Number(/VmHWM:\s*(\d+)/.exec(status)?.[1] ?? process.resourceUsage().maxRSS);
}

const figures = await main(JSON.parse(process.argv[2]!));
// A pipe takes only so much at once.
process.stdout.write(JSON.stringify(figures), () => process.exit());
