import type { Physical } from '../spec/values/codec.ts';

/** Bytes of text or of a blob up to which DuckDB writes a bound as it is. */
export const maxBoundByteLength = 256;

/** The value itself, or where the catalog can't hold that, its beginning: which is not above it. */
export function shortBelow(value: Physical): Physical {
  if (value instanceof Uint8Array) return value.subarray(0, maxBoundByteLength);
  return typeof value === 'string' ? beginning(value) : value;
}

/** The value itself, or something short above everything that begins like it; `undefined` when there is nothing above. */
export function shortAbove(value: Physical): Physical | undefined {
  if (value instanceof Uint8Array) return value.length <= maxBoundByteLength ? value : nextBytes(value);
  if (typeof value !== 'string') return value;
  const start = beginning(value);
  if (start.length === value.length) return value;
  return value[start.length] === '\0' ? `${start}\u0001` : nextText(start);
}

const utf8 = new TextEncoder();
const buffer = new Uint8Array(maxBoundByteLength);

/** Whole characters, up to a NUL, which catalog databases can't hold in text. */
function beginning(text: string): string {
  const end = text.indexOf('\0');
  const start = text.slice(0, Math.min(end < 0 ? text.length : end, maxBoundByteLength));
  return start.length * 3 <= maxBoundByteLength ? start : start.slice(0, utf8.encodeInto(start, buffer).read);
}

/** Above all text that begins so: its last character that has a next one, replaced by that. */
function nextText(start: string): string | undefined {
  const characters = Array.from(start, (character) => character.codePointAt(0)!);
  for (let last = characters.pop(); last !== undefined; last = characters.pop()) {
    if (last === 0x10ffff) continue;
    const next = last === 0xd7ff ? 0xe000 : last + 1;
    return String.fromCodePoint(...characters, next);
  }
  return undefined;
}

function nextBytes(bytes: Uint8Array): Uint8Array | undefined {
  const start = bytes.slice(0, maxBoundByteLength);
  for (let i = start.length - 1; i >= 0; i--)
    if (start[i]! < 0xff) {
      start[i]!++;
      return start.subarray(0, i + 1);
    }
  return undefined;
}
