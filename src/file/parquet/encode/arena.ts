/** Buffers of up to this length are cut from larger ones. */
const smallLength = 4096;
const slabLength = 65536;

let slab: ArrayBuffer = new ArrayBuffer(0);
let used = 0;

/**
 * A buffer of zeros, aligned to 8 bytes: small ones are pieces of a shared one, each used once. An ArrayBuffer of its own costs
 * as much as encoding a hundred values, and a small file would need a dozen for each column.
 */
export function carve(byteLength: number): Uint8Array<ArrayBuffer> {
  if (byteLength > smallLength) return new Uint8Array(byteLength);
  if (used + byteLength > slab.byteLength) {
    slab = new ArrayBuffer(slabLength);
    used = 0;
  }
  const start = used;
  used = (used + byteLength + 7) & ~7;
  return new Uint8Array(slab, start, byteLength);
}

export function carveInt32(length: number): Int32Array<ArrayBuffer> {
  const { buffer, byteOffset } = carve(length * 4);
  return new Int32Array(buffer, byteOffset, length);
}
