import type { SchemaElement } from 'hyparquet';
import type { ColumnType } from '../../spec/types.ts';
import { infinity } from '../../spec/values/timestamp.ts';
import { uuidText } from '../../spec/values/uuid.ts';
import type { Interval, Physical } from '../../spec/values/value-codec.ts';
import { corrupt } from './footer.ts';

/** A value as the Parquet decoder gives it when it converts nothing but text. */
export type Raw = number | bigint | boolean | string | Uint8Array;

/** What a file's column is, whatever the table makes of it. */
export interface Source {
  readonly type: ColumnType;
  /** From raw Parquet values to physical ones; `undefined` where they are the same. */
  readonly load: ((raw: Raw) => Physical) | undefined;
}

/** The type of a file's column as DuckDB sees it; `undefined` for one that this version can't read. */
export function sourceOf(element: SchemaElement): Source | undefined {
  const { type, type_length } = element;
  const annotation = element.logical_type?.type ?? element.converted_type;
  switch (type) {
    case 'BOOLEAN':
      return annotation === undefined ? same('boolean') : undefined;
    case 'FLOAT':
      return same('float32');
    case 'DOUBLE':
      return same('float64');
    case 'INT32':
    case 'INT64':
      return integerSource(element) ?? decimalSource(element) ?? clockSource(element);
    case 'INT96':
      return { type: { name: 'timestamp' }, load: loadedInt96 };
    case 'BYTE_ARRAY':
      if (isText(element)) return same(annotation === 'JSON' ? 'json' : 'varchar');
      return (
        decimalSource(element) ?? (annotation === undefined ? { type: { name: 'blob' }, load: copied } : undefined)
      );
    case 'FIXED_LEN_BYTE_ARRAY':
      if (annotation === 'UUID' && type_length === 16)
        return { type: { name: 'uuid' }, load: (raw) => uuidText(raw as Uint8Array) };
      if (annotation === 'INTERVAL' && type_length === 12) return { type: { name: 'interval' }, load: loadedInterval };
      return (
        decimalSource(element) ?? (annotation === undefined ? { type: { name: 'blob' }, load: copied } : undefined)
      );
    default:
      return undefined;
  }
}

/** Whether the decoder is to make strings of a column's bytes, once for each entry of a dictionary. */
export function isText({ type, converted_type, logical_type }: SchemaElement): boolean {
  return type === 'BYTE_ARRAY' && /^(UTF8|STRING|ENUM|JSON)$/.test(logical_type?.type ?? converted_type ?? '');
}

/** The decoder's bytes are views of whole pages, which they would keep alive. */
const copied = (raw: Raw): Uint8Array => (raw as Uint8Array).slice();

function same(name: 'boolean' | 'float32' | 'float64' | 'varchar' | 'json'): Source {
  return { type: { name }, load: undefined };
}

/** An integer that is neither a date, a time nor a decimal. */
function integerSource({ type, converted_type, logical_type }: SchemaElement): Source | undefined {
  const named = /^(U?)INT_(8|16|32|64)$/.exec(converted_type ?? '');
  if ((converted_type !== undefined && !named) || !isInteger(logical_type)) return undefined;
  const width = type === 'INT64' ? 64 : 32;
  const isUnsigned = named ? named[1] === 'U' : logical_type?.type === 'INTEGER' && !logical_type.isSigned;
  const logicalWidth = logical_type?.type === 'INTEGER' ? logical_type.bitWidth : width;
  const bits = Math.min(width, Number(named?.[2] ?? logicalWidth));
  const name = `${isUnsigned ? 'u' : ''}int${bits}` as 'int64';
  const load = width === 64 ? (raw: Raw) => BigInt.asUintN(64, raw as bigint) : (raw: Raw) => (raw as number) >>> 0;
  return { type: { name }, load: isUnsigned ? load : undefined };
}

/** Columns of NULLs alone are marked so by writers that have a type for that: pyarrow, hence pandas. */
const isInteger = (logical: SchemaElement['logical_type']): boolean =>
  logical === undefined || logical.type === 'INTEGER' || logical.type === 'NULL';

function decimalSource(element: SchemaElement): Source | undefined {
  const { type, converted_type, logical_type } = element;
  if (converted_type !== 'DECIMAL' && logical_type?.type !== 'DECIMAL') return undefined;
  const logical = logical_type?.type === 'DECIMAL' ? logical_type : undefined;
  const precision = element.precision ?? logical?.precision ?? 38;
  if (precision > 38) return undefined;
  const scale = element.scale ?? logical?.scale ?? 0;
  if (!(Number.isInteger(scale) && scale >= 0 && scale <= 38))
    throw corrupt(`decimals with ${scale} digits after the point`);
  const load =
    type === 'INT64'
      ? undefined
      : type === 'INT32'
        ? (raw: Raw) => BigInt(raw as number)
        : (raw: Raw) => signedInteger(raw as Uint8Array);
  return { type: { name: 'decimal', precision, scale }, load };
}

/** A two's complement integer, big-endian. */
function signedInteger(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length === 16) return (view.getBigInt64(0) << 64n) | view.getBigUint64(8);
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return BigInt.asIntN(bytes.length * 8, value);
}

/** Dates, times and timestamps. */
function clockSource({ type, converted_type, logical_type }: SchemaElement): Source | undefined {
  if (logical_type?.type === 'DATE' || converted_type === 'DATE')
    return type === 'INT32' ? { type: { name: 'date' }, load: undefined } : undefined;
  const [, kind, unit] = /^(TIME|TIMESTAMP)_(MILLIS|MICROS)$/.exec(converted_type ?? '') ?? [];
  const logical = logical_type?.type === 'TIME' || logical_type?.type === 'TIMESTAMP' ? logical_type : undefined;
  const [foundKind, foundUnit] = [logical?.type ?? kind, logical?.unit ?? unit];
  const isUtc = logical?.isAdjustedToUTC === true;
  if (foundKind === 'TIME') {
    const name = isUtc ? 'timetz' : 'time';
    if (foundUnit === 'MILLIS') return { type: { name }, load: (raw) => BigInt(raw as number) * 1000n };
    return foundUnit === 'MICROS' && type === 'INT64' ? { type: { name }, load: undefined } : undefined;
  }
  if (foundKind !== 'TIMESTAMP' || type !== 'INT64') return undefined;
  if (!isUtc) {
    const name = foundUnit === 'MILLIS' ? 'timestamp_ms' : foundUnit === 'MICROS' ? 'timestamp' : 'timestamp_ns';
    return { type: { name }, load: undefined };
  }
  if (foundUnit === 'MICROS') return { type: { name: 'timestamptz' }, load: undefined };
  const load = (raw: Raw): bigint => {
    const ticks = raw as bigint;
    if (ticks === infinity || ticks === -infinity) return ticks;
    return foundUnit === 'MILLIS' ? ticks * 1000n : ticks / 1000n;
  };
  return { type: { name: 'timestamptz' }, load };
}

/** Nanoseconds of a day and the day's Julian number, as Spark and Impala wrote timestamps. DuckDB cuts them off to microseconds. */
function loadedInt96(raw: Raw): bigint {
  const bytes = raw as Uint8Array;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const days = BigInt(view.getUint32(8, true)) - epochJulianDay;
  const micros = days * 86_400_000_000n + view.getBigInt64(0, true) / 1000n;
  if (micros > infinity || micros < -infinity) throw corrupt('it has timestamps that no column can hold');
  return micros;
}

/** Of 1970-01-01. */
const epochJulianDay = 2_440_588n;

function loadedInterval(raw: Raw): Interval {
  const bytes = raw as Uint8Array;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    months: view.getUint32(0, true),
    days: view.getUint32(4, true),
    micros: BigInt(view.getUint32(8, true)) * 1000n,
  };
}
