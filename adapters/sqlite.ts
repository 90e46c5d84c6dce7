import type { CatalogStore } from '../src/catalog/store.ts';
import { checkOptions, LakeError, showValue } from '../src/errors.ts';
import { SqliteCatalog } from './sqlite/catalog.ts';
import type { SqliteCatalogOptions, SqliteFile, SqliteHandle, SqliteSettings } from './sqlite/options.ts';

export type { SqliteDatabase, SqliteStatement, SqliteValue } from './sqlite/database.ts';
export type { SqliteCatalogOptions, SqliteFile, SqliteHandle, SqliteSettings } from './sqlite/options.ts';

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
  const { path, database, busyTimeoutMs = 0 }: Partial<SqliteFile & SqliteHandle> & SqliteSettings = options ?? {};
  if (typeof path !== 'string' && !database)
    throw new LakeError('INVALID_ARGUMENT', 'sqliteCatalog takes { path } of a file, or { database }, an open one');
  checkOptions<SqliteSettings & SqliteFile & SqliteHandle>(options, {
    path: 'any',
    create: 'boolean',
    database: 'any',
    wal: 'boolean',
    busyTimeoutMs: 'any',
  });
  if (!(Number.isFinite(busyTimeoutMs) && busyTimeoutMs >= 0))
    throw new LakeError('INVALID_ARGUMENT', `busyTimeoutMs is ${showValue(busyTimeoutMs)}; expected a number from 0`);
  return new SqliteCatalog(options);
}
