import { type RangeEnd, rangeEnd } from '../bounds.ts';
import type { ColumnRange, FilesRequest } from '../table-files.ts';
import { integer, quoteName, type SqlDialect } from './dialect.ts';
import { live, selectRowsOf } from './select.ts';

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
  files(request: FilesRequest, shape: InlinedShape): string;
}

export function fileStatements(dialect: SqlDialect): FileStatements {
  const rows = selectRowsOf(dialect);

  /** Of each inlined table its name, schema version and columns; of each schema version the table's columns; whether there are deletes. */
  const shapeOf = (tableId: string): string[] => [
    `SELECT 'inlined_table' AS t, ${dialect.jsonArray(['i.table_name', 'i.schema_version', dialect.columnsOf('i.table_name')])} AS j FROM inlined i`,
    rows('ducklake_column', `x.table_id = ${tableId} AND ${live('i.begin_snapshot')}`, {
      source: `inlined i CROSS JOIN ${dialect.table('ducklake_column')}`,
      tag: `'fields:' || i.schema_version`,
    }),
    `SELECT 'has_deletes' AS t, '' AS j WHERE ${dialect.tableExists(deletesTable(tableId))}`,
  ];
  /** The snapshot from which a schema version is, as DuckDB finds it. */
  const inlined = (tableId: string): string =>
    `inlined AS (SELECT i.table_name, i.schema_version, coalesce(` +
    `(SELECT v.begin_snapshot FROM ${dialect.table('ducklake_schema_versions')} v WHERE v.table_id = i.table_id ` +
    `AND v.schema_version <= i.schema_version ORDER BY v.schema_version DESC LIMIT 1), ` +
    `(SELECT min(o.begin_snapshot) FROM ${dialect.table('ducklake_table')} o WHERE o.table_id = i.table_id)) AS begin_snapshot ` +
    `FROM ${dialect.table('ducklake_inlined_data_tables')} i WHERE i.table_id = ${tableId})`;

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

  /** Statistics by which a file has no row in the range. */
  const outside = (tableId: string, { columnId, includesNan, ...range }: ColumnRange): string => {
    const beyond = (side: 'min' | 'max'): string[] => {
      const end: RangeEnd | undefined = rangeEnd(range[side], range.comparison, side);
      if (end === undefined) return [];
      return [side === 'min' ? dialect.isBeyond('s.max_value', '<', end) : dialect.isBeyond('s.min_value', '>', end)];
    };
    const ends = [...beyond('min'), ...beyond('max')];
    const isKnown = includesNan ? 'NOT s.contains_nan AND ' : '';
    return (
      `SELECT s.data_file_id FROM ${dialect.table('ducklake_file_column_stats')} s ` +
      `WHERE s.table_id = ${tableId} AND s.column_id = ${integer(columnId)} ` +
      `AND (s.value_count = 0${ends.length > 0 ? ` OR ${isKnown}(${ends.join(' OR ')})` : ''})`
    );
  };
  /**
   * `files`: the rows of data files that the request asks for. What is outside is taken away as a set: NOT IN, or a join, takes
   * databases longer. Without MATERIALIZED SQLite would find them anew for each use.
   */
  const wanted = (request: FilesRequest): string => {
    const tableId = integer(request.tableId);
    const isNew = request.fromFileId === undefined ? '' : ` AND x.data_file_id >= ${integer(request.fromFileId)}`;
    const files = dialect.table('ducklake_data_file');
    const where = `x.table_id = ${tableId}${isNew} AND ${live(integer(request.snapshotId))}`;
    const within = request.within ?? [];
    if (within.length === 0) return `files AS MATERIALIZED (SELECT x.* FROM ${files} x WHERE ${where})`;
    const ids = [
      `SELECT x.data_file_id FROM ${files} x WHERE ${where}`,
      ...within.map((range) => outside(tableId, range)),
    ];
    return (
      `wanted AS MATERIALIZED (${ids.join(' EXCEPT ')}), files AS MATERIALIZED ` +
      `(SELECT x.* FROM ${files} x WHERE x.data_file_id IN (SELECT data_file_id FROM wanted))`
    );
  };

  return {
    files(request, shape) {
      const at = integer(request.snapshotId);
      const tableId = integer(request.tableId);
      const ofTable = `x.table_id = ${tableId}`;
      const ofFile = `${ofTable} AND x.data_file_id IN (SELECT data_file_id FROM files)`;
      const mapped = 'x.mapping_id IN (SELECT mapping_id FROM files)';
      const selects = [
        rows('ducklake_data_file', '1 = 1', { source: 'files' }),
        // The row of a delete file may outlive its data file.
        rows('ducklake_delete_file', `${ofFile} AND ${live(at)}`),
        rows('ducklake_file_partition_value', ofFile),
        rows('ducklake_column_mapping', mapped),
        rows('ducklake_name_mapping', mapped),
        ...shapeOf(tableId),
        ...shape.tables.map((table, i) => inlinedRows(table, i, live(at))),
      ];
      if (shape.hasDeletes)
        selects.push(
          `SELECT 'deletes' AS t, ${dialect.jsonArray(['d.file_id', dialect.jsonGroup('d.row_id')])} AS j ` +
            `FROM ${dialect.table(deletesTable(tableId))} d WHERE d.begin_snapshot <= ${at} AND d.file_id IN (SELECT data_file_id FROM files) GROUP BY d.file_id`,
        );
      if (request.stats === 'all') selects.push(rows('ducklake_file_column_stats', ofFile));
      else if (request.stats !== 'none' && request.stats.length > 0)
        selects.push(
          rows('ducklake_file_column_stats', `${ofFile} AND x.column_id IN (${request.stats.map(integer).join(', ')})`),
        );
      return `WITH ${wanted(request)}, ${inlined(tableId)}\n${selects.join('\nUNION ALL ')}`;
    },
  };
}

const deletesTable = (tableId: string): string => `ducklake_inlined_delete_${tableId}`;
