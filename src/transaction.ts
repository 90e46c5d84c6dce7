import {
  countOptions,
  type DropSchemaOptions,
  dropSchemaOptions,
  type IfExists,
  type IfNotExists,
  ifExists,
  ifNotExists,
} from './catalog/call-options.ts';
import type { Committed, Repeated } from './catalog/commit.ts';
import type { SchemaSummary, TableDescription, TableSummary } from './catalog/describe.ts';
import type { CommitMessage, PendingChange, StagedFile } from './catalog/pending.ts';
import type { CommitKey } from './catalog/store.ts';
import type { FilesRequest, TableFiles } from './catalog/table-files.ts';
import { noTable, type TableRef, type TypedTable, tableName } from './catalog/table-name.ts';
import { uncommittedView } from './catalog/uncommitted.ts';
import type { CatalogView, TableInfo } from './catalog/view.ts';
import { checkOptions, LakeError, showValue } from './errors.ts';
import type { ScannedRow, VirtualColumns } from './scan/columns.ts';
import { Scan, type ScanOptions } from './scan/scan.ts';
import type { Where } from './scan/where/where.ts';
import type { ColumnMap, InsertRow, Row, TableSchema } from './schema/builder.ts';
import { defineFields } from './schema/define.ts';
import type { ReadSession, Session } from './session.ts';
import { checkName } from './spec/names.ts';
import { folderName } from './spec/paths.ts';
import { uuidv7 } from './util/uuid.ts';
import { appendOf, commitFiles, filesOf, type InsertedRows, insertedRows } from './write/commit-files.ts';
import type { RowsInput } from './write/input.ts';
import { stageRows } from './write/stage.ts';
import { removeFiles, type WriteOptions, writeOptions } from './write/table-writer.ts';
import { inliningLimit } from './write/target.ts';

/** A table as part of a transaction: it shows what the transaction began with and its own changes, not what others commit meanwhile. */
export interface TransactionTable<In = object, Out = Record<string, unknown>> {
  /** Adds rows, which become visible to others with the commit. Errors: INVALID_VALUE, NOT_FOUND. */
  insert(rows: RowsInput<In>, options?: WriteOptions): Promise<InsertedRows>;
  /**
   * Reads rows, those that the transaction added among them. They have no `snapshot_id` yet, and a `rowid` from 10^18 on, as in
   * DuckDB. With `asOf` it reads what was committed.
   */
  scan<Name extends (keyof Out & string) | keyof VirtualColumns = keyof Out & string>(
    options?: ScanOptions<Name, Out>,
  ): Scan<ScannedRow<Out, Name, VirtualColumns<bigint | null>>>;
  /** How many rows `scan` would give. See `table.count`. */
  count(where?: Where<Out>, options?: Pick<ScanOptions, 'asOf' | 'signal'>): Promise<number>;
  describe(): Promise<TableDescription>;
}

/**
 * Changes that become visible together, or not at all. Made by `lake.transaction`; its methods write files at once and
 * collect everything else until the commit. What it reads is the lake as it was when the transaction began, with its own changes.
 *
 * @example
 * ```ts
 * import { t } from 'edgemere';
 * import { memoryLake } from 'edgemere/memory';
 *
 * await using lake = await memoryLake();
 * const stock = await lake.createTable('stock', { item: t.varchar(), count: t.int32() });
 * await lake.transaction(async (tx) => {
 *   const mine = tx.table<{ item: string; count: number }>('stock');
 *   await mine.insert([{ item: 'tea', count: 3 }]);
 *   console.log(await mine.count(), await stock.count()); // 1 0
 * });
 * console.log(await stock.count()); // 1
 * ```
 */
export class Transaction {
  readonly #session: Session;
  readonly #view: CatalogView;
  readonly #signal: AbortSignal | undefined;
  /** Reads with what this transaction changed. */
  readonly #reads: ReadSession;
  #pending: PendingChange[] = [];
  #lastId = 0;
  #isOver = false;

  /** @internal */
  constructor(session: Session, view: CatalogView, signal: AbortSignal | undefined) {
    this.#session = session;
    this.#view = view;
    this.#signal = signal;
    this.#reads = {
      readFiles: (request) => this.#readFiles(request),
      store: session.store,
      format: session.format,
      refresh: async () => this.#seen(),
      viewAt: (asOf) => session.viewAt(asOf),
    };
  }

  /** Makes a schema. Errors: ALREADY_EXISTS, INVALID_ARGUMENT for a name that can't be one. */
  async createSchema(name: string, options: IfNotExists = {}): Promise<void> {
    this.#assertActive();
    checkOptions(options, ifNotExists);
    checkName('schema', name);
    if (this.#seen().findSchema(name)) {
      if (options.ifNotExists) return;
      throw new LakeError('ALREADY_EXISTS', `schema "${name}" exists already`, { context: { schema: name } });
    }
    const uuid = uuidv7();
    this.#pending.push({ kind: 'createSchema', id: this.#newId(), name, uuid, path: folderName(name, uuid) });
  }

  /** Drops a schema, which must be empty unless `cascade` is set. Errors: NOT_FOUND, INVALID_ARGUMENT. */
  async dropSchema(name: string, options: DropSchemaOptions = {}): Promise<void> {
    this.#assertActive();
    checkOptions(options, dropSchemaOptions);
    if (typeof name !== 'string')
      throw new LakeError('INVALID_ARGUMENT', `${showValue(name)} is no name of a schema`, {
        context: { value: showValue(name) },
      });
    const seen = this.#seen();
    const schema = seen.findSchema(name);
    if (!schema) {
      if (options.ifExists) return;
      throw noSchema(name);
    }
    const tables = seen.tables.filter((table) => table.schema.id === schema.id);
    const others = seen.othersIn(schema.id);
    if (others !== undefined)
      throw new LakeError('UNSUPPORTED', `schema "${name}" holds ${others}, which can't be dropped here yet`, {
        context: { schema: name },
      });
    if (tables.length > 0 && !options.cascade)
      throw new LakeError(
        'INVALID_ARGUMENT',
        `schema "${name}" still holds ${tables.map((table) => `"${table.name}"`).join(', ')}; drop them first or say cascade`,
        { context: { schema: name } },
      );
    const files = tables.flatMap((table) => this.#drop(table));
    if (schema.id < 0) this.#pending = this.#pending.filter((change) => !('id' in change && change.id === schema.id));
    else this.#pending.push({ kind: 'dropSchema', id: schema.id, name: schema.name, uuid: uuidv7() });
    await removeFiles(this.#session.store, files);
  }

  /** Makes a table. Errors: ALREADY_EXISTS, NOT_FOUND for its schema, INVALID_ARGUMENT for names that clash or can't be. */
  async createTable<S extends TableSchema>(
    ref: TableRef,
    columns: S | ColumnMap,
    options: IfNotExists = {},
  ): Promise<TransactionTable<InsertRow<S>, Row<S>>> {
    this.#assertActive();
    checkOptions(options, ifNotExists);
    const { schema: schemaName, name } = tableName(ref);
    checkName('table', name);
    const seen = this.#seen();
    const schema = seen.findSchema(schemaName);
    if (!schema) throw noSchema(schemaName);
    const fields = defineFields(name, columns);
    if (seen.hasView({ schema: schemaName, name }))
      throw new LakeError('ALREADY_EXISTS', `"${schemaName}"."${name}" exists already, as a view`, {
        context: { schema: schemaName, table: name },
      });
    if (seen.findTable({ schema: schemaName, name })) {
      if (options.ifNotExists) return this.table(ref);
      throw new LakeError('ALREADY_EXISTS', `table "${schemaName}"."${name}" exists already`, {
        context: { schema: schemaName, table: name },
      });
    }
    const uuid = uuidv7();
    const id = this.#newId();
    this.#pending.push({
      kind: 'createTable',
      id,
      schema: { id: schema.id, name: schema.name },
      name,
      uuid,
      path: folderName(name, uuid),
      fields,
      inlines: inliningLimit(this.#view, { id, schema, fields }, this.#session) > 0,
    });
    return this.table(ref);
  }

  /** Drops a table with all its rows; older snapshots keep them. Errors: NOT_FOUND. */
  async dropTable(ref: TableRef, options: IfExists = {}): Promise<void> {
    this.#assertActive();
    checkOptions(options, ifExists);
    const table = this.#seen().findTable(tableName(ref));
    if (table) await removeFiles(this.#session.store, this.#drop(table));
    else if (!options.ifExists) throw noTable(tableName(ref));
  }

  /** The schemas as this transaction sees them. */
  async schemas(): Promise<SchemaSummary[]> {
    this.#assertActive();
    const { schemas } = this.#seen();
    const { summarizeSchema } = await import('./catalog/describe.ts');
    return schemas.map(summarizeSchema);
  }

  /** The tables as this transaction sees them. */
  async tables(): Promise<TableSummary[]> {
    this.#assertActive();
    const { tables } = this.#seen();
    const { summarizeTable } = await import('./catalog/describe.ts');
    return tables.map(summarizeTable);
  }

  /** A table of the lake, or one made in this transaction. It is looked up when it is used. */
  table<In, Out>(handle: TypedTable<In, Out>): TransactionTable<In, Out>;
  table<In = object, Out = Record<string, unknown>>(ref: TableRef): TransactionTable<In, Out>;
  table<In, Out>(ref: TableRef): TransactionTable<In, Out> {
    return {
      insert: (rows, options) => this.insert(ref, rows, options),
      scan: (options = {}) => new Scan(...this.#readOf(ref, options)),
      count: async (where, options = {}) => {
        checkOptions<typeof options>(options, countOptions);
        const [session, find, { asOf, signal }] = this.#readOf(ref, options);
        const { countRows } = await import('./scan/count.ts');
        return countRows({ session, find, where, asOf, signal });
      },
      describe: async () => {
        const table = this.#find(this.#seen(), ref);
        const { describeTable } = await import('./catalog/describe.ts');
        return describeTable(table);
      },
    };
  }

  /** @internal */
  async insert(ref: TableRef, rows: RowsInput<unknown>, options: WriteOptions = {}): Promise<InsertedRows> {
    this.#assertActive();
    checkOptions(options, writeOptions);
    const table = this.#seen().findTable(tableName(ref));
    if (!table) throw noTable(tableName(ref));
    const signal = anySignal(this.#signal, options.signal);
    const staged = await stageRows(this.#session, this.#view, table, rows, { ...options, signal });
    // The callback may have returned, or dropped the table, without waiting for this insert.
    const isDropped = this.#seen().findTableById(table.id) === undefined;
    if (this.#isOver || isDropped) {
      await removeFiles(this.#session.store, staged.files);
      this.#assertActive();
      throw noTable(tableName(ref));
    }
    const append = appendOf(table, staged);
    if (append) this.#pending.push(append);
    return insertedRows(staged);
  }

  /** @internal Commits; `undefined` when there was nothing to commit. */
  async commit(
    message: CommitMessage & { readonly retry?: boolean | undefined },
    keys?: readonly CommitKey[],
  ): Promise<Committed | Repeated | undefined> {
    this.#isOver = true;
    if (this.#pending.length === 0) return undefined;
    return commitFiles(this.#session, {
      pending: this.#pending,
      view: this.#view,
      message,
      isolation: 'snapshot',
      retry: message.retry,
      signal: this.#signal,
      keys,
    });
  }

  /** @internal Gives up: removes the files. */
  async rollback(): Promise<void> {
    this.#isOver = true;
    await removeFiles(this.#session.store, filesOf(this.#pending));
  }

  /** Drops at once, so that calls that run beside this one see it; returns the files that nobody needs now. */
  #drop(table: TableInfo): StagedFile[] {
    const mine = (change: PendingChange): boolean =>
      (change.kind === 'append' && change.tableId === table.id) ||
      (change.kind === 'createTable' && change.id === table.id);
    const files = filesOf(this.#pending.filter(mine));
    this.#pending = this.#pending.filter((change) => !mine(change));
    if (table.id >= 0) this.#pending.push({ kind: 'dropTable', id: table.id, uuid: uuidv7() });
    return files;
  }

  #newId(): number {
    return --this.#lastId;
  }

  /** The schema as this transaction sees it. */
  #seen(): CatalogView {
    return uncommittedView(this.#view, this.#pending, this.#session.dataPath);
  }

  #find(view: CatalogView, ref: TableRef): TableInfo {
    this.#assertActive();
    const table = view.findTable(tableName(ref));
    if (table) return table;
    throw noTable(tableName(ref));
  }

  #readOf<Options extends Pick<ScanOptions, 'asOf' | 'signal'>>(
    ref: TableRef,
    options: Options,
  ): [ReadSession, (view: CatalogView) => TableInfo, Options] {
    checkOptions(options);
    const signal = anySignal(this.#signal, options.signal);
    const session = options.asOf === undefined ? this.#reads : this.#session;
    return [session, (view) => this.#find(view, ref), { ...options, signal }];
  }

  async #readFiles(request: FilesRequest): Promise<TableFiles> {
    const { tableId } = request;
    const appends = this.#pending.filter((change) => change.kind === 'append').filter((one) => one.tableId === tableId);
    const committed = tableId < 0 ? undefined : await this.#session.readFiles(request);
    if (committed && appends.length === 0) return committed;
    // Whoever only writes doesn't load it: bundlers put it apart.
    const { withUncommitted } = await import('./scan/uncommitted.ts');
    return withUncommitted(committed, appends, this.#view.snapshot, request.stats);
  }

  #assertActive(): void {
    this.#session.assertOpen();
    if (this.#isOver) throw new LakeError('CLOSED', 'the transaction is over: await every call inside its callback');
    this.#signal?.throwIfAborted();
  }
}

const noSchema = (name: string): LakeError =>
  new LakeError('NOT_FOUND', `schema "${name}" does not exist; make it with createSchema`, {
    context: { schema: name },
  });

function anySignal(a: AbortSignal | undefined, b: AbortSignal | undefined): AbortSignal | undefined {
  return a && b ? AbortSignal.any([a, b]) : (a ?? b);
}
