import { LakeError } from '../../src/errors.ts';
import { pause } from '../../src/util/pause.ts';

/** What is bound: never booleans, bigints or `undefined`, which drivers treat differently. */
export type SqliteValue = string | number | Uint8Array | null;

/** A prepared statement, as node:sqlite, bun:sqlite and better-sqlite3 have it. */
export interface SqliteStatement {
  all(...parameters: SqliteValue[]): unknown[];
  run(...parameters: SqliteValue[]): unknown;
}

/** A database handle: `DatabaseSync` of node:sqlite, `Database` of bun:sqlite or of better-sqlite3. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): unknown;
}

/** SQLite's primary result codes that are treated apart. */
const ERROR = 1;
const OTHER = 255;
const names: Readonly<Record<string, number>> = {
  SQLITE_ERROR: ERROR,
  SQLITE_PERM: 3,
  SQLITE_BUSY: 5,
  SQLITE_LOCKED: 6,
  SQLITE_NOMEM: 7,
  SQLITE_READONLY: 8,
  SQLITE_IOERR: 10,
  SQLITE_CORRUPT: 11,
  SQLITE_FULL: 13,
  SQLITE_CANTOPEN: 14,
  SQLITE_PROTOCOL: 15,
  SQLITE_AUTH: 23,
  SQLITE_NOTADB: 26,
};

/** The primary result code: node:sqlite has it as `errcode`, bun:sqlite as `errno`, better-sqlite3 as the name in `code`. */
function resultCode(error: unknown): number | undefined {
  const { errcode, errno, code } = (error ?? {}) as { errcode?: unknown; errno?: unknown; code?: unknown };
  for (const number of [errcode, errno]) if (typeof number === 'number' && number > 0) return number & 0xff;
  if (typeof code !== 'string' || !code.startsWith('SQLITE_')) return undefined;
  return Object.entries(names).find(([name]) => code === name || code.startsWith(`${name}_`))?.[1] ?? OTHER;
}

/** An error of Deno's node:sqlite in opening and in `exec`, which lacks the result code that those of statements have. */
function isCodeless(error: unknown): boolean {
  return resultCode(error) === undefined && (error as { code?: unknown } | null)?.code === 'ERR_SQLITE_ERROR';
}

export function isBusy(error: unknown): boolean {
  return [names['SQLITE_BUSY'], names['SQLITE_LOCKED'], names['SQLITE_PROTOCOL']].includes(resultCode(error));
}

/** Of statements with constant text, such an error means that a table or a column isn't there. */
export function isUnknownName(error: unknown): boolean {
  return resultCode(error) === ERROR;
}

export function lakeError(error: unknown): unknown {
  const code = resultCode(error);
  if (code === undefined || error instanceof LakeError) return error;
  const fail = (...[kind, text, retryable = false]: [LakeError['code'], string, boolean?]): LakeError =>
    new LakeError(kind, `${text} (SQLite result code ${code})`, { retryable, cause: error });
  switch (code) {
    case names['SQLITE_PERM']:
    case names['SQLITE_READONLY']:
    case names['SQLITE_AUTH']:
      return fail('ACCESS_DENIED', 'the catalog database may not be written');
    case names['SQLITE_CORRUPT']:
    case names['SQLITE_NOTADB']:
      return fail('CORRUPT', 'the file is not a SQLite database, or a damaged one');
    case names['SQLITE_CANTOPEN']:
      return fail('CATALOG_UNAVAILABLE', 'the catalog database can not be opened');
    case names['SQLITE_NOMEM']:
    case names['SQLITE_IOERR']:
    case names['SQLITE_FULL']:
      return fail('CATALOG_UNAVAILABLE', 'the catalog database can not be read or written at the moment', true);
    default:
      return fail('CORRUPT', "the catalog's tables do not take what DuckLake 1.0 puts there");
  }
}

/**
 * Runs `work` until the database is not busy. The waits are drawn wide and evenly: SQLite's own busy handler, with its
 * fixed steps, lets some writers starve. Only the waits count: a process that is frozen for a while, as functions are, has not
 * waited. The busy timeout of a caller's own handle is a wait too; a freeze in it can't be told apart, and counts in part.
 */
export async function whenFree<T>(timeoutMs: number, work: () => T): Promise<T> {
  let leftMs = timeoutMs;
  for (let limit = 4; ; limit = Math.min(limit * 1.5, 100)) {
    const start = performance.now();
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw lakeError(error);
      leftMs -= Math.min(performance.now() - start, timeoutMs / 4);
      if (leftMs <= 0)
        throw new LakeError(
          'CATALOG_UNAVAILABLE',
          `the catalog database was locked by others for ${timeoutMs} ms; raise busyTimeoutMs`,
          { retryable: true, cause: error },
        );
    }
    const waitMs = Math.min(Math.max(Math.random() * limit, 1), leftMs);
    leftMs -= waitMs;
    await pause(waitMs);
  }
}

/** Opens a file with the runtime's own SQLite. */
export async function openFile(path: string): Promise<SqliteDatabase> {
  const { DatabaseSync } = await import('node:sqlite').catch((cause: unknown) => {
    throw new LakeError('UNSUPPORTED', 'this runtime has no node:sqlite: open the database yourself and pass it', {
      cause,
    });
  });
  try {
    return new DatabaseSync(path);
  } catch (error) {
    if (resultCode(error) !== names['SQLITE_CANTOPEN'] && !isCodeless(error)) throw lakeError(error);
    throw new LakeError(
      'CATALOG_UNAVAILABLE',
      `the catalog database ${path} can not be opened: its folder is missing, or may not be used`,
      { context: { location: `sqlite:${path}` }, cause: error },
    );
  }
}

/** Whether there is something to open, so that looking at a lake that isn't there leaves no empty file behind. */
export async function fileExists(path: string): Promise<boolean> {
  if (path === ':memory:' || path === '' || path.startsWith('file:')) return true;
  const { existsSync } = await import('node:fs');
  return existsSync(path);
}

/** COMMIT itself failed, for another reason than a lock: what is in the file decides whether it happened. */
export class UnsureCommit extends Error {
  override readonly name: string = 'UnsureCommit';
}

/** A database with its statements prepared once. */
export class Connection {
  readonly #database: SqliteDatabase;
  readonly #prepared = new Map<string, SqliteStatement>();

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  /** Rows of statements made for one use, which give the columns `t` and `j`. */
  read(text: string, parameters: readonly SqliteValue[] = []): [string, string][] {
    const rows = this.#database.prepare(text).all(...parameters) as { readonly t: string; readonly j: string }[];
    return rows.map(({ t, j }) => [t, j]);
  }

  /** One row of one column, or `undefined`. */
  value(text: string, ...parameters: readonly SqliteValue[]): unknown {
    const row = this.#statement(text).all(...parameters)[0];
    return row === undefined ? undefined : Object.values(row as object)[0];
  }

  run(text: string, ...parameters: readonly SqliteValue[]): void {
    this.#statement(text).run(...parameters);
  }

  exec(text: string): void {
    try {
      this.#database.exec(text);
    } catch (error) {
      if (!isCodeless(error)) throw error;
      // What failed did nothing: it fails again, with the code, or is done now.
      this.#database.prepare(text).run();
    }
  }

  /**
   * Runs `work` as one transaction that has the write lock from the start: a read lock that wants to become a write
   * lock is refused when another writer was faster, however long one waits. `work` is synchronous, so that nothing else
   * that uses the handle can get into the transaction.
   */
  immediate<T>(work: () => T): T {
    this.exec('BEGIN IMMEDIATE');
    let isWorkDone = false;
    try {
      const result = work();
      isWorkDone = true;
      this.exec('COMMIT');
      return result;
    } catch (error) {
      try {
        this.exec('ROLLBACK');
      } catch {
        // Some errors have ended the transaction already.
      }
      throw isWorkDone && !isBusy(error) ? new UnsureCommit('COMMIT failed', { cause: error }) : error;
    }
  }

  close(): void {
    this.#prepared.clear();
    this.#database.close();
  }

  #statement(text: string): SqliteStatement {
    let statement = this.#prepared.get(text);
    if (statement === undefined) {
      statement = this.#database.prepare(text);
      this.#prepared.set(text, statement);
    }
    return statement;
  }
}
