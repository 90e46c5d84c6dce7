/** A process of run.ts: makes lakes, one seed after the other, and tells what came out. */
import { readFile } from 'node:fs/promises';
import type { Kind } from './build.ts';
import { type Checked, check } from './check.ts';
import { count, type Finding, plain } from './compare.ts';
import { Duck, isFatal } from './duck.ts';
import { generate } from './generate.ts';
import type { History, KeptHistory } from './history.ts';
import { shrink } from './shrink.ts';

export interface WorkerTask {
  readonly from: number;
  /** Not included. */
  readonly to: number;
  readonly kind: Kind;
  /** Kept histories instead of seeds, which are then indices of this. */
  readonly files?: readonly string[];
  readonly shrinks: boolean;
  /** Kinds of failure that others found: they aren't shrunk again. */
  readonly known: readonly string[];
}

export interface LakeMessage {
  readonly type: 'lake';
  readonly seed: number;
  readonly snapshots: number;
  readonly right: number;
  readonly tallies: Readonly<
    Record<'statements' | 'theirFailures' | 'refused' | 'findings', readonly (readonly [string, number])[]>
  >;
}

export interface FoundMessage extends Finding {
  readonly type: 'found';
  readonly seed: number;
  readonly history: History;
  /** False while it is still being shrunk. */
  readonly isSmallest: boolean;
}

export type WorkerMessage =
  | { readonly type: 'seed'; readonly seed: number }
  | LakeMessage
  | FoundMessage
  | { readonly type: 'done' };

const task = JSON.parse(process.argv[2]!) as WorkerTask;
const duck = new Duck();
const known = new Set(task.known);

/** Resolves when it is with the parent: this process may be gone a moment later. */
function tell(message: WorkerMessage): Promise<void> {
  return new Promise((resolve, reject) =>
    process.send?.(message, (error: Error | null) => (error ? reject(error) : resolve())),
  );
}

const message = ({ kind, where, detail }: Finding): Finding => ({ kind, where, detail });

async function one(history: History, seed: number): Promise<void> {
  const checked = await check(duck, task.kind, history, seed);
  await tell(summary(checked, seed));
  for (const finding of checked.findings) {
    if (known.has(finding.kind)) continue;
    known.add(finding.kind);
    await tell({ type: 'found', ...message(finding), seed, history, isSmallest: !task.shrinks });
    if (!task.shrinks) continue;
    let last = finding;
    const smallest = await shrink(history, async (candidate) => {
      const again = await check(duck, task.kind, candidate, seed).catch(dieIfFatal);
      const found = again?.findings.find(({ kind }) => kind === finding.kind);
      if (!found) return false;
      last = found;
      await tell({ type: 'found', ...message(found), seed, history: candidate, isSmallest: false });
      return true;
    });
    await tell({ type: 'found', ...message(last), seed, history: smallest, isSmallest: true });
  }
}

function summary({ expected, right, refusals, theirFailures, refused, findings }: Checked, seed: number): LakeMessage {
  const statements = new Map<string, number>();
  for (const { sql, message } of refusals)
    count(statements, `${sql.split(' ').slice(0, 2).join(' ')}: ${plain(message)}`);
  const kinds = new Map<string, number>();
  for (const { kind } of findings) count(kinds, kind);
  const tallies = {
    statements: [...statements],
    theirFailures: [...theirFailures],
    refused: [...refused],
    findings: [...kinds],
  };
  return { type: 'lake', seed, snapshots: expected.snapshots.length, right, tallies };
}

/** After such an error DuckDB can't even be closed: its destructor ends the process. */
function dieIfFatal(error: unknown): undefined {
  if (!isFatal(error)) return undefined;
  console.log(String(error).split('\n')[0]);
  process.kill(process.pid, 'SIGKILL');
}

/** What `--out` wrote holds its history as a block of code. */
async function fromFile(path: string): Promise<KeptHistory> {
  const text = await readFile(path, 'utf8');
  const block = /```json\n([\s\S]*?)```/.exec(text);
  const seed = /^Seed (\d+)/m.exec(text);
  return { ...(seed && { seed: Number(seed[1]) }), ...JSON.parse(block ? block[1]! : text) };
}

for (let at = task.from; at < task.to; at++) {
  const file = task.files?.[at];
  await tell({ type: 'seed', seed: at });
  try {
    if (file === undefined) await one(generate(at), at);
    else {
      const history = await fromFile(file);
      await one(history, history.seed ?? 0);
    }
  } catch (error) {
    console.log(`${file ?? `seed ${at}`}: ${error instanceof Error ? error.stack : error}`);
    dieIfFatal(error);
  }
}
duck.close();
await tell({ type: 'done' });
process.disconnect?.();
