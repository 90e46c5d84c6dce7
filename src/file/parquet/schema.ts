import type { SchemaElement } from 'hyparquet';
import { LakeError } from '../../errors.ts';
import type { Field } from '../../schema/field.ts';
import { type ColumnType, typeText } from '../../spec/types.ts';

/** The schema of a file with these columns: a root element, then the columns. Every column is optional and has its field id. */
export function schemaElements(fields: readonly Field[]): SchemaElement[] {
  return [
    { name: 'duckdb_schema', repetition_type: 'REQUIRED', num_children: fields.length },
    ...fields.map((field) => leafElement(field.name, field.type, field.id)),
  ];
}

/** A column that isn't nested. */
export function leafElement(name: string, type: ColumnType, fieldId: number): SchemaElement {
  return { ...storage(type), name, repetition_type: 'OPTIONAL', field_id: fieldId };
}

type Storage = Omit<SchemaElement, 'name'>;

/**
 * How a type is stored: as DuckDB stores it, but for the 128-bit integers. DuckDB makes doubles of those and loses digits; it
 * reads them exactly, in filters too, from text.
 */
function storage(type: ColumnType): Storage {
  if (type.name === 'decimal') return decimalStorage(type.precision, type.scale);
  const found = storages.get(type.name);
  if (!found) throw new LakeError('UNSUPPORTED', `columns of type ${typeText(type)} can't be written to Parquet yet`);
  return found;
}

function decimalStorage(precision: number, scale: number): Storage {
  const annotation: Storage = {
    converted_type: 'DECIMAL',
    precision,
    scale,
    logical_type: { type: 'DECIMAL', precision, scale },
  };
  if (precision <= 9) return { type: 'INT32', ...annotation };
  if (precision <= 18) return { type: 'INT64', ...annotation };
  return { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, ...annotation };
}

const text: Storage = { type: 'BYTE_ARRAY', converted_type: 'UTF8' };

const timestampMicros = (isAdjustedToUTC: boolean): Storage => ({
  type: 'INT64',
  converted_type: 'TIMESTAMP_MICROS',
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC, unit: 'MICROS' },
});

const timeMicros = (isAdjustedToUTC: boolean): Storage => ({
  type: 'INT64',
  converted_type: 'TIME_MICROS',
  logical_type: { type: 'TIME', isAdjustedToUTC, unit: 'MICROS' },
});

const storages: ReadonlyMap<string, Storage> = new Map<string, Storage>([
  ['boolean', { type: 'BOOLEAN' }],
  // DuckDB refuses files that annotate integers by logical type.
  ['int8', { type: 'INT32', converted_type: 'INT_8' }],
  ['int16', { type: 'INT32', converted_type: 'INT_16' }],
  ['int32', { type: 'INT32', converted_type: 'INT_32' }],
  ['int64', { type: 'INT64', converted_type: 'INT_64' }],
  ['int128', text],
  ['uint8', { type: 'INT32', converted_type: 'UINT_8' }],
  ['uint16', { type: 'INT32', converted_type: 'UINT_16' }],
  ['uint32', { type: 'INT32', converted_type: 'UINT_32' }],
  ['uint64', { type: 'INT64', converted_type: 'UINT_64' }],
  ['uint128', text],
  ['float32', { type: 'FLOAT' }],
  ['float64', { type: 'DOUBLE' }],
  ['varchar', text],
  ['json', { type: 'BYTE_ARRAY', converted_type: 'JSON', logical_type: { type: 'JSON' } }],
  ['blob', { type: 'BYTE_ARRAY' }],
  ['uuid', { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, logical_type: { type: 'UUID' } }],
  ['date', { type: 'INT32', converted_type: 'DATE' }],
  ['time', timeMicros(false)],
  ['timetz', timeMicros(true)],
  ['timestamp', timestampMicros(false)],
  ['timestamptz', timestampMicros(true)],
  ['timestamp_s', timestampMicros(false)],
  [
    'timestamp_ms',
    {
      type: 'INT64',
      converted_type: 'TIMESTAMP_MILLIS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'MILLIS' },
    },
  ],
  ['timestamp_ns', { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'NANOS' } }],
  ['interval', { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 12, converted_type: 'INTERVAL' }],
]);

/**
 * Whether Parquet's own statistics of a type are of use: readers may skip by them. Not for digits stored as text, whose order is
 * another one, nor for intervals, which have none, nor for JSON, whose bounds can't be shortened.
 */
export function hasFooterBounds(type: ColumnType): boolean {
  return type.name !== 'int128' && type.name !== 'uint128' && type.name !== 'interval' && type.name !== 'json';
}
