import type { CatalogStore } from '../src/catalog/store.ts';
import { LakeError } from '../src/errors.ts';
import { SqliteCatalog } from './sqlite/catalog.ts';
import type { SqliteDatabase } from './sqlite/database.ts';

export type { SqliteDatabase, SqliteStatement, SqliteValue } from './sqlite/database.ts';

/** Options of {@link sqliteCatalog}: a file, or a handle that the caller opened and closes. */
export type SqliteCatalogOptions = SqliteSettings & (SqliteFile | SqliteHandle);

export interface SqliteFile {
  readonly path: string;
  /** Whether creating a lake may create the file. Defaults to true. Reading never creates it. */
  readonly create?: boolean;
}

export interface SqliteHandle {
  /**
   * `DatabaseSync` of node:sqlite, `Database` of bun:sqlite or of better-sqlite3. Its busy timeout stays as it is; 0 is best, since the
   * catalog waits by itself, and without blocking.
   */
  readonly database: SqliteDatabase;
}

export interface SqliteSettings {
  /** Turns write-ahead logging on or off; left as the file has it when not given. It is a property of the file. */
  readonly wal?: boolean;
  /** How long to wait for a lock that another process holds, in milliseconds. Defaults to 10,000. */
  readonly busyTimeoutMs?: number;
}

/**
 * A catalog in a SQLite file, for one machine: other processes, DuckDB among them, may use the same file at the same time. A
 * commit is one `BEGIN IMMEDIATE` transaction. Nothing is opened before the first use.
 *
 * SQLite's locks belong to a process: don't use one file from DuckDB and from here within the same process.
 *
 * Errors: CATALOG_UNAVAILABLE (retryable) when the file stays locked, ACCESS_DENIED when it is read-only, CORRUPT when it is not a
 * SQLite database.
 *
 * @example
 * ```ts
 * import { openLake } from 'edgemere';
 * import { localStore } from 'edgemere/local';
 * import { sqliteCatalog } from 'edgemere/sqlite';
 *
 * await using lake = await openLake({
 *   catalog: sqliteCatalog({ path: 'catalog.sqlite' }),
 *   store: localStore(),
 *   dataPath: 'data/',
 * });
 * ```
 */
export function sqliteCatalog(options: SqliteCatalogOptions): CatalogStore {
  const { path, database }: Partial<SqliteFile & SqliteHandle> = options ?? {};
  if (typeof path !== 'string' && !database)
    throw new LakeError('INVALID_ARGUMENT', 'sqliteCatalog takes { path } of a file, or { database }, an open one');
  return new SqliteCatalog(options);
}
