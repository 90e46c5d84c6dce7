import type { ByteBuffer } from './byte-buffer.ts';

const blockValues = 128;
const miniblockValues = 32;
const miniblocks: number = blockValues / miniblockValues;
/** Values no further apart than this have exact differences, and differences of differences, as doubles. */
const maxSpan: number = 2 ** 52;

/**
 * DELTA_BINARY_PACKED for INT32 and INT64: the differences of neighbours, less the smallest of each 128, bit-packed in
 * blocks of 32. Planning comes apart from writing, so that a page's encoding can be chosen by its exact length. One plan at a
 * time: its buffers are kept and used again.
 */
export class DeltaPlanner {
  #deltas = new Float64Array(0);
  #least = new Float64Array(0);
  #widths = new Uint8Array(0);
  #count = 0;
  #firstLow = 0;
  #firstHigh = 0;

  /** Bytes of its buffers. */
  get byteLength(): number {
    return this.#deltas.byteLength + this.#least.byteLength + this.#widths.byteLength;
  }

  /** The encoded length in bytes; `undefined` when the values lie too far apart. */
  plan32(values: Int32Array, count: number): number | undefined {
    this.#begin(count);
    const deltas = this.#deltas;
    let previous = count > 0 ? values[0]! : 0;
    this.#firstLow = previous;
    this.#firstHigh = previous >> 31;
    let min = previous;
    let max = previous;
    let length = this.#headerLength();
    for (let start = 1, block = 0; start < count; start += blockValues, block++) {
      const end = Math.min(count, start + blockValues);
      let least = Number.POSITIVE_INFINITY;
      for (let i = start; i < end; i++) {
        const value = values[i]!;
        const delta = value - previous;
        deltas[i - 1] = delta;
        if (delta < least) least = delta;
        if (value < min) min = value;
        else if (value > max) max = value;
        previous = value;
      }
      length += this.#measure(block, start - 1, end - 1, least);
    }
    // Wider differences would need more than the 32 bits that readers of INT32 have.
    return max - min >= 2 ** 31 ? undefined : length;
  }

  /** As `plan32`, of 64-bit integers: `low` and `high` see the same buffer, `low` unsigned, two words a value. */
  plan64(low: Uint32Array, high: Int32Array, count: number): number | undefined {
    this.#begin(count);
    const deltas = this.#deltas;
    const baseLow = count > 0 ? low[0]! : 0;
    const baseHigh = count > 0 ? high[1]! : 0;
    this.#firstLow = baseLow;
    this.#firstHigh = baseHigh;
    let previous = 0;
    let min = 0;
    let max = 0;
    let length = this.#headerLength();
    for (let start = 1, block = 0; start < count; start += blockValues, block++) {
      const end = Math.min(count, start + blockValues);
      let least = Number.POSITIVE_INFINITY;
      for (let i = start; i < end; i++) {
        const value = (high[2 * i + 1]! - baseHigh) * 4294967296 + (low[2 * i]! - baseLow);
        const delta = value - previous;
        deltas[i - 1] = delta;
        if (delta < least) least = delta;
        if (value < min) min = value;
        else if (value > max) max = value;
        previous = value;
      }
      length += this.#measure(block, start - 1, end - 1, least);
    }
    return max - min > maxSpan ? undefined : length;
  }

  #begin(count: number): void {
    this.#count = count;
    if (this.#deltas.length >= count) return;
    this.#deltas = new Float64Array(count * 2);
    const blocks = Math.ceil((count * 2) / blockValues);
    this.#least = new Float64Array(blocks);
    this.#widths = new Uint8Array(blocks * miniblocks);
  }

  /** 3 bytes of block sizes, the count, the first value. */
  #headerLength(): number {
    return 3 + varintLength(this.#count) + this.#writeFirst(undefined);
  }

  /** The length of a block, whose deltas are those from `start` to `end`. */
  #measure(block: number, start: number, end: number, least: number): number {
    const deltas = this.#deltas;
    const widths = this.#widths;
    this.#least[block] = least;
    let length = varintLength(zigzag(least)) + miniblocks;
    for (let i = 0, from = start; i < miniblocks; i++, from += miniblockValues) {
      const to = Math.min(end, from + miniblockValues);
      let most = least;
      for (let j = from; j < to; j++) if (deltas[j]! > most) most = deltas[j]!;
      const width = bitWidth53(most - least);
      widths[block * miniblocks + i] = width;
      length += width * (miniblockValues / 8);
    }
    return length;
  }

  /** Appends the first value, all of its 64 bits, as a zigzag varint; returns its length. */
  #writeFirst(out: ByteBuffer | undefined): number {
    const sign = this.#firstHigh >> 31;
    let high = (((this.#firstHigh << 1) | (this.#firstLow >>> 31)) ^ sign) >>> 0;
    let low = ((this.#firstLow << 1) ^ sign) >>> 0;
    let length = 1;
    for (; high > 0 || low > 127; length++) {
      if (out) out.bytes[out.length++] = (low & 127) | 128;
      low = ((low >>> 7) | (high << 25)) >>> 0;
      high >>>= 7;
    }
    if (out) out.bytes[out.length++] = low;
    return length;
  }

  /** Appends what was planned. */
  write(out: ByteBuffer): void {
    out.varint(blockValues);
    out.varint(miniblocks);
    out.varint(this.#count);
    out.reserve(10);
    this.#writeFirst(out);
    const end = this.#count - 1;
    for (let start = 0, block = 0; start < end; start += blockValues, block++) {
      const least = this.#least[block]!;
      // A miniblock of 53 bits takes 212 bytes.
      out.reserve(16 + miniblocks + 212 * miniblocks);
      out.varint(zigzag(least));
      for (let i = 0; i < miniblocks; i++) out.bytes[out.length++] = this.#widths[block * miniblocks + i]!;
      for (let i = 0; i < miniblocks; i++) {
        const width = this.#widths[block * miniblocks + i]!;
        if (width === 0) continue;
        const from = start + i * miniblockValues;
        const to = Math.min(end, from + miniblockValues);
        const next = out.length + width * (miniblockValues / 8);
        if (width <= 32) packDeltas(out.view, out.length, next, this.#deltas, from, to, least, width);
        else packWideDeltas(out.view, out.length, next, this.#deltas, from, to, least, width);
        out.length = next;
      }
    }
  }
}

function packDeltas(
  view: DataView,
  start: number,
  end: number,
  deltas: Float64Array,
  from: number,
  to: number,
  least: number,
  width: number,
): void {
  let at = start;
  let word = 0;
  let bits = 0;
  for (let i = from; i < to; i++) {
    const value = (deltas[i]! - least) >>> 0;
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

/** As `packDeltas`, for 33 to 53 bits: the low word, then the bits above it. */
function packWideDeltas(
  view: DataView,
  start: number,
  end: number,
  deltas: Float64Array,
  from: number,
  to: number,
  least: number,
  width: number,
): void {
  let at = start;
  let word = 0;
  let bits = 0;
  const highWidth = width - 32;
  for (let i = from; i < to; i++) {
    const value = deltas[i]! - least;
    const low = value >>> 0;
    const high = Math.floor(value / 4294967296);
    view.setInt32(at, word | (low << bits), true);
    at += 4;
    word = bits === 0 ? 0 : low >>> (32 - bits);
    word |= high << bits;
    bits += highWidth;
    if (bits >= 32) {
      view.setInt32(at, word, true);
      at += 4;
      bits -= 32;
      word = bits === 0 ? 0 : high >>> (highWidth - bits);
    }
  }
  for (; at < end; at += 4) {
    view.setInt32(at, word, true);
    word = 0;
  }
}

function bitWidth53(value: number): number {
  return value <= 0xffffffff ? 32 - Math.clz32(value) : 64 - Math.clz32(Math.floor(value / 4294967296));
}

function zigzag(value: number): number {
  return value >= 0 ? value * 2 : value * -2 - 1;
}

function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) length++;
  return length;
}
