import type { FilesRequest } from '../table-files.ts';
import type { HistoryRequest } from '../table-history.ts';
import { integer, quoteName, type SqlDialect } from './dialect.ts';
import { live, selectRowsOf } from './select.ts';
import { wantedFiles } from './wanted-files.ts';

/**
 * What a statement has to know of a table's inlined rows before it is sent: tables can be named in SQL only if they are there.
 * Each answer says what is true, so that a wrong guess is noticed.
 */
export interface InlinedShape {
  readonly tables: readonly InlinedTable[];
  /** Whether the catalog has a table for inlined deletes of this one. */
  readonly hasDeletes: boolean;
}

/** A table of inlined rows. Its columns never change: another schema version gets another table. */
export interface InlinedTable {
  readonly name: string;
  readonly schemaVersion: number;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

/** The columns that come before the table's own. */
export const INLINED_SYSTEM_COLUMNS: readonly string[] = ['row_id', 'begin_snapshot', 'end_snapshot'];

/** Functions of SQL databases take 100 arguments, or little more. */
const MAX_ARGUMENTS = 90;

/** Rows of two cells like those of the other statements; see each tag for what its JSON holds. */
export interface FileStatements {
  /** Unless it is whole, statistics are looked for among those that were added last. */
  files(request: FilesRequest, shape: InlinedShape, isWhole: boolean): string;
  history(request: HistoryRequest, shape: InlinedShape): string;
}

export function fileStatements(dialect: SqlDialect): FileStatements {
  const rows = selectRowsOf(dialect);

  /** Of each inlined table its name, schema version and columns; of each schema version the table's columns; whether there are deletes. */
  const shapeOf = (tableId: string, at: string): string[] => [
    `SELECT 'inlined_table' AS t, ${dialect.jsonArray(['i.table_name', 'i.schema_version', dialect.columnsOf('i.table_name')])} AS j FROM inlined i`,
    rows('ducklake_column', `x.table_id = ${tableId} AND ${live('i.begin_snapshot')}`, {
      source: `inlined i CROSS JOIN ${dialect.table('ducklake_column')}`,
      tag: `'fields:' || i.schema_version`,
    }),
    // DuckDB finds a version's columns by the very version. Of one that nobody wrote down it takes those that the table began with, unless
    // it has just read that version for something else.
    rows(
      'ducklake_column',
      `x.table_id = ${tableId} AND ${live('i.table_begin')} AND NOT i.is_known ` +
        `AND i.schema_version <> (SELECT n.schema_version FROM ${dialect.table('ducklake_snapshot')} n WHERE n.snapshot_id = ${at})`,
      { source: `inlined i CROSS JOIN ${dialect.table('ducklake_column')}`, tag: `'mistaken:' || i.schema_version` },
    ),
    `SELECT 'has_deletes' AS t, '' AS j WHERE ${dialect.tableExists(deletesTable(tableId))}`,
  ];
  /** The snapshot from which a schema version is, as DuckDB finds it. */
  const inlined = (tableId: string): string => {
    const versions = `FROM ${dialect.table('ducklake_schema_versions')} v WHERE v.table_id = i.table_id AND v.schema_version`;
    const tableBegin = `(SELECT min(o.begin_snapshot) FROM ${dialect.table('ducklake_table')} o WHERE o.table_id = i.table_id)`;
    return (
      `inlined AS (SELECT i.table_name, i.schema_version, coalesce((SELECT v.begin_snapshot ${versions} <= i.schema_version ` +
      `ORDER BY v.schema_version DESC LIMIT 1), ${tableBegin}) AS begin_snapshot, ${tableBegin} AS table_begin, ` +
      `EXISTS (SELECT 1 ${versions} = i.schema_version) AS is_known ` +
      `FROM ${dialect.table('ducklake_inlined_data_tables')} i WHERE i.table_id = ${tableId})`
    );
  };

  const inlinedRows = ({ name, columns }: InlinedTable, index: number, where: string): string => {
    const cells = [
      ...INLINED_SYSTEM_COLUMNS.map((column) => `x.${column}`),
      ...columns.map((column) => dialect.inlinedCell(`x.${quoteName(column.name)}`, column.type)),
    ];
    const parts: string[] = [];
    for (let i = 0; i < cells.length; i += MAX_ARGUMENTS)
      parts.push(dialect.jsonArray(cells.slice(i, i + MAX_ARGUMENTS)));
    return `SELECT 'inlined:${index}' AS t, '[' || ${parts.join(` || ',' || `)} || ']' AS j FROM ${dialect.table(name)} x WHERE ${where}`;
  };

  /** `span`: a row when the first snapshot is there. `next_file_id` is what the first file of the range had at least. */
  const span = ({ from, to }: HistoryRequest): string => {
    const snapshots = dialect.table('ducklake_snapshot');
    const time = dialect.instant('snapshot_time');
    const first =
      'snapshot' in from
        ? integer(from.snapshot)
        : `(SELECT snapshot_id FROM ${snapshots} WHERE ${time} >= ${dialect.instantLiteral(from.time)} ` +
          `ORDER BY ${time}, snapshot_id LIMIT 1)`;
    const before = `FROM ${snapshots} c WHERE c.snapshot_id = s.snapshot_id - 1`;
    return (
      `span AS MATERIALIZED (SELECT s.snapshot_id AS first, ` +
      `(SELECT count(*) FROM ${snapshots} c WHERE c.snapshot_id BETWEEN s.snapshot_id AND ${integer(to)}) AS snapshot_count, ` +
      `(SELECT count(*) ${before}) AS count_before, coalesce((SELECT c.next_file_id ${before}), 0) AS next_file_id ` +
      `FROM ${snapshots} s WHERE s.snapshot_id = ${first})`
    );
  };
  /**
   * `files`: the rows of data files with rows that began or ended in the range. Of when a delete file's rows are, neither its
   * begin_snapshot (the first row's) nor its partial_max (often missing) tells enough: a file that was there before the range
   * deletes nothing in it, and files are numbered as they come.
   */
  const changed = ({ tableId, to }: HistoryRequest, shape: InlinedShape): string => {
    const ofTable = (alias: string): string =>
      `${alias}.table_id = ${integer(tableId)} AND ${alias}.begin_snapshot <= ${integer(to)}`;
    const from = '(SELECT first FROM span)';
    const conditions = [
      `x.begin_snapshot >= ${from}`,
      `x.partial_max >= ${from}`,
      `x.end_snapshot BETWEEN ${from} AND ${integer(to)}`,
      `x.data_file_id IN (SELECT d.data_file_id FROM ${dialect.table('ducklake_delete_file')} d ` +
        `WHERE ${ofTable('d')} AND d.delete_file_id >= (SELECT next_file_id FROM span))`,
    ];
    if (shape.hasDeletes)
      conditions.push(
        `x.data_file_id IN (SELECT d.file_id FROM ${dialect.table(deletesTable(integer(tableId)))} d ` +
          `WHERE d.begin_snapshot BETWEEN ${from} AND ${integer(to)})`,
      );
    return (
      `files AS MATERIALIZED (SELECT x.* FROM ${dialect.table('ducklake_data_file')} x ` +
      `WHERE ${ofTable('x')} AND (${conditions.join(' OR ')}))`
    );
  };

  return {
    files(request, shape, isWhole) {
      const at = integer(request.snapshotId);
      const tableId = integer(request.tableId);
      const isNew = request.fromFileId === undefined ? '' : ` AND x.delete_file_id >= ${integer(request.fromFileId)}`;
      const ofFile = `x.table_id = ${tableId} AND x.data_file_id IN (SELECT data_file_id FROM files)`;
      const mapped = 'x.mapping_id IN (SELECT mapping_id FROM files)';
      const selects = [
        rows('ducklake_data_file', '1 = 1', { source: 'files' }),
        // The row of a delete file may outlive its data file. Its id is from the same counter, and above that of its data file.
        rows('ducklake_delete_file', `${ofFile} AND ${live(at)}${isNew}`),
        rows('ducklake_file_partition_value', ofFile),
        rows('ducklake_partition_column', 'x.partition_id IN (SELECT partition_id FROM files)'),
        rows('ducklake_column_mapping', mapped),
        rows('ducklake_name_mapping', mapped),
        ...shapeOf(tableId, at),
        ...shape.tables.map((table, i) =>
          inlinedRows(table, i, request.toFlush ? `x.begin_snapshot <= ${at}` : live(at)),
        ),
      ];
      if (shape.hasDeletes && request.toFlush)
        selects.push(
          `SELECT 'deleted' AS t, ${dialect.jsonArray(['d.file_id', 'd.row_id', 'd.begin_snapshot'])} AS j ` +
            `FROM ${dialect.table(deletesTable(tableId))} d WHERE d.begin_snapshot <= ${at}`,
        );
      else if (shape.hasDeletes)
        selects.push(
          `SELECT 'deletes' AS t, ${dialect.jsonArray(['d.file_id', dialect.jsonGroup('d.row_id')])} AS j ` +
            `FROM ${dialect.table(deletesTable(tableId))} d WHERE d.begin_snapshot <= ${at} AND d.file_id IN (SELECT data_file_id FROM files) GROUP BY d.file_id`,
        );
      const source = isWhole ? undefined : dialect.newestRows('ducklake_file_column_stats');
      const ofNew =
        request.fromFileId === undefined
          ? request.statsFrom === undefined
            ? ''
            : `(SELECT count(*) FROM files) >= ${integer(request.statsFrom)} AND `
          : `x.data_file_id >= ${integer(request.fromFileId)} AND `;
      if (request.stats === 'all') selects.push(rows('ducklake_file_column_stats', ofNew + ofFile, { source }));
      else if (request.stats !== 'none' && request.stats.length > 0) {
        const isAskedFor = `x.column_id IN (${request.stats.map(integer).join(', ')})`;
        selects.push(rows('ducklake_file_column_stats', `${ofNew}${ofFile} AND ${isAskedFor}`, { source }));
      }
      if (request.since !== undefined) {
        const isSince = `x.snapshot_id >= ${integer(request.since)}`;
        selects.push(rows('ducklake_snapshot', isSince), rows('ducklake_snapshot_changes', isSince));
      }
      const having = !request.toFlush
        ? undefined
        : shape.hasDeletes
          ? `x.data_file_id IN (SELECT d.file_id FROM ${dialect.table(deletesTable(tableId))} d WHERE d.begin_snapshot <= ${at})`
          : '1 = 0';
      return `WITH ${wantedFiles(dialect, request, having)}, ${inlined(tableId)}\n${unionAll(selects)}`;
    },
    history(request, shape) {
      const to = integer(request.to);
      const tableId = integer(request.tableId);
      const from = '(SELECT first FROM span)';
      const within = (column: string): string => `${column} BETWEEN ${from} AND ${to}`;
      const ofFile = `x.table_id = ${tableId} AND x.data_file_id IN (SELECT data_file_id FROM files)`;
      const mapped = 'x.mapping_id IN (SELECT mapping_id FROM files)';
      const selects = [
        `SELECT 'span' AS t, ${dialect.jsonArray(['first', 'snapshot_count', 'count_before'])} AS j FROM span`,
        rows(
          'ducklake_snapshot_changes',
          `x.snapshot_id = ${from} OR (${within('x.snapshot_id')} AND x.changes_made LIKE '%rewrite_delete:${tableId}%')`,
        ),
        rows('ducklake_data_file', '1 = 1', { source: 'files' }),
        rows('ducklake_delete_file', `${ofFile} AND x.begin_snapshot <= ${to}`),
        rows('ducklake_column_mapping', mapped),
        rows('ducklake_name_mapping', mapped),
        ...shapeOf(tableId, to),
        ...shape.tables.map((table, i) =>
          inlinedRows(table, i, `(${within('x.begin_snapshot')} OR ${within('x.end_snapshot')})`),
        ),
      ];
      if (shape.hasDeletes)
        selects.push(
          `SELECT 'deletes' AS t, ${dialect.jsonArray(['d.file_id', 'd.row_id', 'd.begin_snapshot'])} AS j ` +
            `FROM ${dialect.table(deletesTable(tableId))} d WHERE d.begin_snapshot <= ${to} AND d.file_id IN (SELECT data_file_id FROM files)`,
        );
      return `WITH ${span(request)}, ${changed(request, shape)}, ${inlined(tableId)}\n${unionAll(selects)}`;
    },
  };
}

/** Of so many SELECTs that a database may not take them side by side (SQLite takes 500). */
const MAX_TERMS = 100;

function unionAll(selects: readonly string[]): string {
  const join = (terms: readonly string[]): string => terms.join('\nUNION ALL ');
  if (selects.length <= MAX_TERMS) return join(selects);
  const parts: string[] = [];
  for (let i = 0; i < selects.length; i += MAX_TERMS)
    parts.push(`SELECT u.t, u.j FROM (${join(selects.slice(i, i + MAX_TERMS))}) u`);
  return unionAll(parts);
}

const deletesTable = (tableId: string): string => `ducklake_inlined_delete_${tableId}`;
