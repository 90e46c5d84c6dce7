import type { CatalogStore } from '../src/catalog/store.ts';
import { checkOptions, LakeError } from '../src/errors.ts';
import { PostgresCatalog } from './postgres/catalog.ts';
import type { PostgresCatalogOptions } from './postgres/options.ts';

export type { PostgresClient, PostgresQuery } from './postgres/client.ts';
export type { PostgresCatalogOptions } from './postgres/options.ts';

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
 *   store: s3Store(),
 *   dataPath: 's3://lake/data/',
 * });
 * ```
 */
export function postgresCatalog(options: PostgresCatalogOptions): CatalogStore {
  checkOptions<PostgresCatalogOptions>(options, { sql: 'any', schema: 'any', end: 'boolean', prepare: 'boolean' });
  const { sql, schema } = options;
  if (typeof sql?.unsafe !== 'function' || (schema !== undefined && typeof schema !== 'string'))
    throw new LakeError(
      'INVALID_ARGUMENT',
      "postgresCatalog takes { sql }, a client of the package postgres, and { schema }, a schema's name",
    );
  return new PostgresCatalog(options);
}
