import { LakeError } from '../errors.ts';
import type { Change, IdChange } from '../spec/changes.ts';
import { sameName } from '../spec/names.ts';
import type { PendingChange } from './pending.ts';

/**
 * What a transaction takes for granted about the lake.
 * `snapshot`: what it saw when it began, as in DuckDB: an append conflicts with a concurrent delete of its table.
 * `none`: a single insert reads nothing, so only the table's shape matters.
 */
export type Isolation = 'snapshot' | 'none';

/** The changes by others that stand against appending to a table. */
export function againstAppend(isolation: Isolation): readonly IdChange[] {
  return isolation === 'snapshot'
    ? ['dropped_table', 'altered_table', 'deleted_from_table', 'inlined_delete']
    : ['dropped_table', 'altered_table'];
}

/**
 * The first conflict between what is pending and what others committed since its base, or `undefined`. The rules are the
 * reference's: appends never conflict with appends; see DESIGN, "The commit".
 */
export function findConflict(
  pending: readonly PendingChange[],
  others: readonly Change[],
  isolation: Isolation,
): LakeError | undefined {
  for (const change of pending) {
    for (const other of others) {
      const reason = conflict(change, other, isolation);
      if (reason !== undefined)
        return new LakeError('CONFLICT', `${reason}; nothing was committed: run it again on the lake as it is now`, {
          retryable: true,
          context: { other: other.kind },
        });
    }
  }
  return undefined;
}

function conflict(change: PendingChange, other: Change, isolation: Isolation): string | undefined {
  const hits = (kind: IdChange, id: number): boolean => other.kind === kind && 'id' in other && other.id === id;
  switch (change.kind) {
    case 'createSchema':
      if (other.kind === 'created_schema' && sameName(other.name, change.name))
        return `schema "${change.name}" was created by another transaction`;
      return undefined;
    case 'dropSchema':
      if (hits('dropped_schema', change.id)) return `schema "${change.name}" was dropped by another transaction`;
      if ('schema' in other && sameName(other.schema, change.name))
        return `another transaction created "${other.name}" in schema "${change.name}"`;
      return undefined;
    case 'createTable':
      if (hits('dropped_schema', change.schema.id))
        return `schema "${change.schema.name}" was dropped by another transaction`;
      if (
        (other.kind === 'created_table' || other.kind === 'created_view') &&
        sameName(other.schema, change.schema.name) &&
        sameName(other.name, change.name)
      )
        return `"${change.schema.name}"."${change.name}" was created by another transaction`;
      return undefined;
    case 'dropTable':
      return hits('dropped_table', change.id) ? `table ${change.id} was dropped by another transaction` : undefined;
    case 'append': {
      const { schema, name } = change.name;
      if (other.kind === 'created_table' && sameName(other.schema, schema) && sameName(other.name, name))
        return `another table became "${schema}"."${name}"`;
      const kind = againstAppend(isolation).find((against) => hits(against, change.tableId));
      return kind && `another transaction changed table ${change.tableId} (${kind})`;
    }
  }
}
