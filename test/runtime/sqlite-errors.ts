import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { localStore } from '../../adapters/local.ts';
import { sqliteCatalog } from '../../adapters/sqlite.ts';
import { type ErrorCode, isLakeError, openLake, t } from '../../src/index.ts';
import { telling } from '../support/sqlite-handle.ts';
import type { Suite } from './suite.ts';

/** Runtimes tell SQLite's result codes in ways of their own. */
export function sqliteErrors(folder: (stack: AsyncDisposableStack) => Promise<string>): Suite {
  const fails = async (path: string, code: ErrorCode): Promise<void> => {
    const opening = openLake({ catalog: sqliteCatalog({ path }), store: localStore(), dataPath: 'data/' });
    await assert.rejects(opening, (error) => isLakeError(error, code));
  };
  const inFolder = (name: string, run: (path: string) => Promise<void>): Suite['cases'][number] => ({
    name,
    async run() {
      await using stack = new AsyncDisposableStack();
      await run(await folder(stack));
    },
  });
  return {
    name: 'errors of SQLite',
    cases: [
      inFolder('a lock that another connection holds is waited for', isLockWaitedFor),
      inFolder('a folder that is missing', (path) =>
        fails(join(path, 'missing', 'catalog.sqlite'), 'CATALOG_UNAVAILABLE'),
      ),
      inFolder('a file that is no database', async (path) => {
        const file = join(path, 'text');
        await writeFile(file, 'text '.repeat(1000));
        await fails(file, 'CORRUPT');
      }),
    ],
  };
}

async function isLockWaitedFor(path: string): Promise<void> {
  const file = join(path, 'catalog.sqlite');
  const database = new DatabaseSync(file);
  const other = new DatabaseSync(file);
  const { promise: isRefused, resolve: refused } = Promise.withResolvers<void>();
  const catalog = sqliteCatalog({ database: telling(database, () => refused()), busyTimeoutMs: 3_600_000 });
  const lake = await openLake({ catalog, store: localStore(), dataPath: `${path}/` });
  const events = await lake.createTable('events', { id: t.int64() });
  other.exec('BEGIN IMMEDIATE');
  const insert = events.insert([{ id: 1 }]);
  // Where it fails at once, that is what is told.
  await Promise.race([isRefused, insert]);
  other.exec('COMMIT');
  assert.equal((await insert).snapshotId, 2);
  await lake.close();
  other.close();
  database.close();
}
