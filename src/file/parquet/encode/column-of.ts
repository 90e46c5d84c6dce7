import { LakeError } from '../../../errors.ts';
import { typeText } from '../../../spec/types.ts';
import type { Physical } from '../../../spec/values/codec.ts';
import { storableCodec } from '../refuse.ts';
import { BlobColumn } from './blob-column.ts';
import { BooleanColumn } from './boolean-column.ts';
import type { ColumnEncoder, Leaf, Workbench } from './column.ts';
import { Decimal128Column, IntervalColumn, UuidColumn } from './fixed-column.ts';
import { FloatColumn } from './float-column.ts';
import { Int32Column, type Int32Input } from './int32-column.ts';
import { Int64Column, type Int64Input } from './int64-column.ts';
import { quickDate, quickDecimal, quickMicros, quickTime } from './quick-parse.ts';
import { TextColumn } from './text-column.ts';

/** The encoder of a leaf. UNSUPPORTED for types that can't be written. */
export function columnOf(leaf: Leaf, bench: Workbench): ColumnEncoder {
  const { type } = leaf.field;
  const codec = storableCodec(type);
  switch (type.name) {
    case 'boolean':
      return new BooleanColumn(leaf, codec, bench);
    case 'int8':
      return new Int32Column(leaf, codec, bench, integers(-128, 127));
    case 'int16':
      return new Int32Column(leaf, codec, bench, integers(-32768, 32767));
    case 'int32':
      return new Int32Column(leaf, codec, bench, integers(-(2 ** 31), 2 ** 31 - 1));
    case 'uint8':
      return new Int32Column(leaf, codec, bench, integers(0, 255));
    case 'uint16':
      return new Int32Column(leaf, codec, bench, integers(0, 65535));
    case 'uint32':
      return new Int32Column(leaf, codec, bench, integers(0, 2 ** 32 - 1));
    case 'date':
      return new Int32Column(leaf, codec, bench, { ...dates });
    case 'int64':
      return new Int64Column(leaf, codec, bench, { ...bigints, numbers: true });
    case 'uint64':
      return new Int64Column(leaf, codec, bench, {
        ...bigints,
        numbers: true,
        unsigned: true,
        low: 0n,
        high: 2n ** 64n - 1n,
      });
    case 'time':
      return new Int64Column(leaf, codec, bench, { ...times, convert: quickTime });
    case 'timetz':
      return new Int64Column(leaf, codec, bench, times);
    case 'timestamp':
      return new Int64Column(
        leaf,
        codec,
        bench,
        timestamps(1000, (value) => quickMicros(value, 6, false)),
      );
    case 'timestamptz':
      return new Int64Column(
        leaf,
        codec,
        bench,
        timestamps(1000, (value) => quickMicros(value, 6, true)),
      );
    case 'timestamp_ms':
      return new Int64Column(leaf, codec, bench, {
        ...timestamps(1, (value) => quickMicros(value, 3, false) / 1000),
        low: -farMillis,
        high: farMillis,
      });
    case 'timestamp_ns':
      return new Int64Column(leaf, codec, bench, timestamps(0, undefined));
    case 'timestamp_s':
      return new Int64Column(leaf, codec, bench, {
        ...timestamps(0, (value) => quickMicros(value, 0, false)),
        bigints: false,
        stored: (seconds) => (seconds as bigint) * 1_000_000n,
        physical: (micros) => micros / 1_000_000n,
      });
    case 'decimal': {
      const { precision, scale } = type;
      const convert = quickDecimal(scale);
      if (precision <= 9) {
        const high = 10 ** precision - 1;
        return new Int32Column(leaf, codec, bench, {
          ...integers(-high, high),
          numbers: false,
          convert,
          physical: BigInt,
        });
      }
      if (precision > 18) return new Decimal128Column(leaf, codec, bench);
      const high = 10n ** BigInt(precision) - 1n;
      return new Int64Column(leaf, codec, bench, { ...bigints, bigints: false, convert, low: -high, high });
    }
    case 'float32':
    case 'float64':
      return new FloatColumn(leaf, codec, bench, type.name === 'float32');
    case 'varchar':
      return new TextColumn(leaf, codec, bench, 'text');
    case 'json':
      return new TextColumn(leaf, codec, bench, 'json');
    case 'int128':
    case 'uint128':
      return new TextColumn(leaf, codec, bench, 'digits');
    case 'blob':
      return new BlobColumn(leaf, codec, bench);
    case 'uuid':
      return new UuidColumn(leaf, codec, bench);
    case 'interval':
      return new IntervalColumn(leaf, codec, bench);
    default:
      throw new LakeError('UNSUPPORTED', `columns of type ${typeText(type)} can't be written to Parquet`);
  }
}

/** The type's codec, which also refuses what the type has and Parquet can't carry. */
function integers(low: number, high: number): Int32Input {
  return {
    numbers: true,
    millis: 0,
    convert: undefined,
    unsigned: low === 0,
    low,
    high,
    physical: (value) => value,
  };
}

const dates: Int32Input = {
  ...integers(-(2 ** 31), 2 ** 31 - 1),
  numbers: false,
  millis: 86_400_000,
  convert: quickDate,
};

const bigints: Int64Input = {
  bigints: true,
  numbers: false,
  perMilli: 0,
  convert: undefined,
  unsigned: false,
  low: -(2n ** 63n),
  high: 2n ** 63n - 1n,
  stored: (physical: Physical) => physical as bigint,
  physical: (stored: bigint) => stored,
};

const times: Int64Input = { ...bigints, low: 0n, high: 86_400_000_000n };

/** Well within what every unit takes; what lies further out, the infinities among it, is the codec's. */
const far = 9n * 10n ** 18n;
const farMillis = 9n * 10n ** 15n;

function timestamps(perMilli: number, convert: Int64Input['convert']): Int64Input {
  return { ...bigints, perMilli, convert, low: -far, high: far };
}
