/** Months, days and microseconds apart, as DuckDB keeps them: a month has no fixed length. */
export interface Interval {
  readonly months: number;
  readonly days: number;
  readonly micros: bigint;
}

/**
 * A value as a file stores it:
 * - int8…int32, uint8…uint32, float32, float64, date (days since 1970): `number`;
 * - int64, uint64, int128, uint128, decimal (unscaled), time and timetz (microseconds, timetz in UTC), timestamps (in the
 *   column's unit since 1970): `bigint`;
 * - varchar, json (its text), uuid (lower case): `string`; blob: `Uint8Array`; boolean; interval.
 */
export type Physical = number | bigint | string | boolean | Uint8Array | Interval;

/** One column type's values: as callers hand them over, as stored, and as DuckDB's text. Never called with NULL. */
export interface ValueCodec<Stored extends Physical = Physical> {
  /** Validates and converts one caller's value. Throws {@link ValueError}. */
  encode(value: unknown): Stored;
  /** To what callers get. */
  decode(physical: Stored): unknown;
  /** DuckDB's text of the value, as in the catalog's bounds; `undefined` when the catalog can't hold it. */
  text(physical: Stored): string | undefined;
  /** From what DuckDB casts to the type, as defaults are written: `text` is among it, but for blobs. Throws {@link ValueError}. */
  fromText(text: string): Stored;
  /** The order of bounds: negative, zero or positive. */
  compare(a: Stored, b: Stored): number;
}

/** Why a value is refused, without saying where it stood or what it was: the caller knows both. */
export class ValueError extends Error {
  override readonly name: string = 'ValueError';
}

/** The order of numbers, bigints and ASCII text. */
export function compareOrdered<T extends number | bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Whether `value` is a Date, of whichever realm. */
export function isDate(value: unknown): value is Date {
  return value instanceof Date || Object.prototype.toString.call(value) === '[object Date]';
}

/** Whether `value` is a Uint8Array (or a subclass), of whichever realm. */
export function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array || Object.prototype.toString.call(value) === '[object Uint8Array]';
}
