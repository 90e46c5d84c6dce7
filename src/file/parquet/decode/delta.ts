import { corrupt } from '../footer.ts';
import { type Cursor, cut } from './cursor.ts';
import { bitsAt } from './hybrid.ts';

/** Reads DELTA_BINARY_PACKED numbers of 32 bits, as many as `out` holds. */
export function readDeltas32(cursor: Cursor, out: Int32Array): void {
  let value = 0;
  walk(cursor, out.length, {
    first: (low) => {
      value = low;
      out[0] = value;
    },
    block: (from, to, width, bit, low) => {
      const { bytes } = cursor;
      const mask = width >= 32 ? -1 : (1 << width) - 1;
      for (let i = from, at = bit; i < to; i++, at += width) {
        value = (value + low + (width === 0 ? 0 : bitsAt(bytes, at) & mask)) | 0;
        out[i] = value;
      }
    },
  });
}

/** The same for 64 bits. */
export function readDeltas64(cursor: Cursor, out: BigInt64Array): void {
  // Half by half: a bigint for each value would cost ten times as much.
  const halves = new Int32Array(out.buffer, out.byteOffset, out.length * 2);
  let low = 0;
  let high = 0;
  walk(cursor, out.length, {
    first: (firstLow, firstHigh) => {
      low = firstLow;
      high = firstHigh;
      halves[0] = low;
      halves[1] = high;
    },
    block: (from, to, width, bit, leastLow, leastHigh) => {
      const { bytes } = cursor;
      const lowMask = width >= 32 ? -1 : (1 << width) - 1;
      const highMask = width >= 64 ? -1 : width > 32 ? (1 << (width - 32)) - 1 : 0;
      const leastLowUnsigned = leastLow >>> 0;
      for (let i = from, at = bit; i < to; i++, at += width) {
        const added = width === 0 ? 0 : (bitsAt(bytes, at) & lowMask) >>> 0;
        const addedHigh = highMask === 0 ? 0 : bitsAt(bytes, at + 32) & highMask;
        const sum = (low >>> 0) + leastLowUnsigned + added;
        low = sum | 0;
        const carry = sum >= 8589934592 ? 2 : sum >= 4294967296 ? 1 : 0;
        high = (high + leastHigh + addedHigh + carry) | 0;
        halves[2 * i] = low;
        halves[2 * i + 1] = high;
      }
    },
  });
}

interface Visitor {
  first(low: number, high: number): void;
  /** Values `from` to `to` lie from a bit on, `width` bits each, and are differences less the least one. */
  block(from: number, to: number, width: number, bit: number, leastLow: number, leastHigh: number): void;
}

function walk(cursor: Cursor, count: number, visitor: Visitor): void {
  const { bytes } = cursor;
  const blockLength = cursor.varint();
  const miniblockCount = cursor.varint();
  const total = cursor.varint();
  const firstLow = cursor.zigzag();
  if (total !== count) throw corrupt(`a page holds ${total} values, its header says ${count}`);
  if (count === 0) return;
  const miniblockLength = blockLength / miniblockCount;
  if (!(miniblockLength > 0 && miniblockLength % 8 === 0))
    throw corrupt(`blocks of ${blockLength} differences in ${miniblockCount} parts`);
  visitor.first(firstLow, cursor.high);
  let done = 1;
  while (done < count) {
    const leastLow = cursor.zigzag();
    const leastHigh = cursor.high;
    const widths = cursor.take(miniblockCount);
    for (let m = 0; m < miniblockCount && done < count; m++) {
      const width = widths[m]!;
      if (width > 64) throw corrupt(`differences of ${width} bits`);
      const to = Math.min(done + miniblockLength, count);
      const start = cursor.at;
      if (start + Math.ceil(((to - done) * width) / 8) > bytes.length) throw cut();
      visitor.block(done, to, width, start * 8, leastLow, leastHigh);
      cursor.at = Math.min(start + (miniblockLength / 8) * width, bytes.length);
      done = to;
    }
  }
}
