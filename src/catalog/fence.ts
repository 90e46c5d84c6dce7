import type { Change, IdChange } from '../spec/changes.ts';
import { makesInlinedTable } from './inlining.ts';
import type { PendingChange } from './pending.ts';
import type { BatchFence } from './store.ts';

/**
 * What a transaction takes for granted about the lake.
 * `snapshot`: what it saw when it began, as in DuckDB: an append conflicts with a concurrent delete from its table.
 * `none`: a single insert reads nothing, so only what its table is matters: the one that has the name, with the same columns.
 */
export type Isolation = 'snapshot' | 'none';

/** The changes by others that stand against appending to a table. */
export function againstAppend(isolation: Isolation): readonly IdChange[] {
  return isolation === 'snapshot'
    ? ['dropped_table', 'altered_table', 'deleted_from_table', 'inlined_delete']
    : ['dropped_table', 'altered_table'];
}

/** Only a batch of appends to tables that exist is right on top of any head that left those tables alone. */
export function fenceOf(pending: readonly PendingChange[], isolation: Isolation): BatchFence {
  const changes: (Change & { readonly id: number })[] = [];
  for (const change of pending) {
    if (change.kind !== 'append' || change.tableId < 0 || makesInlinedTable(change)) return { kind: 'exact' };
    for (const kind of againstAppend(isolation)) changes.push({ kind, id: change.tableId });
  }
  // A table that was renamed is told of as created under its new name, without its id: any new schema may have renamed it.
  return { kind: 'unless', changes, sameSchema: isolation === 'none' };
}
