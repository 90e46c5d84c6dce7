import type { ByteBuffer } from './byte-buffer.ts';

/** Small non-negative integers: levels, dictionary codes. */
export type Small = Uint8Array | Int32Array;

/** The bits that hold every integer from 0 to `max`. */
export function bitWidth(max: number): number {
  return 32 - Math.clz32(max);
}

/**
 * Appends integers as the hybrid of run lengths and bit packing (Parquet's RLE encoding), without a length before it.
 * Runs that are worth it become run lengths, everything between is packed.
 */
export function encodeHybrid(out: ByteBuffer, values: Small, from: number, to: number, width: number): void {
  const worthwhile = Math.max(16, width === 0 ? 16 : Math.ceil(64 / width));
  // Packed values come in eights: a run is looked for where such eights begin.
  let packedStart = from;
  let at = from;
  while (at + 8 <= to) {
    const value = values[at]!;
    if (values[at + 7] !== value || values[at + 3] !== value) {
      at += 8;
      continue;
    }
    let end = at + 1;
    while (end < to && values[end] === value) end++;
    if (end - at < worthwhile) {
      at += 8;
      continue;
    }
    if (at > packedStart) appendPacked(out, values, packedStart, at, width);
    appendRun(out, value, end - at, width);
    packedStart = end;
    at = end;
  }
  if (packedStart < to) appendPacked(out, values, packedStart, to, width);
}

/** Appends one run: `count` times the same value. */
export function appendRun(out: ByteBuffer, value: number, count: number, width: number): void {
  out.varint(count * 2);
  out.reserve(4);
  for (let bits = 0; bits < width; bits += 8) out.bytes[out.length++] = value >>> bits;
}

function appendPacked(out: ByteBuffer, values: Small, from: number, to: number, width: number): void {
  const groups = (to - from + 7) >>> 3;
  out.varint(groups * 2 + 1);
  const end = out.length + groups * width;
  out.reserve(groups * width + 4);
  packBits(out.view, out.length, values, from, to, width, end);
  out.length = end;
}

/**
 * Packs integers of `width` bits (0 to 32) from the least significant bit on, in whole 32-bit words, and fills up to `end`
 * with zeros. The last word may reach up to 3 bytes beyond `end`.
 */
export function packBits(
  view: DataView,
  start: number,
  values: ArrayLike<number>,
  from: number,
  to: number,
  width: number,
  end: number,
): void {
  let at = start;
  let word = 0;
  let bits = 0;
  for (let i = from; i < to; i++) {
    const value = values[i]!;
    word |= value << bits;
    bits += width;
    if (bits >= 32) {
      view.setInt32(at, word, true);
      at += 4;
      bits -= 32;
      word = bits === 0 ? 0 : value >>> (width - bits);
    }
  }
  for (; at < end; at += 4) {
    view.setInt32(at, word, true);
    word = 0;
  }
}
