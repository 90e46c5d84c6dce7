import { corrupt } from '../footer.ts';

/** A place in bytes of a page. Reading past their end is CORRUPT. */
export class Cursor {
  readonly bytes: Uint8Array;
  at: number;
  /** The upper half of the last 64-bit number. */
  high: number = 0;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  /** An unsigned LEB128 number of at most 32 bits. */
  varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw cut();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw corrupt('a number in a page is longer than 32 bits');
  }

  /** A zigzag number of at most 64 bits: returns the lower half, the upper one is in {@link high}. Both signed. */
  zigzag(): number {
    let low = 0;
    let high = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw cut();
      if (shift > 63) throw corrupt('a number in a page is longer than 64 bits');
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (shift - 32);
      if (byte < 0x80) break;
    }
    const sign = -(low & 1);
    this.high = (high >>> 1) ^ sign;
    return (((low >>> 1) | (high << 31)) ^ sign) | 0;
  }

  /** The next `byteLength` bytes. */
  take(byteLength: number): Uint8Array {
    const start = this.at;
    const end = start + byteLength;
    if (!(byteLength >= 0 && end <= this.bytes.length)) throw cut();
    this.at = end;
    return this.bytes.subarray(start, end);
  }

  uint32(): number {
    const { bytes, at } = this;
    if (at + 4 > bytes.length) throw cut();
    this.at += 4;
    return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
  }
}

export function cut(): Error {
  return corrupt('a page ends before its values do');
}
