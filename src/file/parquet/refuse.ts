import { LakeError, showValue } from '../../errors.ts';
import type { Field } from '../../schema/field.ts';
import { type ColumnType, typeText } from '../../spec/types.ts';
import { codecFor } from '../../spec/values/codec.ts';
import { infinity } from '../../spec/values/timestamp.ts';
import { type Interval, type Physical, type ValueCodec, ValueError } from '../../spec/values/value-codec.ts';

/** Where a value stands. */
export interface ValuePlace {
  readonly schema: string;
  readonly table: string;
  readonly field: Field;
  /** Index of the row in what the caller handed over. */
  readonly row: number;
}

/** The error for a value that a column can't take. `reason` says what was expected. */
export function invalidValue({ schema, table, field, row }: ValuePlace, value: unknown, reason: string): LakeError {
  const shown = showValue(value);
  return new LakeError(
    'INVALID_VALUE',
    `"${schema}"."${table}", column "${field.name}" (${typeText(field.type)}), row ${row}: ${reason}, not ${shown}`,
    { context: { schema, table, column: field.name, row, value: shown } },
  );
}

/** The error for a NULL in a column that takes none. */
export function missingValue(place: ValuePlace, value: null | undefined): LakeError {
  return invalidValue(place, value, 'expected a value, since the column is NOT NULL');
}

/** What went wrong with a value, as the error that the caller gets: other errors than a refusal pass through. */
export function explain(error: unknown, place: ValuePlace, value: unknown): unknown {
  return error instanceof ValueError ? invalidValue(place, value, error.message) : error;
}

const maxUint32 = 2 ** 32 - 1;

/**
 * A check for values that the type has and Parquet can't carry; it throws ValueError. `undefined` when Parquet carries them all.
 * - Intervals: Parquet has whole milliseconds, and no negative parts.
 * - An infinite timestamp_s: Parquet has no seconds, and DuckDB makes a finite time of infinite microseconds.
 */
export function storableCheck(type: ColumnType): ((value: Physical) => void) | undefined {
  if (type.name === 'timestamp_s')
    return (value) => {
      if (value === infinity || value === -infinity)
        throw new ValueError('expected a finite time: Parquet keeps no infinite timestamp_s');
    };
  if (type.name === 'interval')
    return (value) => {
      const { months, days, micros } = value as Interval;
      if (months < 0 || days < 0 || micros < 0n)
        throw new ValueError('expected an interval without negative parts: Parquet keeps none');
      if (micros % 1000n !== 0n || micros / 1000n > maxUint32)
        throw new ValueError('expected an interval of whole milliseconds, up to 4294967295: Parquet keeps no others');
    };
  return undefined;
}

/** The type's codec, which refuses what Parquet can't carry. */
export function storableCodec(type: ColumnType): ValueCodec {
  const codec = codecFor(type);
  const check = storableCheck(type);
  if (check === undefined) return codec;
  return {
    ...codec,
    encode(value) {
      const physical = codec.encode(value);
      check(physical);
      return physical;
    },
  };
}
