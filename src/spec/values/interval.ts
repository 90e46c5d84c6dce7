import { clockText, parseClock } from './time.ts';
import { compareOrdered, type Interval, type ValueCodec, ValueError } from './value-codec.ts';

const expected = 'expected { months, days, micros }: 32-bit integers, and a bigint or safe integer of 64 bits';

export const intervalCodec: ValueCodec<Interval> = {
  encode(value) {
    if (typeof value !== 'object' || value === null) throw new ValueError(expected);
    const parts = value as Record<string, unknown>;
    for (const key of Object.keys(parts))
      if (key !== 'months' && key !== 'days' && key !== 'micros') throw new ValueError(expected);
    const { months, days, micros } = parts;
    if (!isInt32(months) || !isInt32(days)) throw new ValueError(expected);
    if (typeof micros !== 'bigint' && !Number.isSafeInteger(micros)) throw new ValueError(expected);
    return { months: months + 0, days: days + 0, micros: int64(BigInt(micros as number | bigint)) };
  },
  decode: (physical) => physical,
  text: intervalText,
  fromText: parseInterval,
  compare: (a, b) => compareOrdered(length(a), length(b)),
};

function isInt32(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= -(2 ** 31) && (value as number) < 2 ** 31;
}

function int64(value: bigint): bigint {
  if (BigInt.asIntN(64, value) !== value) throw new ValueError(expected);
  return value;
}

/** In microseconds, a month taken as 30 days, as DuckDB compares intervals. */
function length({ months, days, micros }: Interval): bigint {
  return (BigInt(months) * 30n + BigInt(days)) * 86_400_000_000n + micros;
}

/** DuckDB's text: `1 year 2 months 3 days 04:05:06.5`. */
function intervalText({ months, days, micros }: Interval): string {
  const parts: string[] = [];
  const add = (count: number, unit: string): void => {
    if (count !== 0) parts.push(`${count} ${unit}${Math.abs(count) === 1 ? '' : 's'}`);
  };
  add(Math.trunc(months / 12), 'year');
  add(months % 12, 'month');
  add(days, 'day');
  if (micros !== 0n || parts.length === 0) parts.push(micros < 0n ? `-${clockText(-micros, 6)}` : clockText(micros, 6));
  return parts.join(' ');
}

function parseInterval(text: string): Interval {
  const match =
    /^(?:(-?\d+) years?)?(?: ?(-?\d+) months?)?(?: ?(-?\d+) days?)?(?:(?:^| )(-?)(\d+:\d\d:\d\d(?:\.\d{1,6})?))?$/.exec(
      text,
    );
  if (!match || text === '') throw new ValueError('expected an interval such as "1 year 2 months 3 days 04:05:06.5"');
  const [, years = '0', months = '0', days = '0', sign, clock] = match;
  const micros = clock === undefined ? 0n : parseClock(clock, 6)!;
  return intervalCodec.encode({
    months: Number(years) * 12 + Number(months),
    days: Number(days),
    micros: sign === '-' ? -micros : micros,
  });
}
