import type { ColumnType } from '../../spec/types.ts';
import { codecFor } from '../../spec/values/codec.ts';
import { infinity, perSecond, type TimestampUnit } from '../../spec/values/timestamp.ts';
import { type Physical, ValueError } from '../../spec/values/value-codec.ts';

/** From physical values of one type to those of another; `same` where nothing changes. Throws ValueError. */
export type Cast = 'same' | ((value: Physical) => Physical);

/**
 * The cast from a file's type to a table's, as DuckDB makes it: widenings, above all, which an altered column has. `undefined`
 * for one that isn't known to be equal to DuckDB's.
 */
export function castOf(from: ColumnType, to: ColumnType): Cast | undefined {
  if (from.name === to.name && from.name !== 'decimal') return 'same';
  const [low, high] = rangeOf(to) ?? [];
  if (low !== undefined) return toInteger(from, to, low, high!);
  switch (to.name) {
    case 'float64':
    case 'float32':
      return toFloat(from, to.name === 'float32');
    case 'decimal':
      return toDecimal(from, to);
    case 'varchar':
      if (from.name === 'json') return 'same';
      return from.name === 'blob' ? (value) => blobText(value as Uint8Array) : undefined;
    case 'json':
      return toJson(from);
    case 'time':
    case 'timetz':
      return from.name === 'time' || from.name === 'timetz' ? 'same' : undefined;
    case 'timestamptz':
      return from.name === 'date' || unitOf(from) === 'us' ? toTimestamp(from, 'us') : undefined;
    default: {
      const unit = unitOf(to);
      return unit && toTimestamp(from, unit);
    }
  }
}

function rangeOf({ name }: ColumnType): readonly [low: bigint, high: bigint] | undefined {
  const [, unsigned, digits] = /^(u?)int(\d+)$/.exec(name) ?? [];
  if (digits === undefined) return undefined;
  const bits = BigInt(digits);
  return unsigned ? [0n, (1n << bits) - 1n] : [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n];
}

const isNumber = ({ name }: ColumnType): boolean => /^u?int(8|16|32)$/.test(name);

function toInteger(from: ColumnType, to: ColumnType, low: bigint, high: bigint): Cast | undefined {
  const numbers = isNumber(to);
  const make = numbers ? Number : BigInt;
  if (from.name === 'boolean') return (value) => make(value as boolean);
  const check = (value: bigint): bigint => {
    if (value < low || value > high) throw new ValueError(`expected an integer from ${low} to ${high}`);
    return value;
  };
  const given = rangeOf(from);
  if (given) {
    const fits = given[0] >= low && given[1] <= high;
    if (!fits) return (value) => make(check(BigInt(value as number | bigint)));
    return isNumber(from) === numbers ? 'same' : (value) => make(value as number | bigint);
  }
  if (to.name !== 'int128' && to.name !== 'uint128') return undefined;
  // DuckDB writes doubles for 128-bit integers, edgemere digits; others may write decimals.
  if (from.name === 'float64')
    return (value) => {
      if (!Number.isInteger(value)) throw new ValueError('expected an integer');
      return check(BigInt(value as number));
    };
  if (from.name === 'varchar') return parsed(to);
  return from.name === 'decimal' && from.scale === 0 ? (value) => check(value as bigint) : undefined;
}

/** 128-bit integers that edgemere wrote as digits, of a column that was widened since. */
function parsed(to: ColumnType): Cast {
  const codec = codecFor(to);
  return (value) => codec.fromText(value as string);
}

function toFloat(from: ColumnType, single: boolean): Cast | undefined {
  if (rangeOf(from)) {
    if (isNumber(from)) return single ? (value) => Math.fround(value as number) : 'same';
    return single ? (value) => nearestSingle(value as bigint) : (value) => Number(value);
  }
  if (from.name === 'decimal') return (value) => decimalFloat(value as bigint, from.scale, single);
  if (from.name === 'varchar') return parsed({ name: single ? 'float32' : 'float64' });
  if (from.name === 'float64')
    return (value) => {
      const rounded = Math.fround(value as number);
      if (!Number.isFinite(rounded) && Number.isFinite(value as number))
        throw new ValueError('expected a number that a float32 can hold');
      return rounded;
    };
  return from.name === 'float32' ? 'same' : undefined;
}

/** The nearest float32, rounded once: by way of a double it would be rounded twice. */
function nearestSingle(value: bigint): number {
  const near = Number(value);
  const exact = BigInt(near);
  if (exact === value || Math.fround(near) === near) {
    // On the edge between two floats the double says nothing of which side the integer is on.
    return Math.fround(near);
  }
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setFloat64(0, near);
  const bits = bytes.getBigUint64(0);
  // Towards zero, then with the last bit set where digits are lost.
  const isAbove = value < 0n ? exact < value : exact > value;
  bytes.setBigUint64(0, (isAbove ? bits - 1n : bits) | 1n);
  return Math.fround(bytes.getFloat64(0));
}

/** As DuckDB divides: whole and fraction apart where the digits are more than the float holds. */
function decimalFloat(unscaled: bigint, scale: number, single: boolean): number {
  const round = single ? Math.fround : (value: number) => value;
  const real = single ? nearestSingle : Number;
  const limit = single ? 1n << 24n : 1n << 53n;
  const power = 10n ** BigInt(scale);
  const divisor = round(Number(power));
  if (scale === 0 || (unscaled <= limit && unscaled >= -limit)) return round(real(unscaled) / divisor);
  return round(real(unscaled / power) + round(real(unscaled % power) / divisor));
}

function toDecimal(from: ColumnType, { precision, scale }: ColumnType & { name: 'decimal' }): Cast | undefined {
  const limit = 10n ** BigInt(precision);
  const fit = (unscaled: bigint): bigint => {
    if (unscaled >= limit || unscaled <= -limit)
      throw new ValueError(`expected a decimal of at most ${precision - scale} digits before the point`);
    return unscaled;
  };
  if (from.name === 'decimal') {
    const added = scale - from.scale;
    if (added < 0) return undefined;
    const isWider = precision - scale >= from.precision - from.scale;
    if (added === 0 && isWider) return 'same';
    const factor = 10n ** BigInt(added);
    return (value) => fit((value as bigint) * factor);
  }
  const factor = 10n ** BigInt(scale);
  if (rangeOf(from)) return (value) => fit(BigInt(value as number | bigint) * factor);
  if (from.name === 'varchar') return parsed({ name: 'decimal', precision, scale });
  // 128-bit integers, which DuckDB writes as doubles, and which it multiplies as such.
  if (from.name === 'float64')
    return (value) => {
      if (!Number.isInteger(value)) throw new ValueError('expected an integer');
      return fit(BigInt(Math.round((value as number) * Number(factor))));
    };
  return undefined;
}

function toJson(from: ColumnType): Cast | undefined {
  if (from.name === 'varchar') {
    const codec = codecFor({ name: 'json' });
    return (value) => {
      codec.decode(value);
      return value;
    };
  }
  if (from.name === 'boolean' || rangeOf(from)) return String;
  if (!/^(date|time|timetz|timestamp\w*|uuid|interval)$/.test(from.name)) return undefined;
  const codec = codecFor(from);
  return (value) => JSON.stringify(codec.text(value));
}

function unitOf({ name }: ColumnType): TimestampUnit | undefined {
  if (name === 'timestamp') return 'us';
  return /^timestamp_(s|ms|ns)$/.test(name) ? (name.slice('timestamp_'.length) as TimestampUnit) : undefined;
}

function toTimestamp(from: ColumnType, unit: TimestampUnit): Cast | undefined {
  if (from.name === 'date') {
    const perDay = perSecond[unit] * 86_400n;
    return (value) => {
      if (Math.abs(value as number) === infiniteDay) return (value as number) > 0 ? infinity : -infinity;
      return within(BigInt(value as number) * perDay);
    };
  }
  const given = unitOf(from);
  if (given === undefined) return undefined;
  const [per, wanted] = [perSecond[given], perSecond[unit]];
  if (per === wanted) return 'same';
  if (wanted > per) {
    const factor = wanted / per;
    return (value) => (isInfinite(value as bigint) ? value : within((value as bigint) * factor));
  }
  if (given === 'ns' && unit !== 'us') return undefined;
  const divisor = per / wanted;
  // DuckDB cuts nanoseconds off and rounds all else, halves away from zero.
  const half = given === 'ns' ? 0n : divisor / 2n;
  return (value) => {
    const ticks = value as bigint;
    return isInfinite(ticks) ? ticks : (ticks < 0n ? ticks - half : ticks + half) / divisor;
  };
}

const infiniteDay = 2 ** 31 - 1;

const isInfinite = (ticks: bigint): boolean => ticks === infinity || ticks === -infinity;

function within(ticks: bigint): bigint {
  if (ticks >= infinity || ticks <= -infinity) throw new ValueError('expected a time that 64 bits can hold');
  return ticks;
}

/** Bytes as DuckDB shows them: what is no printable ASCII, and quotes and backslashes, in hex. */
function blobText(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) {
    const character = String.fromCharCode(byte);
    const isPlain = byte >= 32 && byte <= 126 && !`\\'"`.includes(character);
    text += isPlain ? character : `\\x${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return text;
}
