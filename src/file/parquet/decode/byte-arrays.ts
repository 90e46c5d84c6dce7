import { corrupt } from '../footer.ts';
import { type Cursor, cut } from './cursor.ts';
import { readDeltas32 } from './delta.ts';

/** Byte arrays of a page, in their order: the n-th lies at `starts[n]` to `ends[n]`. */
export interface ByteArrays {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

/** PLAIN: each after its length. */
export function readPlainArrays({ bytes, at: start }: Cursor, count: number): ByteArrays {
  const starts = new Int32Array(count);
  const ends = new Int32Array(count);
  const end = bytes.length;
  let at = start;
  for (let i = 0; i < count; i++) {
    if (at + 4 > end) throw cut();
    const length = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    at += 4;
    if (length < 0 || at + length > end) throw cut();
    starts[i] = at;
    at += length;
    ends[i] = at;
  }
  return { bytes, starts, ends };
}

/** DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes. */
export function readDeltaLengthArrays(cursor: Cursor, count: number): ByteArrays {
  const lengths = new Int32Array(count);
  readDeltas32(cursor, lengths);
  const { bytes } = cursor;
  const starts = new Int32Array(count);
  let { at } = cursor;
  for (let i = 0; i < count; i++) {
    const length = lengths[i]!;
    if (length < 0 || at + length > bytes.length) throw cut();
    starts[i] = at;
    at += length;
    lengths[i] = at;
  }
  cursor.at = at;
  return { bytes, starts, ends: lengths };
}

/** Values of which those that are equal to the one before are there once. */
export interface DistinctArrays {
  readonly arrays: ByteArrays;
  /** For each value its place among the arrays. */
  readonly places: Int32Array;
}

/** Bytes that the values of a page may have if it is short: no more than a page is made of. */
const usualByteLength = 1 << 26;
/** How many times as many bytes as a long page its values may have. */
const maxGrowth = 256;

/**
 * DELTA_BYTE_ARRAY: what each shares with the one before, then the rest of each. A chain of shared beginnings may claim any length, so
 * what is not plausible is CORRUPT before memory is taken for it.
 */
export function readDeltaArrays(cursor: Cursor, count: number): DistinctArrays {
  const prefixes = new Int32Array(count);
  readDeltas32(cursor, prefixes);
  const rest = readDeltaLengthArrays(cursor, count);
  const places = new Int32Array(count);
  let distinct = 0;
  let byteLength = 0;
  let last = 0;
  for (let i = 0; i < count; i++) {
    const prefix = prefixes[i]!;
    const added = rest.ends[i]! - rest.starts[i]!;
    if (prefix < 0 || prefix > last) throw corrupt('a value shares more with the one before than that has');
    if (i === 0 || prefix < last || added > 0) {
      distinct++;
      last = prefix + added;
      byteLength += last;
    }
    places[i] = distinct - 1;
  }
  const { length } = cursor.bytes;
  if (byteLength > usualByteLength + length * maxGrowth)
    throw corrupt(`values of ${byteLength} bytes in a page of ${length}`);
  const bytes = new Uint8Array(byteLength);
  const starts = new Int32Array(distinct);
  const ends = new Int32Array(distinct);
  let at = 0;
  let place = -1;
  for (let i = 0; i < count; i++) {
    if (places[i] === place) continue;
    const from = place < 0 ? 0 : starts[place]!;
    const prefix = prefixes[i]!;
    starts[++place] = at;
    if (prefix > 0) bytes.copyWithin(at, from, from + prefix);
    at += prefix;
    bytes.set(rest.bytes.subarray(rest.starts[i]!, rest.ends[i]!), at);
    at += rest.ends[i]! - rest.starts[i]!;
    ends[place] = at;
  }
  return { arrays: { bytes, starts, ends }, places };
}

/** FIXED_LEN_BYTE_ARRAY, of one length each. */
export function readFixedArrays(bytes: Uint8Array, count: number, byteLength: number): ByteArrays {
  if (!(byteLength > 0)) throw corrupt(`values of ${byteLength} bytes`);
  if (count * byteLength > bytes.length) throw cut();
  const starts = new Int32Array(count);
  const ends = new Int32Array(count);
  for (let i = 0; i < count; i++) {
    starts[i] = i * byteLength;
    ends[i] = (i + 1) * byteLength;
  }
  return { bytes, starts, ends };
}

export function viewsOf({ bytes, starts, ends }: ByteArrays): Uint8Array[] {
  return Array.from(starts, (start, i) => bytes.subarray(start, ends[i]!));
}
