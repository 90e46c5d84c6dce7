import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { randomOf } from '../../bench/lib/data.ts';
import { t } from '../../src/index.ts';
import { type CatalogKind, testLake } from '../support/lakes.ts';
import { postgresWire } from '../support/postgres-wire.ts';
import { freshDatabase } from '../support/services.ts';
import { type Line, TABLES, type WorkerTask } from './lines.ts';
import { problemsOf } from './verify.ts';

export interface SoakOptions {
  readonly catalog: CatalogKind;
  readonly seconds: number;
  /** Two of them are DuckDB. */
  readonly processes: number;
  readonly seed: number;
  /** Goes on beyond the seconds until so many calls were done: machines are of different speed. */
  readonly calls?: number;
}

export interface SoakReport {
  readonly calls: Readonly<Record<'done' | 'refused' | 'unknown' | 'cut off', number>>;
  readonly faults: Readonly<Record<Fault, number>>;
  /** Why calls were refused, and how often. */
  readonly refusals: Readonly<Record<string, number>>;
  /** What is wrong with the lake afterwards. Empty is what it has to be. */
  readonly problems: readonly string[];
}

type Fault = 'killed' | 'paused' | 'cut';

/** What one worker said, from its first line to its last. */
export interface Told {
  readonly worker: number;
  readonly isDuck: boolean;
  readonly lines: readonly Line[];
}

/** Random calls by many processes on one lake, some of which are killed, paused or cut off; then the lake has to be what they were told. */
export async function soak({ catalog, seconds, processes, seed, calls = 0 }: SoakOptions): Promise<SoakReport> {
  const random = randomOf(seed);
  await using database = catalog === 'postgres' ? await freshDatabase() : undefined;
  await using wire = database && (await postgresWire(database.url));
  await using place = await testLake(catalog, wire === undefined ? {} : { url: wire.url });
  {
    await using lake = await place.open();
    const columns = { id: t.int64().notNull(), worker: t.int32(), v: t.varchar() };
    for (const table of TABLES) await lake.createTable(table, columns);
  }

  const told: Told[] = [];
  const errors: string[] = [];
  const running: Worker[] = [];
  const launch = (isDuck: boolean): void => {
    // Only those who have begun to work are cut off.
    if (wire) wire.cutNext = undefined;
    // DuckDB isn't: when the answer to its COMMIT is lost it removes its files, whether they were committed or not.
    const address = isDuck && database ? { ...place.address, url: database.url } : place.address;
    const task = { worker: told.length + 1, address, seed: seed * 1000 + told.length };
    const worker = start(isDuck, task, errors);
    told.push(worker.told);
    running.push(worker);
  };
  for (let i = 0; i < processes; i++) launch(i < 2);

  const isLoading = (): boolean => running.some(({ told }) => told.lines.length === 0);
  // A worker needs seconds to load beside so many others.
  while (isLoading() && errors.length === 0) await pause(50);
  const faults: Record<Fault, number> = { killed: 0, paused: 0, cut: 0 };
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until || (counted(told).calls.done < calls && errors.length === 0)) {
    await pause(100 + random() * 700);
    const index = Math.floor(random() * running.length);
    const worker = running[index]!;
    if (worker.told.lines.length === 0) continue;
    const chance = random();
    if (wire && chance < 0.4) {
      if (isLoading()) continue;
      faults.cut++;
      wire.cutNext = random() < 0.5 ? 'request' : 'response';
    } else if (chance < 0.7) {
      faults.paused++;
      worker.child.kill('SIGSTOP');
      await pause(random() * 1500);
      worker.child.kill('SIGCONT');
    } else {
      faults.killed++;
      await end(worker);
      running.splice(index, 1);
      launch(worker.told.isDuck);
    }
  }
  if (wire) wire.cutNext = undefined;
  // What they are at may come to its end.
  await Promise.all(running.map(end));
  const problems = [...errors, ...(await problemsOf(place, told))];
  return { ...counted(told), faults, problems };
}

interface Worker {
  readonly child: ChildProcess;
  readonly told: Told;
  readonly isOver: Promise<void>;
}

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const node = path('../../node_modules/node/bin/node');

function start(isDuck: boolean, task: WorkerTask, errors: string[]): Worker {
  const script = path(isDuck ? './duck.ts' : './native.ts');
  const child = spawn(existsSync(node) ? node : 'node', [script, JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: Line[] = [];
  createInterface({ input: child.stdout! }).on('line', (line) => {
    // A killed worker's last line may be a part of one.
    if (line.endsWith('}')) lines.push(JSON.parse(line));
  });
  let log = '';
  child.stderr!.setEncoding('utf8').on('data', (chunk: string) => {
    log += chunk;
  });
  const isOver = once(child, 'close').then(([, signal]) => {
    if (signal !== 'SIGKILL') errors.push(`worker ${task.worker} ended by itself: ${log.slice(-2000)}`);
  });
  return { child, told: { worker: task.worker, isDuck, lines }, isOver };
}

async function end({ child, isOver }: Worker): Promise<void> {
  child.kill('SIGKILL');
  await isOver;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function counted(told: readonly Told[]): Pick<SoakReport, 'calls' | 'refusals'> {
  const calls = { done: 0, refused: 0, unknown: 0, 'cut off': 0 };
  const refusals: Record<string, number> = {};
  for (const { lines, isDuck } of told)
    for (const line of lines) {
      if (line.event === 'try') calls['cut off']++;
      if (line.event !== 'done' && line.event !== 'refused' && line.event !== 'unknown') continue;
      calls[line.event]++;
      calls['cut off']--;
      if (line.event === 'done') continue;
      const reason = `${isDuck ? 'DuckDB: ' : ''}${line.error.replace(/[\d"]+/g, '').slice(0, 100)}`;
      refusals[reason] = (refusals[reason] ?? 0) + 1;
    }
  return { calls, refusals };
}
