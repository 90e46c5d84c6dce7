import { countOptions, versionOptions } from './catalog/call-options.ts';
import type { TableDescription } from './catalog/describe.ts';
import { type CommitMessage, checkMessage, messageOptions } from './catalog/pending.ts';
import type { AsOf } from './catalog/store.ts';
import { noTable, type TypedTable } from './catalog/table-name.ts';
import type { CatalogView, TableInfo, TableName } from './catalog/view.ts';
import { checkOptions, isLakeError, LakeError, type OptionKinds } from './errors.ts';
import { type ChangeRow, Changes, type ChangesOptions } from './scan/changes.ts';
import type { ScannedRow, VirtualColumns } from './scan/columns.ts';
import { Scan, type ScanOptions } from './scan/scan.ts';
import type { Where } from './scan/where/where.ts';
import type { Field } from './schema/field.ts';
import type { Session } from './session.ts';
import { resolvePath } from './spec/paths.ts';
import type { BatchTarget, KeysOf } from './write/batch.ts';
import { BufferedWriter, type WriterOptions, writerOptions } from './write/buffered.ts';
import { appendOf, commitFiles, type InsertedRows, insertedRows } from './write/commit-files.ts';
import type { RowsInput } from './write/input.ts';
import type { KeyUse } from './write/keyed.ts';
import type { FileReceipt } from './write/receipt.ts';
import { stageRows } from './write/stage.ts';
import { type WriteOptions, writeOptions } from './write/table-writer.ts';

export interface InsertOptions extends WriteOptions, CommitMessage {
  /**
   * Names this insert for good: another with the same key, from any process, writes nothing and gets what the first got, also after
   * its snapshot was expired. 1 to 255 characters. It costs one lookup beside the upload, none after it; the first key of a lake
   * makes the table `edgemere_commits` in its catalog, which DuckDB leaves alone. See `lake.forgetKeys`.
   */
  readonly idempotencyKey?: string | undefined;
}

const insertOptions: OptionKinds<InsertOptions> = { ...writeOptions, ...messageOptions, idempotencyKey: 'any' };

/** What an insert committed. */
export interface InsertResult extends InsertedRows {
  /** The snapshot that holds the rows; `undefined` when there were none, which makes no snapshot. */
  readonly snapshotId: number | undefined;
  /** An earlier call used the idempotency key: this is its result, and nothing was written. */
  readonly isRepeat?: true | undefined;
}

/** Which version of a table is meant. */
export interface VersionOptions {
  /** A snapshot's id or a time; the head by default. */
  readonly asOf?: AsOf | undefined;
}

export interface CountOptions extends VersionOptions {
  readonly signal?: AbortSignal | undefined;
}

/** A data file of a table. */
export interface TableFile {
  readonly id: number;
  /** As the catalog stores it. */
  readonly path: string;
  /** Absolute, in the store's terms. */
  readonly location: string;
  readonly rowCount: number;
  readonly byteLength: number;
  /** The snapshot that added it. */
  readonly beginSnapshot: number;
  /** Row id of its first row; `null` when the rows carry their own. */
  readonly rowIdStart: number | null;
}

/** A column's statistics over the whole table, as DuckDB uses them: exact or unknown (`null`). */
export interface ColumnTotals {
  readonly name: string;
  readonly containsNull: boolean | null;
  readonly containsNan: boolean | null;
  /** DuckDB's text. */
  readonly min: string | null;
  readonly max: string | null;
}

export interface TableTotals {
  /** Rows ever inserted: deletes don't lower it. */
  readonly rowCount: number;
  readonly byteLength: number;
  readonly columns: readonly ColumnTotals[];
}

type InsertKeys = Pick<KeyUse<InsertedRows>, 'keys' | 'repeat'> & Partial<Pick<KeysOf, 'turn'>>;

export interface Table<In = object, Out = Record<string, unknown>> extends TypedTable<In, Out> {}

/**
 * A table of a lake. A handle: it names the table, and each call looks it up anew.
 *
 * @example
 * ```ts
 * import { t } from 'edgemere';
 * import { memoryLake } from 'edgemere/memory';
 *
 * await using lake = await memoryLake();
 * await lake.createTable('events', { id: t.int64().notNull(), at: t.timestamptz() });
 * const events = lake.table('events');
 * const { snapshotId, rowCount } = await events.insert([{ id: 1n, at: new Date(0) }, { id: 2n }]);
 * console.log(snapshotId, rowCount); // 2 2
 * for await (const { id, at } of events.scan({ columns: ['id', 'at'] })) console.log(id, at);
 * ```
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: what the interface adds is known to TypeScript alone
export class Table<In = object, Out = Record<string, unknown>> {
  readonly schema: string;
  readonly name: string;
  readonly #session: Session;

  /** @internal */
  constructor(session: Session, { schema, name }: TableName) {
    this.#session = session;
    this.schema = schema;
    this.name = name;
  }

  /**
   * Adds rows: writes them into Parquet files, then registers the files in one snapshot. All rows or none.
   *
   * Rows are objects with the columns as keys, in an array, an iterable, an async iterable or a web stream; or
   * `{ columns }`, arrays or typed arrays by column name. A column that is left out or `undefined` gets its default.
   * Memory is bounded by the row group, whatever the number of rows.
   *
   * Errors: INVALID_VALUE naming table, column, row and value; NOT_FOUND; CONFLICT (retryable) when the table was dropped
   * or altered meanwhile; COMMIT_UNKNOWN when the connection was lost in the commit and its outcome can't be told: see
   * `lake.resolve`; INVALID_ARGUMENT for an idempotency key that was used for something else.
   */
  async insert(rows: RowsInput<In>, options: InsertOptions = {}): Promise<InsertResult> {
    checkMessage(options, insertOptions);
    options.signal?.throwIfAborted();
    if (options.idempotencyKey === undefined) return this.#insert(rows, options);
    const { insertScope, KeyUse } = await import('./write/keyed.ts');
    const use = new KeyUse<InsertedRows>(this.#session, options.idempotencyKey, insertScope(this));
    return use.beside(options.signal, (signal) => this.#insert(rows, { ...options, signal }, use));
  }

  async #insert(rows: RowsInput<In>, options: InsertOptions, use?: InsertKeys): Promise<InsertResult> {
    const seen = await this.#session.view();
    try {
      return await this.#insertOnce(rows, options, seen, use);
    } catch (error) {
      // The handle may have last seen the table before somebody altered it: no conflict with this call, and no mistake in it.
      if (!isLakeError(error) || !['CONFLICT', 'INVALID_VALUE', 'UNSUPPORTED'].includes(error.code)) throw error;
      const isConflict = error.code === 'CONFLICT';
      const now = await this.#session.refresh().catch(() => seen);
      if (!isConflict && now.snapshot.schemaVersion === seen.snapshot.schemaVersion) throw error;
      if (Array.isArray(rows) || (typeof rows === 'object' && rows !== null && 'columns' in rows))
        return this.#insertOnce(rows, options, now, use);
      if (isConflict) throw error;
      throw new LakeError(
        'CONFLICT',
        `table "${this.name}" was altered, and the rows don't fit what it was: ${error.message}; run it again`,
        { retryable: true, context: error.context, cause: error },
      );
    }
  }

  async #insertOnce(
    rows: RowsInput<In>,
    options: InsertOptions,
    seen: CatalogView,
    use: InsertKeys | undefined,
  ): Promise<InsertResult> {
    const view = seen.findTable(this) ? seen : await this.#session.refresh();
    const table = this.#find(view);
    const staged = await stageRows(this.#session, view, table, rows, options);
    const inserted = insertedRows(staged);
    const append = appendOf(table, staged);
    await use?.turn;
    if (!append) return { snapshotId: undefined, ...inserted };
    const end = await commitFiles(this.#session, {
      pending: [append],
      view,
      message: options,
      isolation: 'none',
      signal: options.signal,
      keys: use?.keys(inserted),
    });
    return 'used' in end ? use!.repeat(end.used) : { snapshotId: end.snapshot.id, ...inserted };
  }

  /**
   * Writes rows into files and commits nothing. `lake.register` adds the files of any number of such calls, on any number of machines,
   * in one snapshot; until then they are files that nobody knows, which a search for orphans may remove once they are old.
   *
   * Errors: as `insert`, but for the commit.
   *
   * @example
   * ```ts
   * import { t } from 'edgemere';
   * import { memoryLake } from 'edgemere/memory';
   *
   * await using lake = await memoryLake();
   * const events = await lake.createTable('events', { id: t.int64() });
   * const messages = [];
   * for (const id of [1, 2, 3]) messages.push(JSON.stringify(await events.writeFiles([{ id }])));
   * const { snapshotId, rowCount } = await lake.register(messages.map((message) => JSON.parse(message)));
   * console.log(snapshotId, rowCount); // 2 3
   * ```
   */
  async writeFiles(rows: RowsInput<In>, options: WriteOptions = {}): Promise<FileReceipt> {
    checkOptions(options, writeOptions);
    const { writeFiles } = await import('./write/register.ts');
    return writeFiles(this.#session, this, rows, options);
  }

  /**
   * A writer that commits the rows of many `append` calls together: for small appends by many callers.
   *
   * @example
   * ```ts
   * import { t } from 'edgemere';
   * import { memoryLake } from 'edgemere/memory';
   *
   * await using lake = await memoryLake();
   * const events = await lake.createTable('events', { id: t.int32() });
   * await using writer = events.writer({ maxRows: 50_000, maxDelayMs: 20 });
   * const [first, second] = await Promise.all([writer.append([{ id: 1 }]), writer.append([{ id: 2 }])]);
   * console.log(first.snapshotId === second.snapshotId); // true
   * ```
   */
  writer(options: WriterOptions & CommitMessage = {}): BufferedWriter<In> {
    checkMessage(options, writerOptions);
    const { author, message, extraInfo } = options;
    const insert: BatchTarget['insert'] = (rows, use) =>
      this.#insert(rows as readonly In[], { author, message, extraInfo }, use);
    return new BufferedWriter({ session: this.#session, table: this, insert }, options);
  }

  /** Reads rows. Nothing happens until the scan is iterated. */
  scan<Name extends (keyof Out & string) | keyof VirtualColumns = keyof Out & string>(
    options: ScanOptions<Name, Out> = {},
  ): Scan<ScannedRow<Out, Name>> {
    return new Scan(this.#session, (view) => this.#find(view), options);
  }

  /**
   * How many rows there are, or are kept by `where`. What the catalog knows for certain is not read: files of which all rows count,
   * and those of which none does. Of others only the columns of the filter are.
   *
   * @example
   * ```ts
   * import { t } from 'edgemere';
   * import { memoryLake } from 'edgemere/memory';
   *
   * await using lake = await memoryLake();
   * const events = await lake.createTable('events', { id: t.int64(), kind: t.varchar() });
   * await events.insert([{ id: 1, kind: 'view' }, { id: 2 }]);
   * console.log(await events.count(), await events.count({ kind: 'view' })); // 2 1
   * ```
   */
  async count(where?: Where<Out>, options: CountOptions = {}): Promise<number> {
    checkOptions<CountOptions>(options, countOptions);
    const { asOf, signal } = options;
    const { countRows } = await import('./scan/count.ts');
    return countRows({ session: this.#session, find: (view) => this.#find(view), where, asOf, signal });
  }

  /**
   * What was inserted, updated and deleted from one snapshot to another, both included: as DuckDB's `table_changes`, in an order.
   * Nothing happens until the feed is iterated.
   *
   * Errors: NOT_FOUND when a snapshot isn't there, or what it changed is gone because others were expired.
   *
   * @example
   * ```ts
   * import { t } from 'edgemere';
   * import { memoryLake } from 'edgemere/memory';
   *
   * await using lake = await memoryLake();
   * const events = await lake.createTable('events', { id: t.int32().notNull() });
   * const { snapshotId } = await events.insert([{ id: 1 }, { id: 2 }]);
   * for await (const { change_type, rowid, id } of events.changes({ from: snapshotId! })) console.log(change_type, rowid, id);
   * ```
   */
  changes<Name extends keyof Out & string = keyof Out & string>(
    options: ChangesOptions<Name, Out>,
  ): Changes<ChangeRow<Pick<Out, Name>>> {
    return new Changes({ session: this.#session, find: (view) => this.#find(view), options });
  }

  /** The table's columns at the head, or as of a version. */
  async describe(options: VersionOptions = {}): Promise<TableDescription> {
    const { describeTable } = await import('./catalog/describe.ts');
    return describeTable(this.#find(await this.#viewOf(options)));
  }

  /** The data files that the head, or another version, reads, in the order in which they were added. */
  async files(options: VersionOptions = {}): Promise<TableFile[]> {
    const view = await this.#viewOf(options);
    const table = this.#find(view);
    const { files } = await this.#session.catalog.readFiles({
      snapshotId: view.snapshot.id,
      tableId: table.id,
      stats: 'none',
    });
    return files.map(({ file }) => ({
      id: file.data_file_id,
      path: file.path ?? '',
      location: resolvePath(table.location, file.path ?? '', file.path_is_relative),
      rowCount: file.record_count ?? 0,
      byteLength: file.file_size_bytes ?? 0,
      beginSnapshot: file.begin_snapshot ?? 0,
      rowIdStart: file.row_id_start,
    }));
  }

  /** The table's statistics at the head. */
  async stats(): Promise<TableTotals> {
    const table = this.#find(await this.#session.refresh());
    const stats = await this.#session.catalog.readTableStats(table.id);
    const byId = new Map(stats.columns.map((column) => [column.column_id, column]));
    return {
      rowCount: stats.table?.record_count ?? 0,
      byteLength: stats.table?.file_size_bytes ?? 0,
      columns: leaves(table.fields).map(({ name, field }) => {
        const row = byId.get(field.id);
        return {
          name,
          containsNull: row?.contains_null ?? null,
          containsNan: row?.contains_nan ?? null,
          min: row?.min_value ?? null,
          max: row?.max_value ?? null,
        };
      }),
    };
  }

  async #viewOf(options: VersionOptions): Promise<CatalogView> {
    checkOptions<VersionOptions>(options, versionOptions);
    const { asOf } = options;
    return asOf === undefined ? this.#session.refresh() : this.#session.viewAt(asOf);
  }

  #find(view: CatalogView): TableInfo {
    const table = view.findTable(this);
    if (!table) throw noTable(this);
    return table;
  }
}

function leaves(fields: readonly Field[], prefix = ''): { readonly name: string; readonly field: Field }[] {
  return fields.flatMap((field) => {
    const name = prefix + field.name;
    return field.children.length === 0 ? [{ name, field }] : leaves(field.children, `${name}.`);
  });
}
