import type { Change, IdChange } from '../spec/changes.ts';
import { makesInlinedTable } from './inlining.ts';
import type { PendingChange } from './pending.ts';
import type { BatchFence, CommitWitness } from './store.ts';

/**
 * What a transaction takes for granted about the lake.
 * `snapshot`: what it saw when it began, as in DuckDB: an append conflicts with a concurrent delete from its table.
 * `none`: a single insert reads nothing, so only what its table is matters: the one that has the name, with the same columns.
 */
export type Isolation = 'snapshot' | 'none';

export interface TableNames {
  /** Tables that must have the names by which they were found. */
  readonly named: readonly { readonly id: number; readonly name: string }[];
  /** Whether an attempt was superseded before. */
  readonly isAgain: boolean;
}

/** The changes by others that stand against appending to a table. */
export function againstAppend(isolation: Isolation): readonly IdChange[] {
  return isolation === 'snapshot'
    ? ['dropped_table', 'altered_table', 'deleted_from_table', 'inlined_delete']
    : ['dropped_table', 'altered_table'];
}

/**
 * On top of what the changes are right: of whoever creates or drops, too, since the ids of what it makes are the head's. Neither
 * busy writers of rows nor others that create and drop keep it from its turn.
 */
export function fenceOf(
  pending: readonly PendingChange[],
  isolation: Isolation,
  { column }: Pick<CommitWitness, 'column'>,
  { named, isAgain }: TableNames,
): BatchFence {
  const changes: Change[] = [];
  // A table that was renamed is told of as created under its new name, without its id. Looking at the names costs more than asking for
  // the same schema: it is done once others were faster, so that they can't be so for ever.
  let sameSchema = named.length > 0 && !isAgain;
  for (const change of pending) {
    if (change.kind === 'append') {
      if (change.tableId < 0) continue;
      // Whoever did so has made the catalog table that this would make again.
      if (makesInlinedTable(change)) changes.push({ kind: 'inlined_insert', id: change.tableId });
      for (const kind of againstAppend(isolation)) changes.push({ kind, id: change.tableId });
    } else if (change.kind === 'createTable') {
      const { schema, name } = change;
      for (const kind of ['created_table', 'created_view'] as const) changes.push({ kind, schema: schema.name, name });
      if (schema.id >= 0) changes.push({ kind: 'dropped_schema', id: schema.id });
    } else if (change.kind === 'createSchema') changes.push({ kind: 'created_schema', name: change.name });
    else if (change.kind === 'dropTable') changes.push({ kind: 'dropped_table', id: change.id });
    // Others may have put something into it.
    else sameSchema = true;
  }
  // Of drops with words of the caller's nothing but their place tells that they were committed.
  const isKnownByPlace = column === 'changes_made' && pending.every((change) => change.kind !== 'append');
  return isKnownByPlace
    ? { kind: 'exact' }
    : { kind: 'unless', changes, sameSchema, tables: isAgain ? named : undefined };
}
