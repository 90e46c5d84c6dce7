import type { ColumnType } from '../../spec/types.ts';
import { codecFor, type Physical } from '../../spec/values/codec.ts';
import type { Interval } from '../../spec/values/value-codec.ts';
import type { Comparison } from './expression.ts';

/** How stored values of a type compare in filters: as in DuckDB. */
export function compareOf(type: ColumnType): (a: Physical, b: Physical) => number {
  if (type.name === 'interval') return (a, b) => compareIntervals(a as Interval, b as Interval);
  return codecFor(type).compare;
}

const outcomes: Readonly<Record<Comparison, readonly [boolean, boolean, boolean]>> = {
  eq: [false, true, false],
  ne: [true, false, true],
  lt: [true, false, false],
  lte: [true, true, false],
  gt: [false, false, true],
  gte: [false, true, true],
};

/** What a comparison says of a lesser, an equal and a greater value, in the caller's truth values. */
export function outcomesOf(op: Comparison, isTrue: number, isFalse: number): readonly [number, number, number] {
  const [less, equal, greater] = outcomes[op];
  return [less ? isTrue : isFalse, equal ? isTrue : isFalse, greater ? isTrue : isFalse];
}

/** Something that a Set tells apart exactly where two values differ; `undefined` where the values themselves are that. */
export function keyOf(type: ColumnType): ((value: Physical) => unknown) | undefined {
  if (type.name === 'interval') return (value) => normalized(value as Interval).join(' ');
  if (type.name !== 'blob') return undefined;
  return (value) => {
    let key = '';
    for (const byte of value as Uint8Array) key += String.fromCharCode(byte);
    return key;
  };
}

const microsPerDay = 86_400_000_000n;
const microsPerMonth = 30n * microsPerDay;

/** Whole months in the days, and whole months and days in the microseconds, move up; parts of different signs stay apart. */
function normalized(interval: Interval): readonly [bigint, bigint, bigint] {
  const days = BigInt(interval.days);
  const micros = interval.micros % microsPerMonth;
  return [
    BigInt(interval.months) + days / 30n + interval.micros / microsPerMonth,
    (days % 30n) + micros / microsPerDay,
    micros % microsPerDay,
  ];
}

function compareIntervals(a: Interval, b: Interval): number {
  const left = normalized(a);
  const right = normalized(b);
  for (let i = 0; i < 3; i++) if (left[i]! !== right[i]!) return left[i]! < right[i]! ? -1 : 1;
  return 0;
}
