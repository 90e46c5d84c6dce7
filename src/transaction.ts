import type { Committed } from './catalog/commit.ts';
import type { CommitMessage, PendingChange, StagedFile } from './catalog/pending.ts';
import { type CatalogView, nameOf, type SchemaInfo, type TableInfo, type TableName } from './catalog/view.ts';
import { isLakeError, LakeError, showValue } from './errors.ts';
import type { InsertRow, TableSchema } from './schema/builder.ts';
import { defineFields } from './schema/define.ts';
import type { Session } from './session.ts';
import { checkName, sameName } from './spec/names.ts';
import { folderName } from './spec/paths.ts';
import { setting } from './spec/settings.ts';
import { uuidv7 } from './util/uuid.ts';
import type { RowsInput } from './write/input.ts';
import { removeFiles, type WriteOptions, writeRows } from './write/table-writer.ts';
import { targetOf, writeSettings } from './write/target.ts';

/** A table's name: its own, in schema `main`, or with its schema. */
export type TableRef = string | TableName;

export interface IfNotExists {
  /** Does nothing when there is one of that name already. */
  readonly ifNotExists?: boolean | undefined;
}

export interface IfExists {
  /** Does nothing when there is none of that name. */
  readonly ifExists?: boolean | undefined;
}

export interface DropSchemaOptions extends IfExists {
  /** Drops the schema's tables with it. */
  readonly cascade?: boolean | undefined;
}

/** What one insert wrote. */
export interface InsertedRows {
  readonly rowCount: number;
  readonly files: readonly InsertedFile[];
}

/** A data file that an insert made. */
export interface InsertedFile {
  /** Absolute, in the store's terms. */
  readonly location: string;
  readonly rowCount: number;
  readonly byteLength: number;
}

export function tableName(ref: TableRef): TableName {
  if (typeof ref === 'string') return { schema: 'main', name: ref };
  if (typeof ref?.schema === 'string' && typeof ref.name === 'string') return ref;
  throw new LakeError('INVALID_ARGUMENT', `${showValue(ref)} names no table; give its name, or { schema, name }`, {
    context: { value: showValue(ref) },
  });
}

/** Inserts into one table as part of a transaction. */
export interface TransactionTable<In = Record<string, unknown>> {
  insert(rows: RowsInput<In>, options?: WriteOptions): Promise<InsertedRows>;
}

/**
 * Changes that become visible together, or not at all. Made by `lake.transaction`; its methods write files at once and
 * collect everything else until the commit.
 */
export class Transaction {
  readonly #session: Session;
  readonly #view: CatalogView;
  readonly #signal: AbortSignal | undefined;
  #pending: PendingChange[] = [];
  #lastId = 0;
  #isOver = false;

  /** @internal */
  constructor(session: Session, view: CatalogView, signal: AbortSignal | undefined) {
    this.#session = session;
    this.#view = view;
    this.#signal = signal;
  }

  /** Makes a schema. Errors: ALREADY_EXISTS, INVALID_ARGUMENT for a name that can't be one. */
  async createSchema(name: string, options: IfNotExists = {}): Promise<void> {
    this.#assertActive();
    checkName('schema', name);
    if (this.#findSchema(name)) {
      if (options.ifNotExists) return;
      throw new LakeError('ALREADY_EXISTS', `schema "${name}" exists already`, { context: { schema: name } });
    }
    const uuid = uuidv7();
    this.#pending.push({ kind: 'createSchema', id: this.#newId(), name, uuid, path: folderName(name, uuid) });
  }

  /** Drops a schema, which must be empty unless `cascade` is set. Errors: NOT_FOUND, INVALID_ARGUMENT. */
  async dropSchema(name: string, options: DropSchemaOptions = {}): Promise<void> {
    this.#assertActive();
    if (typeof name !== 'string')
      throw new LakeError('INVALID_ARGUMENT', `${showValue(name)} is no name of a schema`, {
        context: { value: showValue(name) },
      });
    const schema = this.#findSchema(name);
    if (!schema) {
      if (options.ifExists) return;
      throw noSchema(name);
    }
    const tables = this.#tables().filter((table) => table.schema.id === schema.id);
    const others = this.#view.othersIn(schema.id);
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
    else this.#pending.push({ kind: 'dropSchema', id: schema.id, name: schema.name });
    await removeFiles(this.#session.store, files);
  }

  /** Makes a table. Errors: ALREADY_EXISTS, NOT_FOUND for its schema, INVALID_ARGUMENT for names that clash or can't be. */
  async createTable<S extends TableSchema>(
    ref: TableRef,
    columns: S,
    options: IfNotExists = {},
  ): Promise<TransactionTable<InsertRow<S>>> {
    this.#assertActive();
    const { schema: schemaName, name } = tableName(ref);
    checkName('table', name);
    const schema = this.#findSchema(schemaName);
    if (!schema) throw noSchema(schemaName);
    const fields = defineFields(name, columns);
    if (this.#view.hasView({ schema: schemaName, name }))
      throw new LakeError('ALREADY_EXISTS', `"${schemaName}"."${name}" exists already, as a view`, {
        context: { schema: schemaName, table: name },
      });
    if (this.#findTable({ schema: schemaName, name })) {
      if (options.ifNotExists) return this.table(ref);
      throw new LakeError('ALREADY_EXISTS', `table "${schemaName}"."${name}" exists already`, {
        context: { schema: schemaName, table: name },
      });
    }
    const uuid = uuidv7();
    this.#pending.push({
      kind: 'createTable',
      id: this.#newId(),
      schema: { id: schema.id, name: schema.name },
      name,
      uuid,
      path: folderName(name, uuid),
      fields,
    });
    return this.table(ref);
  }

  /** Drops a table with all its rows; older snapshots keep them. Errors: NOT_FOUND. */
  async dropTable(ref: TableRef, options: IfExists = {}): Promise<void> {
    this.#assertActive();
    const table = this.#findTable(tableName(ref));
    if (table) await removeFiles(this.#session.store, this.#drop(table));
    else if (!options.ifExists) throw noTable(tableName(ref));
  }

  /** A table to insert into: one of the lake or one made in this transaction. */
  table<In = Record<string, unknown>>(ref: TableRef): TransactionTable<In> {
    return { insert: (rows, options) => this.insert(ref, rows, options) };
  }

  /** @internal */
  async insert(ref: TableRef, rows: RowsInput<unknown>, options: WriteOptions = {}): Promise<InsertedRows> {
    this.#assertActive();
    const table = this.#findTable(tableName(ref));
    if (!table) throw noTable(tableName(ref));
    const signal = anySignal(this.#signal, options.signal);
    const files = await stageRows(this.#session, this.#view, table, rows, { ...options, signal });
    // The callback may have returned, or dropped the table, without waiting for this insert.
    const isDropped = !this.#tables().some(({ id }) => id === table.id);
    if (this.#isOver || isDropped) {
      await removeFiles(this.#session.store, files);
      this.#assertActive();
      throw noTable(tableName(ref));
    }
    if (files.length > 0)
      this.#pending.push({ kind: 'append', tableId: table.id, name: nameOf(table), fields: table.fields, files });
    return insertedRows(files);
  }

  /** @internal Commits; `undefined` when there was nothing to commit. */
  async commit(message: CommitMessage & { readonly retry?: boolean | undefined }): Promise<Committed | undefined> {
    this.#isOver = true;
    if (this.#pending.length === 0) return undefined;
    return commitFiles(this.#session, {
      pending: this.#pending,
      view: this.#view,
      message,
      isolation: 'snapshot',
      retry: message.retry,
      signal: this.#signal,
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
    if (table.id >= 0) this.#pending.push({ kind: 'dropTable', id: table.id });
    return files;
  }

  #newId(): number {
    return --this.#lastId;
  }

  #isDropped(kind: 'dropTable' | 'dropSchema', id: number): boolean {
    return this.#pending.some((change) => change.kind === kind && change.id === id);
  }

  #findSchema(name: string): SchemaInfo | undefined {
    const mine = this.#schemas().find((schema) => sameName(schema.name, name));
    if (mine) return mine;
    const theirs = this.#view.findSchema(name);
    return theirs && !this.#isDropped('dropSchema', theirs.id) ? theirs : undefined;
  }

  #findTable(ref: TableName): TableInfo | undefined {
    return this.#tables().find((table) => sameName(table.schema.name, ref.schema) && sameName(table.name, ref.name));
  }

  /** Schemas that this transaction made. */
  #schemas(): SchemaInfo[] {
    return this.#pending
      .filter((change) => change.kind === 'createSchema')
      .map(({ id, name, path }) => ({ id, name, path, location: this.#session.dataPath + path }));
  }

  /** All tables as this transaction sees them. */
  #tables(): TableInfo[] {
    const made = this.#pending
      .filter((change) => change.kind === 'createTable')
      .map(({ id, uuid, schema: { name: schemaName }, name, path, fields }): TableInfo => {
        const schema = this.#findSchema(schemaName)!;
        return { id, uuid, schema, name, path, location: schema.location + path, fields, isPartitioned: false };
      });
    return [...this.#view.tables.filter((table) => !this.#isDropped('dropTable', table.id)), ...made];
  }

  #assertActive(): void {
    this.#session.assertOpen();
    if (this.#isOver) throw new LakeError('CLOSED', 'the transaction is over: await every call inside its callback');
    this.#signal?.throwIfAborted();
  }
}

/** Writes rows into files of a table that no snapshot knows yet. */
export function stageRows(
  session: Session,
  view: CatalogView,
  table: TableInfo,
  rows: RowsInput<unknown>,
  options: WriteOptions,
): Promise<StagedFile[]> {
  const settings = writeSettings(view, table);
  const { store, format } = session;
  return writeRows(rows, { ...options, ...settings, table, target: targetOf(table), store, format });
}

export interface CommitFilesRequest {
  readonly pending: readonly PendingChange[];
  readonly view: CatalogView;
  readonly message: CommitMessage;
  readonly isolation: 'snapshot' | 'none';
  readonly retry?: boolean | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Commits pending changes. When that certainly failed the files are removed; when it isn't certain they stay. */
export async function commitFiles(session: Session, request: CommitFilesRequest): Promise<Committed> {
  const { pending, view, message, isolation, retry, signal } = request;
  try {
    if (setting(view.metadata, 'require_commit_message') === 'true' && message.message === undefined)
      throw new LakeError('INVALID_ARGUMENT', 'the lake requires a commit message: give the option message');
    const base = view.snapshot;
    const committed = await session.committer.commit({ pending, base, message, isolation, retry, signal });
    session.adopt(committed);
    return committed;
  } catch (error) {
    session.markStale();
    if (!isLakeError(error, 'COMMIT_UNKNOWN')) await removeFiles(session.store, filesOf(pending));
    throw error;
  }
}

export function insertedRows(files: readonly StagedFile[]): InsertedRows {
  return {
    rowCount: files.reduce((sum, file) => sum + file.rowCount, 0),
    files: files.map(({ location, rowCount, byteLength }) => ({ location, rowCount, byteLength })),
  };
}

const filesOf = (pending: readonly PendingChange[]): StagedFile[] =>
  pending.flatMap((change) => (change.kind === 'append' ? change.files : []));

/** As the catalog has it. */

export const noTable = ({ schema, name }: TableName): LakeError =>
  new LakeError('NOT_FOUND', `table "${schema}"."${name}" does not exist; lake.tables() lists those that do`, {
    context: { schema, table: name },
  });

const noSchema = (name: string): LakeError =>
  new LakeError('NOT_FOUND', `schema "${name}" does not exist; make it with createSchema`, {
    context: { schema: name },
  });

function anySignal(a: AbortSignal | undefined, b: AbortSignal | undefined): AbortSignal | undefined {
  return a && b ? AbortSignal.any([a, b]) : (a ?? b);
}
