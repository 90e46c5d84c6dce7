import { isLakeError, LakeError } from '../errors.ts';
import { fieldsOf } from '../schema/tree.ts';
import { parseChanges } from '../spec/changes.ts';
import { pause } from '../util/pause.ts';
import { findConflict, type Isolation } from './conflicts.ts';
import type { CommitMessage, PendingChange } from './pending.ts';
import { plan } from './plan.ts';
import type { CatalogStore, CommitBatch, Snapshot } from './store.ts';

/** How a commit that lost a race is tried again. The names and defaults are DuckLake's. */
export interface RetryPolicy {
  /** Attempts after the first. Defaults to 10. */
  readonly maxRetries: number;
  /** Upper end of the first wait, in milliseconds; waits are drawn evenly from zero to it. Defaults to 100. */
  readonly retryWaitMs: number;
  /** By what the upper end grows with each attempt. Defaults to 1.5. */
  readonly retryBackoff: number;
}

export const defaultRetryPolicy: RetryPolicy = { maxRetries: 10, retryWaitMs: 100, retryBackoff: 1.5 };

export interface CommitRequest {
  readonly store: CatalogStore;
  readonly pending: readonly PendingChange[];
  readonly base: Snapshot;
  readonly message: CommitMessage;
  readonly isolation: Isolation;
  readonly retry: RetryPolicy;
  readonly signal?: AbortSignal | undefined;
}

/** A commit that happened: the snapshot it made and the ids that it took. */
export interface Committed {
  readonly snapshot: Snapshot;
  readonly batch: CommitBatch;
}

/**
 * Commits pending changes, planning again on each newer head until the commit lands, conflicts, or the attempts are used
 * up. Whether it happened is certain when this returns or throws, but for COMMIT_UNKNOWN.
 */
export async function commitPending(request: CommitRequest): Promise<Committed> {
  const { store, pending, message, isolation, retry, signal } = request;
  let base = request.base;
  for (let attempt = 0; ; attempt++) {
    signal?.throwIfAborted();
    const batch = plan(pending, base, message, isolation);
    const snapshot = await commitOnce(store, batch);
    if (snapshot) return { snapshot, batch };
    if (attempt >= retry.maxRetries)
      throw new LakeError(
        'RETRIES_EXHAUSTED',
        `the commit lost ${attempt + 1} races in a row against other writers; raise maxRetries or retryWaitMs`,
        { retryable: true },
      );
    if (attempt > 0) await pause(Math.random() * retry.retryWaitMs * retry.retryBackoff ** (attempt - 1), signal);
    base = await rebase(store, pending, base, isolation);
  }
}

/** The head to plan on next. Throws CONFLICT when what was committed since the base stands against the pending changes. */
async function rebase(
  store: CatalogStore,
  pending: readonly PendingChange[],
  base: Snapshot,
  isolation: Isolation,
): Promise<Snapshot> {
  const { snapshot, since } = await store.readHead(base.id);
  // What expired snapshots changed is not known: the tables themselves tell whether it matters.
  if (since.length !== snapshot.id - base.id) return rebaseOnTables(store, pending, base, isolation);
  const others = since.flatMap((record) => parseChanges(record.changes));
  const conflict = findConflict(pending, others, isolation);
  if (conflict) throw conflict;
  return snapshot;
}

/** The head, when all that is pending is rows for tables that are what they were. */
async function rebaseOnTables(
  store: CatalogStore,
  pending: readonly PendingChange[],
  base: Snapshot,
  isolation: Isolation,
): Promise<Snapshot> {
  const rows = isolation === 'none' ? await store.readCatalog() : undefined;
  const isSame = (change: PendingChange): boolean => {
    if (!rows || change.kind !== 'append') return false;
    const columns = rows.columns.filter((row) => row.table_id === change.tableId);
    return columns.length > 0 && JSON.stringify(fieldsOf(columns, '')) === JSON.stringify(change.fields);
  };
  if (rows && pending.every(isSame)) return rows.snapshot;
  throw new LakeError(
    'CONFLICT',
    `snapshots after ${base.id} were expired meanwhile, so what they changed is not known; nothing was committed: run it again`,
    { retryable: true, context: { snapshotId: base.id } },
  );
}

/** One attempt; a lost connection is settled by looking for what only this commit writes. `undefined`: superseded. */
async function commitOnce(store: CatalogStore, batch: CommitBatch): Promise<Snapshot | undefined> {
  try {
    const outcome = await store.commit(batch);
    return outcome.status === 'committed' ? outcome.snapshot : undefined;
  } catch (error) {
    if (isLakeError(error) && error.code !== 'COMMIT_UNKNOWN') throw error;
    for (const waitMs of [0, 200, 1000]) {
      await pause(waitMs);
      // Not finding it proves nothing yet: the server may still be at work on the statement.
      const found = await store.findCommit(batch).catch(() => undefined);
      if (found) return found;
    }
    if (isLakeError(error)) throw error;
    throw new LakeError(
      'COMMIT_UNKNOWN',
      `catalog ${store.name} failed in a way that leaves open whether the commit happened; its files stay`,
      { cause: error },
    );
  }
}
