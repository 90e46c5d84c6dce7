import type { CellType } from '../../spec/rows.ts';
import { microsOf } from '../instant.ts';
import type { ForgetKeysRequest, UsedKey } from '../store.ts';
import { integer, MissingTables, type SqlDialect, type SqlExecutor } from './dialect.ts';

/** The table of the keys that commits have used: beside DuckLake's tables, under a name that DuckDB has no use for. */
export const KEY_TABLE = 'edgemere_commits';

const columns: readonly (readonly [name: string, type: CellType, more?: string])[] = [
  ['commit_key', 'varchar', 'PRIMARY KEY'],
  ['scope', 'varchar', 'NOT NULL'],
  ['snapshot_id', 'bigint', 'NOT NULL'],
  ['result', 'varchar', 'NOT NULL'],
  ['used_at_micros', 'bigint', 'NOT NULL'],
];

/** Two may run it at once: one of them may fail then, and finds the table when it tries again. */
export function createKeyTable(dialect: SqlDialect): string {
  const list = columns.map(([name, type, more]) => `${name} ${dialect.type(type)} ${more}`);
  return `CREATE TABLE IF NOT EXISTS ${dialect.table(KEY_TABLE)} (${list.join(', ')})`;
}

/** A row of the table as JSON; what `usedKeyOf` reads. */
export function usedKeyJson(dialect: SqlDialect): string {
  return dialect.jsonArray(['commit_key', 'scope', 'snapshot_id', 'result']);
}

export function usedKeyOf(json: string): UsedKey {
  const [key, scope, snapshotId, result] = JSON.parse(json) as [string, string, number, string];
  return { key, scope, snapshotId, result };
}

/** Keys that one statement asks for: its text must not grow without bound. */
const PAGE = 1000;

export async function findKeys(
  executor: SqlExecutor,
  dialect: SqlDialect,
  keys: readonly string[],
): Promise<readonly UsedKey[]> {
  const found: UsedKey[] = [];
  for (let start = 0; start < keys.length; start += PAGE) {
    const list = keys.slice(start, start + PAGE).map((key) => dialect.textLiteral(key));
    const rows = await rowsUnlessMissing(
      executor,
      `SELECT 'key' AS t, ${usedKeyJson(dialect)} AS j FROM ${dialect.table(KEY_TABLE)} WHERE commit_key IN (${list.join(', ')})`,
    );
    found.push(...rows.map(([, json]) => usedKeyOf(json!)));
  }
  return found;
}

export async function forgetKeys(
  executor: SqlExecutor,
  dialect: SqlDialect,
  { usedBefore, exceptScopes }: ForgetKeysRequest,
): Promise<number> {
  const isOld = `used_at_micros < ${integer(Number(microsOf(usedBefore)))}`;
  const kept = exceptScopes.map((scope) => ` AND scope <> ${dialect.textLiteral(scope)}`).join('');
  const rows = await rowsUnlessMissing(
    executor,
    `DELETE FROM ${dialect.table(KEY_TABLE)} WHERE ${isOld}${kept} RETURNING 'key' AS t, '' AS j`,
  );
  return rows.length;
}

/** No rows when the table isn't there: no key was ever used. */
async function rowsUnlessMissing(executor: SqlExecutor, text: string): ReturnType<SqlExecutor['query']> {
  try {
    return await executor.query(text);
  } catch (error) {
    if (error instanceof MissingTables) return [];
    throw error;
  }
}
