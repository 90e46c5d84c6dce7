import type { Field } from '../schema/field.ts';
import type { Physical } from '../spec/values/value-codec.ts';
import type { ColumnStats } from '../stats/column-stats.ts';
import type { ObjectReader, ObjectWriter } from '../storage/object-store.ts';

export type { ColumnStats } from '../stats/column-stats.ts';

/**
 * Values of one column: an array or typed array of what callers hand over, NULL as `null` or `undefined`. A view: it is
 * only valid until the next batch.
 */
export type ColumnValues = ArrayLike<unknown>;

/** A block of rows as columns, in the order of the target's fields. */
export interface ColumnBatch {
  readonly rowCount: number;
  /** Index of the batch's first row in what the caller handed over: errors name rows by it. */
  readonly firstRow: number;
  readonly columns: readonly ColumnValues[];
}

/** A file that was written and is whole. */
export interface WrittenFile {
  readonly rowCount: number;
  readonly byteLength: number;
  /** Bytes of the footer without the trailing length and magic: `footer_size`. */
  readonly footerLength: number;
  /** One for each leaf, in the order of the fields. */
  readonly columns: readonly ColumnStats[];
}

/** Settings of a file, from the lake's options. */
export interface FileOptions {
  readonly rowGroupRowCount: number;
  readonly rowGroupByteLength: number;
  readonly compression: 'snappy' | 'uncompressed' | 'gzip' | 'zstd';
  /** For codecs that have levels. */
  readonly compressionLevel?: number | undefined;
  /** 1 for readers that know neither pages of version 2 nor delta encodings. 2 by default: smaller, and no slower. */
  readonly version?: 1 | 2 | undefined;
}

/** Where a file goes and what is in it. */
export interface FileTarget {
  /** Named in errors. */
  readonly table: { readonly schema: string; readonly table: string };
  readonly fields: readonly Field[];
  readonly options: FileOptions;
  /** Called once, when the first bytes are ready: a file that fails before has touched no store. */
  readonly open: () => Promise<ObjectWriter>;
}

/** Writes one file. Memory is bounded by the row group. */
export interface FileWriter {
  /** Bytes in the file so far, those of the open row group estimated. */
  readonly byteLength: number;
  readonly rowCount: number;
  /** Validates and takes in a batch. A bad value is INVALID_VALUE naming table, column, row and value; the writer is then dead. */
  write(batch: ColumnBatch): Promise<void>;
  /** Completes the file. It is visible in the store when this resolves. */
  close(): Promise<WrittenFile>;
  /** Removes what was written. Safe at any time. */
  abort(): Promise<void>;
}

/** How a file's columns are found. By field id, unless the file has none or the catalog maps its names. */
export type FileBinding =
  | { readonly kind: 'ids' }
  /** `mapping_id` of the data file: names to field ids, nested; hive columns come from the path, which `partition` holds. */
  | { readonly kind: 'names'; readonly names: readonly MappedName[] }
  /**
   * The file may have no field ids: its n-th column is then the n-th of these fields, all those of the table at the snapshot that is
   * read (DuckDB's choice), none of them nested. Where every column has an id it is as `ids`.
   */
  | { readonly kind: 'positions'; readonly fieldIds: readonly number[] };

/** A row of `ducklake_name_mapping` with those below it. */
export interface MappedName {
  readonly sourceName: string;
  readonly fieldId: number;
  /** For a hive column: its value in the file's path, `null` for NULL. */
  readonly partition?: { readonly value: string | null } | undefined;
  readonly children: readonly MappedName[];
}

export interface ReadRequest {
  /**
   * In the order in which the batches hold them; bound by field id, never by name. Among them may be {@link rowIdField} and
   * {@link snapshotIdField}, which are NULL throughout where the file has no such column.
   */
  readonly fields: readonly Field[];
  /** `ids` by default. */
  readonly binding?: FileBinding | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Rows after which reading may stop. */
  readonly limit?: number | undefined;
  /** Only what begins in these bytes of the file: parts that cut it anywhere give each row once. Everything by default. */
  readonly range?: ByteRange | undefined;
  /** Whether rows with such statistics can matter: row groups (and pages) that can't are not read. All matter by default. */
  readonly matters?: ((bounds: BoundsOf) => boolean) | undefined;
  /** Whether rows at these positions can matter: as `matters`. */
  readonly positions?: ((first: number, rowCount: number) => boolean) | undefined;
}

/** Bytes `start` (inclusive) to `end` (exclusive) of a file. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** What is known of a field's values in a part of a file: `undefined` when nothing is. Bounds are physical values. */
export type BoundsOf = (field: Field) => ValueBounds | undefined;

export interface ValueBounds {
  /** `undefined` when not known. Without NaN. */
  readonly min: Physical | undefined;
  readonly max: Physical | undefined;
  readonly nullCount: number | undefined;
  readonly rowCount: number;
  /** Whether a value may be among them: `false` is certain. */
  readonly mayContain?: ((value: Physical) => boolean) | undefined;
}

/** One column of a batch. */
export interface ColumnVector {
  /** As stored: physical values (nested: as callers get them), NULL as `null`. Typed arrays where there is no NULL and the type has one. */
  readonly values: ArrayLike<unknown>;
  /** From a stored value to what callers get; `undefined` where that is the same. Never called with NULL. */
  readonly decode: ((value: never) => unknown) | undefined;
  /** Whether among the values may be a RefusedValue, which is none: its error is the caller's to throw, when the row is wanted. */
  readonly mayRefuse?: boolean | undefined;
}

/** Rows as columns. */
export interface ReadBatch {
  readonly rowCount: number;
  /** Position in the file of the first row; the others follow it without a gap. */
  readonly firstPosition: number;
  readonly columns: readonly ColumnVector[];
}

/** Rows whose bytes have come. */
export interface FetchedBatch {
  readonly rowCount: number;
  /** Of what was read for them. */
  readonly byteLength: number;
  /** To be called once: it lets go of the bytes. */
  decode(): Promise<ReadBatch>;
}

export interface FileReader {
  readonly rowCount: number;
  /** The bytes of each batch are read when it is asked for, and held until it is decoded: memory is bounded by row groups. */
  fetch(request: ReadRequest): AsyncGenerator<FetchedBatch>;
  /** The same, decoded. Of the batch after the one that is decoded the bytes are read meanwhile. */
  read(request: ReadRequest): AsyncIterable<ReadBatch>;
  /** What `read` would read, without reading it. */
  survey(request: ReadRequest): Promise<ReadSurvey>;
}

/** What a read of an open file takes: all of it where the limit is not reached before. */
export interface ReadSurvey {
  /** Row groups of the file. */
  readonly rowGroupCount: number;
  /** Those of them that are read, and how many rows they hold. */
  readonly readRowGroupCount: number;
  readonly readRowCount: number;
  /** Requests, beside those that opened the file, and their bytes. */
  readonly requestCount: number;
  readonly byteLength: number;
}

/** What the caller of a reader knows beforehand. */
export interface ReaderHint {
  /** The footer then takes one request. */
  readonly footerLength?: number | undefined;
}

/** A data file format. Parquet is the only one that DuckLake knows. */
export interface FileFormat {
  readonly name: 'parquet';
  readonly extension: '.parquet';
  createWriter(target: FileTarget): FileWriter;
  openReader(object: ObjectReader, hint?: ReaderHint): Promise<FileReader>;
}
