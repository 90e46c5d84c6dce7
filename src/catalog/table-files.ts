import type { RowOf } from '../spec/rows.ts';

/** A data file that is live at a snapshot, with all that decides which of its rows are, and what is known of its columns. */
export interface LiveFile {
  readonly file: RowOf<'ducklake_data_file'>;
  /** Live at the snapshot. */
  readonly deletes: readonly RowOf<'ducklake_delete_file'>[];
  /** Positions in the file that `ducklake_inlined_delete_<table>` deletes at the snapshot, ascending. */
  readonly inlinedDeletes: readonly number[];
  /** The snapshot of each of those; only for flushing. */
  readonly inlinedDeleteSnapshots?: readonly number[] | undefined;
  /** What they are of, {@link TableFiles.partitionColumns} say. */
  readonly partitionValues: readonly RowOf<'ducklake_file_partition_value'>[];
  /** Of the columns that the request names. */
  readonly stats: readonly RowOf<'ducklake_file_column_stats'>[];
}

/**
 * How a catalog compares bounds, which are text, without decoding them: as numbers; as bytes; or as ISO dates and times
 * of the years 1 to 9999, which sort as bytes do, while all others (BC, later years, infinities) decide nothing.
 */
export type BoundsComparison = 'number' | 'bytes' | 'iso';

/** Between which values a column's value has to be. Ends are included; an end that is left out is open. */
export interface ColumnRange {
  readonly columnId: number;
  readonly comparison: BoundsComparison;
  /** DuckDB's text, as bounds are written. */
  readonly min?: string | undefined;
  readonly max?: string | undefined;
  /** Whether a NaN, which bounds leave out, lies in the range. */
  readonly includesNan: boolean;
  /**
   * Since when the column is as it is: bounds that files had before, and those of mapped files, which others wrote, may be in another
   * order and decide nothing. Bounds of all files are in order where it is left out.
   */
  readonly fromSnapshot?: number | undefined;
}

/** A snapshot that was there when a catalog answered. */
export interface SeenSnapshot {
  readonly id: number;
  /** DuckDB's text. */
  readonly time: string;
  readonly nextFileId: number;
  /** `undefined` when it doesn't say what it changed. */
  readonly changes: string | undefined;
}

/** Which data files of a table a read needs. */
export interface FilesRequest {
  readonly snapshotId: number;
  readonly tableId: number;
  /** The columns whose statistics come with the files. */
  readonly stats: 'all' | 'none' | readonly number[];
  /** Statistics may be left out where there are fewer files than this: to find them takes a database as long as to find the files. */
  readonly statsFrom?: number | undefined;
  /**
   * Files in which, by their statistics, no row lies within all of these may be left out. A hint: the store may return them, and
   * does so where statistics are missing or its arithmetic is not exact.
   */
  readonly within?: readonly ColumnRange[] | undefined;
  /** Only data files with ids from this on: `next_file_id` of a snapshot that the caller knows the files of. */
  readonly fromFileId?: number | undefined;
  /** A snapshot: what was committed from it on is told with the files, as of the same moment. */
  readonly since?: number | undefined;
  /** What flushing needs: inlined rows that have ended too, and only data files with inlined deletes, with when those happened. */
  readonly toFlush?: boolean | undefined;
}

/** Rows of one table kept in one catalog table `ducklake_inlined_data_<table>_<schema version>`. */
export interface InlinedRows {
  readonly tableName: string;
  readonly schemaVersion: number;
  /** Names of its columns, as the table's were at that schema version: to be resolved to field ids as of then. */
  readonly columns: readonly string[];
  /** In the order of their row ids. */
  readonly rows: readonly InlinedRow[];
  /**
   * The columns that DuckDB takes for those of the schema version at times. Left out where it can't be mistaken.
   */
  readonly mistakenFor?: readonly RowOf<'ducklake_column'>[] | undefined;
}

export interface InlinedRow {
  readonly rowId: number;
  readonly beginSnapshot: number;
  readonly endSnapshot: number | null;
  /**
   * One for each column: the value as DuckDB's text (`CAST(x AS VARCHAR)`), a blob as upper-case hex digits, NULL as null. Whatever
   * the catalog's own column types are.
   */
  readonly cells: readonly (string | null)[];
}

/** Everything that the rows of a table at one snapshot are made of, read in one statement. */
export interface TableFiles {
  /** In the order of their ids. */
  readonly files: readonly LiveFile[];
  /** Rows live at the snapshot. */
  readonly inlined: readonly InlinedRows[];
  /** Columns of each schema version that `inlined` names: the table's column rows that were live at it. */
  readonly inlinedFields: ReadonlyMap<number, readonly RowOf<'ducklake_column'>[]>;
  /** Name mappings that the files refer to. */
  readonly mappings: readonly RowOf<'ducklake_column_mapping'>[];
  readonly nameMappings: readonly RowOf<'ducklake_name_mapping'>[];
  /** What the files are partitioned by, which may be several things by turns. */
  readonly partitionColumns: readonly RowOf<'ducklake_partition_column'>[];
  /** The snapshots that are there from the request's `since` on, up to the newest, oldest first. */
  readonly since?: readonly SeenSnapshot[] | undefined;
}

export const noFiles: TableFiles = {
  files: [],
  inlined: [],
  inlinedFields: new Map(),
  mappings: [],
  nameMappings: [],
  partitionColumns: [],
};
