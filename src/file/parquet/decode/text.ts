import { decodeText } from '../../../spec/values/text.ts';
import { corrupt } from '../footer.ts';
import type { ByteArrays } from './byte-arrays.ts';

/** Strings are cut out of decoded blocks, which live as long as any of them does: so those stay small. */
const blockByteLength = 1 << 14;
/** Lengths below it, which lie between PLAIN values, are bytes that are valid UTF-8. */
const shortLength = 128;

/** Makes strings, a block of them in one call of the decoder, which costs as much as a string. Bytes that are no UTF-8 are CORRUPT. */
export function textsOf({ bytes, starts, ends }: ByteArrays): string[] {
  const count = starts.length;
  const texts = new Array<string>(count);
  let scratch: Uint8Array | undefined;
  for (let from = 0, to = 0; from < count; from = to) {
    const start = starts[from]!;
    let isShort = true;
    let dataLength = 0;
    to = from;
    do {
      const length = ends[to]! - starts[to]!;
      if (length >= shortLength) isShort = false;
      dataLength += length;
      to++;
    } while (to < count && ends[to]! - start <= blockByteLength);
    const end = ends[to - 1]!;
    if (to - from === 1) texts[from] = decodeText(bytes.subarray(start, end));
    else if (isShort || dataLength === end - start) cutTexts(bytes.subarray(start, end), start);
    else {
      scratch ??= new Uint8Array(blockByteLength);
      let at = 0;
      for (let i = from; i < to; i++) {
        scratch.set(bytes.subarray(starts[i]!, ends[i]!), at);
        at += ends[i]! - starts[i]!;
      }
      cutTexts(scratch.subarray(0, at), undefined);
    }

    /** Cuts texts `from` to `to` out of a block: at their places less `origin`, or one after the other. */
    function cutTexts(block: Uint8Array, origin: number | undefined): void {
      const text = decodeText(block);
      let at = 0;
      if (text.length === block.length) {
        for (let i = from; i < to; i++) {
          const length = ends[i]! - starts[i]!;
          if (origin !== undefined) at = starts[i]! - origin;
          texts[i] = text.slice(at, at + length);
          at += length;
        }
        return;
      }
      let unit = 0;
      for (let i = from; i < to; i++) {
        const length = ends[i]! - starts[i]!;
        if (origin !== undefined) {
          unit += starts[i]! - origin - at;
          at = starts[i]! - origin;
        }
        const stop = at + length;
        if (length > 0 && isContinuation(block[at]!)) throw corrupt('text begins within a character');
        const units = unitsOf(block, at, stop);
        texts[i] = text.slice(unit, unit + units);
        unit += units;
        at = stop;
      }
    }
  }
  return texts;
}

/** The UTF-16 length of valid UTF-8. */
function unitsOf(bytes: Uint8Array, start: number, end: number): number {
  let units = end - start;
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    if (isContinuation(byte)) units--;
    else if (byte >= 0xf0) units++;
  }
  return units;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
