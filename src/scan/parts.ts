import type { TableName } from '../catalog/view.ts';
import type { ByteRange, FileBinding, FileFormat } from '../file/format.ts';
import type { Field } from '../schema/field.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { ScanColumn } from './columns.ts';
import type { Expression } from './where/expression.ts';

/** Where data files are read from. */
export interface DataFiles {
  readonly store: Pick<ObjectStore, 'open'>;
  readonly format: Pick<FileFormat, 'openReader'>;
  readonly signal?: AbortSignal | undefined;
}

/** What is read, whichever part of the table it is read from. */
export interface ScanRead {
  readonly table: TableName;
  readonly snapshotId: number;
  /** What the rows consist of. */
  readonly columns: readonly ScanColumn[];
  /** Which rows; all of them by default. */
  readonly where: Expression | undefined;
  /** The most rows that are wanted, of those that `where` keeps. */
  readonly limit: number;
}

/** A part of a table that can be read by itself: all that has to be known beside the store. */
export type ScanPart = FilePart | InlinedPart;

/** A data file, or the rows of a range of it. */
export interface FilePart {
  readonly kind: 'file';
  /** Its place among the files that the scan reads. */
  readonly fileIndex: number;
  readonly location: string;
  readonly byteLength: number | null;
  readonly footerLength: number | null;
  /** Of the whole file, deleted ones included. */
  readonly rowCount: number | null;
  readonly rowIdStart: number | null;
  readonly beginSnapshot: number | null;
  /** Whether some rows are of later snapshots than the one that is read. */
  readonly isPartial: boolean;
  readonly binding: FileBinding;
  readonly deletes: FileDeletes;
  /** The part's row groups begin there; `null` for the whole file. */
  readonly range: ByteRange | null;
}

/** Rows of a data file that are deleted. */
export interface FileDeletes {
  readonly files: readonly DeleteFile[];
  /** Positions in the data file, beside those in the files. */
  readonly positions: readonly number[];
}

/** A file of deleted positions. */
export interface DeleteFile {
  readonly location: string;
  readonly format: 'parquet' | 'puffin';
  readonly byteLength: number | null;
  readonly footerLength: number | null;
}

/** Rows that are kept in the catalog: they come with it. */
export interface InlinedPart {
  readonly kind: 'inlined';
  readonly fileIndex: number;
  /** The catalog's table that they are in: their `filename`. */
  readonly tableName: string;
  /** What the cells are, as of when the rows were inserted. */
  readonly fields: readonly Field[];
  readonly rows: readonly InlinedPartRow[];
}

export interface InlinedPartRow {
  readonly rowId: number;
  readonly beginSnapshot: number;
  /** One for each field: DuckDB's text of the value, a blob as hex digits, `null` for NULL. */
  readonly cells: readonly (string | null)[];
}
