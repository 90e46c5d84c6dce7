import type { TableName } from '../catalog/view.ts';

/** Files, or a part of them, that a scan doesn't read. */
export interface PrunedFiles {
  /** `statistics`: bounds and counts in the catalog; `partition`: the bucket that they are of; `limit`: the files before have enough rows. */
  readonly by: 'statistics' | 'partition' | 'limit';
  /** The part of the filter that they rule out, much like SQL; empty for the limit. */
  readonly filter: string;
  readonly fileCount: number;
  readonly rowCount: number;
  readonly byteLength: number;
}

/** A data file that a scan reads. */
export interface ExplainedFile {
  readonly location: string;
  /** Of the whole file. */
  readonly rowCount: number;
  readonly byteLength: number;
  readonly rowGroupCount: number;
  /** Row groups that are read: statistics, Bloom filters or dictionaries rule out the others. */
  readonly readRowGroupCount: number;
  readonly readRowCount: number;
  readonly deleteFileCount: number;
  /** Positions that the catalog says are deleted. */
  readonly deletedCount: number;
  /** Of the file, its footer and its delete files. */
  readonly requestCount: number;
  readonly readByteLength: number;
}

/** What a scan reads and what it doesn't, and why: plain data, and `String(explanation)` for people. */
export class ScanExplanation {
  readonly table: TableName;
  readonly snapshotId: number;
  readonly columns: readonly string[];
  /** Much like SQL; `null` where all rows are wanted. */
  readonly where: string | null;
  readonly limit: number | null;
  readonly files: readonly ExplainedFile[];
  readonly pruned: readonly PrunedFiles[];
  /** Rows in the catalog, which come with the plan. */
  readonly inlinedRowCount: number;
  /** To the object store, if no limit is reached before. */
  readonly requestCount: number;
  readonly readByteLength: number;

  /** @internal */
  constructor(found: Omit<ScanExplanation, 'requestCount' | 'readByteLength' | 'toString'>) {
    this.table = found.table;
    this.snapshotId = found.snapshotId;
    this.columns = found.columns;
    this.where = found.where;
    this.limit = found.limit;
    this.files = found.files;
    this.pruned = found.pruned;
    this.inlinedRowCount = found.inlinedRowCount;
    this.requestCount = sum(found.files, 'requestCount');
    this.readByteLength = sum(found.files, 'readByteLength');
  }

  toString(): string {
    const { table, files, pruned } = this;
    const prunedCount = sum(pruned, 'fileCount');
    const [fileCount, byteLength] = [files.length + prunedCount, sum(files, 'byteLength') + sum(pruned, 'byteLength')];
    const lines = [
      `${table.schema}.${table.name} at snapshot ${this.snapshotId}`,
      `  columns: ${this.columns.length > 0 ? this.columns.join(', ') : 'none'}`,
      ...(this.where === null ? [] : [`  where: ${this.where}`]),
      ...(this.limit === null ? [] : [`  limit: ${this.limit}`]),
      `${this.limit === null ? '' : 'at most '}${counted(this.requestCount, 'request')} for ${bytes(this.readByteLength)} of ${bytes(byteLength)}`,
      `${files.length} of ${counted(fileCount, 'file')}`,
      ...pruned.map(
        ({ by, filter, fileCount: count, rowCount }) =>
          `  not read: ${counted(count, 'file')} of ${counted(rowCount, 'row')}, ${reasons[by](filter)}`,
      ),
      `${sum(files, 'readRowGroupCount')} of ${counted(sum(files, 'rowGroupCount'), 'row group')} in them, with ${counted(sum(files, 'readRowCount'), 'row')}`,
    ];
    if (this.inlinedRowCount > 0) lines.push(`${counted(this.inlinedRowCount, 'row')} from the catalog`);
    for (const file of files) {
      const deletes = [
        ...(file.deleteFileCount > 0 ? [counted(file.deleteFileCount, 'delete file')] : []),
        ...(file.deletedCount > 0 ? [counted(file.deletedCount, 'inlined delete')] : []),
      ];
      lines.push(
        `  ${[
          `${file.readRowGroupCount} of ${counted(file.rowGroupCount, 'row group')}`,
          counted(file.requestCount, 'request'),
          bytes(file.readByteLength),
          ...deletes,
        ].join(', ')}: ${file.location}`,
      );
    }
    return lines.join('\n');
  }
}

const reasons: Readonly<Record<PrunedFiles['by'], (filter: string) => string>> = {
  statistics: (filter) => `ruled out by statistics: ${filter}`,
  partition: (filter) => `ruled out by their buckets: ${filter}`,
  limit: () => 'after the limit',
};

function sum<Key extends string>(items: readonly Readonly<Record<Key, number>>[], key: Key): number {
  return items.reduce((all, item) => all + item[key], 0);
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function bytes(count: number): string {
  if (count < 1000) return counted(count, 'byte');
  const power = Math.min(4, Math.floor(Math.log10(count) / 3));
  return `${(count / 1000 ** power).toFixed(1)} ${['', 'kB', 'MB', 'GB', 'TB'][power]}`;
}
