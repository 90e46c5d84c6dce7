import { MissingTables } from '../../src/catalog/sql/dialect.ts';
import { LakeError } from '../../src/errors.ts';

/** The client's code for an error that came without the server's word: the statement may have reached it. */
const lost: ReadonlySet<string> = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
]);
/** … and for those where it certainly did not. */
const unreachable: ReadonlySet<string> = new Set([
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'EAI_AGAIN',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

function codeOf(error: unknown): string {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

/** The server refused the statement because of another one at the same time: nothing was written. */
export function isLostRace(error: unknown): boolean {
  return ['40001', '40P01'].includes(codeOf(error));
}

/** Somebody made the same thing meanwhile: a unique key, a table, a schema. */
export function isDuplicate(error: unknown): boolean {
  return ['23505', '42P07', '42P06', '42710'].includes(codeOf(error));
}

/** The server ended the connection, and with it what was going on: whether a statement was carried out is settled by now. */
export function isEnded(error: unknown): boolean {
  return /^57P0[1245]$/.test(codeOf(error));
}

/** Whether a statement that writes may have been carried out all the same. Class 08 comes from poolers too. */
export function isUnsure(error: unknown): boolean {
  const code = codeOf(error);
  return lost.has(code) || code.startsWith('08') || isEnded(error);
}

/** An error of the client or the server as what a catalog throws. */
export function catalogError(error: unknown): unknown {
  const code = codeOf(error);
  const fail = (kind: LakeError['code'], text: string, retryable = false): LakeError =>
    new LakeError(kind, `${text} (${code})`, { retryable, cause: error });
  if (lost.has(code) || unreachable.has(code) || /^(08|53|57|58)/.test(code))
    return fail('CATALOG_UNAVAILABLE', 'the catalog database can not be reached or answers no more', true);
  if (isLostRace(error))
    return fail('CATALOG_UNAVAILABLE', 'the catalog database gave way to another transaction', true);
  switch (code) {
    case '42P01':
    case '42703':
    case '3F000':
      return new MissingTables('a table is missing', { cause: error });
    case '55P03':
      return fail('CATALOG_UNAVAILABLE', 'a lock in the catalog database was not to be had in time', true);
    case '42501':
    case '25006':
      return fail('ACCESS_DENIED', "the catalog database's user may not do this, or it is read-only");
    case '3D000':
      return fail('NOT_FOUND', 'there is no such database');
  }
  if (code.startsWith('28')) return fail('ACCESS_DENIED', 'the catalog database refused the login');
  // Nothing else comes of statements that are constant and input that was checked.
  if (/^[0-9A-Z]{5}$/.test(code))
    return fail('CORRUPT', "the catalog's tables do not take what DuckLake 1.0 puts there");
  return error;
}
