import {
  type DropSchemaOptions,
  dropSchemaOptions,
  type IfExists,
  type IfNotExists,
  ifExists,
  ifNotExists,
  versionOptions,
} from './catalog/call-options.ts';
import type { MacroSummary, SchemaSummary, SnapshotInfo, TableSummary, ViewSummary } from './catalog/describe.ts';
import { type CommitMessage, checkMessage, messageOptions } from './catalog/pending.ts';
import type { AsOf, CommitKey } from './catalog/store.ts';
import { type TableRef, type TypedTable, tableName } from './catalog/table-name.ts';
import { checkBackend, checkOptions, isLakeError, LakeError, type OptionKinds, showValue } from './errors.ts';
import { Maintenance } from './maintenance/maintenance.ts';
import { type OpenOptions, openOptions, openSession } from './opening.ts';
import type { ColumnMap, InsertRow, Row, TableSchema } from './schema/builder.ts';
import type { Session } from './session.ts';
import { Table, type VersionOptions } from './table.ts';
import type { Transaction } from './transaction.ts';
import type { KeyUse } from './write/keyed.ts';
import type { FileReceipt } from './write/receipt.ts';
import type { RegisterOptions, RegisterResult } from './write/register.ts';
import type { ResolvedCommit, ResolveOptions } from './write/unknown.ts';

export interface TransactionOptions extends CommitMessage {
  /** False: a commit that loses a race fails at once, as RETRIES_EXHAUSTED. Defaults to true. */
  readonly retry?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Names this transaction for good: another with the same key, from any process, doesn't run its callback and gets what the first
   * got, also after its snapshot was expired; the callback's value has to be JSON data or nothing. As for `table.insert`, at no
   * round trip more. A transaction that changed nothing leaves no trace of its key.
   */
  readonly idempotencyKey?: string | undefined;
}

const transactionOptions: OptionKinds<TransactionOptions> = {
  ...messageOptions,
  retry: 'boolean',
  signal: 'any',
  idempotencyKey: 'any',
};

/** What a transaction committed. */
export interface TransactionResult<T> {
  /** The snapshot it made; `undefined` when it changed nothing. */
  readonly snapshotId: number | undefined;
  /** What the callback returned. */
  readonly value: T;
  /** An earlier transaction used the idempotency key: this is its result, and nothing was written. */
  readonly isRepeat?: true | undefined;
}

/**
 * Opens a lake, and makes it first when the catalog holds none. Two that open at once make one lake.
 *
 * Errors: NOT_FOUND when there is no lake and `create` is false; INVALID_ARGUMENT when `dataPath` is missing or is another
 * than the catalog's; VERSION for a catalog of another format version; CATALOG_UNAVAILABLE, ACCESS_DENIED.
 *
 * @example
 * ```ts
 * import { openLake, t } from 'edgemere';
 * import { memoryCatalog, memoryStore } from 'edgemere/memory';
 *
 * await using lake = await openLake({ catalog: memoryCatalog(), store: memoryStore(), dataPath: 'memory://data/' });
 * await lake.createTable('events', { id: t.int64() });
 * console.log((await lake.tables()).map((table) => table.name)); // ['events']
 * ```
 */
export async function openLake(options: OpenOptions): Promise<Lake> {
  checkOptions(options);
  checkBackend('catalog', 'readCatalog', options.catalog);
  try {
    checkOptions(options, openOptions);
    checkBackend('store', 'open', options.store);
    return new Lake(await openSession(options));
  } catch (error) {
    // The caller got no lake with which to close it.
    await options.catalog[Symbol.asyncDispose]().then(undefined, () => undefined);
    throw error;
  }
}

/** An open lake. Made by {@link openLake}; dispose of it with `await using` or `close()`. */
export class Lake implements AsyncDisposable {
  readonly #session: Session;

  /** @internal */
  constructor(session: Session) {
    this.#session = session;
  }

  /** Where relative data files lie, in the store's terms. Ends in a slash. */
  get dataPath(): string {
    return this.#session.dataPath;
  }

  /** What keeps a lake in order. */
  get maintenance(): Maintenance {
    return new Maintenance(this.#session);
  }

  /** Makes a schema. Errors: ALREADY_EXISTS, INVALID_ARGUMENT for a name that can't be one, CONFLICT. */
  async createSchema(name: string, options: IfNotExists & TransactionOptions = {}): Promise<void> {
    await this.#define((tx, only) => tx.createSchema(name, only), options, ifNotExists);
  }

  /** Drops a schema, which must be empty unless `cascade` is set. Errors: NOT_FOUND, INVALID_ARGUMENT, CONFLICT. */
  async dropSchema(name: string, options: DropSchemaOptions & TransactionOptions = {}): Promise<void> {
    await this.#define((tx, only) => tx.dropSchema(name, only), options, dropSchemaOptions);
  }

  /**
   * Makes a table. Errors: ALREADY_EXISTS, NOT_FOUND for its schema, INVALID_ARGUMENT for names, CONFLICT.
   *
   * With `ifNotExists` a table that is there stays as it is, whatever its columns: the handle's types are those of the columns given
   * here, and rows that the table can't take are refused when they are inserted. `describe` tells its columns.
   */
  async createTable<S extends TableSchema>(
    ref: TableRef,
    columns: S | ColumnMap,
    options: IfNotExists & TransactionOptions = {},
  ): Promise<Table<InsertRow<S>, Row<S>>> {
    await this.#define((tx, only) => tx.createTable(ref, columns, only), options, ifNotExists);
    return this.table(ref);
  }

  /** Drops a table; older snapshots keep its rows. Errors: NOT_FOUND, CONFLICT. */
  async dropTable(ref: TableRef, options: IfExists & TransactionOptions = {}): Promise<void> {
    await this.#define((tx, only) => tx.dropTable(ref, only), options, ifExists);
  }

  /**
   * A handle on a table: by name in schema `main`, by schema and name, or by another handle, whose types of rows it keeps. It is looked
   * up when it is used.
   */
  table<In, Out>(handle: TypedTable<In, Out>): Table<In, Out>;
  table<In = object, Out = Record<string, unknown>>(ref: TableRef): Table<In, Out>;
  table<In, Out>(ref: TableRef): Table<In, Out> {
    return new Table(this.#session, tableName(ref));
  }

  /**
   * Commits everything that the callback changes as one snapshot. The callback runs once, also when the commit has to be
   * tried again. When it throws nothing becomes visible, and the files it wrote are removed.
   *
   * @example
   * ```ts
   * import { t } from 'edgemere';
   * import { memoryLake } from 'edgemere/memory';
   *
   * await using lake = await memoryLake();
   * const { snapshotId } = await lake.transaction(
   *   async (tx) => {
   *     const orders = await tx.createTable('orders', { id: t.int64() });
   *     const lines = await tx.createTable('lines', { order: t.int64(), item: t.varchar() });
   *     await orders.insert([{ id: 1 }]);
   *     await lines.insert([{ order: 1, item: 'tea' }]);
   *   },
   *   { author: 'shop', message: 'first order' },
   * );
   * console.log(snapshotId); // 1
   * ```
   */
  async transaction<T>(
    run: (tx: Transaction) => Promise<T> | T,
    options: TransactionOptions = {},
  ): Promise<TransactionResult<T>> {
    checkMessage(options, transactionOptions);
    if (typeof run !== 'function')
      throw new LakeError('INVALID_ARGUMENT', `a transaction is a function that makes it; got ${showValue(run)}`);
    return this.#transaction(run, options);
  }

  async #transaction<T>(
    run: (tx: Transaction) => Promise<T> | T,
    options: TransactionOptions,
  ): Promise<TransactionResult<T>> {
    options.signal?.throwIfAborted();
    if (options.idempotencyKey === undefined) return this.#transact(run, options);
    const { KeyUse, transactionScope } = await import('./write/keyed.ts');
    const use = new KeyUse<{ readonly value: T }>(this.#session, options.idempotencyKey, transactionScope);
    return this.#transact(run, options, use);
  }

  async #transact<T>(
    run: (tx: Transaction) => Promise<T> | T,
    options: TransactionOptions,
    use?: KeyUse<{ readonly value: T }>,
  ): Promise<TransactionResult<T>> {
    const [view, repeat, { Transaction }] = await Promise.all([
      this.#session.refresh(),
      use?.find(),
      // Whoever only appends to tables doesn't load it: bundlers put it apart.
      import('./transaction.ts'),
    ]);
    if (repeat) return { ...repeat, value: repeat.value };
    const tx = new Transaction(this.#session, view, options.signal);
    try {
      let value: T;
      let keys: CommitKey[] | undefined;
      try {
        value = await run(tx);
        options.signal?.throwIfAborted();
        keys = use?.keys({ value });
      } catch (error) {
        await tx.rollback();
        throw error;
      }
      const end = await tx.commit(options, keys);
      if (!end) return { snapshotId: undefined, value };
      if (!('used' in end)) return { snapshotId: end.snapshot.id, value };
      const first = use!.repeat(end.used);
      return { ...first, value: first.value };
    } catch (error) {
      if (!use || options.signal?.aborted) throw error;
      const first = await use.instead(error);
      return { ...first, value: first.value };
    }
  }

  /**
   * Tells how a commit ended whose call failed with COMMIT_UNKNOWN, by the `context.token` of that error: text, which may be kept and
   * used by another process. A commit that did not happen can't happen later either, and its files are removed. Where the lake has
   * got no newer snapshot that makes this sure, one without changes is made.
   *
   * Errors: COMMIT_UNKNOWN when it can no longer be told: snapshots since then were expired, or the table's files were compacted
   * (with an idempotency key that doesn't matter); INVALID_ARGUMENT for another lake's token; CATALOG_UNAVAILABLE.
   *
   * @example
   * ```ts
   * import { isLakeError, openLake, t } from 'edgemere';
   * import { memoryLake } from 'edgemere/memory';
   *
   * await using lake = await memoryLake();
   * const events = await lake.createTable('events', { id: t.int64() });
   * try {
   *   await events.insert([{ id: 1 }]);
   * } catch (error) {
   *   if (!isLakeError(error, 'COMMIT_UNKNOWN') || !error.context.token) throw error;
   *   const { status } = await lake.resolve(error.context.token);
   *   if (status === 'notCommitted') await events.insert([{ id: 1 }]);
   * }
   * ```
   */
  async resolve(token: string, options: ResolveOptions = {}): Promise<ResolvedCommit> {
    this.#session.assertOpen();
    checkOptions<ResolveOptions>(options, { keepFiles: 'boolean' });
    const { resolveToken } = await import('./write/unknown.ts');
    return resolveToken(this.#session, token, options);
  }

  /**
   * Adds files that `table.writeFiles` wrote, on whatever machines and to whatever tables, in one snapshot: all or none. A receipt
   * that was registered before is passed over, and the result says in which snapshot, so that a queue may deliver it twice.
   * Tables may have been renamed since, and columns too; whatever else was altered is a CONFLICT.
   *
   * Errors, before anything is committed: INVALID_ARGUMENT (`context.receipt` is the index) for what is no receipt, was changed or
   * discarded; NOT_FOUND for a table or a file that isn't there; CORRUPT for a file of another length; CONFLICT. COMMIT_UNKNOWN:
   * registering them again settles it. The files stay in any case.
   */
  async register(receipts: readonly FileReceipt[], options: RegisterOptions = {}): Promise<RegisterResult> {
    this.#session.assertOpen();
    const { register } = await import('./write/register.ts');
    return register(this.#session, receipts, options);
  }

  /**
   * Removes the files of receipts, which can't be registered any more then. Makes a snapshot without changes. Errors:
   * INVALID_ARGUMENT when one of them was registered: nothing is removed.
   */
  async discard(receipts: readonly FileReceipt[]): Promise<void> {
    this.#session.assertOpen();
    const { discard } = await import('./write/register.ts');
    return discard(this.#session, receipts);
  }

  /**
   * Forgets idempotency keys that were used before an instant, and tells how many: a later call with such a key is carried out.
   * Keys are kept for ever otherwise, about 300 bytes each, and those of receipts in any case.
   */
  async forgetKeys(options: { readonly usedBefore: Date }): Promise<number> {
    this.#session.assertOpen();
    checkOptions<typeof options>(options, { usedBefore: 'any' });
    const { usedBefore } = options;
    if (!(usedBefore instanceof Date) || Number.isNaN(usedBefore.getTime()))
      throw new LakeError('INVALID_ARGUMENT', `usedBefore is ${showValue(usedBefore)}; expected a Date`);
    const { RECEIPT_SCOPES } = await import('./write/register.ts');
    return this.#session.catalog.forgetKeys({ usedBefore, exceptScopes: RECEIPT_SCOPES });
  }

  /** The schemas at the head, or as of a version. */
  async schemas(options: { readonly asOf?: AsOf | undefined } = {}): Promise<SchemaSummary[]> {
    const { schemas } = await this.#viewOf(options);
    const { summarizeSchema } = await import('./catalog/describe.ts');
    return schemas.map(summarizeSchema);
  }

  /** The tables at the head, or as of a version. */
  async tables(options: { readonly asOf?: AsOf | undefined } = {}): Promise<TableSummary[]> {
    const { tables } = await this.#viewOf(options);
    const { summarizeTable } = await import('./catalog/describe.ts');
    return tables.map(summarizeTable);
  }

  /** The views at the head, or as of a version: what DuckDB made. */
  async views(options: { readonly asOf?: AsOf | undefined } = {}): Promise<ViewSummary[]> {
    const view = await this.#viewOf(options);
    const { summarizeViews } = await import('./catalog/describe.ts');
    return summarizeViews(view);
  }

  /** The macros at the head, or as of a version: what DuckDB made. */
  async macros(options: { readonly asOf?: AsOf | undefined } = {}): Promise<MacroSummary[]> {
    const view = await this.#viewOf(options);
    const { summarizeMacros } = await import('./catalog/describe.ts');
    return summarizeMacros(view);
  }

  /** The snapshots, oldest first; expired ones are gone. */
  async *snapshots(options: { readonly from?: number; readonly to?: number } = {}): AsyncGenerator<SnapshotInfo> {
    this.#session.assertOpen();
    checkOptions<typeof options>(options, { from: 'any', to: 'any' });
    for (const end of [options.from, options.to])
      if (end !== undefined && !Number.isSafeInteger(end))
        throw new LakeError(
          'INVALID_ARGUMENT',
          `snapshots from or to ${showValue(end)}; expected the ids of snapshots`,
        );
    const { summarizeSnapshot } = await import('./catalog/describe.ts');
    for await (const record of this.#session.catalog.readSnapshots(options)) yield summarizeSnapshot(record);
  }

  /** Closes the lake and its catalog store. Calls that are under way may fail with CLOSED. */
  close(): Promise<void> {
    return this.#session.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** With `ifNotExists` or `ifExists`, another who did the same a moment ago is no conflict: looking again finds it done. */
  async #define<Own extends object>(
    run: (tx: Transaction, only: Own) => Promise<unknown>,
    options: TransactionOptions & Own,
    own: OptionKinds<Own>,
  ): Promise<void> {
    checkMessage(options, { ...transactionOptions, ...own } as OptionKinds<TransactionOptions & Own>);
    const entries = Object.entries(options);
    const only = Object.fromEntries(entries.filter(([name]) => Object.hasOwn(own, name))) as Own;
    const isEnough = entries.some(([name, value]) => value === true && (name === 'ifExists' || name === 'ifNotExists'));
    for (let left = isEnough ? this.#session.retry.maxRetries : 0; ; left--) {
      try {
        await this.#transaction(async (tx) => void (await run(tx, only)), options);
        return;
      } catch (error) {
        if (left <= 0 || !isLakeError(error, 'CONFLICT')) throw error;
      }
    }
  }

  async #viewOf(options: VersionOptions): ReturnType<Session['refresh']> {
    checkOptions<VersionOptions>(options, versionOptions);
    const { asOf } = options;
    return asOf === undefined ? this.#session.refresh() : this.#session.viewAt(asOf);
  }
}
