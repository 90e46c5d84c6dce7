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

/** Below this many characters a loop is quicker than a call of the runtime's encoder. */
const shortLength = 48;

export function encodeUtf8(text: string): Uint8Array {
  if (text.length > shortLength) return encoder.encode(text);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 127) return encoder.encode(text);
    bytes[i] = unit;
  }
  return bytes;
}

export function decodeUtf8(bytes: Uint8Array): string {
  if (bytes.length > shortLength) return decoder.decode(bytes);
  for (const byte of bytes) if (byte > 127) return decoder.decode(bytes);
  return String.fromCharCode.apply(undefined, bytes as unknown as number[]);
}
