import type { SqliteDatabase } from './database.ts';

/** Options of `sqliteCatalog`: a file, or a handle that the caller opened and closes. */
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
  /**
   * How long to wait for a lock that another process holds, in milliseconds. Time for which this process is frozen, as functions are
   * between calls, does not count. Defaults to 10,000.
   */
  readonly busyTimeoutMs?: number;
}
