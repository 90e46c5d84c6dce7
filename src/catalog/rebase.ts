import { LakeError } from '../errors.ts';
import { fieldsOf } from '../schema/tree.ts';
import { parseChanges } from '../spec/changes.ts';
import type { PendingCommit } from './commit.ts';
import { findConflict } from './conflicts.ts';
import type { Isolation } from './fence.ts';
import { hasInlined } from './inlining.ts';
import type { PendingChange } from './pending.ts';
import type { CatalogStore, Snapshot } from './store.ts';

/** Moves commits to the head. Rejects those that what was committed since their base stands against. */
export async function rebase(store: CatalogStore, commits: readonly PendingCommit[]): Promise<void> {
  const { snapshot, since } = await store.readHead(Math.min(...commits.map(({ base }) => base.id)));
  // Another schema may have other tables for inlined rows; and who is superseded by nobody has named one that isn't there.
  const isAstray = ({ base, pending }: PendingCommit): boolean =>
    pending.some(hasInlined) && (base.schemaVersion !== snapshot.schemaVersion || base.id === snapshot.id);
  const [{ withInlinedTables }, rows] = commits.some(isAstray)
    ? await Promise.all([import('./inlined-again.ts'), store.readCatalog()])
    : [{ withInlinedTables: undefined }, undefined];
  for (const commit of commits) {
    const { base, request } = commit;
    if (commit.isSettled) continue;
    try {
      if (withInlinedTables && rows) commit.pending = withInlinedTables(request.pending, rows);
      const records = since.filter((record) => record.id > base.id);
      // What expired snapshots changed is not known: the tables themselves tell whether it matters.
      if (records.length !== snapshot.id - base.id) {
        commit.base = await rebaseOnTables(store, request.pending, base, request.isolation);
        continue;
      }
      const others = records.flatMap((record) => parseChanges(record.changes));
      const conflict = findConflict(request.pending, others, request.isolation);
      // A table that was renamed is told of as created, under its new name and without its id.
      const isRenamed = request.isolation === 'none' && others.some(({ kind }) => kind === 'created_table');
      if (conflict) commit.reject(conflict);
      else commit.base = isRenamed ? await rebaseOnTables(store, request.pending, base, request.isolation) : snapshot;
    } catch (error) {
      if (!commit.isSettled) commit.reject(error);
    }
  }
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
    const table = rows.tables.find((row) => row.table_id === change.tableId);
    const schema = rows.schemas.find((row) => row.schema_id === table?.schema_id);
    if (table?.table_name !== change.name.name || schema?.schema_name !== change.name.schema) return false;
    const columns = rows.columns.filter((row) => row.table_id === change.tableId);
    return JSON.stringify(fieldsOf(columns, '')) === JSON.stringify(change.fields);
  };
  if (rows && pending.every(isSame)) return rows.snapshot;
  const reason = rows
    ? 'a table is no longer what it was, or no longer has its name'
    : `snapshots after ${base.id} were expired meanwhile, so what they changed is not known`;
  throw new LakeError('CONFLICT', `${reason}; nothing was committed: run it again on the lake as it is now`, {
    retryable: true,
    context: { snapshotId: base.id },
  });
}
