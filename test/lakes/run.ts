/**
 * Lakes by the thousand: generates histories, lets DuckDB make them, and compares what edgemere reads with what DuckDB
 * does. By hand, as long as one likes:
 *
 *   node test/lakes/run.ts --seeds 1000 --from 0 [--catalog postgres] [--jobs 2] [--out FOLDER] [--no-shrink] [--verbose]
 *   node test/lakes/run.ts --kept          the histories in the folder kept
 *   node test/lakes/run.ts FILE…           histories from there, or failures that --out wrote
 *
 * A failure is shrunk and printed; with `--out` it is also written there, one file for each kind. Lakes are made in
 * processes of their own: there are statements by which DuckDB ends its process, and the next seed goes on in a new one.
 */
import { fork } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { freshDatabase } from '../support/services.ts';
import { count } from './compare.ts';
import type { FoundMessage, LakeMessage, WorkerMessage, WorkerTask } from './worker.ts';

const { values: args, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '0' },
    catalog: { type: 'string', default: 'sqlite' },
    jobs: { type: 'string', default: '1' },
    out: { type: 'string' },
    kept: { type: 'boolean', default: false },
    'no-shrink': { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});

const kept = fileURLToPath(new URL('kept', import.meta.url));
const files = args.kept
  ? (await readdir(kept)).filter((name) => name.endsWith('.json')).map((name) => join(kept, name))
  : positionals;
const database = args.catalog === 'postgres' ? await freshDatabase() : undefined;
const began = performance.now();
const totals = { lakes: 0, snapshots: 0, right: 0, crashes: 0 };
const tallies: Record<keyof LakeMessage['tallies'], Map<string, number>> = {
  statements: new Map(),
  theirFailures: new Map(),
  refused: new Map(),
  findings: new Map(),
};
const firstSeeds = new Map<string, number>();

async function found({ kind, seed, where, detail, history, isSmallest }: FoundMessage): Promise<void> {
  firstSeeds.set(kind, firstSeeds.get(kind) ?? seed);
  const text = `# ${kind}\n\nSeed ${seed} (${args.catalog}), ${where}\n\n${detail}\n\n\`\`\`json\n${JSON.stringify(history, null, 1)}\n\`\`\`\n`;
  if (isSmallest) console.log(`\n${text}`);
  if (args.out === undefined) return;
  await mkdir(args.out, { recursive: true });
  await writeFile(join(args.out, `${kind.replace(/[^\w]+/g, '-').slice(0, 80)}.md`), text);
}

function rate(): string {
  return (totals.lakes / ((performance.now() - began) / 1000)).toFixed(2);
}

function lake(message: LakeMessage): void {
  totals.lakes++;
  totals.snapshots += message.snapshots;
  totals.right += message.right;
  for (const name of Object.keys(tallies) as (keyof typeof tallies)[])
    for (const [key, times] of message.tallies[name]) count(tallies[name], key, times);
  if (totals.lakes % 100 === 0)
    console.log(
      `${totals.lakes} lakes to seed ${message.seed}, ${rate()}/s, ${totals.right} right, ${firstSeeds.size} kinds of failure`,
    );
}

/** Runs seeds in one process until it is done or gone. Resolves to the seed to go on with. */
async function work(from: number, to: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'edgemere-lakes-'));
  const task: WorkerTask = {
    from,
    to,
    kind: database ? { kind: 'postgres', url: database.url } : { kind: 'sqlite' },
    ...(files.length > 0 && { files }),
    shrinks: !args['no-shrink'] && files.length === 0,
    known: [...firstSeeds.keys()],
  };
  const child = fork(fileURLToPath(new URL('worker.ts', import.meta.url)), [JSON.stringify(task)], {
    env: { ...process.env, TMPDIR: folder },
  });
  let seed = from;
  let isDone = false;
  let last: Promise<void> = Promise.resolve();
  child.on('message', (message: WorkerMessage) => {
    if (message.type === 'seed') seed = message.seed;
    else if (message.type === 'lake') lake(message);
    else if (message.type === 'found') last = last.then(() => found(message));
    else isDone = true;
  });
  const exit = await new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
  await last;
  await rm(folder, { recursive: true, force: true });
  if (isDone) return to;
  totals.crashes++;
  console.log(`seed ${seed}: DuckDB ended its process (${exit})`);
  return seed + 1;
}

const from = files.length > 0 ? 0 : Number(args.from);
const seedCount = files.length > 0 || args.kept ? files.length : Number(args.seeds);
const jobs = Number(args.jobs);
await Promise.all(
  Array.from({ length: jobs }, async (_, k) => {
    const end = from + Math.floor((seedCount * (k + 1)) / jobs);
    for (let seed = from + Math.floor((seedCount * k) / jobs); seed < end; ) seed = await work(seed, end);
  }),
);

function table(title: string, counts: ReadonlyMap<string, number>): void {
  if (counts.size === 0) return;
  console.log(`\n${title}`);
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  for (const [key, times] of sorted.slice(0, 40)) {
    const seed = firstSeeds.get(key);
    console.log(`${String(times).padStart(7)}  ${key}${seed === undefined ? '' : ` (first in seed ${seed})`}`);
  }
}
if (args.verbose) table('statements that DuckDB refused', tallies.statements);
table('tables that DuckDB itself could not read', tallies.theirFailures);
table('refused by edgemere', tallies.refused);
table('failures', tallies.findings);
console.log(
  `\n${totals.lakes} lakes, ${totals.snapshots} snapshots, ${totals.right} reads right, ${firstSeeds.size} kinds of failure, ${totals.crashes} crashes of DuckDB, ${rate()} lakes/s`,
);
await database?.[Symbol.asyncDispose]();
process.exitCode = firstSeeds.size > 0 || totals.lakes + totals.crashes < seedCount ? 1 : 0;
