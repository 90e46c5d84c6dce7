import type { SqliteDatabase } from '../../adapters/sqlite.ts';

/** A handle on a database, with an `exec` of its own. */
export function withExec(database: SqliteDatabase, exec: SqliteDatabase['exec']): SqliteDatabase {
  return { prepare: (sql) => database.prepare(sql), close: () => database.close(), exec };
}

/** A handle that tells of what `exec` fails with. */
export function telling(database: SqliteDatabase, onFailure: (error: unknown) => void): SqliteDatabase {
  return withExec(database, (sql) => {
    try {
      return database.exec(sql);
    } catch (error) {
      onFailure(error);
      throw error;
    }
  });
}
