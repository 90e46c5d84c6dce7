import { compareOrdered, type ValueCodec, ValueError } from './value-codec.ts';

export const uuidCodec: ValueCodec<string> = {
  encode(value) {
    if (typeof value !== 'string' || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value))
      throw new ValueError('expected a UUID such as "0f8fad5b-d9cb-469f-a165-70867728950e"');
    return value.toLowerCase();
  },
  decode: (physical) => physical,
  text: (physical) => physical,
  fromText: (text) => uuidCodec.encode(text),
  compare: compareOrdered,
};

/** The 16 bytes of a UUID's text. */
export function uuidBytes(uuid: string): Uint8Array {
  const digits = uuid.replaceAll('-', '');
  return Uint8Array.from({ length: 16 }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}

/** The lower-case text of a UUID's 16 bytes. */
export function uuidText(bytes: Uint8Array): string {
  let digits = '';
  for (const byte of bytes) digits += byte.toString(16).padStart(2, '0');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
