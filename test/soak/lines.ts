import { writeSync } from 'node:fs';

/** Ids of rows that one call adds, by table: the first one and how many follow on. */
export type RowsByTable = Readonly<Record<string, readonly [first: number, count: number]>>;

/** What a worker says of a call. What is said is said, however soon the worker's end comes. */
export type Line =
  /** Before the call: what it is to do, all or nothing. */
  | {
      readonly event: 'try';
      readonly call: number;
      readonly rows: RowsByTable;
      readonly creates?: string;
      readonly drops?: string;
      /** Takes out what an earlier call put in. */
      readonly deletes?: { readonly table: string; readonly ids: readonly [first: number, count: number] };
    }
  | { readonly event: 'done'; readonly call: number; readonly snapshotId?: number | undefined }
  /** It certainly did not happen. */
  | { readonly event: 'refused'; readonly call: number; readonly error: string }
  | { readonly event: 'unknown'; readonly call: number; readonly error: string }
  /** A file was begun in this round of calls. */
  | { readonly event: 'file'; readonly round: number; readonly location: string }
  | { readonly event: 'round'; readonly round: number; readonly calls: readonly number[] };

export interface WorkerTask {
  /** Unique among all workers ever started: rows and tables have names of their own. */
  readonly worker: number;
  readonly address: import('../support/lakes.ts').LakeAddress;
  readonly seed: number;
}

export const TABLES = ['a', 'b', 'c'] as const;

export function say(line: Line): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

/** The first id of a worker's n-th piece of rows. */
export function idOf(worker: number, n: number): number {
  return worker * 1_000_000 + n * 50;
}
