import { LakeError } from '../../errors.ts';
import { cellsOf } from '../../spec/rows.ts';
import type { AsOf, CommitWitness } from '../store.ts';
import { integer, type SqlDialect } from './dialect.ts';
import { live, selectRowsOf } from './select.ts';

/** Each statement gives rows of two cells: which catalog table the row is of, and its cells as a JSON array. */
export interface ReadStatements {
  catalog(asOf: AsOf | undefined): string;
  /** The newest snapshot, with those above `since`, and the changes of the latter. */
  head(since: number | undefined): string;
  /** Snapshots from `from` to `to`, at most `limit` of them, with their changes. */
  snapshots(from: number, to: number | undefined, limit: number): string;
  tableStats(tableId: number): string;
  /** The id of the snapshot that wrote the witness, with that snapshot if it still exists. Binds the witness. */
  witness(witness: CommitWitness, baseId: number): string;
  /** The catalog's version. The only statement that fits catalogs of any. */
  version(): string;
}

export function readStatements(dialect: SqlDialect): ReadStatements {
  const snapshots = dialect.table('ducklake_snapshot');
  const newest = `(SELECT max(snapshot_id) FROM ${snapshots})`;

  const rows = selectRowsOf(dialect);
  const unionAll = (...selects: readonly string[]): string => selects.join('\nUNION ALL ');

  const at = (asOf: AsOf | undefined): string => {
    if (asOf === undefined) return newest;
    if ('snapshot' in asOf) return integer(Number(asOf.snapshot));
    if (Number.isNaN(asOf.time.getTime()))
      throw new LakeError('INVALID_ARGUMENT', 'the time to read at is an invalid Date');
    const time = dialect.instant('snapshot_time');
    return (
      `(SELECT snapshot_id FROM ${snapshots} WHERE ${time} <= ${dialect.instantLiteral(asOf.time)} ` +
      `ORDER BY ${time} DESC, snapshot_id DESC LIMIT 1)`
    );
  };

  return {
    catalog(asOf) {
      const id = '(SELECT snapshot_id FROM snap)';
      return (
        `WITH snap AS (SELECT * FROM ${snapshots} WHERE snapshot_id = ${at(asOf)}), ` +
        `tables AS (SELECT * FROM ${dialect.table('ducklake_table')} x WHERE ${live(id)}), ` +
        // Those that an alteration came after take no more rows.
        `versions AS (SELECT table_id, max(schema_version) AS newest FROM ${dialect.table('ducklake_schema_versions')} WHERE begin_snapshot <= ${id} GROUP BY table_id), ` +
        `inlined AS (SELECT i.* FROM ${dialect.table('ducklake_inlined_data_tables')} i JOIN tables x ON x.table_id = i.table_id ` +
        `LEFT JOIN versions v ON v.table_id = i.table_id WHERE i.schema_version >= coalesce(v.newest, 0))\n` +
        unionAll(
          rows('ducklake_snapshot', '1 = 1', { source: 'snap' }),
          rows('ducklake_metadata', '1 = 1'),
          rows('ducklake_schema', live(id)),
          rows('ducklake_table', '1 = 1', { source: 'tables' }),
          rows('ducklake_view', live(id)),
          rows('ducklake_column', live(id)),
          rows('ducklake_inlined_data_tables', '1 = 1', { source: 'inlined' }),
          // RESET PARTITIONED BY leaves a live row without columns.
          rows(
            'ducklake_partition_info',
            `${live(id)} AND EXISTS (SELECT 1 FROM ${dialect.table('ducklake_partition_column')} p WHERE p.partition_id = x.partition_id)`,
          ),
          rows('ducklake_macro', live(id)),
        )
      );
    },
    head(since) {
      if (since === undefined) return rows('ducklake_snapshot', `x.snapshot_id = ${newest}`);
      return unionAll(
        rows('ducklake_snapshot', `x.snapshot_id > ${integer(since)} OR x.snapshot_id = ${newest}`),
        rows('ducklake_snapshot_changes', `x.snapshot_id > ${integer(since)}`),
      );
    },
    snapshots(from, to, limit) {
      const range = `snapshot_id >= ${integer(from)}${to === undefined ? '' : ` AND snapshot_id <= ${integer(to)}`}`;
      return (
        `WITH page AS (SELECT * FROM ${snapshots} WHERE ${range} ORDER BY snapshot_id LIMIT ${integer(limit)})\n` +
        unionAll(
          rows('ducklake_snapshot', '1 = 1', { source: 'page' }),
          rows('ducklake_snapshot_changes', 'x.snapshot_id IN (SELECT snapshot_id FROM page)'),
        )
      );
    },
    tableStats(tableId) {
      const ofTable = `x.table_id = ${integer(tableId)}`;
      return unionAll(rows('ducklake_table_stats', ofTable), rows('ducklake_table_column_stats', ofTable));
    },
    witness(witness, baseId) {
      const type = cellsOf(witness.table).find(([name]) => name === witness.column)![1].type;
      const is = `${witness.column} = ${dialect.parameter(1, type)}`;
      const table = dialect.table(witness.table);
      // Changes are not unique: only those of the snapshot right after the base are the batch's.
      const isNext = witness.column === 'changes_made' && !witness.isShared;
      const id =
        witness.table === 'ducklake_snapshot_changes'
          ? `SELECT snapshot_id AS id FROM ${table} WHERE ${is} AND snapshot_id ${isNext ? '=' : '>='} ${integer(baseId + 1)}`
          : `SELECT begin_snapshot AS id FROM ${table} WHERE ${is}`;
      return (
        `WITH witness AS (${id})\n` +
        unionAll(
          `SELECT 'id' AS t, ${dialect.jsonArray(['id'])} AS j FROM witness`,
          rows('ducklake_snapshot', 'x.snapshot_id IN (SELECT id FROM witness)'),
        )
      );
    },
    version: () => `SELECT 'version' AS t, value AS j FROM ${dialect.table('ducklake_metadata')} WHERE key = 'version'`,
  };
}
