import { isBytes, type ValueCodec, ValueError } from './value-codec.ts';

/**
 * Stored as the caller's own bytes: whoever keeps them longer than the call copies them. The text is that of bounds, hexadecimal
 * digits; `fromText` reads the text of defaults, which is another one.
 */
export const blobCodec: ValueCodec<Uint8Array> = {
  encode(value) {
    if (!isBytes(value)) throw new ValueError('expected a Uint8Array');
    return value;
  },
  decode: (physical) => physical,
  text: hexText,
  fromText: parseBlob,
  compare: compareBytes,
};

/** Unsigned lexicographic order. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}

const hex: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).toUpperCase().padStart(2, '0'),
);

/** Upper-case hexadecimal digits. */
export function hexText(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += hex[byte];
  return text;
}

/** Bytes of hexadecimal digits in either case. */
export function hexBytes(text: string): Uint8Array {
  // In one pass: engines give up on a group that repeats millions of times.
  if (text.length % 2 !== 0 || /[^0-9a-f]/i.test(text)) throw new ValueError('expected hexadecimal digits');
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16));
}

/** DuckDB's text of a blob: printable ASCII without quotes and backslashes as it is, other bytes as `\xNN`. */
export function blobText(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => {
    const character = String.fromCharCode(byte);
    return /[ -~]/.test(character) && !/['"\\]/.test(character) ? character : `\\x${hex[byte]}`;
  }).join('');
}

/** DuckDB's cast from text, as defaults are written: ASCII as it is, other bytes as `\xNN`. */
function parseBlob(text: string): Uint8Array {
  if (!/^(?:[^\\\u0080-\uffff]|\\x[0-9a-f]{2})*$/i.test(text))
    throw new ValueError('expected ASCII text, with other bytes written as "\\xNN"');
  const bytes = text.replace(/\\x([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return Uint8Array.from(bytes, (character) => character.charCodeAt(0));
}
