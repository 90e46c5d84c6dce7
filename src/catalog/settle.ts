import { isLakeError, LakeError } from '../errors.ts';
import { changeText, parseChanges } from '../spec/changes.ts';
import type { CatalogStore, CommitBatch, CommitOutcome, CommitWitness, Snapshot, SnapshotRecord } from './store.ts';

/** What it takes to tell, at any time and from anywhere, whether a batch was committed: plain data. */
export interface CommitEvidence {
  readonly witness: CommitWitness;
  readonly base: Pick<Snapshot, 'id' | 'time'>;
  readonly fence: CommitBatch['fence']['kind'];
  /** Those of its changes whose text was known beforehand. */
  readonly changes: readonly string[];
  readonly keys: readonly string[];
}

export type Settled =
  /** `snapshot` is `undefined` where it was expired since, or where another commit used the keys. */
  | { readonly status: 'committed'; readonly snapshotId: number; readonly snapshot: Snapshot | undefined }
  /** It was not, and can't be any more. */
  | { readonly status: 'notCommitted' };

export function evidenceOf({ witness, base, fence, changes, keys = [] }: CommitBatch): CommitEvidence {
  const isKnown = (change: (typeof changes)[number]): boolean => !('id' in change) || change.id >= 0;
  return {
    witness,
    base: { id: base.id, time: base.time },
    fence: fence.kind,
    changes: changes.filter(isKnown).map((change) => changeText(change)),
    keys: keys.map(({ key }) => key),
  };
}

/** Of a commit that failed in a way that leaves its outcome open. COMMIT_UNKNOWN, with a token, when it can't be told now. */
export async function settleNow(store: CatalogStore, batch: CommitBatch, cause: unknown): Promise<CommitOutcome> {
  const evidence = evidenceOf(batch);
  try {
    const settled = await settle(store, evidence);
    // Where another commit used the keys, trying again tells what it was.
    return settled.status === 'committed' && settled.snapshot
      ? { status: 'committed', snapshot: settled.snapshot }
      : { status: 'superseded' };
  } catch {
    throw new LakeError(
      'COMMIT_UNKNOWN',
      `catalog ${store.name} failed in a way that leaves open whether the commit happened; its files stay: lake.resolve(error.context.token) tells later`,
      { cause, context: { token: JSON.stringify(evidence) } },
    );
  }
}

/**
 * Tells whether a batch was committed, for good: what was not can't happen later either, though its statement may still be on
 * its way to the server. A newer snapshot stands against that: the next one of a batch that goes on its base alone, and one without
 * changes (see `BatchFence`) of any other. Where there is none yet, one is made.
 *
 * Errors: COMMIT_UNKNOWN where what tells it is gone, INVALID_ARGUMENT for another lake's evidence, whatever the store throws.
 */
export async function settle(store: CatalogStore, evidence: CommitEvidence): Promise<Settled> {
  const { base, fence } = evidence;
  const records: SnapshotRecord[] = [];
  for (;;) {
    for await (const record of store.readSnapshots({ from: (records.at(-1)?.id ?? base.id - 1) + 1 }))
      records.push(record);
    const isBaseThere = records[0]?.id === base.id;
    if (records.length === 0 || (isBaseThere && records[0]?.time !== base.time))
      throw new LakeError('INVALID_ARGUMENT', 'the token is of another lake', { context: { snapshotId: base.id } });
    const later = records.slice(isBaseThere ? 1 : 0);
    const isFenced = fence === 'exact' ? later.length > 0 : later.some(({ changes }) => changes === '');
    // Only what is missing after the fence was there is missing for good.
    const found = await find(store, evidence);
    if (found) return found;
    if (isFenced) {
      if (!isBaseThere || !provesAbsence(evidence, records)) throw noEvidence(base.id);
      return { status: 'notCommitted' };
    }
    await store.commit(fencing(records.at(-1)!));
  }
}

async function find(store: CatalogStore, { witness, base, keys }: CommitEvidence): Promise<Settled | undefined> {
  // Keys tell more than a witness that others may have written too.
  if (keys.length === 0 || !('isShared' in witness && witness.isShared)) {
    try {
      const snapshot = await store.findCommit({ witness, base });
      if (snapshot) return { status: 'committed', snapshotId: snapshot.id, snapshot };
    } catch (error) {
      const snapshotId = isLakeError(error, 'COMMIT_UNKNOWN') ? error.context.snapshotId : undefined;
      if (snapshotId === undefined) throw error;
      return { status: 'committed', snapshotId, snapshot: undefined };
    }
  }
  const [used] = keys.length > 0 ? await store.findKeys(keys) : [];
  return used && { status: 'committed', snapshotId: used.snapshotId, snapshot: undefined };
}

/** Changes that take rows of data files, inlined rows included, out of the catalog. */
const replacing: readonly string[] = ['merge_adjacent', 'rewrite_delete', 'compacted_table', 'inline_flush'];

/**
 * Whether the witness is missing because there was no commit, and not because it was removed: expiring removes rows of snapshots
 * that are gone, and compaction those of files that it replaces. Keys stay.
 */
function provesAbsence({ keys, changes, base }: CommitEvidence, records: readonly SnapshotRecord[]): boolean {
  if (keys.length > 0) return true;
  if (records.at(-1)!.id - base.id !== records.length - 1) return false;
  let isLikeIt = false;
  for (const record of records.slice(1)) {
    const made = parseChanges(record.changes);
    if (isLikeIt && made.some(({ kind }) => replacing.includes(kind))) return false;
    const texts = new Set(made.map((change) => changeText(change)));
    isLikeIt ||= changes.every((text) => texts.has(text));
  }
  return true;
}

function fencing(head: Snapshot): CommitBatch {
  return {
    base: head,
    // Right on top of any head.
    fence: { kind: 'unless', changes: [], sameSchema: false },
    changesSchema: false,
    catalogIdCount: 0,
    fileIdCount: 0,
    changes: [],
    author: 'edgemere',
    message: 'changes nothing: what was sent before it, and not committed, no longer can be',
    extraInfo: null,
    ops: [],
    witness: { table: 'ducklake_snapshot_changes', column: 'changes_made', value: '' },
  };
}

const noEvidence = (snapshotId: number): LakeError =>
  new LakeError(
    'COMMIT_UNKNOWN',
    'it can no longer be told whether the commit happened: snapshots since were expired, or files compacted',
    { context: { snapshotId } },
  );
