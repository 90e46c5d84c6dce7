import type { RowOf } from '../spec/rows.ts';
import type { TableFiles } from './table-files.ts';

/** Which of a table's changes a read needs: those of the snapshots from `from` to `to`, both included. */
export interface HistoryRequest {
  readonly tableId: number;
  /** A snapshot's id, or an instant: the oldest snapshot that is not older. */
  readonly from: { readonly snapshot: number } | { readonly time: Date };
  /** A snapshot's id. */
  readonly to: number;
}

/** A data file some of whose rows were added or deleted in the range. */
export interface HistoryFile {
  readonly file: RowOf<'ducklake_data_file'>;
  /** All that the file ever had, up to `to`: which rows a later one deletes anew shows only beside the earlier ones. */
  readonly deletes: readonly RowOf<'ducklake_delete_file'>[];
  /** All rows of `ducklake_inlined_delete_<table>` for the file, up to `to`. */
  readonly inlinedDeletes: readonly { readonly position: number; readonly beginSnapshot: number }[];
}

/** Everything that tells a table's changes from one snapshot to another, read in one statement. */
export interface TableHistory extends Pick<TableFiles, 'inlinedFields' | 'mappings' | 'nameMappings'> {
  /** The id of the first snapshot. */
  readonly from: number;
  /** How many snapshots there are from `from` to `to`: fewer than ids, when some were expired. */
  readonly snapshotCount: number;
  /** Whether the snapshot before `from` is there: without it, what `from` deleted may be gone. */
  readonly hasBefore: boolean;
  /** `changes_made`, by snapshot id: of `from`, and of all snapshots that rewrote data files without deleted rows. */
  readonly changes: ReadonlyMap<number, string>;
  /** In the order of their ids. */
  readonly files: readonly HistoryFile[];
  /** Rows that were inlined, or that ended while they were, in the range. */
  readonly inlined: TableFiles['inlined'];
}
