import type { ByteBuffer } from './byte-buffer.ts';

/** Blocks are compressed on their own, so that an offset in one fits 16 bits. */
const blockLength = 65536;
/** Close to a block's end 4-byte loads would leave it: the rest is a literal. */
const margin = 15;
const tableBits = 14;
const table: Uint16Array = new Uint16Array(1 << tableBits);

/** Bytes that a block of `length` may take when it doesn't compress. */
export function maxSnappyLength(length: number): number {
  return 32 + length + Math.ceil(length / 6);
}

/**
 * Appends `source` from `start` to `end` as one Snappy stream. Gives up, and returns false with `out` unchanged, when the
 * first block shrinks by less than 1/32: what follows rarely does better, and then the bytes as they are serve everybody.
 * `always` is for pages that can't say that they aren't compressed.
 */
export function compressSnappy(
  source: ByteBuffer,
  start: number,
  end: number,
  out: ByteBuffer,
  always = false,
): boolean {
  const before = out.length;
  out.varint(end - start);
  for (let from = start; from < end; from += blockLength) {
    const to = Math.min(end, from + blockLength);
    out.reserve(maxSnappyLength(to - from));
    out.length = compressBlock(source, from, to, out, out.length);
    if (!always && from === start && out.length - before > (to - from) * 0.96875) {
      out.length = before;
      return false;
    }
  }
  return true;
}

/**
 * The greedy matcher of the Snappy reference: a hash of 4 bytes finds the last place where they stood, and the steps grow
 * where nothing matches.
 */
function compressBlock(from: ByteBuffer, start: number, end: number, to: ByteBuffer, outStart: number): number {
  const { bytes: source, view } = from;
  const { bytes: out, view: outView } = to;
  let outAt = outStart;
  let literalStart = start;
  if (end - start >= margin) {
    let bits = 8;
    while (bits < tableBits && 1 << bits < end - start) bits++;
    const shift = 32 - bits;
    table.fill(0, 0, 1 << bits);
    const limit = end - margin;
    let at = start + 1;
    let hash = Math.imul(view.getInt32(at, true), 0x1e35a7bd) >>> shift;
    search: for (;;) {
      let skip = 32;
      let next = at;
      let candidate: number;
      let word: number;
      do {
        at = next;
        next = at + (skip >>> 5);
        skip++;
        if (next > limit) break search;
        word = view.getInt32(at, true);
        candidate = start + table[hash]!;
        table[hash] = at - start;
        hash = Math.imul(view.getInt32(next, true), 0x1e35a7bd) >>> shift;
      } while (word !== view.getInt32(candidate, true));
      outAt =
        at - literalStart <= 16
          ? shortLiteral(view, literalStart, at - literalStart, outView, outAt)
          : literal(source, literalStart, at, out, outAt);
      do {
        const matchStart = at;
        const offset = at - candidate;
        at += 4;
        candidate += 4;
        for (;;) {
          if (at > end - 4) {
            while (at < end && source[at] === source[candidate]) {
              at++;
              candidate++;
            }
            break;
          }
          const difference = view.getInt32(at, true) ^ view.getInt32(candidate, true);
          if (difference !== 0) {
            // The lowest bit that differs says how many bytes don't.
            at += (31 - Math.clz32(difference & -difference)) >>> 3;
            break;
          }
          at += 4;
          candidate += 4;
        }
        outAt = copy(offset, at - matchStart, out, outAt);
        literalStart = at;
        if (at >= limit) break search;
        table[Math.imul(view.getInt32(at - 1, true), 0x1e35a7bd) >>> shift] = at - 1 - start;
        word = view.getInt32(at, true);
        hash = Math.imul(word, 0x1e35a7bd) >>> shift;
        candidate = start + table[hash]!;
        table[hash] = at - start;
      } while (word === view.getInt32(candidate, true));
      at++;
      hash = Math.imul(view.getInt32(at, true), 0x1e35a7bd) >>> shift;
    }
  }
  return literalStart < end ? literal(source, literalStart, end, out, outAt) : outAt;
}

/** Up to 16 bytes, by words: what is written beyond them is overwritten next. A match follows, so that there is more to read. */
function shortLiteral(view: DataView, from: number, length: number, out: DataView, at: number): number {
  out.setUint8(at, (length - 1) << 2);
  out.setInt32(at + 1, view.getInt32(from, true), true);
  if (length > 4) {
    out.setInt32(at + 5, view.getInt32(from + 4, true), true);
    if (length > 8) {
      out.setInt32(at + 9, view.getInt32(from + 8, true), true);
      out.setInt32(at + 13, view.getInt32(from + 12, true), true);
    }
  }
  return at + 1 + length;
}

function literal(source: Uint8Array, from: number, to: number, out: Uint8Array, start: number): number {
  let at = start;
  const length = to - from;
  const tag = length - 1;
  if (tag < 60) out[at++] = tag << 2;
  else if (tag < 256) {
    out[at++] = 60 << 2;
    out[at++] = tag;
  } else {
    out[at++] = 61 << 2;
    out[at++] = tag;
    out[at++] = tag >>> 8;
  }
  // A call of `set` costs as much as about 48 steps of this loop.
  if (length < 48) for (let i = 0; i < length; i++) out[at + i] = source[from + i]!;
  else out.set(source.subarray(from, to), at);
  return at + length;
}

function copy(offset: number, length: number, out: Uint8Array, start: number): number {
  let at = start;
  let rest = length;
  // Never leave less than 4 bytes: the shortest copy of the short form.
  for (; rest >= 68; rest -= 64) at = longCopy(offset, 64, out, at);
  if (rest > 64) {
    at = longCopy(offset, 60, out, at);
    rest -= 60;
  }
  if (rest >= 12 || offset >= 2048) return longCopy(offset, rest, out, at);
  out[at++] = 1 | ((rest - 4) << 2) | ((offset >>> 8) << 5);
  out[at++] = offset;
  return at;
}

function longCopy(offset: number, length: number, out: Uint8Array, at: number): number {
  out[at] = 2 | ((length - 1) << 2);
  out[at + 1] = offset;
  out[at + 2] = offset >>> 8;
  return at + 3;
}
