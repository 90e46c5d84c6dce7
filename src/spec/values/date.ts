import { dayText, infiniteDays, maxDays, parseDay } from './calendar.ts';
import { compareOrdered, isDate, type ValueCodec, ValueError } from './value-codec.ts';

const dayMillis = 86_400_000;
/** The last day, either side of 1970, that a JavaScript Date reaches. */
const maxDateDays = 100_000_000;

/**
 * A day that no JavaScript Date reaches (beyond the year 275760, or infinite): an invalid Date that still carries which day it
 * is, so that it can be written again.
 */
export class FarDate extends Date {
  /** Days since 1970; ±2147483647 for the infinities. */
  readonly days: number;

  constructor(days: number) {
    super(Number.NaN);
    this.days = days;
  }

  /** DuckDB's text: `infinity`, `5881580-07-10`, `300000-01-01 (BC)`. */
  override toJSON(): string {
    return dateText(this.days);
  }
}

export const dateCodec: ValueCodec<number> = {
  encode(value) {
    if (typeof value === 'string') return parseDate(value);
    if (!isDate(value)) throw new ValueError('expected "YYYY-MM-DD" or a Date');
    if (typeof (value as FarDate).days === 'number' && Number.isNaN(value.getTime())) {
      const { days } = value as FarDate;
      if (Number.isInteger(days) && Math.abs(days) <= infiniteDays) return days;
    }
    const days = value.getTime() / dayMillis;
    if (Number.isNaN(days)) throw new ValueError('expected a valid Date');
    if (!Number.isInteger(days))
      throw new ValueError('expected a Date at midnight UTC or "YYYY-MM-DD": a date has no time of day');
    return days + 0;
  },
  decode: (physical) => (Math.abs(physical) <= maxDateDays ? new Date(physical * dayMillis) : new FarDate(physical)),
  text: dateText,
  fromText: parseDate,
  compare: compareOrdered,
};

function dateText(days: number): string {
  if (Math.abs(days) >= infiniteDays) return days > 0 ? 'infinity' : '-infinity';
  return dayText(days);
}

function parseDate(text: string): number {
  if (text === 'infinity') return infiniteDays;
  if (text === '-infinity') return -infiniteDays;
  const day = parseDay(text);
  if (day?.rest !== '') throw new ValueError('expected a date as "YYYY-MM-DD"');
  if (Math.abs(day.days) > maxDays)
    throw new ValueError('expected a date from 5877642-06-25 (BC) to 5881580-07-10, or "infinity"');
  return day.days;
}
