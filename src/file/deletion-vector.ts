import { LakeError } from '../errors.ts';

const magic = 0x6439d3d1;
/** Length before, checksum after. */
const frameLength = 8;

/**
 * The positions in a bare `deletion-vector-v1` blob of the Puffin format, ascending. CORRUPT when it is damaged, whatever part of
 * it; UNSUPPORTED beyond 2^32 rows.
 */
export function readDeletionVector(bytes: Uint8Array): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < frameLength + 12) throw corrupt(`it has ${bytes.length} bytes`);
  const length = view.getUint32(0);
  if (length !== bytes.length - frameLength) throw corrupt(`it says it has ${length + frameLength} bytes`);
  if (view.getUint32(4, true) !== magic) throw corrupt('it does not begin as one does');
  if (view.getUint32(bytes.length - 4) !== crc32(bytes.subarray(4, bytes.length - 4)))
    throw corrupt('its checksum is another');

  const cursor = new Cursor(new DataView(bytes.buffer, bytes.byteOffset + 8, bytes.byteLength - 12));
  const bitmapCount = cursor.uint32();
  if (cursor.uint32() !== 0 || bitmapCount > 1 << 16) throw corrupt(`it counts too many bitmaps`);
  let positions = new Uint32Array(0);
  for (let i = 0; i < bitmapCount; i++) {
    const key = cursor.uint32();
    const low = readBitmap(cursor);
    if (key > 0 && low.length > 0)
      throw new LakeError('UNSUPPORTED', 'a deletion vector deletes rows beyond the first 4,294,967,296 of a file');
    if (key === 0) positions = low;
  }
  if (cursor.left > 0) throw corrupt(`${cursor.left} bytes follow its bitmaps`);
  return positions;
}

const cookieWithRuns = 12347;
const cookieWithoutRuns = 12346;
/** With runs, fewer containers than this have no table of offsets. */
const offsetThreshold = 4;
/** Containers up to this many values are lists of them, larger ones bits. */
const largestArray = 4096;
const maxContainers = 1 << 16;

/** A 32-bit Roaring bitmap in its portable form. */
function readBitmap(cursor: Cursor): Uint32Array<ArrayBuffer> {
  const cookie = cursor.uint32();
  const hasRuns = (cookie & 0xffff) === cookieWithRuns;
  if (!hasRuns && cookie !== cookieWithoutRuns) throw corrupt('a bitmap in it does not begin as one does');
  const count = hasRuns ? (cookie >>> 16) + 1 : cursor.uint32();
  if (count > maxContainers) throw corrupt(`a bitmap in it counts ${count} containers`);
  const runFlags = hasRuns ? Array.from({ length: Math.ceil(count / 8) }, () => cursor.uint8()) : [];
  const containers = Array.from({ length: count }, (_, i) => ({
    high: cursor.uint16() * 65_536,
    size: cursor.uint16() + 1,
    isRun: ((runFlags[i >> 3] ?? 0) & (1 << (i & 7))) !== 0,
  }));
  if (!hasRuns || count >= offsetThreshold) cursor.skip(4 * count);
  const positions = new Uint32Array(containers.reduce((sum, { size }) => sum + size, 0));
  let at = 0;
  let last = -1;
  const add = (position: number): void => {
    if (position <= last) throw corrupt('its positions do not ascend');
    positions[at++] = position;
    last = position;
  };
  for (const { high, size, isRun } of containers) {
    const end = at + size;
    if (isRun) {
      for (let run = cursor.uint16(); run > 0; run--) {
        const start = cursor.uint16();
        const stop = start + cursor.uint16();
        if (stop > 65_535 || at + stop - start >= end) throw corrupt('a run in it is too long');
        for (let low = start; low <= stop; low++) add(high + low);
      }
    } else if (size <= largestArray) {
      for (let i = 0; i < size; i++) add(high + cursor.uint16());
    } else {
      for (let word = 0; word < 65_536; word += 32) {
        for (let bits = cursor.uint32(); bits !== 0; bits &= bits - 1) {
          if (at === end) throw corrupt('a bitmap in it holds more than it counts');
          add(high + word + 31 - Math.clz32(bits & -bits));
        }
      }
    }
    if (at !== end) throw corrupt('a bitmap in it holds fewer than it counts');
  }
  return positions;
}

/** Little-endian numbers, one after another. */
class Cursor {
  readonly #view: DataView;
  #at = 0;

  constructor(view: DataView) {
    this.#view = view;
  }

  get left(): number {
    return this.#view.byteLength - this.#at;
  }

  uint8(): number {
    return this.#view.getUint8(this.skip(1));
  }

  uint16(): number {
    return this.#view.getUint16(this.skip(2), true);
  }

  uint32(): number {
    return this.#view.getUint32(this.skip(4), true);
  }

  /** Returns where the skipped bytes began. */
  skip(byteLength: number): number {
    const start = this.#at;
    if (byteLength > this.left) throw corrupt('it ends within a bitmap');
    this.#at += byteLength;
    return start;
  }
}

let crcTable: Uint32Array | undefined;

/** CRC-32 as gzip and Ethernet have it. */
function crc32(bytes: Uint8Array): number {
  crcTable ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1;
    return crc >>> 0;
  });
  const table = crcTable;
  let crc = 0xffffffff;
  for (const byte of bytes) crc = table[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

function corrupt(what: string): LakeError {
  return new LakeError('CORRUPT', `a deletion vector can't be read: ${what}`);
}
