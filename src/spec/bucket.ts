import type { ColumnType } from './types.ts';
import { codecFor, type Physical } from './values/codec.ts';

/**
 * The hash of a value in the partition transform `bucket(N)`, from 0 to 2^31 − 1: its remainder by N is the bucket. `undefined` where
 * values that are equal may have several, and for types of which it isn't known.
 */
export function bucketHash(type: ColumnType, value: Physical): number | undefined {
  const bytes = hashedBytes(type, value);
  return bytes && murmur3(bytes) & 0x7fffffff;
}

/**
 * Signed numbers of up to 64 bits are eight bytes, whatever their width; unsigned ones and long decimals are their text. Integers of 128
 * bits are hashed as they are, but DuckDB's files hold them rounded.
 */
function hashedBytes(type: ColumnType, value: Physical): Uint8Array | undefined {
  switch (type.name) {
    case 'boolean':
      return int64Bytes(value ? 1n : 0n);
    case 'int8':
    case 'int16':
    case 'int32':
    case 'int64':
    case 'date':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_s':
    case 'timestamp_ms':
    case 'timestamp_ns':
      return int64Bytes(BigInt(value as number | bigint));
    case 'decimal':
      return type.precision <= 18 ? int64Bytes(value as bigint) : textBytes(type, value);
    case 'float32':
    case 'float64':
      return doubleBytes(value as number);
    case 'varchar':
    case 'json':
      return utf8(value as string);
    case 'blob':
      return value as Uint8Array;
    case 'uint8':
    case 'uint16':
    case 'uint32':
    case 'uint64':
    case 'uuid':
      return textBytes(type, value);
    default:
      return undefined;
  }
}

function int64Bytes(value: bigint): Uint8Array {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigInt64(0, value, true);
  return new Uint8Array(view.buffer);
}

/** NaN has many representations. */
function doubleBytes(value: number): Uint8Array | undefined {
  if (Number.isNaN(value)) return undefined;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value === 0 ? 0 : value, true);
  return new Uint8Array(view.buffer);
}

function textBytes(type: ColumnType, value: Physical): Uint8Array | undefined {
  const text = codecFor(type).text(value);
  return text === undefined ? undefined : utf8(text);
}

const utf8 = (text: string): Uint8Array | undefined =>
  text.isWellFormed() ? new TextEncoder().encode(text) : undefined;

/** MurmurHash3 of 32 bits, with seed 0. */
function murmur3(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const tail = bytes.length & ~3;
  let hash = 0;
  for (let at = 0; at < tail; at += 4) {
    hash ^= scrambled(view.getInt32(at, true));
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  let last = 0;
  for (let at = bytes.length - 1; at >= tail; at--) last = (last << 8) | bytes[at]!;
  hash ^= scrambled(last) ^ bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function scrambled(word: number): number {
  const product = Math.imul(word, 0xcc9e2d51);
  return Math.imul((product << 15) | (product >>> 17), 0x1b873593);
}
