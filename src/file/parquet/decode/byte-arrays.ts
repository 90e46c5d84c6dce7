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

/** DELTA_BYTE_ARRAY: what each shares with the one before, then the rest of each. */
export function readDeltaArrays(cursor: Cursor, count: number): ByteArrays {
  const prefixes = new Int32Array(count);
  readDeltas32(cursor, prefixes);
  const rest = readDeltaLengthArrays(cursor, count);
  let byteLength = 0;
  let last = 0;
  for (let i = 0; i < count; i++) {
    const prefix = prefixes[i]!;
    if (prefix < 0 || prefix > last) throw corrupt('a value shares more with the one before than that has');
    last = prefix + rest.ends[i]! - rest.starts[i]!;
    byteLength += last;
  }
  // A chain of shared beginnings may claim any length: no page of that size could have been compressed into this one.
  if (byteLength > 0x7fffffff) throw corrupt(`values of ${byteLength} bytes in one page`);
  const bytes = new Uint8Array(byteLength);
  const starts = new Int32Array(count);
  const ends = new Int32Array(count);
  let at = 0;
  for (let i = 0; i < count; i++) {
    const prefix = prefixes[i]!;
    starts[i] = at;
    if (prefix > 0) bytes.copyWithin(at, starts[i - 1]!, starts[i - 1]! + prefix);
    at += prefix;
    bytes.set(rest.bytes.subarray(rest.starts[i]!, rest.ends[i]!), at);
    at += rest.ends[i]! - rest.starts[i]!;
    ends[i] = at;
  }
  return { bytes, starts, ends };
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
