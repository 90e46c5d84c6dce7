import type { SchemaElement } from 'hyparquet';
import { LakeError } from '../../errors.ts';
import { type ColumnType, typeText } from '../../spec/types.ts';
import { infinity, perSecond, type TimestampUnit } from '../../spec/values/timestamp.ts';
import { uuidText } from '../../spec/values/uuid.ts';
import type { Interval, Physical } from '../../spec/values/value-codec.ts';
import { corrupt } from './footer.ts';

/** A value as the Parquet decoder gives it when it converts nothing but text. */
export type Raw = number | bigint | boolean | string | Uint8Array;

/** Types that are text in Parquet: the decoder makes strings of them, once for each entry of a dictionary. */
export function isStoredAsText(type: ColumnType): boolean {
  return type.name === 'varchar' || type.name === 'json' || type.name === 'int128' || type.name === 'uint128';
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes that are no UTF-8 are an error, and a byte order mark is text like any other. */
export function decodeText(bytes: Uint8Array): string {
  return strictUtf8.decode(bytes);
}

/**
 * From raw Parquet values to the physical values of a column's type; `undefined` where they are the same. The file may be DuckDB's
 * or written before the column's type was widened. UNSUPPORTED for everything else.
 */
export function loadedForm(element: SchemaElement, type: ColumnType): ((raw: Raw) => Physical) | undefined {
  const { type: stored } = element;
  switch (type.name) {
    case 'boolean':
      if (stored === 'BOOLEAN') return undefined;
      break;
    case 'int8':
    case 'int16':
    case 'int32':
    case 'uint8':
    case 'uint16':
    case 'uint32':
      if (stored === 'INT32' && isInteger(element))
        return isUnsigned(element) ? (raw) => (raw as number) >>> 0 : undefined;
      break;
    case 'int64':
    case 'uint64':
      return loadedInteger(element) ?? unsupported(element, type);
    case 'int128':
    case 'uint128':
      return loadedInteger(element) ?? loadedBigInteger(element) ?? unsupported(element, type);
    case 'float32':
      if (stored === 'FLOAT') return undefined;
      break;
    case 'float64':
      if (stored === 'DOUBLE' || stored === 'FLOAT') return undefined;
      break;
    case 'decimal':
      return loadedDecimal(element, type) ?? unsupported(element, type);
    case 'varchar':
    case 'json':
      if (stored === 'BYTE_ARRAY') return undefined;
      break;
    case 'blob':
      // The decoder's bytes are views of whole pages, which they would keep alive.
      if (stored === 'BYTE_ARRAY' || stored === 'FIXED_LEN_BYTE_ARRAY') return (raw) => (raw as Uint8Array).slice();
      break;
    case 'uuid':
      if (stored === 'FIXED_LEN_BYTE_ARRAY' && element.type_length === 16) return (raw) => uuidText(raw as Uint8Array);
      break;
    case 'date':
      if (stored === 'INT32' && (element.converted_type === 'DATE' || element.logical_type?.type === 'DATE'))
        return undefined;
      break;
    case 'time':
    case 'timetz':
      return loadedTicks(element, 'TIME', 'us') ?? unsupported(element, type);
    case 'timestamp':
    case 'timestamptz':
      return loadedTicks(element, 'TIMESTAMP', 'us') ?? unsupported(element, type);
    case 'timestamp_s':
      return loadedTicks(element, 'TIMESTAMP', 's') ?? unsupported(element, type);
    case 'timestamp_ms':
      return loadedTicks(element, 'TIMESTAMP', 'ms') ?? unsupported(element, type);
    case 'timestamp_ns':
      return loadedTicks(element, 'TIMESTAMP', 'ns') ?? unsupported(element, type);
    case 'interval':
      if (stored === 'FIXED_LEN_BYTE_ARRAY' && element.type_length === 12) return loadedInterval;
  }
  return unsupported(element, type);
}

function unsupported(element: SchemaElement, type: ColumnType): never {
  const annotation = element.converted_type ?? element.logical_type?.type;
  const stored = `${element.type ?? 'a nested column'}${annotation ? ` (${annotation})` : ''}`;
  throw new LakeError(
    'UNSUPPORTED',
    `column "${element.name}": ${stored} in Parquet can't be read as ${typeText(type)}`,
  );
}

/** Whether an INT32 or INT64 is a plain integer and neither a date, a time nor a decimal. */
function isInteger({ converted_type, logical_type }: SchemaElement): boolean {
  const named = converted_type === undefined || /^U?INT_/.test(converted_type);
  return named && (logical_type === undefined || logical_type.type === 'INTEGER');
}

function isUnsigned({ converted_type, logical_type }: SchemaElement): boolean {
  return converted_type?.startsWith('UINT_') || (logical_type?.type === 'INTEGER' && !logical_type.isSigned);
}

function loadedInteger(element: SchemaElement): ((raw: Raw) => bigint) | undefined {
  if (!isInteger(element)) return undefined;
  const unsigned = isUnsigned(element);
  if (element.type === 'INT32') return (raw) => BigInt(unsigned ? (raw as number) >>> 0 : (raw as number));
  if (element.type !== 'INT64') return undefined;
  return unsigned ? (raw) => BigInt.asUintN(64, raw as bigint) : (raw) => raw as bigint;
}

/** 128-bit integers: digits, as we write them; doubles, as DuckDB does; decimals, as others might. */
function loadedBigInteger(element: SchemaElement): ((raw: Raw) => bigint) | undefined {
  if (element.type === 'DOUBLE') return (raw) => BigInt(raw as number);
  if (element.converted_type === 'DECIMAL') return element.scale ? undefined : loadedUnscaled(element);
  if (element.type !== 'BYTE_ARRAY') return undefined;
  return (raw) => {
    const digits = raw as string;
    if (!/^-?\d{1,39}$/.test(digits))
      throw corrupt(`column "${element.name}" holds "${digits.slice(0, 50)}", no integer`);
    return BigInt(digits);
  };
}

function loadedDecimal(
  element: SchemaElement,
  { scale }: ColumnType & { name: 'decimal' },
): ((raw: Raw) => bigint) | undefined {
  if (element.converted_type !== 'DECIMAL' && element.logical_type?.type !== 'DECIMAL') return undefined;
  const logicalScale = element.logical_type?.type === 'DECIMAL' ? element.logical_type.scale : 0;
  const added = scale - (element.scale ?? logicalScale);
  if (added < 0) return undefined;
  const unscaled = loadedUnscaled(element);
  const factor = 10n ** BigInt(added);
  return unscaled && added > 0 ? (raw) => unscaled(raw) * factor : unscaled;
}

function loadedUnscaled({ type }: SchemaElement): ((raw: Raw) => bigint) | undefined {
  if (type === 'INT32') return (raw) => BigInt(raw as number);
  if (type === 'INT64') return (raw) => raw as bigint;
  return type === 'FIXED_LEN_BYTE_ARRAY' || type === 'BYTE_ARRAY'
    ? (raw) => signedInteger(raw as Uint8Array)
    : undefined;
}

/** A two's complement integer, big-endian. */
function signedInteger(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length === 16) return (view.getBigInt64(0) << 64n) | view.getBigUint64(8);
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return BigInt.asIntN(bytes.length * 8, value);
}

function loadedTicks(
  { type, converted_type, logical_type }: SchemaElement,
  kind: 'TIME' | 'TIMESTAMP',
  unit: TimestampUnit,
): ((raw: Raw) => bigint) | undefined {
  const found = storedUnit();
  if (found === undefined) return undefined;
  const [from, to] = [perSecond[found], perSecond[unit]];
  if (from === to) return type === 'INT64' ? (raw) => raw as bigint : (raw) => BigInt(raw as number);
  if (to > from) {
    const factor = to / from;
    return (raw) => (isInfinite(BigInt(raw as bigint)) ? (raw as bigint) : BigInt(raw as bigint) * factor);
  }
  const divisor = from / to;
  return (raw) => {
    const ticks = raw as bigint;
    if (isInfinite(ticks)) return ticks;
    if (ticks % divisor !== 0n) throw corrupt(`a column of ${unit} holds a time of ${found} that is finer: ${ticks}`);
    return ticks / divisor;
  };

  function storedUnit(): 'ms' | 'us' | 'ns' | undefined {
    if (type !== 'INT64' && type !== 'INT32') return undefined;
    if (logical_type?.type === kind)
      return logical_type.unit === 'MILLIS' ? 'ms' : logical_type.unit === 'MICROS' ? 'us' : 'ns';
    if (converted_type === `${kind}_MILLIS`) return 'ms';
    return converted_type === `${kind}_MICROS` ? 'us' : undefined;
  }
}

function isInfinite(ticks: bigint): boolean {
  return ticks === infinity || ticks === -infinity;
}

function loadedInterval(raw: Raw): Interval {
  const bytes = raw as Uint8Array;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    months: view.getUint32(0, true),
    days: view.getUint32(4, true),
    micros: BigInt(view.getUint32(8, true)) * 1000n,
  };
}
