import type { CatalogView, TableInfo } from '../../catalog/view.ts';
import type { Session } from '../../session.ts';
import type { Where } from '../where/where.ts';

/** What happened to a row, in DuckDB's words. The two images of an update have the same `rowid` and `snapshot_id`. */
export type ChangeType = 'insert' | 'delete' | 'update_preimage' | 'update_postimage';

/** A change: the row as it was inserted or as it was deleted, and what happened to it. */
export type ChangeRow<Row = Record<string, unknown>> = {
  /** The snapshot that made the change. */
  snapshot_id: bigint;
  rowid: bigint;
  change_type: ChangeType;
} & Row;

/** An end of a range of snapshots, which is included: a snapshot's id, or a time. */
export type ChangesBound = number | bigint | Date;

export interface ChangesOptions<Name extends string = string, Row = Record<string, unknown>> {
  /** The first snapshot. A time means the oldest snapshot that is not older. */
  readonly from: ChangesBound;
  /** The last snapshot, the head by default. A time means the newest snapshot that is not younger. */
  readonly to?: ChangesBound | undefined;
  /** Which columns beside `snapshot_id`, `rowid` and `change_type`. All by default, as the table has them at `to`. */
  readonly columns?: readonly Name[] | undefined;
  /** Which rows, by their columns; all by default. See {@link Where}. */
  readonly where?: Where<Row> | undefined;
  /** Which kinds of change; all by default. */
  readonly types?: readonly ChangeType[] | undefined;
  /**
   * Whether rows that `ducklake_rewrite_data_files` wrote anew are there, as updates to the same values: as in DuckDB, by default.
   * False leaves them out.
   */
  readonly rewrites?: boolean | undefined;
  /** The most changes that are wanted, of those that are left. */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Options are looked at when the feed is read, whatever their types were. */
export interface ChangesRequest {
  readonly session: Session;
  readonly find: (view: CatalogView) => TableInfo;
  readonly options: { readonly [Key in keyof ChangesOptions]?: unknown };
}
