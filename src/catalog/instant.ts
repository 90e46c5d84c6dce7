import { LakeError } from '../errors.ts';
import { floorDivide, type Timestamp } from '../spec/values/timestamp.ts';

/** Microseconds since 1970: all that a `Timestamp` carries, since snapshots are closer to each other than a Date can tell. */
export function microsOf(time: Date): bigint {
  const millis = BigInt(time.getTime());
  // By its shape: a Timestamp may come from another copy of the library, and may have been changed since it was made.
  const { micros } = time as Partial<Timestamp>;
  return typeof micros === 'bigint' && floorDivide(micros, 1000n) === millis ? micros : millis * 1000n;
}

/** Microseconds since 1970 of an instant as databases write it: a space or a `T`, any fraction, any offset from UTC. */
export function instantMicros(text: string): number {
  const match =
    /^(\d{4,}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,6})\d*)?(?:Z|([+-])(\d\d)(?::?(\d\d))?(?::?(\d\d))?)?$/.exec(
      text,
    );
  if (!match) throw new LakeError('CORRUPT', `"${text.slice(0, 40)}" in the catalog is not an instant`);
  const [, date, time, fraction = '', sign, hours, minutes = '0', seconds = '0'] = match;
  const offset = sign ? (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * (sign === '-' ? -1 : 1) : 0;
  return (Date.parse(`${date}T${time}Z`) - offset * 1000) * 1000 + Number(fraction.padEnd(6, '0'));
}

/** `2024-01-15 12:30:00.123456+00`, as DuckDB writes instants: without the zeros that end a fraction. */
export function instantText(micros: number): string {
  const seconds = Math.floor(micros / 1e6);
  const fraction = String(micros - seconds * 1e6)
    .padStart(6, '0')
    .replace(/0+$/, '');
  const [date, time] = new Date(seconds * 1000).toISOString().split('T') as [string, string];
  return `${date} ${time.slice(0, 8)}${fraction && `.${fraction}`}+00`;
}
