import type { CatalogStore } from '../src/catalog/store.ts';
import { PostgresCatalog } from './postgres/catalog.ts';
import type { PostgresClient } from './postgres/client.ts';

export type { PostgresClient, PostgresQuery } from './postgres/client.ts';

/** Options of {@link postgresCatalog}. */
export interface PostgresCatalogOptions {
  /** The caller's own client: porsager's `sql`, with whatever pool, TLS and pooler settings it has. */
  readonly sql: PostgresClient;
  /** The schema that holds the catalog's tables; made when missing. Several lakes may share a database. Defaults to `public`. */
  readonly schema?: string;
  /** Whether disposing of the catalog ends the client. Defaults to false. */
  readonly end?: boolean;
  /**
   * Whether commits use prepared statements: they save the server a millisecond or two each, and cost each connection one more
   * round trip at first. By default they do after the first few, unless the client was made with `prepare: false`.
   */
  readonly prepare?: boolean;
}

/**
 * A catalog in PostgreSQL (14 or later), for any number of machines. A commit is one statement in one round trip, without any session
 * state, and so as good behind a transaction pooler. Nothing connects before the first use.
 *
 * Errors: CATALOG_UNAVAILABLE (retryable) when the server can't be reached or has no room, ACCESS_DENIED, COMMIT_UNKNOWN when the
 * connection broke after a commit was sent and the commit isn't to be found.
 *
 * @example
 * ```ts
 * import { openLake } from 'edgemere';
 * import { postgresCatalog } from 'edgemere/postgres';
 * import { s3Store } from 'edgemere/s3';
 * import postgres from 'postgres';
 *
 * await using lake = await openLake({
 *   catalog: postgresCatalog({ sql: postgres(process.env.DATABASE_URL), schema: 'lake', end: true }),
 *   store: s3Store({ bucket: 'lake' }),
 *   dataPath: 's3://lake/data/',
 * });
 * ```
 */
export function postgresCatalog(options: PostgresCatalogOptions): CatalogStore {
  return new PostgresCatalog(options);
}
