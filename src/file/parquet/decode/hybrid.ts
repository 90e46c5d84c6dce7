import { corrupt } from '../footer.ts';
import { type Cursor, cut } from './cursor.ts';

/** Reads `out.length` numbers of `width` bits: runs of one value, or packed (the format's RLE/bit-packing hybrid). */
export function readHybrid(cursor: Cursor, width: number, out: Int32Array | Uint8Array): void {
  if (width > 32) throw corrupt(`numbers of ${width} bits in a page`);
  const { bytes } = cursor;
  const count = out.length;
  const byteWidth = (width + 7) >>> 3;
  let done = 0;
  while (done < count) {
    const header = cursor.varint();
    const isPacked = (header & 1) === 1;
    const left = count - done;
    if (isPacked) {
      const inRun = (header >>> 1) * 8;
      const taken = Math.min(inRun, left);
      const start = cursor.at;
      if (start + Math.ceil((taken * width) / 8) > bytes.length) throw cut();
      unpack(bytes, start, width, out, done, taken);
      cursor.at = start + (inRun / 8) * width;
      done += taken;
    } else {
      if (cursor.at + byteWidth > bytes.length) throw cut();
      let value = 0;
      for (let i = 0; i < byteWidth; i++) value |= bytes[cursor.at + i]! << (8 * i);
      cursor.at += byteWidth;
      const taken = Math.min(header >>> 1, left);
      out.fill(value, done, done + taken);
      done += taken;
    }
  }
}

function unpack(
  bytes: Uint8Array,
  start: number,
  width: number,
  out: Int32Array | Uint8Array,
  from: number,
  count: number,
): void {
  const end = from + count;
  let at = start;
  if (width === 0) out.fill(0, from, end);
  else if (width === 8) for (let i = from; i < end; i++) out[i] = bytes[at++]!;
  else if (width <= 24) {
    const mask = (1 << width) - 1;
    let held = 0;
    let bits = 0;
    for (let i = from; i < end; i++) {
      while (bits < width) {
        held |= bytes[at++]! << bits;
        bits += 8;
      }
      out[i] = held & mask;
      held >>>= width;
      bits -= width;
    }
  } else {
    const mask = width === 32 ? -1 : (1 << width) - 1;
    let bit = start * 8;
    for (let i = from; i < end; i++, bit += width) out[i] = bitsAt(bytes, bit) & mask;
  }
}

/** The 32 bits from a bit on, those past the end being 0. */
export function bitsAt(bytes: Uint8Array, bit: number): number {
  // Pages may be longer than 2^28 bytes, whose bits are more than 32-bit operators count.
  const at = Math.floor(bit / 8);
  const shift = bit - at * 8;
  const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
  return shift === 0 ? word : (word >>> shift) | (bytes[at + 4]! << (32 - shift));
}
