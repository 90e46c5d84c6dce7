import { parseDay } from './calendar.ts';
import { parseClock, splitOffset } from './time.ts';
import {
  floorDivide,
  fractionDigits,
  infinity,
  perSecond,
  Timestamp,
  type TimestampUnit,
  timestampText,
} from './timestamp.ts';
import { compareOrdered, isDate, type ValueCodec, ValueError } from './value-codec.ts';

/** What DuckDB can cast to text and back: the first and last finite value of each unit. */
const ranges: Readonly<Record<TimestampUnit, readonly [bigint, bigint]>> = {
  s: [-9_223_372_022_400n, 9_223_372_036_854n],
  ms: [-9_223_372_022_400_000n, 9_223_372_036_854_775n],
  us: [-9_223_372_022_400_000_000n, infinity - 1n],
  ns: [-9_223_286_400_000_000_000n, infinity - 1n],
};

const unitNames: Readonly<Record<TimestampUnit, string>> = {
  s: 'seconds',
  ms: 'milliseconds',
  us: 'microseconds',
  ns: 'nanoseconds',
};

/** Timestamps of a unit. With a time zone they are instants: their text says its offset. */
export function timestampCodec(unit: TimestampUnit, zoned = false): ValueCodec<bigint> {
  const suffix = zoned ? '+00' : '';
  const [low, high] = ranges[unit];
  const expected = `expected a Date, a bigint of ${unitNames[unit]} since 1970, or text as "YYYY-MM-DD HH:MM:SS${
    unit === 's' ? '' : `.${'f'.repeat(fractionDigits[unit])}`
  }${zoned ? '+HH:MM' : ''}"`;

  const finite = (epoch: bigint): bigint => {
    if (epoch >= low && epoch <= high) return epoch;
    throw new ValueError(`expected a timestamp from ${text(low)} to ${text(high)}, or infinity`);
  };
  const fit = (epoch: bigint): bigint => (epoch === infinity || epoch === -infinity ? epoch : finite(epoch));
  const text = (epoch: bigint): string => {
    const plain = timestampText(epoch, unit);
    return plain.endsWith('infinity') ? plain : plain + suffix;
  };
  /** `strict`: an instant has to say its offset, and a wall-clock time must not have one. DuckDB's own texts need neither. */
  const parse = (value: string, strict: boolean): bigint => {
    if (value === 'infinity') return infinity;
    if (value === '-infinity') return -infinity;
    const day = parseDay(value);
    if (!day) throw new ValueError(expected);
    let ticks = 0n;
    let offset: number | undefined;
    if (day.rest !== '') {
      const { clock, offset: found } = splitOffset(day.rest.slice(1));
      const parsed = /^[ Tt]/.test(day.rest) ? parseClock(clock, fractionDigits[unit]) : undefined;
      if (parsed === undefined || parsed > 86_400n * perSecond[unit]) throw new ValueError(expected);
      ticks = parsed;
      offset = found;
    }
    if (strict && zoned && offset === undefined)
      throw new ValueError('expected an offset from UTC ("Z" or "+HH:MM") at the end of the text of an instant');
    if (strict && !zoned && offset)
      throw new ValueError('expected text without an offset from UTC: the type has no time zone');
    return finite((BigInt(day.days) * 86_400n - BigInt(offset ?? 0)) * perSecond[unit] + ticks);
  };

  return {
    encode(value) {
      if (typeof value === 'bigint') return fit(value);
      if (typeof value === 'string') return parse(value, true);
      if (isDate(value)) return fit(fromDate(value, unit));
      throw new ValueError(expected);
    },
    decode: (physical) => new Timestamp(physical, unit),
    text,
    fromText: (value) => parse(value, false),
    compare: compareOrdered,
  };
}

function fromDate(date: Date, unit: TimestampUnit): bigint {
  const millis = date.getTime();
  // By its shape: a Timestamp may come from another copy of the library.
  const { nanos } = date as Partial<Timestamp>;
  if (typeof nanos === 'bigint') {
    if (nanos === infinity || nanos === -infinity) return nanos;
    if (!Number.isNaN(millis) && floorDivide(nanos, 1_000_000n) !== BigInt(millis))
      throw new ValueError(
        'expected a Timestamp that was not changed since it was made: pass new Date(value.getTime())',
      );
    return exact(nanos, 1_000_000_000n / perSecond[unit], unit);
  }
  if (Number.isNaN(millis)) throw new ValueError('expected a valid Date');
  return unit === 's' ? exact(BigInt(millis), 1000n, unit) : BigInt(millis) * (perSecond[unit] / 1000n);
}

function exact(ticks: bigint, by: bigint, unit: TimestampUnit): bigint {
  if (ticks % by !== 0n) throw new ValueError(`expected a time of whole ${unitNames[unit]}`);
  return ticks / by;
}
