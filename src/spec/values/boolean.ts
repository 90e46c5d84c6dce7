import { type ValueCodec, ValueError } from './value-codec.ts';

export const booleanCodec: ValueCodec<boolean> = {
  encode(value) {
    if (typeof value !== 'boolean') throw new ValueError('expected true or false');
    return value;
  },
  decode: (physical) => physical,
  text: (physical) => (physical ? '1' : '0'),
  fromText(text) {
    const lower = text.toLowerCase();
    if (lower === '1' || lower === 'true') return true;
    if (lower === '0' || lower === 'false') return false;
    throw new ValueError('expected true or false');
  },
  compare: (a, b) => Number(a) - Number(b),
};
