import { quoteName, type SqlDialect } from '../../src/catalog/sql/dialect.ts';
import { type CatalogTable, type CellSpec, cellsOf } from '../../src/spec/rows.ts';
import type { KeyParts } from './keys.ts';
import { type BatchShape, type EndShape, shortName } from './payload.ts';
import { ofTables, resolved } from './relative.ts';
import { statsParts } from './stats.ts';

export interface StatementParts {
  readonly keys?: KeyParts | undefined;
  /** A condition under which nothing is written: the result is an empty text then. */
  readonly yieldsTo?: string | undefined;
}

/**
 * A commit as one statement. `won` inserts the snapshot, which is the fence: everything else reads the ids that it won,
 * so that a lost race writes nothing. `input` is an expression for the payload of `encodeBatch`, as text. The result is the
 * snapshot's row as a JSON array; NULL when another snapshot came in between; no row when the fence forbids the head.
 *
 * The statement sees what was committed when it started. A snapshot committed since then takes the id that this one
 * wants, and so no part of it can work on what is outdated.
 */
export function commitStatement(
  dialect: SqlDialect,
  shape: BatchShape,
  input: string,
  { keys, yieldsTo }: StatementParts = {},
): string {
  const parts = [
    ...fence(dialect, shape, input, { keys, yieldsTo }),
    changes(dialect),
    ...shape.inserts.map((table, n) => insertRows(dialect, table, n)),
    ...shape.ends.map((end, n) => endRows(dialect, end, n)),
    ...(shape.hasStats ? statsParts(dialect) : []),
    ...(keys ? [keys.add] : []),
    ...shape.inlined,
  ];
  const row = cellsOf('ducklake_snapshot').map(([name]) => name);
  return `WITH ${parts.join(',\n')}
SELECT ${dialect.jsonArray(row)} FROM won UNION ALL SELECT NULL FROM allowed WHERE NOT EXISTS (SELECT FROM won)${keys ? ` UNION ALL ${keys.select}` : ''}${yieldsTo ? " UNION ALL SELECT '' FROM others" : ''}`;
}

/** Names compare without the case of ASCII letters. With the comma none ends within another, where its quotes are doubled. */
const NAMES = ` AND NOT EXISTS (SELECT FROM jsonb_array_elements_text(j->'names') AS n WHERE strpos(lower(c.changes_made COLLATE "C") || ',', n || ',') > 0)`;

function fence(
  dialect: SqlDialect,
  { hasNames, hasTables }: BatchShape,
  input: string,
  { keys, yieldsTo }: StatementParts,
): string[] {
  const snapshots = dialect.table('ducklake_snapshot');
  const said = dialect.table('ducklake_snapshot_changes');
  const tables = ` AND NOT EXISTS (SELECT FROM jsonb_to_recordset(j->'named') AS n (a bigint, b text)
      LEFT JOIN ${dialect.table('ducklake_table')} t ON t.table_id = n.a AND t.table_name = n.b AND t.end_snapshot IS NULL WHERE t.table_id IS NULL)`;
  return [
    `batch AS MATERIALIZED (SELECT j, (j->>'base')::bigint AS base, ARRAY(SELECT jsonb_array_elements_text(
  CASE jsonb_typeof(j->'forbidden') WHEN 'array' THEN j->'forbidden' END)) AS forbidden,
  ARRAY(SELECT jsonb_array_elements_text(j->'tables')::bigint) AS tables FROM (SELECT ${input}::jsonb AS j) AS input)`,
    // In the index's order and no more than are needed: a plan that was made while the lake was young goes by the index as well.
    `head AS MATERIALIZED (SELECT * FROM ${snapshots} ORDER BY snapshot_id DESC LIMIT 1)`,
    ...(keys ? [keys.used] : []),
    ...(yieldsTo ? [`others AS MATERIALIZED (SELECT WHERE ${yieldsTo})`] : []),
    // Snapshots from the base on, itself included, are all there, and none has what the batch forbids. Quoted names may hold anything, so
    // they are taken out first.
    `allowed AS MATERIALIZED (SELECT h.*, j FROM head h, batch WHERE ${yieldsTo ? 'NOT EXISTS (SELECT FROM others) AND ' : ''}${keys ? 'NOT EXISTS (SELECT FROM used) AND ' : ''}(h.snapshot_id = base
  OR (h.snapshot_id > base AND jsonb_typeof(j->'forbidden') = 'array' AND coalesce(h.schema_version = (j->>'schema')::bigint, true)
    AND h.snapshot_id - base + 1 = (SELECT count(*) FROM (SELECT FROM ${snapshots} WHERE snapshot_id >= base ORDER BY snapshot_id DESC LIMIT greatest(0, h.snapshot_id - base + 1)) AS s)
    AND h.snapshot_id - base = (SELECT count(*) FROM (SELECT * FROM ${said} WHERE snapshot_id > base ORDER BY snapshot_id DESC LIMIT greatest(0, h.snapshot_id - base)) AS c
      WHERE NOT string_to_array(regexp_replace(c.changes_made, '"[^"]*"', '', 'g'), ',') && forbidden${hasNames ? NAMES : ''})${hasTables ? tables : ''})))`,
    `won AS (INSERT INTO ${snapshots} (snapshot_id, snapshot_time, schema_version, next_catalog_id, next_file_id)
  SELECT snapshot_id + 1, greatest(clock_timestamp(), snapshot_time + interval '1 microsecond'), schema_version + (j->>'schemaVersions')::bigint,
    next_catalog_id + (j->>'catalogIds')::bigint, next_file_id + (j->>'fileIds')::bigint FROM allowed
  ON CONFLICT DO NOTHING RETURNING *)`,
    `ids AS MATERIALIZED (SELECT j, w.snapshot_id AS snapshot, w.schema_version AS version, h.next_catalog_id AS catalog, h.next_file_id AS file
  FROM won w, allowed h)`,
    `totals AS MATERIALIZED (SELECT table_id AS id, max(next_row_id) AS next FROM ${dialect.table('ducklake_table_stats')}
  WHERE ${ofTables('table_id')} GROUP BY table_id)`,
  ];
}

function changes(dialect: SqlDialect): string {
  const id = resolved('c.b', 'catalog');
  return `said AS (INSERT INTO ${dialect.table('ducklake_snapshot_changes')} (snapshot_id, changes_made, author, commit_message, commit_extra_info)
  SELECT snapshot, (SELECT string_agg(concat(c.a, ${id}), ',' ORDER BY c.c) FROM jsonb_to_recordset(j->'changes') AS c (a text, b bigint, c bigint)),
    j->>'author', j->>'message', j->>'extraInfo' FROM ids)`;
}

function insertRows(dialect: SqlDialect, table: CatalogTable, n: number): string {
  const cells = cellsOf(table);
  const columns = cells.map(([name]) => quoteName(name)).join(', ');
  const values = cells.map(([, { counter }], i) => cell(`r.${shortName(i)}`, counter)).join(', ');
  const takesRowIds = cells.some(([, { counter }]) => counter === 'row');
  const tableId = `r.${shortName(cells.findIndex(([name]) => name === 'table_id'))}`;
  const from = `ids CROSS JOIN ${recordset(dialect, `j->'rows'->${n}`, cells)}`;
  return `rows${n} AS (INSERT INTO ${dialect.table(table)} (${columns}) SELECT ${values}
  FROM ${from}${takesRowIds ? ` LEFT JOIN totals ON totals.id = ${tableId}` : ''})`;
}

function endRows(dialect: SqlDialect, { table, isDelete, columns, nulls }: EndShape, n: number): string {
  const all = new Map(cellsOf(table));
  const cells = columns.map((name): Cells[number] => [name, all.get(name)!]);
  const conditions = [
    ...(isDelete ? [] : ['t.end_snapshot IS NULL']),
    ...cells.map(([name, { counter }], i) => `t.${quoteName(name)} = ${cell(`r.${shortName(i)}`, counter)}`),
    ...nulls.map((name) => `t.${quoteName(name)} IS NULL`),
  ];
  const from = `ids CROSS JOIN ${recordset(dialect, `j->'ends'->${n}`, cells)}\n  WHERE ${conditions.join(' AND ')}`;
  if (isDelete) return `ends${n} AS (DELETE FROM ${dialect.table(table)} t USING ${from})`;
  return `ends${n} AS (UPDATE ${dialect.table(table)} t SET end_snapshot = snapshot FROM ${from})`;
}

type Cells = readonly (readonly [name: string, spec: CellSpec])[];

/** The rows of a JSON value, as `r`. */
function recordset(dialect: SqlDialect, json: string, cells: Cells): string {
  const columns = cells.map(([, { type }], i) => `${shortName(i)} ${dialect.type(type)}`);
  return `jsonb_to_recordset(${json}) AS r (${columns.join(', ')})`;
}

/** What a counter stands at, in the columns of `ids` and of `totals`. */
const counters: Readonly<Record<Exclude<CellSpec['counter'], undefined>, string>> = {
  snapshot: 'snapshot',
  schemaVersion: 'version',
  catalog: 'catalog',
  file: 'file',
  row: 'coalesce(totals.next, 0)',
};

function cell(value: string, counter: CellSpec['counter']): string {
  return counter === undefined ? value : resolved(value, counters[counter]);
}
