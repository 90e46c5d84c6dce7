import { type ValueCodec, ValueError } from './value-codec.ts';

/** The number as it is. */
export const float64Codec: ValueCodec<number> = floatCodec(
  (value) => value,
  (value) => String(value),
);

/** The nearest float32, which is what the type means; a number too large for one is refused. */
export const float32Codec: ValueCodec<number> = floatCodec(Math.fround, shortest32);

function floatCodec(round: (value: number) => number, shortest: (value: number) => string): ValueCodec<number> {
  const store = (value: number): number => {
    const rounded = round(value);
    if (!Number.isFinite(rounded) && Number.isFinite(value))
      throw new ValueError('expected a number that a float32 can hold (up to 3.4028234663852886e38)');
    return rounded;
  };
  return {
    encode(value) {
      if (typeof value !== 'number') throw new ValueError('expected a number');
      return store(value);
    },
    decode: (physical) => physical,
    text: (physical) => floatText(physical, shortest),
    fromText: (text) => store(parseFloatText(text)),
    compare: compareFloats,
  };
}

/** NaN is above all numbers and equal to itself, as in DuckDB; both zeros are equal. */
function compareFloats(a: number, b: number): number {
  if (a < b) return -1;
  if (a > b) return 1;
  if (a === b) return 0;
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
}

/** DuckDB's text: the shortest digits, with an exponent below 1e-4 and from 1e16 on, else with a decimal point. */
function floatText(value: number, shortest: (value: number) => string): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const magnitude = Math.abs(value);
  if (magnitude === 0) return `${sign}0.0`;
  const { digits, exponent } = parts(shortest(magnitude));
  if (exponent < -4 || exponent >= 16) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
    const power = String(Math.abs(exponent)).padStart(2, '0');
    return `${sign}${digits[0]}${fraction}e${exponent < 0 ? '-' : '+'}${power}`;
  }
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`;
}

/** The significant digits, without zeros at either end, and the power of ten of the first. */
function parts(text: string): { digits: string; exponent: number } {
  const [mantissa, power = '0'] = text.split('e') as [string, string?];
  const [whole, fraction = ''] = mantissa.split('.') as [string, string?];
  const all = whole + fraction;
  const leading = /^0*/.exec(all)![0].length;
  return { digits: all.slice(leading).replace(/0+$/, ''), exponent: Number(power) + whole.length - 1 - leading };
}

const word = new Int32Array(1);
const single = new Float32Array(word.buffer);

/**
 * The fewest digits that only `value` has among float32s. DuckDB's algorithm gives up where the nearest such text is no
 * nearer than another, or lies on the border to a neighbour, and then writes the digits that tell float64s apart; so must we.
 */
function shortest32(value: number): string {
  const lower = (value + neighbour(value, -1)) / 2;
  const next = neighbour(value, 1);
  const upper = Number.isFinite(next) ? (value + next) / 2 : value + (value - lower);
  for (let precision = 1; precision < 9; precision++) {
    const text = value.toPrecision(precision);
    const candidate = Number(text);
    if (candidate < lower) {
      // A power of two has its lower neighbour closer than its upper: the text above may do where the nearest doesn't.
      const above = nextText(value, precision);
      if (Number(above) < upper) return above;
    }
    if (candidate < lower || candidate > upper) continue;
    if (candidate === lower || candidate === upper) return String(value);
    const tied = isHalfway(value, precision) && 2 * value - candidate >= lower;
    return tied && candidate !== value ? String(value) : text;
  }
  return value.toPrecision(9);
}

/** The text of that precision after the one nearest to `value`. */
function nextText(value: number, precision: number): string {
  const [mantissa, power] = value.toExponential(precision - 1).split('e') as [string, string];
  return `${Number(mantissa.replace('.', '')) + 1}e${Number(power) - (precision - 1)}`;
}

function neighbour(value: number, step: 1 | -1): number {
  single[0] = value;
  word[0]! += step;
  return single[0]!;
}

/** Whether `value` is right between two texts of that precision. */
function isHalfway(value: number, precision: number): boolean {
  const text = value.toPrecision(precision + 1);
  return Number(text) === value && /5(e|$)/.test(text);
}

function parseFloatText(text: string): number {
  switch (text.toLowerCase()) {
    case 'nan':
    case '-nan':
      return Number.NaN;
    case 'inf':
    case 'infinity':
      return Number.POSITIVE_INFINITY;
    case '-inf':
    case '-infinity':
      return Number.NEGATIVE_INFINITY;
  }
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) throw new ValueError('expected a number');
  return Number(text);
}
