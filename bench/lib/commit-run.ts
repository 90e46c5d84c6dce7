import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildModules } from '../../scripts/library.ts';
import { extensionsFolder } from '../../test/support/extensions.ts';
import { type TestLake, testLake } from '../../test/support/lakes.ts';
import { type PostgresWire, postgresWire } from '../../test/support/postgres-wire.ts';
import { freshDatabase } from '../../test/support/services.ts';
import type { CommitFigures, CommitTask } from './commit-child.ts';
import { eventColumns } from './event-columns.ts';

/** A lake with the table `events`, behind a proxy where its catalog is in Postgres. */
export interface CommitPlace extends AsyncDisposable {
  readonly lake: TestLake;
  readonly wire: PostgresWire | undefined;
}

export async function commitPlace(
  catalog: { readonly kind: 'sqlite'; readonly wal: boolean } | { readonly kind: 'postgres'; readonly delayMs: number },
): Promise<CommitPlace> {
  if (catalog.kind === 'sqlite') {
    const lake = await testLake('sqlite');
    await createEvents(lake);
    await lake.sql(`PRAGMA journal_mode = ${catalog.wal ? 'WAL' : 'DELETE'}`);
    return { lake, wire: undefined, [Symbol.asyncDispose]: () => lake[Symbol.asyncDispose]() };
  }
  const database = await freshDatabase();
  // Without a delay there is no need of a proxy, which takes its part of the processor.
  const wire = catalog.delayMs > 0 ? await postgresWire(database.url) : undefined;
  const lake = await testLake('postgres', { url: wire?.url ?? database.url });
  await createEvents(lake);
  if (wire) wire.delayMs = catalog.delayMs;
  return {
    lake,
    wire,
    async [Symbol.asyncDispose]() {
      if (wire) wire.delayMs = 0;
      await lake[Symbol.asyncDispose]();
      await wire?.[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** The same for both clients. */
async function createEvents(place: TestLake): Promise<void> {
  await using lake = await place.open();
  await lake.createTable('events', eventColumns);
}

/** Processes that do the same. */
export interface Group extends Partial<Omit<CommitTask, 'address'>> {
  readonly client: CommitTask['client'];
  readonly processes?: number;
}

export interface Run {
  /** Of all processes, writer after writer. */
  readonly millis: readonly (readonly number[])[];
  readonly failures: number;
  readonly error: string | undefined;
  readonly peakMiB: number;
  /** From the start of the group's last process to the end of its first commit. */
  readonly firstCommitMillis: number;
}

/** Lets groups of processes commit side by side for some seconds. All begin when all are ready: the wire counts from there, unless each commits just once. */
export async function commitTogether(
  { lake: { address }, wire }: CommitPlace,
  seconds: number,
  groups: readonly Group[],
): Promise<Run[]> {
  const { pathOf, env } = await programs;
  const children = groups.map(({ processes = 1, ...group }) => {
    const task = {
      writers: 1,
      callers: 1,
      call: 'insert',
      rows: 100,
      inlines: false,
      ...group,
      seconds,
      address,
    } as const;
    return Array.from({ length: processes }, () => start(pathOf(group.client), env, task));
  });
  await Promise.all(children.flat().map(({ ready }) => ready));
  if (seconds > 0) wire?.reset();
  for (const { begin } of children.flat()) begin();
  return Promise.all(
    children.map(async (group): Promise<Run> => {
      const figures = await Promise.all(group.map(({ figures }) => figures));
      const openMillis = await group.at(-1)!.ready;
      return {
        millis: figures.flatMap(({ millis }) => millis),
        failures: figures.reduce((sum, { failures }) => sum + failures, 0),
        error: figures.find(({ error }) => error !== undefined)?.error,
        peakMiB: Math.max(...figures.map(({ peakMiB }) => peakMiB)),
        firstCommitMillis: openMillis + (figures.at(-1)!.millis[0]?.[0] ?? 0),
      };
    }),
  );
}

/** The children's programs, bundled once as functions are deployed: from the package as it is published, with its driver. */
const programs = (async () => {
  const { build } = await import('esbuild');
  const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
  const outdir = path('../../node_modules/.cache/edgemere-bench');
  await buildModules(join(outdir, 'lib'));
  const module = (name: string): string => join(outdir, 'lib', `${name}.js`);
  const clients: readonly CommitTask['client'][] = ['edgemere', 'duckdb'];
  for (const client of clients)
    await build({
      entryPoints: { [client]: path(`./commit-${client}.ts`) },
      outdir,
      bundle: true,
      splitting: true,
      minify: true,
      platform: 'node',
      format: 'esm',
      outExtension: { '.js': '.mjs' },
      alias: {
        edgemere: module('index'),
        ...Object.fromEntries(['local', 'postgres', 'sqlite'].map((name) => [`edgemere/${name}`, module(name)])),
      },
      // It has native code.
      external: ['@duckdb/node-api'],
    });
  return {
    pathOf: (client: CommitTask['client']): string => join(outdir, `${client}.mjs`),
    env: { ...process.env, EDGEMERE_DUCKDB_EXTENSIONS: await extensionsFolder() },
  };
})();
// Whoever awaits it hears of its failure.
programs.catch(() => {});

interface Child {
  /** After how many milliseconds the lake was open. */
  readonly ready: Promise<number>;
  begin(): void;
  readonly figures: Promise<CommitFigures>;
}

function start(program: string, env: NodeJS.ProcessEnv, task: CommitTask): Child {
  const began = performance.now();
  const child = spawn(process.execPath, [program, JSON.stringify(task)], { stdio: ['pipe', 'pipe', 'inherit'], env });
  const ready = Promise.withResolvers<number>();
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    if (text.includes('\n')) ready.resolve(performance.now() - began);
  });
  const figures = once(child, 'close').then(([code]): CommitFigures => {
    if (code !== 0) throw new Error(`a writer ended with ${code}`);
    return JSON.parse(text.slice(text.indexOf('\n')));
  });
  figures.catch(ready.reject);
  return { ready: ready.promise, begin: () => child.stdin.write('go\n'), figures };
}
