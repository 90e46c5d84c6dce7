/**
 * edgemere: a native TypeScript client for the DuckLake 1.0 lakehouse format.
 *
 * @module
 */
export type { DropSchemaOptions, IfExists, IfNotExists } from './catalog/call-options.ts';
export type { CommitRetry, RetryPolicy } from './catalog/commit.ts';
export type {
  ColumnDescription,
  MacroSummary,
  SchemaSummary,
  SnapshotInfo,
  TableDescription,
  TableSummary,
  ViewSummary,
} from './catalog/describe.ts';
export type { CommitMessage } from './catalog/pending.ts';
export type {
  AsOf,
  BatchFence,
  BoundsOrder,
  CatalogOp,
  CatalogRows,
  CatalogStore,
  ColumnStatsDelta,
  CommitBatch,
  CommitKey,
  CommitOutcome,
  CommitTrace,
  CommitWitness,
  ForgetKeysRequest,
  Head,
  LakeInit,
  Snapshot,
  SnapshotRecord,
  TableStats,
  TableStatsDelta,
  UsedKey,
} from './catalog/store.ts';
export type {
  BoundsComparison,
  ColumnRange,
  FilesRequest,
  InlinedRow,
  InlinedRows,
  LiveFile,
  TableFiles,
} from './catalog/table-files.ts';
export type { HistoryFile, HistoryRequest, TableHistory } from './catalog/table-history.ts';
export type { TableRef, TypedTable } from './catalog/table-name.ts';
export type { TableName } from './catalog/view.ts';
export { type ErrorCode, type ErrorContext, isLakeError, LakeError, type LakeErrorOptions } from './errors.ts';
export type { CompressOptions, Compressor, Compressors, DecompressOptions } from './file/compressors.ts';
export type { ColumnValues } from './file/format.ts';
export {
  Lake,
  openLake,
  type TransactionOptions,
  type TransactionResult,
} from './lake.ts';
export type { FlushedTable, FlushOptions, FlushResult } from './maintenance/flush.ts';
export { Maintenance } from './maintenance/maintenance.ts';
export type { OpenOptions } from './opening.ts';
export {
  type ChangeRow,
  Changes,
  type ChangesBound,
  type ChangesOptions,
  type ChangeType,
} from './scan/changes.ts';
export type { ScannedRow, VirtualColumns } from './scan/columns.ts';
export type { ExplainedFile, PrunedFiles, ScanExplanation } from './scan/explanation.ts';
export { Rows } from './scan/output.ts';
export type { ParquetFile } from './scan/parquet-file.ts';
export { type ReadTaskOptions, readTask } from './scan/read-task.ts';
export type { RowBatch } from './scan/rows.ts';
export { Scan, type ScanOptions } from './scan/scan.ts';
export type {
  FileTaskPart,
  InlinedTaskPart,
  ScanTask,
  TaskBinding,
  TaskColumn,
  TaskField,
  TaskName,
} from './scan/task.ts';
export type { PlanOptions, ScanPlan } from './scan/tasks.ts';
export type { ColumnTest, Where } from './scan/where/where.ts';
export {
  Column,
  type ColumnDefinition,
  type ColumnMap,
  type InsertRow,
  type IntervalParts,
  type JsonValue,
  type Row,
  type TableSchema,
  type Types,
  t,
} from './schema/builder.ts';
export type { Change } from './spec/changes.ts';
export type { CatalogRow, CatalogTable, Cell, RowOf } from './spec/rows.ts';
export type { ColumnType } from './spec/types.ts';
export { Timestamp } from './spec/values/timestamp.ts';
export type {
  ListedObject,
  ObjectReader,
  ObjectStore,
  ObjectWriter,
  OpenOptions as ObjectOpenOptions,
  StoreOptions,
} from './storage/object-store.ts';
export {
  type ColumnTotals,
  type CountOptions,
  type InsertOptions,
  type InsertResult,
  Table,
  type TableFile,
  type TableTotals,
  type VersionOptions,
} from './table.ts';
export type { Transaction, TransactionTable } from './transaction.ts';
export type { ArrowBatch, ArrowData, ArrowTable } from './write/arrow.ts';
export {
  type AppendOptions,
  type AppendResult,
  type BadRow,
  BufferedWriter,
  type WriterBatch,
  type WriterOptions,
} from './write/buffered.ts';
export type { InsertedFile, InsertedRows } from './write/commit-files.ts';
export type { ColumnsInput, RowsInput } from './write/input.ts';
export type { FileReceipt, ReceiptColumn, ReceiptFile } from './write/receipt.ts';
export type { RegisteredReceipt, RegisterOptions, RegisterResult } from './write/register.ts';
export type { WriteOptions, WriteProgress } from './write/table-writer.ts';
export type { ResolvedCommit, ResolveOptions } from './write/unknown.ts';
