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
   * Whether commits use prepared statements: they save the server a millisecond or two each, and cost each connection one more
   * round trip at first. By default they do after the first few, unless the client was made with `prepare: false`.
   */
  readonly prepare?: boolean;
}
