import { compareOrdered, type ValueCodec, ValueError } from './value-codec.ts';

/** Integers of up to 32 bits, stored as numbers. */
export function smallIntegerCodec(bits: 8 | 16 | 32, signed: boolean): ValueCodec<number> {
  const [low, high] = signed ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
  const expected = `expected an integer from ${low} to ${high}`;
  return {
    encode(value) {
      if (typeof value === 'number' ? Number.isInteger(value) : typeof value === 'bigint') {
        const number = Number(value);
        // A bigint rounds when it becomes a number, but never into this range. Adding zero makes -0 the integer 0.
        if (number >= low && number <= high) return number + 0;
      }
      throw new ValueError(expected);
    },
    decode: (physical) => physical,
    text: (physical) => String(physical),
    fromText: (text) => Number(digits(text, BigInt(low), BigInt(high), expected)),
    compare: compareOrdered,
  };
}

/** Integers of 64 and 128 bits, stored as bigints. */
export function bigIntegerCodec(bits: 64 | 128, signed: boolean): ValueCodec<bigint> {
  const width = BigInt(bits);
  const [low, high] = signed ? [-(1n << (width - 1n)), (1n << (width - 1n)) - 1n] : [0n, (1n << width) - 1n];
  const expected = `expected a bigint from ${low} to ${high}, or a number that is a safe integer`;
  return {
    encode(value) {
      if (typeof value === 'bigint' ? value >= low && value <= high : isSafe(value, signed)) {
        return BigInt(value as number | bigint);
      }
      throw new ValueError(expected);
    },
    decode: (physical) => physical,
    text: (physical) => String(physical),
    fromText: (text) => digits(text, low, high, expected),
    compare: compareOrdered,
  };
}

function isSafe(value: unknown, signed: boolean): boolean {
  return Number.isSafeInteger(value) && (signed || (value as number) >= 0);
}

function digits(text: string, low: bigint, high: bigint, expected: string): bigint {
  if (!/^[+-]?\d{1,40}$/.test(text)) throw new ValueError(expected);
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  if (value < low || value > high) throw new ValueError(expected);
  return value;
}
