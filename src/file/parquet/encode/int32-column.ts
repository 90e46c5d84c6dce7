import type { Physical, ValueCodec } from '../../../spec/values/codec.ts';
import { carveInt32 } from './arena.ts';
import type { ByteBuffer } from './byte-buffer.ts';
import { ColumnEncoder, type Leaf, type Workbench } from './column.ts';
import type { Encoding } from './encodings.ts';
import { IntegerPages } from './integer-pages.ts';

/** How callers' values become 32-bit integers; whatever isn't said here the codec converts. */
export interface Int32Input {
  /** Numbers are the integers themselves. */
  readonly numbers: boolean;
  /** Milliseconds in a unit, where a Date is taken; else 0. */
  readonly millis: number;
  /** A quick conversion of other values; NaN when the codec has to do it. */
  readonly convert: ((value: unknown) => number) | undefined;
  readonly unsigned: boolean;
  /** Integers outside are left to the codec to judge. */
  readonly low: number;
  readonly high: number;
  /** What the codec calls such an integer. */
  readonly physical: (value: number) => Physical;
}

const noIntegers = new Int32Array(0);

/** INT32: integers of up to 32 bits, dates, small decimals. */
export class Int32Column extends ColumnEncoder {
  readonly #input: Int32Input;
  #values = noIntegers;
  #pageMin = Number.POSITIVE_INFINITY;
  #pageMax = Number.NEGATIVE_INFINITY;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;
  readonly #pages = new IntegerPages(this.bench.version);

  constructor(leaf: Leaf, codec: ValueCodec, bench: Workbench, input: Int32Input) {
    super(leaf, codec, bench);
    this.#input = input;
  }

  protected grow(capacity: number): void {
    const grown = carveInt32(capacity);
    grown.set(this.#values.subarray(0, this.count));
    this.#values = grown;
  }

  protected openByteLength(): number {
    return this.count * 4;
  }

  /** Of a sign only where the column has one: what lies outside its range is found by the bounds. */
  protected override isDirect(values: ArrayLike<unknown>): values is Int32Array | Uint32Array {
    if (!this.#input.numbers) return false;
    if (values instanceof Uint8Array || values instanceof Uint16Array) return true;
    if (this.#input.unsigned) return values instanceof Uint32Array;
    return values instanceof Int32Array || values instanceof Int16Array || values instanceof Int8Array;
  }

  protected take(values: ArrayLike<unknown>, from: number, to: number): number {
    const start = this.count;
    if (this.isDirect(values)) {
      this.#values.set(values.subarray(from, to), start);
      this.count += to - from;
    } else this.#takeAny(values, from, to);
    if (this.count > start) this.#observe(start, values, from, to);
    return to;
  }

  #takeAny(values: ArrayLike<unknown>, from: number, to: number): void {
    const { numbers, millis, convert, unsigned } = this.#input;
    const { blockNulls } = this.flat;
    const slot = this.flat.slots - from;
    const integers = this.#values;
    let nullCount = 0;
    let count = this.count;
    for (let i = from; i < to; i++) {
      const value = values[i];
      if (numbers && typeof value === 'number') {
        const integer = value | 0;
        if (unsigned ? value >>> 0 === value : integer === value) {
          integers[count++] = integer;
          continue;
        }
      } else if (value === null || value === undefined) {
        blockNulls[nullCount++] = slot + i;
        continue;
      } else if (millis > 0 && value.constructor === Date) {
        const number = (value as Date).getTime() / millis;
        const integer = number | 0;
        if (integer === number) {
          integers[count++] = integer;
          continue;
        }
      }
      const number = convert === undefined ? Number.NaN : convert(value);
      const integer = number | 0;
      integers[count++] = integer === number ? integer : Number(this.codec.encode(value));
    }
    this.count = count;
    this.flat.blockNullCount = nullCount;
  }

  /** Takes the bounds of the integers from `start` on. */
  #observe(start: number, values: ArrayLike<unknown>, from: number, to: number): void {
    const { unsigned, low, high } = this.#input;
    const integers = this.#values;
    // Unsigned integers compare like signed ones once their highest bit is the other way round.
    const flip = unsigned ? -0x80000000 : 0;
    let least = integers[start]! ^ flip;
    let most = least;
    for (let i = start + 1; i < this.count; i++) {
      const value = integers[i]! ^ flip;
      if (value < least) least = value;
      else if (value > most) most = value;
    }
    const min = unsigned ? (least ^ flip) >>> 0 : least;
    const max = unsigned ? (most ^ flip) >>> 0 : most;
    if (min < low || max > high)
      for (let i = from; i < to; i++) if (values[i] !== null && values[i] !== undefined) this.codec.encode(values[i]);
    if (min < this.#pageMin) this.#pageMin = min;
    if (max > this.#pageMax) this.#pageMax = max;
  }

  protected encode(out: ByteBuffer): Encoding {
    const min = this.#pageMin;
    const max = this.#pageMax;
    this.#min = Math.min(this.#min, min);
    this.#max = Math.max(this.#max, max);
    this.#pageMin = Number.POSITIVE_INFINITY;
    this.#pageMax = Number.NEGATIVE_INFINITY;
    const { physical } = this.#input;
    this.pageBounds = [physical(min), physical(max)];

    const page = { words: this.#values, stride: 1, count: this.count, min: BigInt(min), max: BigInt(max) } as const;
    return this.#pages.encode(out, page);
  }

  protected override takeDictionary(out: ByteBuffer): number {
    return this.#pages.takeDictionary(out, 1);
  }

  protected takeBounds(): readonly [min: Physical, max: Physical] | undefined {
    if (this.#min > this.#max) return undefined;
    const { physical } = this.#input;
    const bounds = [physical(this.#min), physical(this.#max)] as const;
    this.#min = Number.POSITIVE_INFINITY;
    this.#max = Number.NEGATIVE_INFINITY;
    return bounds;
  }
}
