import type { Change } from '../spec/changes.ts';
import type { InlinedColumn, InliningLimits } from '../spec/inlining.ts';
import type { CatalogRow, CatalogTable, RowOf } from '../spec/rows.ts';
import type { ColumnStatsDelta } from '../stats/column-stats.ts';
import type { FilesRequest, TableFiles } from './table-files.ts';
import type { HistoryRequest, TableHistory } from './table-history.ts';

export type { BoundsOrder, ColumnStatsDelta } from '../stats/column-stats.ts';

/** A committed version of the lake: a row of `ducklake_snapshot`. */
export interface Snapshot {
  readonly id: number;
  /** `2024-01-15 12:30:00.123456+00`, as DuckDB writes instants. */
  readonly time: string;
  readonly schemaVersion: number;
  readonly nextCatalogId: number;
  readonly nextFileId: number;
}

/** A snapshot with what was said about it. */
export interface SnapshotRecord extends Snapshot {
  readonly changes: string;
  readonly author: string | null;
  readonly message: string | null;
  readonly extraInfo: string | null;
}

/** Which version of the lake is meant: a snapshot's id, or the newest one that is not younger than an instant. */
export type AsOf = { readonly snapshot: number | bigint } | { readonly time: Date };

/** What a new lake starts with. */
export interface LakeInit {
  /** Ends in a slash. */
  readonly dataPath: string;
  readonly createdBy: string;
  /** UUID of the schema `main`. */
  readonly schemaUuid: string;
}

/** Everything live at one snapshot that planning and reading need. */
export interface CatalogRows {
  readonly snapshot: Snapshot;
  readonly metadata: readonly RowOf<'ducklake_metadata'>[];
  readonly schemas: readonly RowOf<'ducklake_schema'>[];
  readonly tables: readonly RowOf<'ducklake_table'>[];
  readonly views: readonly RowOf<'ducklake_view'>[];
  /** In no particular order; `column_order` orders siblings. */
  readonly columns: readonly RowOf<'ducklake_column'>[];
  /** The catalog tables that take inlined rows of those tables: older ones have other columns. */
  readonly inlinedTables: readonly RowOf<'ducklake_inlined_data_tables'>[];
  /** Tables that are partitioned at that snapshot. */
  readonly partitions: readonly RowOf<'ducklake_partition_info'>[];
  readonly macros: readonly RowOf<'ducklake_macro'>[];
}

/** The newest snapshot, and what was committed after the one that the caller knows. */
export interface Head {
  readonly snapshot: Snapshot;
  /** The snapshots above `since`, oldest first; empty when `since` was not given. */
  readonly since: readonly SnapshotRecord[];
}

/** A table's totals at the head. */
export interface TableStats {
  readonly table: RowOf<'ducklake_table_stats'> | undefined;
  readonly columns: readonly RowOf<'ducklake_table_column_stats'>[];
}

/** What an append adds to a table's totals. */
export interface TableStatsDelta {
  readonly tableId: number;
  readonly recordCount: number;
  /** Row ids taken: what `next_row_id` advances by. */
  readonly rowIdCount: number;
  readonly byteLength: number;
  readonly columns: readonly ColumnStatsDelta[];
}

/** One mutation of the catalog. */
export type CatalogOp =
  /** New rows. Columns left out are NULL. Cells of counter columns may be relative (`relativeId`, `NEXT`). */
  | { readonly kind: 'insert'; readonly table: CatalogTable; readonly rows: readonly CatalogRow[] }
  /** Ends the live rows (`end_snapshot` is NULL) that match every cell of `match`, at the new snapshot. */
  | { readonly kind: 'end'; readonly table: CatalogTable; readonly match: CatalogRow }
  /** At most one for each table in a batch: deltas of several appends are added up before. */
  | { readonly kind: 'addStats'; readonly stats: TableStatsDelta }
  /** Removes the rows that match every cell of `match`, as if they had never been there. */
  | { readonly kind: 'delete'; readonly table: CatalogTable; readonly match: CatalogRow }
  | CreateInlined
  | InsertInlined
  | DeleteInlined
  | DropInlined;

/**
 * Makes a catalog table for a table's inlined rows, unless it is there, and registers it in `ducklake_inlined_data_tables`. Its name
 * is that of the schema version which the batch makes: see `inlinedTableName`.
 */
export interface CreateInlined {
  readonly kind: 'createInlined';
  /** May be relative. */
  readonly tableId: number;
  readonly columns: readonly InlinedColumn[];
}

/** Puts rows into a catalog table for inlined rows. The batch is superseded when it isn't there. */
export interface InsertInlined {
  readonly kind: 'insertInlined';
  /** Left out: the one that the batch makes. */
  readonly name?: string | undefined;
  /** May be relative. */
  readonly tableId: number;
  readonly columns: readonly InlinedColumn[];
  /** `relativeId(rows before these in this batch)`: the store adds the table's `next_row_id`. */
  readonly rowIdStart: number;
  /** See `InlinedRow.cells`. */
  readonly rows: readonly (readonly (string | null)[])[];
}

/** Removes rows up to a snapshot from a catalog table of inlined rows or deletes: what was flushed. */
export interface DeleteInlined {
  readonly kind: 'deleteInlined';
  readonly name: string;
  /** The `begin_snapshot` of the newest rows that go. */
  readonly upTo: number;
}

/** Removes a catalog table for inlined rows, if it is empty: with the batch, or some time after it, or not at all. */
export interface DropInlined {
  readonly kind: 'dropInlined';
  readonly name: string;
}

/** On top of what a batch may be put. */
export type BatchFence =
  /** On the base alone: any newer snapshot supersedes it. */
  | { readonly kind: 'exact' }
  /**
   * On any later head, unless a snapshot after the base made one of these changes (their ids exist, their names are compared as
   * DuckDB compares names), or changed the schema, or doesn't say what it changed (`changes_made` is NULL).
   */
  | {
      readonly kind: 'unless';
      readonly changes: readonly Change[];
      /** Whether the head's schema version must be the base's. */
      readonly sameSchema: boolean;
      /** Tables that must have these names: `changes_made` tells of a table under another name as of a new one. */
      readonly tables?: readonly { readonly id: number; readonly name: string }[] | undefined;
    };

/**
 * One commit's whole content: a value, which a store can put on top of the base or of a later head. Ids that the commit
 * assigns are relative (see `relativeId`): a snapshot or schema version by `NEXT`, catalog and file ids by their place
 * among those that the batch takes, a file's `row_id_start` by `relativeId(rows before it in this batch)` (the store adds
 * the table's `next_row_id`, 0 for a table that the batch creates).
 */
export interface CommitBatch {
  readonly base: Snapshot;
  readonly fence: BatchFence;
  /** Whether `schema_version` rises by one. */
  readonly changesSchema: boolean;
  /** How many ids the batch takes from the head's counters. */
  readonly catalogIdCount: number;
  readonly fileIdCount: number;
  /** In the order in which they are written; ids may be relative. None is written as NULL, which DuckDB passes over. */
  readonly changes: readonly Change[];
  readonly author: string | null;
  readonly message: string | null;
  readonly extraInfo: string | null;
  readonly ops: readonly CatalogOp[];
  /** What only this commit writes: it tells after a lost connection whether the commit happened. */
  readonly witness: CommitWitness;
  /** Each may be used once in a lake: `used` otherwise. Kept in a table beside DuckLake's, which is made when first needed. */
  readonly keys?: readonly CommitKey[] | undefined;
}

/** By which a caller recognises its commit when it asks for it again. */
export interface CommitKey {
  /** Up to 255 UTF-16 units, without NUL characters and lone surrogates. */
  readonly key: string;
  /** What it is used for: a repeat has to be for the same. */
  readonly scope: string;
  /** What a repeat gets, as JSON. */
  readonly result: string;
}

/** A key with the snapshot that it was used for, which may have been expired since. */
export interface UsedKey extends CommitKey {
  readonly snapshotId: number;
}

/** A row that exists when, and only when, the batch was committed: a column with a value that is unique in the catalog. */
export type CommitWitness =
  | { readonly table: 'ducklake_data_file'; readonly column: 'path'; readonly value: string }
  | { readonly table: 'ducklake_delete_file'; readonly column: 'path'; readonly value: string }
  | { readonly table: 'ducklake_table'; readonly column: 'table_uuid'; readonly value: string }
  | { readonly table: 'ducklake_schema'; readonly column: 'schema_uuid'; readonly value: string }
  /** A batch that only ends rows leaves nothing unique: the snapshot right after its base, with its very changes. */
  | {
      readonly table: 'ducklake_snapshot_changes';
      readonly column: 'changes_made';
      readonly value: string;
      /** Nor do inlined rows, and others may have inlined the same: a later snapshot with these changes leaves it open. */
      readonly isShared?: boolean | undefined;
    }
  /** Where its caller says nothing there, a batch of inlined rows or drops says which it is. */
  | { readonly table: 'ducklake_snapshot_changes'; readonly column: 'commit_extra_info'; readonly value: string };

/** A lost race is a value: nothing was written, and the batch has to be planned again. */
export type CommitOutcome =
  | { readonly status: 'committed'; readonly snapshot: Snapshot }
  | { readonly status: 'superseded' }
  /** Earlier commits have used keys of the batch: nothing was written. Comes before `superseded`. */
  | { readonly status: 'used'; readonly keys: readonly UsedKey[] };

/**
 * The database that holds the lake's metadata. All methods are required.
 *
 * Errors: CATALOG_UNAVAILABLE (retryable) when the database can't be reached or is busy, COMMIT_UNKNOWN when `commit` lost its
 * connection after it was sent and can't tell the outcome, ACCESS_DENIED, CORRUPT, CLOSED after disposal.
 * No error's text is ever parsed: adapters go by SQLSTATE or the driver's numeric code.
 */
export interface CatalogStore extends AsyncDisposable {
  readonly name: string;
  /** Which tables' rows can be kept in the catalog itself. */
  readonly inlining: InliningLimits;
  /** Makes the catalog tables with snapshot 0 and schema `main`. False when they were there already; two may race. */
  initialize(init: LakeInit): Promise<boolean>;
  /** One round trip. `undefined` when there is no lake; NOT_FOUND when the lake has no such snapshot. */
  readCatalog(asOf?: AsOf): Promise<CatalogRows | undefined>;
  /** The newest snapshot and those above `since`, in one round trip. */
  readHead(since?: number): Promise<Head>;
  /** Snapshots with their changes, oldest first, `from` and `to` included. */
  readSnapshots(range?: { readonly from?: number; readonly to?: number }): AsyncIterable<SnapshotRecord>;
  /** All that a table's rows at a snapshot are made of, as of one moment: what others flush or compact meanwhile is in it once. */
  readFiles(request: FilesRequest): Promise<TableFiles>;
  /** All that a table's changes between two snapshots are made of, as of one moment. NOT_FOUND when there is no snapshot `from`. */
  readHistory(request: HistoryRequest): Promise<TableHistory>;
  readTableStats(tableId: number): Promise<TableStats>;
  /** Whether `commit` sees to it itself that other clients get their turn. Else there are pauses between commits. */
  readonly makesRoom?: boolean;
  /**
   * Puts the batch on top of the head when its fence allows that, as one atomic step, or writes nothing.
   *
   * @param roomMs for how long one of several commits in a row may hold back, at most, for another client that is in the middle
   *   of something. Only stores that make room heed it.
   */
  commit(batch: CommitBatch, roomMs?: number): Promise<CommitOutcome>;
  /** The snapshot that a batch made, or `undefined` when it was not committed. COMMIT_UNKNOWN with its id when it is expired. */
  findCommit(batch: CommitTrace): Promise<Snapshot | undefined>;
  /** Those of the keys that commits have used, in no particular order. */
  findKeys(keys: readonly string[]): Promise<readonly UsedKey[]>;
  /** Forgets keys; how many they were. */
  forgetKeys(request: ForgetKeysRequest): Promise<number>;
}

export interface ForgetKeysRequest {
  /** By the database's clock. */
  readonly usedBefore: Date;
  /** Keys of these scopes are kept. */
  readonly exceptScopes: readonly string[];
}

/** What it takes to find a batch's commit. */
export interface CommitTrace {
  readonly witness: CommitWitness;
  readonly base: Pick<Snapshot, 'id'>;
}
