import type { SchemaElement } from 'hyparquet';
import { LakeError } from '../../../errors.ts';
import { corrupt } from '../footer.ts';
import {
  type ByteArrays,
  readDeltaArrays,
  readDeltaLengthArrays,
  readFixedArrays,
  readPlainArrays,
  viewsOf,
} from './byte-arrays.ts';
import { Cursor, cut } from './cursor.ts';
import { readDeltas32, readDeltas64 } from './delta.ts';
import { readHybrid } from './hybrid.ts';
import { textsOf } from './text.ts';

export type TypedValues = Int32Array | BigInt64Array | Float32Array | Float64Array;
/** Values of a page that aren't NULL. */
export type Values = TypedValues | readonly unknown[];

export function isTyped(values: Values): values is TypedValues {
  return ArrayBuffer.isView(values);
}

/** What a page's values are. */
export interface ValuesShape {
  readonly element: SchemaElement;
  readonly isText: boolean;
}

/** Decodes `count` values, of any encoding but those by dictionary. */
export function readValues(cursor: Cursor, encoding: string, count: number, shape: ValuesShape): Values {
  const { type, type_length } = shape.element;
  switch (type) {
    case 'BOOLEAN':
      return readBooleans(cursor, encoding, count);
    case 'INT32':
    case 'INT64':
      if (encoding === 'DELTA_BINARY_PACKED') return readDeltas(cursor, type, count);
      return readNumbers(cursor, encoding, count, type);
    case 'FLOAT':
    case 'DOUBLE':
      return readNumbers(cursor, encoding, count, type);
    case 'BYTE_ARRAY': {
      const made = (arrays: ByteArrays): Values => (shape.isText ? textsOf(arrays) : viewsOf(arrays));
      if (encoding !== 'DELTA_BYTE_ARRAY') return made(readArrays(cursor, encoding, count));
      const { arrays, places } = readDeltaArrays(cursor, count);
      return repeated(made(arrays), places);
    }
    case 'FIXED_LEN_BYTE_ARRAY': {
      const width = type_length ?? 0;
      if (encoding === 'DELTA_BYTE_ARRAY') {
        const { arrays, places } = readDeltaArrays(cursor, count);
        return repeated(viewsOf(ofLength(arrays, width)), places);
      }
      const { bytes, at } = cursor;
      if (encoding === 'PLAIN') return viewsOf(readFixedArrays(bytes.subarray(at), count, width));
      if (encoding === 'BYTE_STREAM_SPLIT') return viewsOf(readFixedArrays(joined(cursor, count, width), count, width));
      throw unknownEncoding(encoding, type);
    }
    default:
      throw new LakeError('UNSUPPORTED', `Parquet columns of type ${type} cannot be read`);
  }
}

function readBooleans(cursor: Cursor, encoding: string, count: number): boolean[] {
  const { bytes } = cursor;
  const values = new Array<boolean>(count);
  if (encoding === 'PLAIN') {
    const start = cursor.at;
    if (start + Math.ceil(count / 8) > bytes.length) throw cut();
    for (let i = 0; i < count; i++) values[i] = ((bytes[start + (i >>> 3)]! >>> (i & 7)) & 1) === 1;
    return values;
  }
  if (encoding !== 'RLE') throw unknownEncoding(encoding, 'BOOLEAN');
  const bits = new Uint8Array(count);
  readHybrid(new Cursor(cursor.take(cursor.uint32())), 1, bits);
  for (let i = 0; i < count; i++) values[i] = bits[i] === 1;
  return values;
}

function readDeltas(cursor: Cursor, type: 'INT32' | 'INT64', count: number): Values {
  const values = type === 'INT32' ? new Int32Array(count) : new BigInt64Array(count);
  if (values instanceof Int32Array) readDeltas32(cursor, values);
  else readDeltas64(cursor, values);
  return values;
}

/** All runtimes are little-endian, as Parquet is: numbers are copied as they lie, to where they are aligned. */
function readNumbers(
  cursor: Cursor,
  encoding: string,
  count: number,
  type: 'INT32' | 'INT64' | 'FLOAT' | 'DOUBLE',
): Values {
  const width = type === 'INT32' || type === 'FLOAT' ? 4 : 8;
  if (encoding !== 'PLAIN' && encoding !== 'BYTE_STREAM_SPLIT') throw unknownEncoding(encoding, type);
  const { buffer } = encoding === 'PLAIN' ? cursor.take(count * width).slice() : joined(cursor, count, width);
  switch (type) {
    case 'INT32':
      return new Int32Array(buffer);
    case 'INT64':
      return new BigInt64Array(buffer);
    case 'FLOAT':
      return new Float32Array(buffer);
    case 'DOUBLE':
      return new Float64Array(buffer);
  }
}

/** BYTE_STREAM_SPLIT: the first bytes of all values, then the second ones, … */
function joined(cursor: Cursor, count: number, width: number): Uint8Array<ArrayBuffer> {
  const from = cursor.take(count * width);
  const bytes = new Uint8Array(count * width);
  for (let b = 0, at = 0; b < width; b++) for (let i = b; i < bytes.length; i += width) bytes[i] = from[at++]!;
  return bytes;
}

function readArrays(cursor: Cursor, encoding: string, count: number): ByteArrays {
  switch (encoding) {
    case 'PLAIN':
      return readPlainArrays(cursor, count);
    case 'DELTA_LENGTH_BYTE_ARRAY':
      return readDeltaLengthArrays(cursor, count);
    default:
      throw unknownEncoding(encoding, 'BYTE_ARRAY');
  }
}

/** Each value as often as it comes. */
function repeated(values: Values, places: Int32Array): Values {
  if (values.length === places.length) return values;
  const out = new Array<unknown>(places.length);
  for (let i = 0; i < out.length; i++) out[i] = values[places[i]!];
  return out;
}

function ofLength(arrays: ByteArrays, byteLength: number): ByteArrays {
  if (arrays.starts.some((start, i) => arrays.ends[i]! - start !== byteLength))
    throw corrupt(`values of another length than ${byteLength}`);
  return arrays;
}

function unknownEncoding(encoding: string, type: string): LakeError {
  return new LakeError('UNSUPPORTED', `${type} columns in ${encoding} cannot be read`);
}
