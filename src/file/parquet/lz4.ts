import { corrupt } from './footer.ts';

/** Decompresses a bare LZ4 block, Parquet's `LZ4_RAW`, which must give `byteLength` bytes. */
export function inflateLz4(bytes: Uint8Array, byteLength: number): Uint8Array {
  // Before memory is taken: no byte stands for more.
  if (byteLength > bytes.length * 255) throw damaged();
  const out = new Uint8Array(byteLength);
  const source = { bytes, offset: 0 };
  let at = 0;
  while (source.offset < bytes.length) {
    const token = nextByte(source);
    const literalLength = lengthOf(token >> 4, source);
    const literalEnd = source.offset + literalLength;
    if (literalEnd > bytes.length || at + literalLength > byteLength) throw damaged();
    out.set(bytes.subarray(source.offset, literalEnd), at);
    source.offset = literalEnd;
    at += literalLength;
    // The last sequence is literals alone.
    if (literalEnd === bytes.length) break;
    const distance = nextByte(source) | (nextByte(source) << 8);
    const matchEnd = at + lengthOf(token & 15, source) + minimumMatch;
    if (distance === 0 || distance > at || matchEnd > byteLength) throw damaged();
    // A match may reach into what it writes itself.
    if (distance >= matchEnd - at) {
      out.copyWithin(at, at - distance, matchEnd - distance);
      at = matchEnd;
    } else for (; at < matchEnd; at++) out[at] = out[at - distance]!;
  }
  if (at !== byteLength) throw damaged();
  return out;
}

const minimumMatch = 4;

const damaged = (): Error => corrupt('a page is not what LZ4 makes of as many bytes as its header says');

interface Source {
  readonly bytes: Uint8Array;
  offset: number;
}

function nextByte(source: Source): number {
  const byte = source.bytes[source.offset++];
  if (byte === undefined) throw damaged();
  return byte;
}

/** A length of 15 goes on in the bytes that follow, up to the first that isn't 255. */
function lengthOf(nibble: number, source: Source): number {
  let length = nibble;
  if (nibble < 15) return length;
  for (;;) {
    const byte = nextByte(source);
    length += byte;
    if (byte < 255) return length;
  }
}
