import type { ByteBuffer } from './byte-buffer.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Appends strings as UTF-8, one right after the other, and stores the length in bytes of each in `lengths` from `at` on.
 * `unitCount` is the sum of their lengths. Returns false, with `out` unchanged, when one holds a lone surrogate.
 */
export function appendUtf8(
  out: ByteBuffer,
  strings: readonly string[],
  unitCount: number,
  lengths: Int32Array,
  at: number,
): boolean {
  const joined = strings.length === 1 ? strings[0]! : strings.join('');
  out.reserve(unitCount);
  // As many bytes as units: then all of it is ASCII, and what a string has in units it has in bytes.
  const { read, written } = encoder.encodeInto(joined, out.bytes.subarray(out.length, out.length + unitCount));
  if (read === unitCount && written === unitCount) {
    for (let i = 0; i < strings.length; i++) lengths[at + i] = strings[i]!.length;
    out.length += written;
    return true;
  }
  let byteLength = 0;
  for (let i = 0; i < strings.length; i++) {
    const length = utf8Length(strings[i]!);
    if (length < 0) return false;
    lengths[at + i] = length;
    byteLength += length;
  }
  out.reserve(byteLength);
  out.length += encoder.encodeInto(joined, out.bytes.subarray(out.length)).written;
  return true;
}

/** The length in bytes as UTF-8; negative when the text holds a lone surrogate. */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) length++;
    else if (unit < 0xd800 || unit >= 0xe000) length += 2;
    else {
      // A pair is two units and four bytes.
      const low = unit < 0xdc00 ? text.charCodeAt(i + 1) : 0;
      if (!(low >= 0xdc00 && low < 0xe000)) return -1;
      length += 2;
      i++;
    }
  }
  return length;
}

export function decodeUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
