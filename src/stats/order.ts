import type { ColumnType } from '../spec/types.ts';
import { parseDay } from '../spec/values/calendar.ts';
import { compareUtf8 } from '../spec/values/text.ts';
import { parseClock, splitOffset } from '../spec/values/time.ts';
import type { BoundsOrder } from './column-stats.ts';

/** How the bounds of a type compare as text. Types without bounds in files get an order too. */
export function boundsOrder(type: ColumnType): BoundsOrder {
  switch (type.name) {
    case 'boolean':
    case 'int8':
    case 'int16':
    case 'int32':
    case 'int64':
    case 'int128':
    case 'uint8':
    case 'uint16':
    case 'uint32':
    case 'uint64':
    case 'uint128':
    case 'float32':
    case 'float64':
    case 'decimal':
      return 'number';
    case 'date':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_s':
    case 'timestamp_ms':
    case 'timestamp_ns':
      return 'temporal';
    default:
      return 'bytes';
  }
}

/** Compares two bounds; `undefined` when one of them can't be read in that order. */
export function compareBounds(a: string, b: string, order: BoundsOrder): number | undefined {
  if (a === b) return 0;
  if (order === 'bytes') return compareUtf8(a, b);
  if (order === 'number') return compareKeys(numberKey(a), numberKey(b), compareNumbers);
  return compareKeys(temporalKey(a), temporalKey(b), (x, y) => (x < y ? -1 : x > y ? 1 : 0));
}

function compareKeys<Key>(
  a: Key | undefined,
  b: Key | undefined,
  compare: (a: Key, b: Key) => number,
): number | undefined {
  return a === undefined || b === undefined ? undefined : compare(a, b);
}

/** A number with all of its digits: sign × 0.digits × 10^exponent. No leading or trailing zeros; zero has no digits. */
interface NumberKey {
  readonly sign: -1 | 0 | 1;
  readonly exponent: number;
  readonly digits: string;
}

/** Exact for 38-digit decimals and for floats in DuckDB's text, which never rounds two of them to one. */
function numberKey(text: string): NumberKey | undefined {
  // Of booleans, in DuckDB's bounds of inlined rows.
  if (text === 'true' || text === 'false') return numberKey(text === 'true' ? '1' : '0');
  const match = /^(-?)(?:(nan|inf(?:inity)?)|(\d*)\.?(\d*)(?:e([+-]?\d{1,4}))?)$/i.exec(text);
  if (!match) return undefined;
  const [, minus, infinite, whole = '', fraction = '', power = '0'] = match;
  const sign = minus === '-' ? -1 : 1;
  // DuckDB writes NaN as a bound of inlined rows: above everything else.
  if (infinite) return { sign, exponent: Number.POSITIVE_INFINITY, digits: /^nan/i.test(infinite) ? '2' : '1' };
  const all = whole + fraction;
  if (all === '') return undefined;
  const digits = all.replace(/^0+/, '');
  if (digits === '') return { sign: 0, exponent: 0, digits: '' };
  const exponent = whole.length - (all.length - digits.length) + Number(power);
  return { sign, exponent, digits: digits.replace(/0+$/, '') };
}

function compareNumbers(a: NumberKey, b: NumberKey): number {
  if (a.sign !== b.sign) return a.sign - b.sign;
  if (a.exponent !== b.exponent) return a.exponent < b.exponent ? -a.sign : a.sign;
  return a.digits === b.digits ? 0 : a.digits < b.digits ? -a.sign : a.sign;
}

const dayNanos = 86_400_000_000_000n;
/** Beyond every date. */
const infinite = 2n ** 100n;

/** Nanoseconds since 1970 (since midnight, for a time of day) of DuckDB's text of a date, time or timestamp. */
function temporalKey(text: string): bigint | undefined {
  if (text === 'infinity') return infinite;
  if (text === '-infinity') return -infinite;
  const day = parseDay(text);
  const clockText = day ? day.rest.replace(/^[ T]/, '') : text;
  if (day && clockText === '') return BigInt(day.days) * dayNanos;
  const { clock, offset = 0 } = splitOffset(clockText);
  const ticks = parseClock(clock, 9);
  return ticks === undefined ? undefined : BigInt(day?.days ?? 0) * dayNanos + ticks - BigInt(offset) * 1_000_000_000n;
}
