import { type RangeEnd, rangeEnd } from '../bounds.ts';
import type { ColumnRange, FilesRequest } from '../table-files.ts';
import { integer, type SqlDialect } from './dialect.ts';
import { live } from './select.ts';

/**
 * `files`: the rows of data files that a request asks for. What is outside its ranges is taken away as a set: NOT IN, or a join, takes
 * databases longer. Without MATERIALIZED SQLite would find them anew for each use.
 */
export function wantedFiles(dialect: SqlDialect, request: FilesRequest, having?: string): string {
  const tableId = integer(request.tableId);
  const isNew = request.fromFileId === undefined ? '' : ` AND x.data_file_id >= ${integer(request.fromFileId)}`;
  const files = dialect.table('ducklake_data_file');
  const where = `x.table_id = ${tableId}${isNew} AND ${live(integer(request.snapshotId))}${having === undefined ? '' : ` AND ${having}`}`;
  // New files are few: to find out which of them matter costs more than to give them all.
  const within = request.fromFileId === undefined ? (request.within ?? []) : [];
  if (within.length === 0) return `files AS MATERIALIZED (SELECT x.* FROM ${files} x WHERE ${where})`;
  const ids = [
    `SELECT x.data_file_id FROM ${files} x WHERE ${where}`,
    ...within.map((range) => outside(dialect, tableId, range)),
  ];
  return (
    `wanted AS MATERIALIZED (${ids.join(' EXCEPT ')}), files AS MATERIALIZED ` +
    `(SELECT x.* FROM ${files} x WHERE x.data_file_id IN (SELECT data_file_id FROM wanted))`
  );
}

/** Statistics by which a file has no row in the range. */
function outside(
  dialect: SqlDialect,
  tableId: string,
  { columnId, includesNan, fromSnapshot, ...range }: ColumnRange,
): string {
  const beyond = (side: 'min' | 'max'): string[] => {
    const end: RangeEnd | undefined = rangeEnd(range[side], range.comparison, side);
    if (end === undefined) return [];
    return [side === 'min' ? dialect.isBeyond('s.max_value', '<', end) : dialect.isBeyond('s.min_value', '>', end)];
  };
  const ends = [...beyond('min'), ...beyond('max')];
  const known = [
    ...(includesNan ? ['NOT s.contains_nan'] : []),
    // Few or none in most tables: a set that is quick to find.
    ...(fromSnapshot === undefined
      ? []
      : [
          `s.data_file_id NOT IN (SELECT o.data_file_id FROM ${dialect.table('ducklake_data_file')} o ` +
            `WHERE o.table_id = ${tableId} AND (o.begin_snapshot < ${integer(fromSnapshot)} OR o.mapping_id IS NOT NULL))`,
        ]),
  ];
  const byEnds = ends.length > 0 ? ` OR ${[...known, `(${ends.join(' OR ')})`].join(' AND ')}` : '';
  return (
    `SELECT s.data_file_id FROM ${dialect.table('ducklake_file_column_stats')} s ` +
    `WHERE s.table_id = ${tableId} AND s.column_id = ${integer(columnId)} AND (s.value_count = 0${byEnds})`
  );
}
