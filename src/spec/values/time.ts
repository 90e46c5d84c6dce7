import { twoDigits } from './calendar.ts';
import { compareOrdered, type ValueCodec, ValueError } from './value-codec.ts';

const dayMicros = 86_400_000_000n;

/** Microseconds since midnight. 24:00:00 is a time, as in DuckDB. */
export const timeCodec: ValueCodec<bigint> = {
  encode(value) {
    if (typeof value === 'bigint') return withinDay(value);
    return parseTime(value, 'expected a time as "HH:MM:SS.ffffff", or a bigint of microseconds since midnight');
  },
  decode: (physical) => clockText(physical, 6),
  text: (physical) => clockText(physical, 6),
  fromText: (text) => parseTime(text, 'expected a time as "HH:MM:SS.ffffff"'),
  compare: compareOrdered,
};

/** A time of day in UTC: an offset is applied, not kept, since Parquet keeps none. */
export const timetzCodec: ValueCodec<bigint> = {
  encode(value) {
    if (typeof value === 'bigint') return withinDay(value);
    return parseTimetz(value);
  },
  decode: (physical) => `${clockText(physical, 6)}+00`,
  text: (physical) => `${clockText(physical, 6)}+00`,
  fromText: parseTimetz,
  compare: compareOrdered,
};

function withinDay(micros: bigint): bigint {
  if (micros < 0n || micros > dayMicros) throw new ValueError('expected 0 to 86400000000 microseconds since midnight');
  return micros;
}

function parseTime(value: unknown, expected: string): bigint {
  const micros = typeof value === 'string' && /^\d\d:/.test(value) ? parseClock(value, 6) : undefined;
  if (micros === undefined || micros > dayMicros) throw new ValueError(expected);
  return micros;
}

function parseTimetz(value: unknown): bigint {
  const expected = 'expected a time with its offset from UTC as "HH:MM:SS.ffffff+HH:MM"';
  if (typeof value !== 'string') throw new ValueError(`${expected}, or a bigint of microseconds since midnight UTC`);
  const { clock, offset } = splitOffset(value);
  if (offset === undefined) throw new ValueError(expected);
  const micros = parseTime(clock, expected) - BigInt(offset) * 1_000_000n;
  // Midnight at the end of a day stays there; everything else is the same time on the day that it falls on.
  return micros >= 0n && micros <= dayMicros ? micros : ((micros % dayMicros) + dayMicros) % dayMicros;
}

/** `HH:MM:SS`, with as many digits of the fraction as are needed. Hours may exceed 24 (intervals). */
export function clockText(ticks: bigint, digits: number): string {
  const perSecond = 10n ** BigInt(digits);
  const seconds = Number(ticks / perSecond);
  const fraction = Number(ticks % perSecond);
  const minutes = Math.floor(seconds / 60);
  const clock = `${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}:${twoDigits(seconds % 60)}`;
  return fraction === 0 ? clock : `${clock}.${String(fraction).padStart(digits, '0').replace(/0+$/, '')}`;
}

/**
 * Ticks (10^-digits seconds) of a text `HH:MM[:SS[.fraction]]`; `undefined` when it is none, or its fraction is finer than
 * a tick.
 */
export function parseClock(text: string, digits: number): bigint | undefined {
  const match = /^(\d{2,10}):([0-5]\d)(?::([0-5]\d)(?:[.,](\d+))?)?$/.exec(text);
  if (!match) return undefined;
  const [, hours, minutes, seconds = '0', fraction = ''] = match;
  if (!/^0*$/.test(fraction.slice(digits))) return undefined;
  const whole = (BigInt(hours!) * 60n + BigInt(minutes!)) * 60n + BigInt(seconds);
  return whole * 10n ** BigInt(digits) + BigInt(fraction.slice(0, digits).padEnd(digits, '0') || '0');
}

/** A clock's text without the offset at its end, and that offset in seconds east of UTC. */
export function splitOffset(text: string): { readonly clock: string; readonly offset: number | undefined } {
  const match = /(?:Z|([+-])(\d\d)(?::?([0-5]\d)(?::([0-5]\d))?)?)$/.exec(text);
  if (!match) return { clock: text, offset: undefined };
  const [all, sign, hours = '0', minutes = '0', seconds = '0'] = match;
  // DuckDB's limit is 15:59:59.
  if (Number(hours) > 15) return { clock: text, offset: undefined };
  const offset = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return { clock: text.slice(0, -all.length), offset: sign === '-' ? -offset : offset };
}
