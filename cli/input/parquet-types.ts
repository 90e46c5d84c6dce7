import { Timestamp } from 'edgemere';
import type { SchemaElement } from 'hyparquet';
import { CellError } from './cells.ts';

/**
 * A column of a Parquet file: what DuckLake calls its type, and what becomes of the values that hyparquet hands over when
 * nothing about decimals and intervals is said in the schema, so that it leaves their bytes alone.
 */
export interface ParquetColumn {
  /** DuckLake's type. */
  readonly type: string;
  /** From hyparquet's value to the library's, for a table column of `target` type. */
  convert(target: string): ((value: unknown) => unknown) | undefined;
}

type Unit = 's' | 'ms' | 'us' | 'ns';
const units = { MILLIS: 'ms', MICROS: 'us', NANOS: 'ns' } as const;
/** The unit of each type of timestamps. */
const unitOf: Readonly<Record<string, Unit>> = {
  timestamp_s: 's',
  timestamp_ms: 'ms',
  timestamp: 'us',
  timestamptz: 'us',
  timestamp_ns: 'ns',
};

const plain = (type: string): ParquetColumn => ({ type, convert: () => undefined });
const always = (type: string, convert: (value: never) => unknown): ParquetColumn => ({
  type,
  convert: () => convert as (value: unknown) => unknown,
});

/** `undefined` for types that no DuckLake column of this version takes. */
export function parquetColumn(element: SchemaElement): ParquetColumn | undefined {
  const { type, converted_type: converted, logical_type: logical } = element;
  if (converted === 'DECIMAL' || logical?.type === 'DECIMAL') return decimalColumn(element);
  if (logical?.type === 'TIMESTAMP') return timestamps(units[logical.unit], logical.isAdjustedToUTC);
  // Without more said, these are no instants to DuckDB.
  if (converted === 'TIMESTAMP_MILLIS') return timestamps('ms', false);
  if (converted === 'TIMESTAMP_MICROS') return timestamps('us', false);
  if (type === 'INT96') return timestamps('ns', false, 'timestamp');
  if (logical?.type === 'TIME') return times(units[logical.unit], logical.isAdjustedToUTC);
  if (converted === 'TIME_MILLIS') return times('ms', false);
  if (converted === 'TIME_MICROS') return times('us', false);
  if (converted === 'DATE' || logical?.type === 'DATE') return always('date', dateText);
  if (converted === 'INTERVAL') return always('interval', intervalOf);
  if (logical?.type === 'UUID') return plain('uuid');
  if (logical?.type === 'FLOAT16') return plain('float32');
  if (logical?.type === 'INTEGER') return plain(`${logical.isSigned ? '' : 'u'}int${logical.bitWidth}`);
  const integer = /^(U?INT)_(\d+)$/.exec(converted ?? '');
  if (integer) return plain(`${integer[1]!.toLowerCase()}${integer[2]}`);
  if (converted === 'JSON' || logical?.type === 'JSON') return plain('json');
  if (converted === 'UTF8' || converted === 'ENUM' || logical?.type === 'STRING' || logical?.type === 'ENUM')
    return plain('varchar');
  if (converted !== undefined || (logical !== undefined && logical.type !== 'NULL')) return undefined;
  return type === undefined ? undefined : physicalTypes[type];
}

const physicalTypes: Readonly<Record<string, ParquetColumn>> = {
  BOOLEAN: plain('boolean'),
  INT32: plain('int32'),
  INT64: plain('int64'),
  FLOAT: plain('float32'),
  DOUBLE: plain('float64'),
  BYTE_ARRAY: plain('blob'),
  FIXED_LEN_BYTE_ARRAY: plain('blob'),
};

function decimalColumn({ logical_type: logical, precision, scale }: SchemaElement): ParquetColumn {
  const places = (logical?.type === 'DECIMAL' ? logical.scale : scale) ?? 0;
  const digits = (logical?.type === 'DECIMAL' ? logical.precision : precision) ?? 38;
  return always(`decimal(${digits},${places})`, (value: Uint8Array | bigint | number) => {
    const unscaled = value instanceof Uint8Array ? bigEndian(value) : BigInt(value);
    const text = String(unscaled < 0n ? -unscaled : unscaled).padStart(places + 1, '0');
    const at = text.length - places;
    return `${unscaled < 0n ? '-' : ''}${text.slice(0, at)}.${text.slice(at)}`;
  });
}

function bigEndian(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return BigInt.asIntN(8 * bytes.length, value);
}

function timestamps(unit: Unit, zoned: boolean, type?: string): ParquetColumn {
  const local = Object.keys(unitOf).find((name) => unitOf[name] === unit && name !== 'timestamptz')!;
  return {
    type: type ?? (zoned ? 'timestamptz' : local),
    // Another unit than the column's is for the library to convert, which refuses to round.
    convert: (target) =>
      unitOf[target] === unit ? undefined : (value) => new Timestamp(BigInt(value as bigint | number), unit),
  };
}

function times(unit: Unit, zoned: boolean): ParquetColumn {
  return always(zoned ? 'timetz' : 'time', (value: bigint | number) => {
    const ticks = BigInt(value);
    if (unit === 'us') return ticks;
    if (unit === 'ms') return ticks * 1000n;
    if (ticks % 1000n !== 0n) throw new CellError(`a time of ${ticks} ns: DuckLake's times have whole microseconds`);
    return ticks / 1000n;
  });
}

const dayMillis = 86_400_000;

function dateText(days: number): unknown {
  const date = new Date(days * dayMillis);
  if (Number.isNaN(date.getTime())) throw new CellError(`a date ${days} days from 1970, which is out of range`);
  return date;
}

/** Months, days and milliseconds, 32 bits each. */
function intervalOf(bytes: Uint8Array): { months: number; days: number; micros: bigint } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    months: view.getInt32(0, true),
    days: view.getInt32(4, true),
    micros: BigInt(view.getUint32(8, true)) * 1000n,
  };
}
