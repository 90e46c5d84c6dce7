import type { ColumnType } from '../../spec/types.ts';
import { codecFor, type Physical, ValueError } from '../../spec/values/codec.ts';
import { floorDivide } from '../../spec/values/timestamp.ts';
import { isDate } from '../../spec/values/value-codec.ts';

/** Where a caller's value stands among the values of a type. */
export type Placed =
  | { readonly kind: 'exact'; readonly value: Physical }
  /** Above `floor`, and below the type's next value. */
  | { readonly kind: 'between'; readonly floor: Physical }
  /** Above, or below, all values of the type. */
  | { readonly kind: 'beyond'; readonly side: 1 | -1 };

/**
 * Places a value among those of a type, so that comparisons with 3.5 or 300 have their answer in a column of int8. Throws
 * {@link ValueError} for what is no such thing, and for numbers that have lost digits.
 */
export function placeConstant(type: ColumnType, value: unknown): Placed {
  const placed = placeNumber(type, value) ?? placeDate(type, value);
  if (placed) return placed;
  return { kind: 'exact', value: codecFor(type).encode(value) };
}

function placeNumber(type: ColumnType, value: unknown): Placed | undefined {
  if (typeof value !== 'number' && typeof value !== 'bigint') return undefined;
  const range = integerRange(type);
  if (range) {
    const [low, high] = range;
    // NaN is above everything.
    if (value > high || Number.isNaN(value)) return { kind: 'beyond', side: 1 };
    if (value < low) return { kind: 'beyond', side: -1 };
    if (typeof value === 'bigint' || Number.isInteger(value)) return undefined;
    return { kind: 'between', floor: codecFor(type).encode(Math.floor(value)) };
  }
  if (type.name === 'decimal') return placeDecimal(type.precision, type.scale, value);
  if (type.name === 'float32' && typeof value === 'number' && Number.isFinite(value)) {
    if (Number.isFinite(Math.fround(value))) return undefined;
    return { kind: 'between', floor: value > 0 ? 3.4028234663852886e38 : Number.NEGATIVE_INFINITY };
  }
  return undefined;
}

function placeDecimal(precision: number, scale: number, value: number | bigint): Placed {
  if (typeof value === 'number' && !Number.isFinite(value)) return { kind: 'beyond', side: value < 0 ? -1 : 1 };
  const limit = 10n ** BigInt(precision);
  if (typeof value === 'bigint') return within(value * 10n ** BigInt(scale), true, limit);
  const [mantissa, power = '0'] = String(value).split('e') as [string, string?];
  const [whole, fraction = ''] = mantissa.split('.') as [string, string?];
  const shift = Number(power) - fraction.length + scale;
  const digits = BigInt(whole.replace('-', '') + fraction) * (value < 0 ? -1n : 1n);
  if (shift >= 0) {
    const placed = within(digits * 10n ** BigInt(shift), true, limit);
    if (placed.kind === 'exact' && Math.abs(value) > Number.MAX_SAFE_INTEGER)
      throw new ValueError('a number of this size has lost digits: expected a string or bigint');
    return placed;
  }
  const unit = 10n ** BigInt(-shift);
  const floor = floorDivide(digits, unit);
  return within(floor, floor * unit === digits, limit);
}

function within(unscaled: bigint, isExact: boolean, limit: bigint): Placed {
  if (unscaled >= limit) return { kind: 'beyond', side: 1 };
  if (!isExact && unscaled === limit - 1n) return { kind: 'between', floor: unscaled };
  if (unscaled <= -limit) return { kind: 'beyond', side: -1 };
  return isExact ? { kind: 'exact', value: unscaled } : { kind: 'between', floor: unscaled };
}

/** The first and last value of an integer type. */
function integerRange(type: ColumnType): readonly [bigint, bigint] | undefined {
  const match = /^(u?)int(\d+)$/.exec(type.name);
  if (!match) return undefined;
  const bits = BigInt(match[2]!);
  return match[1] ? [0n, 2n ** bits - 1n] : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n];
}

/** Instants that fall between the ticks of a coarser type. */
function placeDate(type: ColumnType, value: unknown): Placed | undefined {
  const nanosPerTick = ticks.get(type.name);
  if (nanosPerTick === undefined || !isDate(value) || Number.isNaN(value.getTime())) return undefined;
  const { nanos } = value as { nanos?: unknown };
  const instant = typeof nanos === 'bigint' ? nanos : BigInt(value.getTime()) * 1_000_000n;
  const floor = floorDivide(instant, nanosPerTick);
  if (floor * nanosPerTick === instant) return undefined;
  return { kind: 'between', floor: type.name === 'date' ? Number(floor) : floor };
}

const ticks: ReadonlyMap<string, bigint> = new Map([
  ['date', 86_400_000_000_000n],
  ['timestamp', 1000n],
  ['timestamptz', 1000n],
  ['timestamp_s', 1_000_000_000n],
  ['timestamp_ms', 1_000_000n],
]);
