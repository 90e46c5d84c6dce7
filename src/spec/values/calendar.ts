/** The proleptic Gregorian calendar over days since 1970-01-01. Years are astronomical: 0 is 1 BC. */

export const infiniteDays: number = 2 ** 31 - 1;

/** DuckDB's dates: those further from 1970 have no text there. */
export const maxDays: number = infiniteDays - 1;

/** Days since 1970 of a date; `undefined` when there is no such day. */
export function daysOf(year: number, month: number, day: number): number | undefined {
  if (month < 1 || month > 12 || day < 1 || day > lastDay(year, month)) return undefined;
  // Years begin in March, so that the leap day is the last of its year.
  const shifted = month > 2 ? year : year - 1;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146097 + dayOfEra - 719468;
}

function lastDay(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/** DuckDB's text of a day: `2024-01-15`, `0044-03-15 (BC)`, `12024-01-15`. */
export function dayText(days: number): string {
  const shifted = days + 719468;
  const era = Math.floor(shifted / 146097);
  const dayOfEra = shifted - era * 146097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36524) - Math.floor(dayOfEra / 146096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1;
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0);
  const shown = String(year > 0 ? year : 1 - year).padStart(4, '0');
  return `${shown}-${twoDigits(month)}-${twoDigits(day)}${year > 0 ? '' : ' (BC)'}`;
}

export function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}

const dayPattern = /^([+-]?)(\d{4,7})-(\d\d)-(\d\d)( \(BC\))?/;

/**
 * The day at the start of a text, and what follows it. Takes ISO dates, those with a sign and more digits in the year as
 * JavaScript writes them, and DuckDB's ` (BC)`.
 */
export function parseDay(text: string): { readonly days: number; readonly rest: string } | undefined {
  const match = dayPattern.exec(text);
  if (!match) return undefined;
  const [all, sign, digits, month, day, bc] = match;
  if (bc !== undefined && (sign !== '' || Number(digits) === 0)) return undefined;
  const year = bc !== undefined ? 1 - Number(digits) : sign === '-' ? -Number(digits) : Number(digits);
  const days = daysOf(year, Number(month), Number(day));
  return days === undefined ? undefined : { days, rest: text.slice(all.length) };
}
