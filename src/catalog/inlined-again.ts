import { newestInlined } from '../spec/inlining.ts';
import type { PendingChange } from './pending.ts';
import type { CatalogRows } from './store.ts';

/** The changes with their inlined rows bound for the catalog tables that there are now. */
export function withInlinedTables(pending: readonly PendingChange[], rows: CatalogRows): PendingChange[] {
  return pending.map((change) => {
    if (change.kind !== 'append' || change.inlined === undefined || change.tableId < 0) return change;
    const into = newestInlined(rows.inlinedTables.filter((row) => row.table_id === change.tableId));
    return { ...change, inlined: { ...change.inlined, into } };
  });
}
