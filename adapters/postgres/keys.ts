import { MissingTables, type SqlDialect } from '../../src/catalog/sql/dialect.ts';
import { createKeyTable, KEY_TABLE, usedKeyJson, usedKeyOf } from '../../src/catalog/sql/keys.ts';
import type { PostgresClient } from './client.ts';
import { catalogError, isDuplicate } from './errors.ts';

export { usedKeyOf };

/** What keys add to a commit's statement. */
export interface KeyParts {
  /** `used`: those of the batch's keys that commits have used. A commit since then took the snapshot's id with its keys. */
  readonly used: string;
  readonly add: string;
  /** A row for each of `used`, which begins with text where a snapshot's begins with its id. */
  readonly select: string;
}

export function keyParts(dialect: SqlDialect): KeyParts {
  const table = dialect.table(KEY_TABLE);
  return {
    used: `used AS MATERIALIZED (SELECT * FROM ${table} WHERE commit_key = ANY (ARRAY(SELECT jsonb_array_elements(j->'keys')->>'a' FROM batch)))`,
    add: `keys AS (INSERT INTO ${table} (commit_key, scope, snapshot_id, result, used_at_micros)
  SELECT a, b, snapshot, c, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint FROM ids CROSS JOIN jsonb_to_recordset(j->'keys') AS r (a text, b text, c text))`,
    select: `SELECT ${usedKeyJson(dialect)} FROM used`,
  };
}

/** False where there is no schema for it, and so no lake. */
export async function makeKeyTable(client: PostgresClient, dialect: SqlDialect): Promise<boolean> {
  for (let isSecond = false; ; isSecond = true) {
    try {
      await client.unsafe(createKeyTable(dialect)).values();
      return true;
    } catch (error) {
      if (isDuplicate(error) && !isSecond) continue;
      const failed = catalogError(error);
      if (failed instanceof MissingTables) return false;
      throw failed;
    }
  }
}
