import { compareOrdered, type ValueCodec, ValueError } from './value-codec.ts';

/**
 * decimal(p,s), stored unscaled. A bigint is the value itself (5n is 5), a number is taken by its shortest decimal text
 * and has to be within the safe integers.
 */
export function decimalCodec(precision: number, scale: number): ValueCodec<bigint> {
  const limit = 10n ** BigInt(precision);
  const factor = 10n ** BigInt(scale);
  const expected = `expected a decimal of at most ${precision - scale} digits before and ${scale} after the point`;
  const fit = (unscaled: bigint | undefined): bigint => {
    if (unscaled === undefined || unscaled >= limit || unscaled <= -limit) throw new ValueError(expected);
    return unscaled;
  };
  return {
    encode(value) {
      if (typeof value === 'string') return fit(parseDecimal(value, scale));
      if (typeof value === 'bigint') return fit(value * factor);
      if (typeof value !== 'number') throw new ValueError(`${expected}, as a string, bigint or number`);
      if (Math.abs(value) > Number.MAX_SAFE_INTEGER)
        throw new ValueError('a number of this size has lost digits: expected a string or bigint');
      return fit(parseDecimal(String(value), scale));
    },
    decode: (physical) => plainText(physical, scale),
    text: (physical) => duckdbText(physical, precision, scale),
    fromText: (text) => fit(parseDecimal(text, scale)),
    compare: compareOrdered,
  };
}

/** An unscaled decimal as plain text with all of its scale: `-1.50`. */
function plainText(unscaled: bigint, scale: number): string {
  if (scale === 0) return String(unscaled);
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** DuckDB leaves out the zero before the point when the type has no digit there. */
function duckdbText(unscaled: bigint, precision: number, scale: number): string {
  const text = plainText(unscaled, scale);
  return precision === scale ? text.replace('0.', '.') : text;
}

/** The unscaled value; `undefined` when the text is no number or has more digits after the point than the scale. */
function parseDecimal(text: string, scale: number): bigint | undefined {
  const match = /^([+-]?)(?:(\d+)\.?(\d*)|\.(\d+))(?:[eE]([+-]?\d{1,4}))?$/.exec(text);
  if (!match) return undefined;
  const [, sign, whole = '', after = '', bare = '', power = '0'] = match;
  const fraction = after + bare;
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return 0n;
  const shift = Number(power) - fraction.length + scale;
  // More digits than any decimal has: it doesn't fit, and its power of ten would only cost time.
  if (digits.length + shift > 40) return undefined;
  const cut = Math.max(0, -shift);
  if (cut > 0 && !/^0*$/.test(digits.slice(-cut))) return undefined;
  const kept = cut > 0 ? digits.slice(0, -cut) : digits + '0'.repeat(shift);
  const unscaled = BigInt(kept || '0');
  return sign === '-' ? -unscaled : unscaled;
}
