import { resolveId } from '../spec/rows.ts';

/** As in DuckDB: rows that are not committed count from here. They get their row ids with the commit. */
const firstUncommitted = 10n ** 18n;

/** The row id that comes `offset` rows after another, which may be relative. */
export function rowIdOf(start: number, offset: number): bigint {
  return start < 0 ? firstUncommitted + BigInt(resolveId(start, 0) + offset) : BigInt(start + offset);
}
