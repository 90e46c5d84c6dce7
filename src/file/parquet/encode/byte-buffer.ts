import { carve } from './arena.ts';

const noBytes: Uint8Array<ArrayBuffer> = new Uint8Array(0);
const noView: DataView<ArrayBuffer> = new DataView(noBytes.buffer);

/**
 * Bytes being written, with room to grow. Kernels reserve once for a whole page and then write through `bytes` and `view`
 * without further checks; both are replaced when the buffer grows, so nobody keeps them across a `reserve`.
 */
export class ByteBuffer {
  bytes: Uint8Array<ArrayBuffer> = noBytes;
  view: DataView<ArrayBuffer> = noView;
  length = 0;

  constructor(capacity = 0) {
    this.reserve(capacity);
  }

  /** Makes room for `count` more bytes. */
  reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.bytes.length) return;
    const grown = carve(Math.max(needed, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
    this.view = new DataView(grown.buffer, grown.byteOffset, grown.length);
  }

  /** A little-endian base-128 integer from 0 to 2^53 - 1. */
  varint(value: number): void {
    this.reserve(8);
    let rest = value;
    for (; rest > 0x7fffffff; rest = Math.floor(rest / 128)) this.bytes[this.length++] = (rest % 128) | 128;
    for (; rest > 127; rest >>>= 7) this.bytes[this.length++] = (rest & 127) | 128;
    this.bytes[this.length++] = rest;
  }

  append(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** A copy of what was written. */
  copy(): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(0, this.length);
  }
}
