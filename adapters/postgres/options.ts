import type { PostgresClient } from './client.ts';

/** Options of `postgresCatalog`. */
export interface PostgresCatalogOptions {
  /** The caller's own client: porsager's `sql`, with whatever pool, TLS and pooler settings it has. */
  readonly sql: PostgresClient;
  /** The schema that holds the catalog's tables; made when missing. Several lakes may share a database. Defaults to `public`. */
  readonly schema?: string;
  /** Whether disposing of the catalog ends the client. Defaults to false. */
  readonly end?: boolean;
  /**
   * Whether connections keep the plans of commits, by PREPARE and EXECUTE within the commit's own message: planning takes the server a
   * millisecond or two, carrying it out less than one. By default they do from the second commit on, unless the client was made with
   * `prepare: false`, as behind a pooler.
   */
  readonly prepare?: boolean;
}
