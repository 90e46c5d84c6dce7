import { pause } from '../util/pause.ts';
import {
  type CommitRequest,
  type Committed,
  commitTogether,
  PendingCommit,
  type Repeated,
  type RetryPolicy,
} from './commit.ts';
import type { CommitMessage, PendingChange } from './pending.ts';
import type { CatalogStore } from './store.ts';

/** More files than this, or ten times as many inlined rows, are not collected into one snapshot: one statement must not grow without bound. */
const MAX_FILES = 1000;

export interface CommitterOptions {
  readonly store: CatalogStore;
  readonly retry: RetryPolicy;
  /** See `OpenOptions.commitGapMs`. */
  readonly commitGapMs: number;
}

/**
 * Commits what a lake handle's callers bring. While one commit is under way, further ones that only append collect and
 * become one snapshot; row ids follow the order of arrival. Nobody waits for company: a commit that comes alone starts at
 * once. Whatever else (anything that defines) is a commit of its own.
 */
export class Committer {
  readonly #store: CatalogStore;
  readonly #retry: RetryPolicy;
  readonly #roomMs: number;
  readonly #gap: Gap;
  #waiting: PendingCommit[] = [];
  #isRunning = false;

  constructor({ store, retry, commitGapMs }: CommitterOptions) {
    this.#store = store;
    this.#retry = retry;
    this.#roomMs = commitGapMs;
    this.#gap = new Gap(store.makesRoom ? 0 : commitGapMs);
  }

  /** Errors: CONFLICT, RETRIES_EXHAUSTED, COMMIT_UNKNOWN, whatever the store throws, the signal's reason. */
  commit(request: CommitRequest): Promise<Committed | Repeated> {
    const commit = new PendingCommit(request);
    if (request.pending.every(isAppend)) {
      this.#waiting.push(commit);
      if (!this.#isRunning) void this.#run();
    } else void commitTogether(this.#store, this.#retry, [commit]);
    return commit.done;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const waitMs = this.#gap.due();
      if (waitMs > 0) await pause(waitMs);
      const group = this.#take();
      if (group.length === 0) continue;
      await commitTogether(this.#store, this.#retry, group, this.#roomMs);
      this.#gap.committed(group.length > 1 || this.#waiting.length > 0);
    }
    this.#isRunning = false;
  }

  /** The commit that waits longest, with those that say the same about themselves. */
  #take(): PendingCommit[] {
    const waiting = this.#waiting.filter((commit) => !commit.isSettled);
    const [first] = waiting;
    const key = first && messageKey(first.request.message);
    let fileCount = 0;
    const keys = new Set<string>();
    const group = waiting.filter((commit) => {
      if (messageKey(commit.request.message) !== key) return false;
      // Of two with one key the later is a repeat.
      const own = commit.request.keys ?? [];
      if (own.some((one) => keys.has(one.key))) return false;
      for (const one of own) keys.add(one.key);
      if (fileCount > 0 && fileCount + filesIn(commit) > MAX_FILES) fileCount = Number.POSITIVE_INFINITY;
      else fileCount += filesIn(commit);
      return fileCount !== Number.POSITIVE_INFINITY;
    });
    const taken = new Set(group);
    this.#waiting = waiting.filter((commit) => !taken.has(commit));
    return group;
  }
}

/**
 * Room for other writers. DuckDB needs several round trips from reading the head to its commit: snapshots without a pause
 * between them would shut it out. While callers come together, commits go back to back for as long as a gap, then pause for
 * one. A single caller that awaits each commit is never held up.
 */
class Gap {
  readonly #ms: number;
  #busySince: number | undefined;
  #busyUntil = 0;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Milliseconds to wait before the next commit. */
  due(): number {
    if (this.#busySince === undefined) return 0;
    const idleMs = performance.now() - this.#busyUntil;
    const isOver = idleMs >= this.#ms;
    if (!isOver && this.#busyUntil - this.#busySince < this.#ms) return 0;
    this.#busySince = undefined;
    return isOver ? 0 : this.#ms - idleMs;
  }

  /** @param isBusy whether several callers were in the commit, or wait after it. */
  committed(isBusy: boolean): void {
    if (!isBusy) return;
    this.#busyUntil = performance.now();
    this.#busySince ??= this.#busyUntil;
  }
}

const isAppend = (change: PendingChange): boolean => change.kind === 'append' && change.tableId >= 0;

const filesIn = ({ request }: PendingCommit): number =>
  request.pending.reduce(
    (count, change) =>
      change.kind === 'append' ? count + change.files.length + (change.inlined?.rows.length ?? 0) / 10 : count,
    0,
  );

const messageKey = ({ author, message, extraInfo }: CommitMessage): string =>
  JSON.stringify([author ?? null, message ?? null, extraInfo ?? null]);
