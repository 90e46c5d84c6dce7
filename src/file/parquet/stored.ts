import type { ColumnType } from '../../spec/types.ts';
import { uuidBytes } from '../../spec/values/uuid.ts';
import type { Interval, Physical } from '../../spec/values/value-codec.ts';

/** A value as Parquet's encodings take it. */
export type Stored = number | bigint | string | boolean | Uint8Array;

/** From physical values to what Parquet stores; `undefined` where they are the same. */
export function storedForm(type: ColumnType): ((value: Physical) => Stored) | undefined {
  switch (type.name) {
    case 'int128':
    case 'uint128':
      return String;
    case 'uuid':
      return (value) => uuidBytes(value as string);
    case 'blob':
      // Kept until the row group is written: the caller may fill its buffer anew before that.
      return (value) => new Uint8Array(value as Uint8Array);
    case 'interval':
      return (value) => intervalBytes(value as Interval);
    case 'timestamp_s':
      return (value) => (value as bigint) * 1_000_000n;
    default:
      return undefined;
  }
}

/** Months, days and milliseconds as unsigned little-endian 32-bit words. */
function intervalBytes({ months, days, micros }: Interval): Uint8Array {
  const view = new DataView(new ArrayBuffer(12));
  view.setUint32(0, months, true);
  view.setUint32(4, days, true);
  view.setUint32(8, Number(micros / 1000n), true);
  return new Uint8Array(view.buffer);
}
