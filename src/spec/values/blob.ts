import { isBytes, type ValueCodec, ValueError } from './value-codec.ts';

/** Stored as the caller's own bytes: whoever keeps them longer than the call copies them. */
export const blobCodec: ValueCodec<Uint8Array> = {
  encode(value) {
    if (!isBytes(value)) throw new ValueError('expected a Uint8Array');
    return value;
  },
  decode: (physical) => physical,
  text: hexText,
  fromText: parseHex,
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

function hexText(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += hex[byte];
  return text;
}

function parseHex(text: string): Uint8Array {
  if (!/^([0-9a-f]{2})*$/i.test(text)) throw new ValueError('expected hexadecimal digits, two for each byte');
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16));
}
