import type { Field } from '../../schema/field.ts';
import type { ArrowLibrary, LibraryField, LibrarySchema, LibraryType } from './module.ts';

/** Digits of a 128-bit integer, of which some are too many for a Decimal128. */
const integerDigits = 39;

export function arrowSchema(arrow: ArrowLibrary, fields: readonly Field[]): LibrarySchema {
  return new arrow.Schema(fields.map((field) => arrowField(arrow, field, field.name)));
}

/** JSON and UUIDs are marked as Arrow's extension types of these names. */
function arrowField(arrow: ArrowLibrary, field: Field, name: string, nullable: boolean = field.nullable): LibraryField {
  const type = typeOf(arrow, field);
  if (field.type.name !== 'json' && field.type.name !== 'uuid') return new arrow.Field(name, type, nullable);
  const metadata = new Map([
    ['ARROW:extension:name', `arrow.${field.type.name}`],
    ['ARROW:extension:metadata', ''],
  ]);
  return new arrow.Field(name, type, nullable, metadata);
}

function typeOf(arrow: ArrowLibrary, { type, children }: Field): LibraryType {
  const [first, second] = children;
  switch (type.name) {
    case 'decimal':
      return new arrow.Decimal(type.scale, type.precision, 128);
    case 'int128':
    case 'uint128':
      return new arrow.Decimal(0, integerDigits, 256);
    case 'timestamptz':
      return new arrow.TimestampMicrosecond('UTC');
    case 'uuid':
      return new arrow.FixedSizeBinary(16);
    case 'list':
      return new arrow.List(arrowField(arrow, first!, 'item'));
    case 'struct':
      return new arrow.Struct(children.map((child) => arrowField(arrow, child, child.name)));
    case 'map': {
      const members = [arrowField(arrow, first!, 'key', false), arrowField(arrow, second!, 'value')];
      return new arrow.Map_(new arrow.Field('entries', new arrow.Struct(members), false));
    }
    default:
      return new arrow[classNames[type.name as keyof typeof classNames]]();
  }
}

/** Types without parameters. Columns of types that can't be read are refused before. */
const classNames = {
  boolean: 'Bool',
  int8: 'Int8',
  int16: 'Int16',
  int32: 'Int32',
  int64: 'Int64',
  uint8: 'Uint8',
  uint16: 'Uint16',
  uint32: 'Uint32',
  uint64: 'Uint64',
  float32: 'Float32',
  float64: 'Float64',
  varchar: 'Utf8',
  json: 'Utf8',
  blob: 'Binary',
  date: 'DateDay',
  time: 'TimeMicrosecond',
  timetz: 'TimeMicrosecond',
  timestamp: 'TimestampMicrosecond',
  timestamp_s: 'TimestampSecond',
  timestamp_ms: 'TimestampMillisecond',
  timestamp_ns: 'TimestampNanosecond',
  interval: 'IntervalMonthDayNano',
} as const;
