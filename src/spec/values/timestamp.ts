import { dayText } from './calendar.ts';
import { clockText } from './time.ts';

export type TimestampUnit = 's' | 'ms' | 'us' | 'ns';

/** The last value of an int64: in every unit it means infinity, and its negative minus infinity. */
export const infinity: bigint = 2n ** 63n - 1n;

/** How many of the unit are a second. */
export const perSecond: Readonly<Record<TimestampUnit, bigint>> = {
  s: 1n,
  ms: 1000n,
  us: 1_000_000n,
  ns: 1_000_000_000n,
};

/**
 * An instant, or a wall-clock time taken as UTC: a Date that also carries what a Date can't hold. Beyond the years that a Date
 * reaches, and for ±infinity, the Date is invalid and the bigints still count.
 *
 * @example
 * ```ts
 * import { Timestamp } from 'edgemere';
 *
 * const at = new Timestamp(1_705_321_800_123_456n);
 * console.log(at.getTime(), at.micros, at.toJSON()); // 1705321800123 1705321800123456n 2024-01-15T12:30:00.123456Z
 * ```
 */
export class Timestamp extends Date {
  /** Microseconds since 1970, rounded down for a column of nanoseconds; ±9223372036854775807 for the infinities. */
  readonly micros: bigint;
  readonly #nanos: bigint | undefined;

  /** `epoch` counts `unit`s since 1970. */
  constructor(epoch: bigint, unit: TimestampUnit = 'us') {
    // Bigints are slow to compare: nearly all counts are safe integers, and then finite.
    const count = Number(epoch);
    const isSafe = Number.isSafeInteger(count);
    super(isSafe ? safeMillis(count, unit) : dateMillis(epoch, unit));
    const isInfinite = !isSafe && (epoch === infinity || epoch === -infinity);
    if (unit === 'us' || isInfinite) this.micros = epoch;
    else if (unit === 'ns') this.micros = floorDivide(epoch, 1000n);
    else this.micros = epoch * (unit === 'ms' ? 1000n : 1_000_000n);
    this.#nanos = isInfinite || unit === 'ns' ? epoch : undefined;
  }

  /** Nanoseconds since 1970; ±9223372036854775807 for the infinities. */
  get nanos(): bigint {
    return this.#nanos ?? this.micros * 1000n;
  }

  /** ISO 8601 with as many digits of the second as there are, three at least; throws like a Date where that is invalid. */
  override toISOString(): string {
    const text = super.toISOString();
    const below = Number(this.nanos - BigInt(this.getTime()) * 1_000_000n);
    // A Date that was changed after it was read says what a Date says.
    if (below <= 0 || below >= 1_000_000) return text;
    const digits = String(below).padStart(6, '0');
    return `${text.slice(0, -1)}${digits.endsWith('000') ? digits.slice(0, 3) : digits}Z`;
  }

  /** As {@link Timestamp.toISOString}; DuckDB's text where a Date doesn't reach: `infinity`, `290309-12-22 (BC) 00:00:00`. */
  override toJSON(): string {
    return Number.isNaN(this.getTime()) ? timestampText(this.micros, 'us') : this.toISOString();
  }
}

/** Milliseconds since 1970, rounded down; NaN for the infinities. A Date makes NaN of what it doesn't reach. */
function dateMillis(epoch: bigint, unit: TimestampUnit): number {
  if (epoch === infinity || epoch === -infinity) return Number.NaN;
  if (unit === 's') return Number(epoch) * 1000;
  if (unit === 'ms') return Number(epoch);
  const number = Number(epoch);
  if (Number.isSafeInteger(number)) return safeMillis(number, unit);
  return Number(floorDivide(epoch, unit === 'us' ? 1000n : 1_000_000n));
}

/** The same of a safe integer: its quotient's floor is exact in floating point, above 2^53 it isn't. */
function safeMillis(count: number, unit: TimestampUnit): number {
  switch (unit) {
    case 'us':
      return Math.floor(count / 1000);
    case 'ns':
      return Math.floor(count / 1_000_000);
    case 'ms':
      return count;
    case 's':
      return count * 1000;
  }
}

export function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value < 0n && quotient * by !== value ? quotient - 1n : quotient;
}

/** DuckDB's text of a timestamp without time zone: `2024-01-15 12:30:00.123456`. */
export function timestampText(epoch: bigint, unit: TimestampUnit): string {
  if (epoch === infinity || epoch === -infinity) return epoch > 0n ? 'infinity' : '-infinity';
  const perDay = perSecond[unit] * 86_400n;
  const days = floorDivide(epoch, perDay);
  return `${dayText(Number(days))} ${clockText(epoch - days * perDay, fractionDigits[unit])}`;
}

export const fractionDigits: Readonly<Record<TimestampUnit, number>> = { s: 0, ms: 3, us: 6, ns: 9 };

/** Microseconds since 1970 of a valid Date. */
export function microsFromDate(date: Date): bigint {
  return BigInt(date.getTime()) * 1000n;
}

/** The Date of microseconds since 1970, rounded down to its milliseconds. */
export function dateFromMicros(micros: bigint): Date {
  return new Date(dateMillis(micros, 'us'));
}
