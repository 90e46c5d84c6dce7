import type { SqlDialect } from '../../src/catalog/sql/dialect.ts';
import { ofTables, resolved } from './relative.ts';

/**
 * Adds a batch's deltas to the totals and the columns' statistics, as `src/stats/merge.ts` does. Rows are written only where something
 * changes: rewriting those of all columns at each commit would bloat the table.
 */
export function statsParts(dialect: SqlDialect): string[] {
  const totals = dialect.table('ducklake_table_stats');
  const columns = dialect.table('ducklake_table_column_stats');
  const files = dialect.table('ducklake_file_column_stats');
  return [
    `deltas AS MATERIALIZED (SELECT ${resolved('r.a', 'catalog')} AS tableId, b AS records, c AS rows, d AS bytes, totals.id IS NULL AS isFirst
  FROM ids CROSS JOIN jsonb_to_recordset(j->'totals') AS r (a bigint, b bigint, c bigint, d bigint) LEFT JOIN totals ON totals.id = a)`,
    `grown AS (UPDATE ${totals} t SET record_count = record_count + records, next_row_id = next_row_id + rows, file_size_bytes = file_size_bytes + bytes
  FROM deltas WHERE t.table_id = tableId AND NOT isFirst)`,
    `begun AS (INSERT INTO ${totals} (table_id, record_count, next_row_id, file_size_bytes) SELECT tableId, records, rows, bytes FROM deltas WHERE isFirst)`,
    `known AS MATERIALIZED (SELECT ${resolved('r.a', 'catalog')} AS tableId, r.b AS columnId, r.c AS hasNull, r.d AS hasNan, r.e AS kind, r.f AS min, r.g AS max, r.h AS ord,
    totals.id IS NULL AS isFirst, place IS NULL AS isNew, place, contains_null, contains_nan, min_value, max_value
  FROM ids CROSS JOIN jsonb_to_recordset(j->'columns') AS r (a bigint, b bigint, c boolean, d boolean, e text, f text, g text, h text)
    LEFT JOIN totals ON totals.id = a
    LEFT JOIN (SELECT ctid AS place, * FROM ${columns} WHERE ${ofTables('table_id')}) AS t ON t.table_id = a AND t.column_id = b)`,
    // Files whose only values are NaN have no bounds either; inlined rows widen the table's as they come. LIMIT instead of
    // EXISTS: what is seldom looked up must not be planned as a hash of the whole table.
    `unbounded AS MATERIALIZED (SELECT tableId AS t, columnId AS c, coalesce(
    (SELECT true FROM ${files} f WHERE f.table_id = tableId AND f.column_id = columnId AND (f.value_count IS NULL OR f.value_count > 0)
      AND NOT (coalesce(f.contains_nan, false) AND f.min_value IS NULL) LIMIT 1),
    false) AS hadValues FROM known WHERE NOT isFirst AND kind = 'known' AND min_value IS NULL AND max_value IS NULL)`,
    `merged AS MATERIALIZED (SELECT known.*,
    CASE WHEN hasNull OR contains_null THEN true WHEN isNew THEN false ELSE contains_null END AS nulls,
    CASE WHEN isNew THEN hasNan WHEN contains_nan IS NULL OR hasNan IS NULL THEN NULL ELSE contains_nan OR hasNan END AS nans,
    ${widened('min', '<')} AS low, ${widened('max', '>')} AS high FROM known LEFT JOIN unbounded u ON u.t = tableId AND u.c = columnId)`,
    // By its place: the fence keeps others from moving the row meanwhile.
    `widened AS (UPDATE ${columns} t SET contains_null = nulls, contains_nan = nans, min_value = low, max_value = high FROM merged m
  WHERE NOT isNew AND t.ctid = m.place
    AND (m.contains_null, m.contains_nan, m.min_value, m.max_value) IS DISTINCT FROM (nulls, nans, low, high))`,
    // Of a column that was added to a table with rows nothing is known, as DuckDB leaves it: those rows have its default.
    `opened AS (INSERT INTO ${columns} (table_id, column_id, contains_null, contains_nan, min_value, max_value)
  SELECT tableId, columnId, nulls, nans, low, high FROM merged WHERE isNew AND isFirst)`,
  ];
}

/** A bound after the append; NULL where it isn't known or can't be compared. */
function widened(side: 'min' | 'max', beyond: '<' | '>'): string {
  const there = `${side}_value`;
  return `CASE WHEN kind = 'none' THEN ${there} WHEN kind = 'unknown' OR hadValues THEN NULL
      WHEN min_value IS NULL AND max_value IS NULL THEN ${side}
      ELSE CASE ${compared(side, beyond, there)} WHEN true THEN ${side} WHEN false THEN ${there} END END`;
}

/** Whether one bound is beyond another; NULL when either can't be read in the column's order. */
function compared(a: string, beyond: string, b: string): string {
  return `(CASE ord WHEN 'number' THEN ${number(a)} ${beyond} ${number(b)} WHEN 'bytes' THEN ${a} COLLATE "C" ${beyond} ${b} COLLATE "C"
      ELSE (${year(a)}, ${afterYear(a)}) ${beyond} (${year(b)}, ${afterYear(b)}) END)`;
}

function number(text: string): string {
  // Of booleans, in DuckDB's bounds of inlined rows.
  return `CASE WHEN ${text} IN ('true', 'false') THEN (${text} = 'true')::int::numeric WHEN ${text} ~ '^-?([0-9]+[.]?[0-9]*|[.][0-9]+)(e[+-]?[0-9]{1,4})?$' OR ${text} IN ('inf', '-inf', 'nan') THEN ${text}::numeric END`;
}

/** Dates, times and timestamps are too wide for Postgres' types: they compare by year (a time of day by its hour), then as text. */
function year(text: string): string {
  return `CASE ${text} WHEN 'infinity' THEN 1e9 WHEN '-infinity' THEN -1e9 ELSE substring(${text} FROM '^[0-9]+')::numeric * CASE WHEN ${text} LIKE '%(BC)%' THEN -1 ELSE 1 END END`;
}

function afterYear(text: string): string {
  return `replace(substring(${text} FROM '^-?[0-9a-z]+(.*)$'), ' (BC)', '') COLLATE "C"`;
}
