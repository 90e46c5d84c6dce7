/** A child that commits by DuckDB. */
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { extensionsFolder } from '../../test/support/extensions.ts';
import { type Commit, type CommitTask, commitForAWhile } from './commit-child.ts';

await commitForAWhile(open);

async function open({ address, rows, inlines }: CommitTask): Promise<Commit> {
  const folder = await extensionsFolder();
  const instance = await DuckDBInstance.create(':memory:', { autoinstall_known_extensions: 'false' });
  const db = await instance.connect();
  const isSqlite = address.kind === 'sqlite';
  for (const name of [isSqlite ? 'sqlite_scanner' : 'postgres_scanner', 'ducklake'])
    await db.run(`LOAD '${join(folder, `${name}.duckdb_extension`)}'`);
  const place = isSqlite ? `sqlite:${address.path}` : `postgres:${address.url}`;
  await db.run(`ATTACH 'ducklake:${place}' AS lake${inlines ? '' : ' (DATA_INLINING_ROW_LIMIT 0)'}`);
  const insert = `INSERT INTO lake.events SELECT i AS id, TIMESTAMP '2024-01-01' + to_seconds(i), 'user_' || (i % 1000),
    ['view', 'click', 'purchase', 'login'][1 + i % 4], 'https://example.com/products/' || hash(i), (i % 10000) / 100,
    CASE WHEN i % 10 = 0 THEN NULL ELSE i % 100 END, i % 2 = 0 FROM range(${rows}) t(i)`;
  return () => db.run(insert);
}
