import { instantMicros, instantText } from '../../src/catalog/instant.ts';
import { goesOnTop, nextSnapshot, Resolver } from '../../src/catalog/resolve.ts';
import { decodeRows } from '../../src/catalog/sql/decode.ts';
import { quoteName } from '../../src/catalog/sql/dialect.ts';
import { createKeyTable, KEY_TABLE, usedKeyJson, usedKeyOf } from '../../src/catalog/sql/keys.ts';
import { recordsOf } from '../../src/catalog/sql/reader.ts';
import type { ReadStatements } from '../../src/catalog/sql/statements.ts';
import type {
  ColumnStatsDelta,
  CommitBatch,
  CommitOutcome,
  Snapshot,
  SnapshotRecord,
  TableStatsDelta,
} from '../../src/catalog/store.ts';
import { type CatalogRow, type CatalogTable, type Cell, cellsOf, type RowOf, resolveId } from '../../src/spec/rows.ts';
import { mergeColumnStats } from '../../src/stats/merge.ts';
import type { Connection, SqliteValue } from './database.ts';
import { sqliteDialect } from './dialect.ts';
import { createInlined, deleteInlined, dropInlined, hasTable, insertInlined } from './inlined.ts';

const FIND_KEY = `SELECT ${usedKeyJson(sqliteDialect)} FROM ${KEY_TABLE} WHERE commit_key = ?`;
const FIND_TABLE = 'SELECT 1 FROM ducklake_table WHERE table_id = ? AND table_name = ? AND end_snapshot IS NULL';
const ADD_KEY = `INSERT INTO ${KEY_TABLE} (commit_key, scope, snapshot_id, result, used_at_micros) VALUES (?, ?, ?, ?, ?)`;

/** Puts the batch on top of the head, or writes nothing. Runs inside a transaction that holds the write lock. */
export function commitIn(connection: Connection, statements: ReadStatements, batch: CommitBatch): CommitOutcome {
  const keys = batch.keys ?? [];
  if (keys.length > 0) connection.exec(createKeyTable(sqliteDialect));
  const used = keys.flatMap(({ key }) => connection.value(FIND_KEY, key) ?? []).map((json) => usedKeyOf(String(json)));
  if (used.length > 0) return { status: 'used', keys: used };
  const records = recordsOf(connection.read(statements.head(batch.base.id - 1)));
  const head = records.at(-1);
  if (head === undefined || !mayPut(connection, batch, head, records)) return { status: 'superseded' };
  const inlined = batch.ops.filter((op) => op.kind === 'insertInlined');
  if (inlined.some(({ name }) => name !== undefined && !hasTable(connection, name))) return { status: 'superseded' };

  const micros = Math.max(Date.now() * 1000, instantMicros(head.time) + 1);
  const snapshot = nextSnapshot(batch, head, instantText(micros));
  const resolver = new Resolver(batch, head, snapshot, (tableId) => nextRowId(connection, tableId));
  // Resolved before anything is written: row ids start where the table's totals stand before the batch.
  const inserts = batch.ops
    .filter((op) => op.kind === 'insert')
    .map(({ table, rows }) => ({ table, rows: rows.map((row) => resolver.row(table, row)) }));
  const rowIds = inlined.map(({ tableId, rowIdStart }) =>
    resolveId(rowIdStart, nextRowId(connection, resolver.catalogId(tableId))),
  );

  insertRows(connection, 'ducklake_snapshot', [
    {
      snapshot_id: snapshot.id,
      snapshot_time: snapshot.time,
      schema_version: snapshot.schemaVersion,
      next_catalog_id: snapshot.nextCatalogId,
      next_file_id: snapshot.nextFileId,
    },
  ]);
  insertRows(connection, 'ducklake_snapshot_changes', [
    {
      snapshot_id: snapshot.id,
      changes_made: batch.changes.map((change) => resolver.change(change)).join(',') || null,
      author: batch.author,
      commit_message: batch.message,
      commit_extra_info: batch.extraInfo,
    },
  ]);
  for (const op of batch.ops) {
    if (op.kind === 'end') endRows(connection, op.table, resolver.row(op.table, op.match), snapshot.id);
    else if (op.kind === 'addStats')
      addStats(connection, statements, { ...op.stats, tableId: resolver.catalogId(op.stats.tableId) });
    else if (op.kind === 'createInlined') {
      createInlined(connection, resolver.inlinedTable(op), op);
      insertRows(connection, 'ducklake_inlined_data_tables', [resolver.inlinedTableRow(op)]);
    } else if (op.kind === 'delete') deleteRows(connection, op.table, resolver.row(op.table, op.match));
    else if (op.kind === 'deleteInlined') deleteInlined(connection, op);
    else if (op.kind === 'dropInlined') dropInlined(connection, op);
  }
  for (const [n, op] of inlined.entries())
    insertInlined(connection, resolver.inlinedTable(op), op, { snapshotId: snapshot.id, rowIdStart: rowIds[n]! });
  for (const { table, rows } of inserts) insertRows(connection, table, rows);
  for (const { key, scope, result } of keys) connection.run(ADD_KEY, key, scope, snapshot.id, result, micros);
  return { status: 'committed', snapshot };
}

/** `records`: the base and what was committed since. */
function mayPut(
  connection: Connection,
  { base, fence }: CommitBatch,
  head: Snapshot,
  records: readonly SnapshotRecord[],
): boolean {
  if (head.id <= base.id || fence.kind === 'exact') return head.id === base.id;
  if (fence.sameSchema && base.schemaVersion !== head.schemaVersion) return false;
  // With the base, or a snapshot since, expired there is no telling what changed.
  if (records.length !== head.id - base.id + 1) return false;
  const isThere = ({ id, name }: { readonly id: number; readonly name: string }): boolean =>
    connection.value(FIND_TABLE, id, name) !== undefined;
  return (
    records.slice(1).every(({ changes }) => goesOnTop(fence.changes, changes)) && (fence.tables ?? []).every(isThere)
  );
}

function nextRowId(connection: Connection, tableId: number): number {
  return Number(connection.value('SELECT next_row_id FROM ducklake_table_stats WHERE table_id = ?', tableId) ?? 0);
}

/** One statement whatever the number of rows; JSON, because drivers bind numbers and booleans each in their own way. */
export function insertRows(connection: Connection, table: CatalogTable, rows: readonly CatalogRow[]): void {
  const names = cellsOf(table).map(([name]) => name);
  const cells = rows.map((row) => names.map((name) => row[name] ?? null));
  const values = names.map((_, i) => `json_extract(value, '$[${i}]')`);
  connection.run(
    `INSERT INTO ${quoteName(table)} (${names.map(quoteName).join(', ')}) SELECT ${values.join(', ')} FROM json_each(?)`,
    JSON.stringify(cells),
  );
}

function endRows(connection: Connection, table: CatalogTable, match: CatalogRow, snapshotId: number): void {
  const columns = Object.keys(match);
  connection.run(
    `UPDATE ${quoteName(table)} SET end_snapshot = ? WHERE end_snapshot IS NULL` +
      columns.map((name) => ` AND ${quoteName(name)} IS ?`).join(''),
    snapshotId,
    ...columns.map((name) => bound(match[name]!)),
  );
}

function deleteRows(connection: Connection, table: CatalogTable, match: CatalogRow): void {
  const columns = Object.keys(match);
  connection.run(
    `DELETE FROM ${quoteName(table)} WHERE ${columns.map((name) => `${quoteName(name)} IS ?`).join(' AND ')}`,
    ...columns.map((name) => bound(match[name]!)),
  );
}

function addStats(connection: Connection, statements: ReadStatements, delta: TableStatsDelta): void {
  const { tableId } = delta;
  const rows = connection.read(statements.tableStats(tableId));
  const of = (table: CatalogTable): string[] => rows.filter((row) => row[0] === table).map((row) => row[1]);
  const isFirst = of('ducklake_table_stats').length === 0;
  if (isFirst)
    insertRows(connection, 'ducklake_table_stats', [
      {
        table_id: tableId,
        record_count: delta.recordCount,
        next_row_id: delta.rowIdCount,
        file_size_bytes: delta.byteLength,
      },
    ]);
  else
    connection.run(
      'UPDATE ducklake_table_stats SET record_count = record_count + ?, next_row_id = next_row_id + ?, file_size_bytes = file_size_bytes + ? WHERE table_id = ?',
      delta.recordCount,
      delta.rowIdCount,
      delta.byteLength,
      tableId,
    );

  const current = new Map(
    decodeRows('ducklake_table_column_stats', of('ducklake_table_column_stats')).map((row) => [row.column_id, row]),
  );
  const added: RowOf<'ducklake_table_column_stats'>[] = [];
  for (const column of delta.columns) {
    const before = current.get(column.columnId);
    // Of a column that was added to a table with rows nothing is known, as DuckDB leaves it: those rows have its default.
    if (before === undefined && !isFirst) continue;
    const after = mergeColumnStats(before, column, {
      tableId,
      hadValues: !isFirst && hadValues(connection, tableId, column, before),
    });
    if (before === undefined) added.push(after);
    else if (JSON.stringify(before) !== JSON.stringify(after))
      connection.run(
        'UPDATE ducklake_table_column_stats SET contains_null = ?, contains_nan = ?, min_value = ?, max_value = ? WHERE table_id = ? AND column_id = ?',
        bound(after.contains_null),
        bound(after.contains_nan),
        after.min_value,
        after.max_value,
        tableId,
        column.columnId,
      );
  }
  if (added.length > 0) insertRows(connection, 'ducklake_table_column_stats', added);
}

/** Whether the column held a value before: NULL bounds then mean "not known", else "none yet". Looked up only where it matters. */
function hadValues(
  connection: Connection,
  tableId: number,
  { columnId, bounds }: ColumnStatsDelta,
  before: RowOf<'ducklake_table_column_stats'> | undefined,
): boolean {
  if (typeof bounds === 'string' || (before && (before.min_value !== null || before.max_value !== null))) return true;
  // Files whose only values are NaN have no bounds either. Inlined rows widen the table's bounds as they come.
  const found = connection.value(
    'SELECT 1 FROM ducklake_file_column_stats WHERE table_id = ? AND column_id = ? AND (value_count IS NULL OR value_count > 0)' +
      ' AND NOT (coalesce(contains_nan, 0) AND min_value IS NULL) LIMIT 1',
    tableId,
    columnId,
  );
  return found !== undefined;
}

function bound(cell: Cell): SqliteValue {
  return typeof cell === 'boolean' ? Number(cell) : cell;
}
