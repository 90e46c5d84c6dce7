import { isLakeError, LakeError } from '../errors.ts';
import { pause } from '../util/pause.ts';
import type { Isolation } from './fence.ts';
import type { CommitMessage, PendingChange } from './pending.ts';
import { plan } from './plan.ts';
import type { CatalogStore, CommitBatch, CommitKey, CommitOutcome, Snapshot, UsedKey } from './store.ts';

/** How a commit that lost a race is tried again. The names and defaults are DuckLake's. */
export interface RetryPolicy {
  /** Attempts after the first. Defaults to 10. */
  readonly maxRetries: number;
  /** Upper end of the first wait, in milliseconds; waits are drawn evenly from zero to it. Defaults to 100. */
  readonly retryWaitMs: number;
  /** By what the upper end grows with each attempt. Defaults to 1.5. */
  readonly retryBackoff: number;
  /** How long a commit is tried again at all, in milliseconds. Without it only the attempts are counted. */
  readonly commitTimeoutMs?: number | undefined;
  /** Is told of each attempt after the first, before its wait. */
  readonly onRetry?: ((retry: CommitRetry) => void) | undefined;
}

/** A commit that lost a race and is about to be tried again. */
export interface CommitRetry {
  /** Attempts so far. */
  readonly attempt: number;
  /** Milliseconds until the next one. */
  readonly waitMs: number;
}

export const defaultRetryPolicy: RetryPolicy = { maxRetries: 10, retryWaitMs: 100, retryBackoff: 1.5 };

export interface CommitRequest {
  readonly pending: readonly PendingChange[];
  /** What the caller saw: whatever was committed after it may stand against the changes. */
  readonly base: Snapshot;
  readonly message: CommitMessage;
  readonly isolation: Isolation;
  /** False: a lost race is the caller's to handle. */
  readonly retry?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly keys?: readonly CommitKey[] | undefined;
}

/** A commit that happened: the snapshot it made and the ids that it took. Several callers may share one. */
export interface Committed {
  readonly snapshot: Snapshot;
  readonly batch: CommitBatch;
}

/** Nothing was committed: earlier commits used some of the keys. */
export interface Repeated {
  readonly used: readonly UsedKey[];
}

/** One caller's commit on its way. An abort takes it out at once, except while the catalog is at work on it. */
export class PendingCommit {
  readonly request: CommitRequest;
  readonly done: Promise<Committed | Repeated>;
  /** Rises as the caller's changes are found to go with what others committed. */
  base: Snapshot;
  /** Those of the request, for the lake as it is at the base. */
  pending: readonly PendingChange[];
  #isSent = false;
  #isSettled = false;
  readonly #resolve: (end: Committed | Repeated) => void;
  readonly #reject: (error: unknown) => void;

  constructor(request: CommitRequest) {
    this.request = request;
    this.base = request.base;
    this.pending = request.pending;
    const { promise, resolve, reject } = Promise.withResolvers<Committed | Repeated>();
    this.done = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    if (request.signal?.aborted) this.#abort();
    else request.signal?.addEventListener('abort', this.#abort, { once: true });
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  markSent(): void {
    this.#isSent = true;
  }

  /** The catalog wrote nothing. */
  markUnsent(): void {
    this.#isSent = false;
    if (this.request.signal?.aborted) this.#abort();
  }

  resolve(end: Committed | Repeated): void {
    this.#settle();
    this.#resolve(end);
  }

  reject(error: unknown): void {
    this.#settle();
    this.#reject(error);
  }

  #settle(): void {
    this.#isSettled = true;
    this.request.signal?.removeEventListener('abort', this.#abort);
  }

  readonly #abort = (): void => {
    if (!this.#isSent && !this.#isSettled) this.reject(this.request.signal?.reason);
  };
}

/**
 * Commits the changes of one or several callers as one snapshot, planning again on each newer head until the commit lands
 * or the attempts are used up. Callers whose changes conflict drop out; the others go on. Settles every commit and never
 * throws. Whether a commit happened is certain then, but for COMMIT_UNKNOWN. Several callers may only bring appends to
 * tables that exist, and the same message.
 */
export async function commitTogether(
  store: CatalogStore,
  retry: RetryPolicy,
  commits: readonly PendingCommit[],
  roomMs?: number,
): Promise<void> {
  const deadline = performance.now() + (retry.commitTimeoutMs ?? Number.POSITIVE_INFINITY);
  let open = commits.filter((commit) => !commit.isSettled);
  try {
    for (let attempt = 0; open.length > 0; attempt++) {
      for (const commit of open) commit.markSent();
      const batch = planTogether(open, attempt > 0);
      const outcome = await commitOnce(store, batch, roomMs);
      if (outcome.status === 'committed') {
        for (const commit of open) commit.resolve({ snapshot: outcome.snapshot, batch });
        return;
      }
      for (const commit of open) commit.markUnsent();
      if (outcome.status === 'used') {
        for (const commit of open) {
          const used = outcome.keys.filter(({ key }) => commit.request.keys?.some((one) => one.key === key));
          if (used.length > 0 && !commit.isSettled) commit.resolve({ used });
        }
        open = open.filter((commit) => !commit.isSettled);
        continue;
      }
      // The first time the head is all that is missing: there is no reason to wait.
      const waitMs = attempt === 0 ? 0 : Math.random() * retry.retryWaitMs * retry.retryBackoff ** (attempt - 1);
      const isLate = performance.now() + waitMs > deadline;
      for (const commit of open)
        if (!commit.isSettled && (isLate || attempt >= (commit.request.retry === false ? 0 : retry.maxRetries)))
          commit.reject(exhausted(attempt + 1, isLate));
      open = open.filter((commit) => !commit.isSettled);
      if (open.length === 0) return;
      retry.onRetry?.({ attempt: attempt + 1, waitMs });
      if (waitMs > 0) await pauseFor(waitMs, open);
      open = open.filter((commit) => !commit.isSettled);
      if (open.length > 0) {
        // Whoever never loses a race doesn't load it: bundlers put it apart.
        const { rebase } = await import('./rebase.ts');
        await rebase(store, open);
      }
      open = open.filter((commit) => !commit.isSettled);
    }
  } catch (error) {
    open = open.filter((commit) => !commit.isSettled);
    if (open.length < 2 || concernsAll(error)) {
      for (const commit of open) commit.reject(error);
      return;
    }
    // Something in the batch is wrong, but not all of it need be: whose changes they are shows when each goes alone.
    for (const commit of open) commit.markUnsent();
    for (const commit of open) await commitTogether(store, retry, [commit], roomMs);
  }
}

/** Whether a failure has nothing to do with what was to be committed, or leaves open whether it was. */
function concernsAll(error: unknown): boolean {
  const certain = ['INVALID_ARGUMENT', 'INVALID_VALUE', 'UNSUPPORTED', 'NOT_FOUND', 'CORRUPT'];
  return !isLakeError(error) || !certain.includes(error.code);
}

/** On top of the oldest base and behind the strictest fence: what is superseded without need is told apart by `rebase`. */
function planTogether(commits: readonly PendingCommit[], isAgain: boolean): CommitBatch {
  const [first] = commits;
  const loose = commits.filter((commit) => commit.request.isolation === 'none');
  const named = loose.flatMap(({ pending }) =>
    pending.flatMap((change) => (change.kind === 'append' ? [{ id: change.tableId, name: change.name.name }] : [])),
  );
  const batch = plan(
    commits.flatMap((commit) => commit.pending),
    oldest(commits),
    first!.request.message,
    loose.length < commits.length ? 'snapshot' : 'none',
    { named, isAgain },
  );
  return { ...batch, keys: commits.flatMap((commit) => commit.request.keys ?? []) };
}

function oldest(commits: readonly PendingCommit[]): Snapshot {
  return commits.map((commit) => commit.base).reduce((a, b) => (b.id < a.id ? b : a));
}

function exhausted(attempts: number, isLate: boolean): LakeError {
  const advice = isLate ? 'commitTimeoutMs is over' : 'raise maxRetries or retryWaitMs';
  return new LakeError(
    'RETRIES_EXHAUSTED',
    `the commit lost ${attempts} races in a row against other writers; ${advice}`,
    { retryable: true },
  );
}

/** A pause that ends early when nobody waits any more. */
async function pauseFor(ms: number, commits: readonly PendingCommit[]): Promise<void> {
  const stop = new AbortController();
  void Promise.allSettled(commits.map((commit) => commit.done)).then(() => stop.abort());
  await pause(ms, stop.signal).catch(() => undefined);
}

/** One attempt; a lost connection is settled by looking for what only this commit writes. */
export async function commitOnce(store: CatalogStore, batch: CommitBatch, roomMs?: number): Promise<CommitOutcome> {
  try {
    return await store.commit(batch, roomMs);
  } catch (error) {
    if (isLakeError(error) && error.code !== 'COMMIT_UNKNOWN') throw error;
    for (const waitMs of [0, 200, 1000]) {
      await pause(waitMs);
      try {
        const snapshot = await store.findCommit(batch);
        if (snapshot) return { status: 'committed', snapshot };
        // Not finding it proves nothing: the server may still be at work on the statement.
        if (waitMs > 0) break;
      } catch {
        // The catalog may come back.
      }
    }
    const { settleNow } = await import('./settle.ts');
    return settleNow(store, batch, error);
  }
}
