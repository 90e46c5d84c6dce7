import { daysOf } from '../../../spec/values/calendar.ts';

/**
 * Conversions of the most usual texts and numbers, each a part of what the type's codec does and with the same result. They
 * return NaN for everything else, which is then the codec's.
 */

/** `YYYY-MM-DD` as days since 1970. */
export function quickDate(value: unknown): number {
  return typeof value === 'string' && value.length === 10 ? dayAt(value) : Number.NaN;
}

/** `YYYY-MM-DD`, `T` or a space, `HH:MM:SS`, up to `digits` digits of a fraction, perhaps `Z`: as microseconds since 1970. */
export function quickMicros(value: unknown, digits: number, needsZone: boolean): number {
  if (typeof value !== 'string' || value.length < 19) return Number.NaN;
  const separator = value.charCodeAt(10);
  if (separator !== 84 && separator !== 32) return Number.NaN;
  const last = value.length - 1;
  const zoned = value.charCodeAt(last) === 90;
  if (needsZone && !zoned) return Number.NaN;
  return dayAt(value) * 86_400_000_000 + clockAt(value, 11, zoned ? last : last + 1, digits);
}

/** `HH:MM:SS` and up to six digits of a fraction, as microseconds. */
export function quickTime(value: unknown): number {
  return typeof value === 'string' ? clockAt(value, 0, value.length, 6) : Number.NaN;
}

function dayAt(text: string): number {
  if (text.charCodeAt(4) !== 45 || text.charCodeAt(7) !== 45) return Number.NaN;
  const year = twoAt(text, 0) * 100 + twoAt(text, 2);
  return daysOf(year, twoAt(text, 5), twoAt(text, 8)) ?? Number.NaN;
}

function clockAt(text: string, start: number, end: number, digits: number): number {
  if (end < start + 8 || text.charCodeAt(start + 2) !== 58 || text.charCodeAt(start + 5) !== 58) return Number.NaN;
  const hours = twoAt(text, start);
  const minutes = twoAt(text, start + 3);
  const seconds = twoAt(text, start + 6);
  if (!(hours < 24 && minutes < 60 && seconds < 60)) return Number.NaN;
  let micros = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000;
  if (end === start + 8) return micros;
  const fraction = end - start - 9;
  if (text.charCodeAt(start + 8) !== 46 || fraction < 1 || fraction > digits) return Number.NaN;
  let unit = 100_000;
  for (let i = start + 9; i < end; i++, unit /= 10) {
    const digit = text.charCodeAt(i) - 48;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    micros += digit * unit;
  }
  return micros;
}

function twoAt(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 48;
  const ones = text.charCodeAt(at + 1) - 48;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

/** Unscaled decimals of up to 15 digits, from numbers and plain text. */
export function quickDecimal(scale: number): ((value: unknown) => number) | undefined {
  if (scale > 15) return undefined;
  const factor = 10 ** scale;
  return (value) => {
    if (typeof value === 'number') {
      // Two decimals of up to 15 digits are never the same double: the division tells whether these are the number's own.
      const unscaled = Math.round(value * factor);
      return Math.abs(unscaled) < 1e15 && unscaled / factor === value ? unscaled : Number.NaN;
    }
    return typeof value === 'string' ? decimalText(value, scale) : Number.NaN;
  };
}

function decimalText(text: string, scale: number): number {
  const negative = text.charCodeAt(0) === 45;
  const start = negative ? 1 : 0;
  if (text.length === start || text.length > start + 16) return Number.NaN;
  let unscaled = 0;
  let point = -1;
  for (let i = start; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit >= 0 && digit <= 9) unscaled = unscaled * 10 + digit;
    else if (digit === -2 && point < 0 && i > start) point = i;
    else return Number.NaN;
  }
  const missing = point < 0 ? scale : scale - (text.length - 1 - point);
  if (missing < 0) return Number.NaN;
  unscaled *= 10 ** missing;
  return unscaled < 1e15 ? (negative ? -unscaled : unscaled) : Number.NaN;
}
