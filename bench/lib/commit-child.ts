import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
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
export type Commit = () => Promise<unknown>;

/**
 * Commits for a while in a process of its own, whose argument is a {@link CommitTask} as JSON. Prints `ready` when its lakes are open,
 * begins when its standard input says so, and prints {@link CommitFigures} as JSON.
 */
export async function commitForAWhile(open: (task: CommitTask) => Promise<Commit>): Promise<void> {
  const figures = await figuresOf(JSON.parse(process.argv[2]!), open);
  // A pipe takes only so much at once.
  process.stdout.write(JSON.stringify(figures), () => process.exit());
}

async function figuresOf(task: CommitTask, open: (task: CommitTask) => Promise<Commit>): Promise<CommitFigures> {
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
