import { type ValueCodec, ValueError } from './value-codec.ts';

export const varcharCodec: ValueCodec<string> = {
  encode(value) {
    if (typeof value !== 'string') throw new ValueError('expected a string');
    if (!value.isWellFormed()) throw new ValueError('expected text without lone surrogates, which UTF-8 cannot hold');
    return value;
  },
  decode: (physical) => physical,
  // Catalog databases can't hold NUL in text.
  text: (physical) => (physical.includes('\0') ? undefined : physical),
  fromText: (text) => varcharCodec.encode(text),
  compare: compareUtf8,
};

/** The order of the UTF-8 bytes, which is that of code points: UTF-16 units order surrogates below U+E000…U+FFFF. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** A UTF-16 unit where surrogates come last, as the code points that they stand for do. */
function rank(unit: number): number {
  return unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x10000 : unit;
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes that are no UTF-8 are an error, and a byte order mark is text like any other. */
export function decodeText(bytes: Uint8Array): string {
  return strictUtf8.decode(bytes);
}
