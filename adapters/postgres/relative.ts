/** A cell of a batch as an id, in SQL: negative ones count from `next`, what the counter stands at. See `resolveId`. */
export function resolved(cell: string, next: string): string {
  return `CASE WHEN ${cell} < 0 THEN ${next} - 1 - ${cell} ELSE ${cell} END`;
}

/** Whether a table is one that the batch adds to. A subquery, so that it filters the scan of a table without an index. */
export function ofTables(tableId: string): string {
  return `${tableId} = ANY ((SELECT tables FROM batch)::bigint[])`;
}
