import { instantText } from '../../src/catalog/instant.ts';
import { checkBatch } from '../../src/catalog/sql/batch.ts';
import { MissingTables } from '../../src/catalog/sql/dialect.ts';
import { SqlCatalog } from '../../src/catalog/sql/reader.ts';
import { createTables, initialRows } from '../../src/catalog/sql/schema.ts';
import { type ReadStatements, readStatements } from '../../src/catalog/sql/statements.ts';
import type { CommitBatch, CommitOutcome, LakeInit, Snapshot } from '../../src/catalog/store.ts';
import { LakeError } from '../../src/errors.ts';
import type { InliningLimits } from '../../src/spec/inlining.ts';
import { commitIn, insertRows } from './commit.ts';
import { Connection, fileExists, isUnknownName, lakeError, openFile, UnsureCommit, whenFree } from './database.ts';
import { sqliteDialect } from './dialect.ts';
import { sqliteInlining } from './inlined.ts';
import type { SqliteCatalogOptions } from './options.ts';

const statements: ReadStatements = readStatements(sqliteDialect);

/** See `sqliteCatalog`. */
export class SqliteCatalog extends SqlCatalog {
  readonly name: string;
  readonly inlining: InliningLimits = sqliteInlining;
  readonly #options: SqliteCatalogOptions;
  readonly #timeoutMs: number;
  #connection: Promise<Connection> | undefined;

  constructor(options: SqliteCatalogOptions) {
    super(
      {
        query: async (text, parameters) => {
          const connection = await this.#open(false);
          return this.#whenFree(() => {
            try {
              return connection.read(text, parameters);
            } catch (error) {
              if (isUnknownName(error)) throw new MissingTables('a table is missing', { cause: error });
              throw error;
            }
          });
        },
      },
      sqliteDialect,
    );
    this.#options = options;
    this.#timeoutMs = options.busyTimeoutMs ?? 10_000;
    this.name = 'path' in options ? `sqlite:${options.path}` : 'sqlite';
  }

  async initialize(init: LakeInit): Promise<boolean> {
    this.checkOpen();
    const connection = await this.#open(true);
    return this.#whenFree(() =>
      connection.immediate(() => {
        const exists = connection.value(
          "SELECT 1 FROM sqlite_master WHERE name IN ('ducklake_metadata', 'ducklake_snapshot')",
        );
        if (exists !== undefined) return false;
        for (const text of createTables(sqliteDialect)) connection.exec(text);
        for (const [table, row] of initialRows(init, instantText(Date.now() * 1000)))
          insertRows(connection, table, [row]);
        return true;
      }),
    );
  }

  async commit(batch: CommitBatch): Promise<CommitOutcome> {
    this.checkOpen();
    checkBatch(batch);
    let connection: Connection;
    try {
      connection = await this.#open(false);
    } catch (error) {
      throw error instanceof MissingTables ? await this.missingLake(error) : error;
    }
    try {
      return await this.#whenFree(() => connection.immediate(() => commitIn(connection, statements, batch)));
    } catch (error) {
      if (error instanceof UnsureCommit) return this.#settle(batch, error);
      // The texts of a commit are constant but for its tables: the lake, or a part of it, isn't there.
      throw isUnknownName((error as Error).cause) ? await this.missingLake(error) : error;
    }
  }

  async #settle(batch: CommitBatch, { cause }: UnsureCommit): Promise<CommitOutcome> {
    let snapshot: Snapshot | undefined;
    try {
      snapshot = await this.findCommit(batch);
    } catch {
      throw new LakeError(
        'COMMIT_UNKNOWN',
        'the commit failed at its end, and the database can not be read to see whether it happened',
        { cause },
      );
    }
    if (snapshot !== undefined) return { status: 'committed', snapshot };
    throw lakeError(cause);
  }

  protected async close(): Promise<void> {
    if ('path' in this.#options) (await this.#connection?.catch(() => undefined))?.close();
  }

  #whenFree<T>(work: () => T): Promise<T> {
    return whenFree(this.#timeoutMs, work);
  }

  /** Rejects with MissingTables when there is no file and `create` doesn't ask for one. */
  async #open(create: boolean): Promise<Connection> {
    const options = this.#options;
    if (this.#connection === undefined && 'path' in options && !(await fileExists(options.path))) {
      if (!create) throw new MissingTables(`there is no file ${options.path}`);
      if (options.create === false)
        throw new LakeError('NOT_FOUND', `there is no file "${options.path}", and the option create is false`);
    }
    if (this.#connection === undefined) {
      const opening = this.#connect();
      this.#connection = opening;
      // A failed attempt must not be the last.
      opening.catch(() => {
        if (this.#connection === opening) this.#connection = undefined;
      });
    }
    return this.#connection;
  }

  async #connect(): Promise<Connection> {
    const options = this.#options;
    const connection = new Connection('path' in options ? await openFile(options.path) : options.database);
    if (options.wal !== undefined)
      await this.#whenFree(() => connection.exec(`PRAGMA journal_mode = ${options.wal ? 'WAL' : 'DELETE'}`));
    return connection;
  }
}
