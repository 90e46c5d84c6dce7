/** The narrowest type that holds every number seen, digit for digit. */

const numberPattern = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;

const int64Low = -(2n ** 63n);
const int64High = 2n ** 63n - 1n;
const uint64High = 2n ** 64n - 1n;

export class NumberRange {
  #count = 0;
  #low = 0n;
  #high = 0n;
  /** Of the integers seen so far that are safe: a bigint costs more. */
  #safeLow = 0;
  #safeHigh = 0;
  #hasFraction = false;
  #isDouble = true;
  #wholeDigits = 0;
  #scale = 0;
  #fitsDecimal = true;

  get count(): number {
    return this.#count;
  }

  /** `text` is a number as JSON or CSV writes it. */
  add(text: string): void {
    this.#count += 1;
    if (text.length <= 15 && /^-?\d+$/.test(text)) {
      const value = Number(text);
      if (value < this.#safeLow) this.#safeLow = value;
      if (value > this.#safeHigh) this.#safeHigh = value;
      this.#wholeDigits = Math.max(this.#wholeDigits, value < 0 ? text.length - 1 : text.length);
      return;
    }
    if (/^-?\d+$/.test(text)) {
      const value = BigInt(text);
      if (value < this.#low) this.#low = value;
      if (value > this.#high) this.#high = value;
    } else this.#hasFraction = true;
    const plain = plainDigits(text);
    if (plain === undefined) {
      this.#fitsDecimal = false;
    } else {
      this.#wholeDigits = Math.max(this.#wholeDigits, plain.whole.length);
      this.#scale = Math.max(this.#scale, plain.fraction.length);
    }
    if (this.#isDouble && !isExactDouble(text)) this.#isDouble = false;
  }

  /** `undefined` when no type of numbers holds them all. */
  type(): string | undefined {
    if (!this.#hasFraction) {
      const low = min(this.#low, BigInt(this.#safeLow));
      if (low >= int64Low && this.#high <= int64High) return 'int64';
      if (low >= 0n && this.#high <= uint64High) return 'uint64';
    } else if (this.#isDouble) return 'float64';
    const precision = this.#wholeDigits + this.#scale;
    if (!this.#fitsDecimal || precision > 38) return undefined;
    return this.#scale === 0 ? 'decimal(38,0)' : `decimal(${Math.max(precision, 18)},${this.#scale})`;
  }

  /** Whether every number is the one that its nearest double prints as. */
  get isDouble(): boolean {
    return this.#isDouble;
  }
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

interface PlainDigits {
  /** Without leading zeros. */
  readonly whole: string;
  /** Without trailing zeros. */
  readonly fraction: string;
}

/** The digits of a number without its exponent; `undefined` when they are more than any decimal has. */
export function plainDigits(text: string): PlainDigits | undefined {
  const found = numberPattern.exec(text);
  if (!found) return undefined;
  const [, , whole = '', fraction = '', exponent = '0'] = found;
  const shift = Number(exponent);
  if (Math.abs(shift) > 400) return undefined;
  const digits = whole + fraction;
  const point = whole.length + shift;
  const padded = point < 0 ? '0'.repeat(-point) + digits : digits.padEnd(point, '0');
  const at = Math.max(0, point);
  return { whole: padded.slice(0, at).replace(/^0+/, ''), fraction: padded.slice(at).replace(/0+$/, '') };
}

/** Whether the double nearest to a number prints as that number: it then keeps every digit. */
export function isExactDouble(text: string): boolean {
  const value = Number(text);
  if (!Number.isFinite(value)) return false;
  // Up to 15 digits always are.
  if (/^-?(?:\d{1,15}|(?=[\d.]{2,16}$)\d*\.\d*)$/.test(text)) return true;
  const given = plainDigits(text);
  const kept = plainDigits(String(value));
  return given !== undefined && kept !== undefined && given.whole === kept.whole && given.fraction === kept.fraction;
}
