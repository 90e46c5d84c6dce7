import type { Physical, ValueCodec } from '../../../spec/values/codec.ts';
import { carve } from './arena.ts';
import type { ByteBuffer } from './byte-buffer.ts';
import { ColumnEncoder, type Leaf, type Workbench } from './column.ts';
import type { Encoding } from './encodings.ts';
import { IntegerPages } from './integer-pages.ts';

/** How callers' values become 64-bit integers; whatever isn't said here the codec converts. */
export interface Int64Input {
  /** Bigints and safe-integer numbers are the integers themselves. */
  readonly bigints: boolean;
  readonly numbers: boolean;
  /** Units in a millisecond, where a Date is taken; else 0. */
  readonly perMilli: number;
  /** A quick conversion of other values; NaN, or no safe integer, when the codec has to do it. */
  readonly convert: ((value: unknown) => number) | undefined;
  readonly unsigned: boolean;
  /** Integers outside are left to the codec to judge. */
  readonly low: bigint;
  readonly high: bigint;
  /** From what the codec makes of a value to the integer, and back. */
  readonly stored: (physical: Physical) => bigint;
  readonly physical: (stored: bigint) => Physical;
}

const noView = new DataView(new ArrayBuffer(0));
const noLow = new Uint32Array(0);
const noHigh = new Int32Array(0);

/** INT64: integers, timestamps, times, decimals. */
export class Int64Column extends ColumnEncoder {
  readonly #input: Int64Input;
  /** Views of the same integers. */
  #view = noView;
  #low = noLow;
  #high = noHigh;
  #pageMin: bigint | undefined;
  #pageMax: bigint | undefined;
  #min: bigint | undefined;
  #max: bigint | undefined;
  readonly #pages = new IntegerPages(this.bench.version);

  constructor(leaf: Leaf, codec: ValueCodec, bench: Workbench, input: Int64Input) {
    super(leaf, codec, bench);
    this.#input = input;
  }

  protected grow(capacity: number): void {
    const { buffer, byteOffset } = carve(capacity * 8);
    const low = new Uint32Array(buffer, byteOffset, capacity * 2);
    low.set(this.#low.subarray(0, this.count * 2));
    this.#low = low;
    this.#high = new Int32Array(buffer, byteOffset, capacity * 2);
    this.#view = new DataView(buffer, byteOffset, capacity * 8);
  }

  protected openByteLength(): number {
    return this.count * 8;
  }

  protected override isDirect(values: ArrayLike<unknown>): values is BigInt64Array {
    return this.#input.bigints && values instanceof (this.#input.unsigned ? BigUint64Array : BigInt64Array);
  }

  protected take(values: ArrayLike<unknown>, from: number, to: number): number {
    const start = this.count;
    if (this.isDirect(values)) {
      const { buffer, byteOffset } = this.#low;
      new BigInt64Array(buffer, byteOffset + start * 8, to - from).set(values.subarray(from, to));
      this.count += to - from;
    } else this.#takeAny(values, from, to);
    if (this.count > start) this.#observe(start, values, from, to);
    return to;
  }

  #takeAny(values: ArrayLike<unknown>, from: number, to: number): void {
    const { bigints, numbers, perMilli, convert, unsigned, stored } = this.#input;
    const { blockNulls } = this.flat;
    const slot = this.flat.slots - from;
    const view = this.#view;
    const low = this.#low;
    const high = this.#high;
    let nullCount = 0;
    let count = this.count;
    for (let i = from; i < to; i++) {
      const value = values[i];
      let number = Number.NaN;
      if (typeof value === 'bigint') {
        if (bigints) {
          // A DataView takes bigints several times as fast as a typed array does on JavaScriptCore.
          view.setBigInt64(count * 8, value, true);
          if ((unsigned ? view.getBigUint64(count * 8, true) : view.getBigInt64(count * 8, true)) === value) {
            count++;
            continue;
          }
        }
      } else if (typeof value === 'number') {
        if (numbers) number = value;
      } else if (value === null || value === undefined) {
        blockNulls[nullCount++] = slot + i;
        continue;
      } else if (perMilli > 0 && value.constructor === Date) {
        number = (value as Date).getTime() * perMilli;
      }
      if (!Number.isSafeInteger(number) && convert !== undefined) number = convert(value);
      if (Number.isSafeInteger(number) && (number >= 0 || !unsigned)) {
        const upper = Math.floor(number / 4294967296);
        low[count * 2] = number - upper * 4294967296;
        high[count * 2 + 1] = upper;
      } else {
        view.setBigInt64(count * 8, stored(this.codec.encode(value)), true);
      }
      count++;
    }
    this.count = count;
    this.flat.blockNullCount = nullCount;
  }

  /** Takes the bounds of the integers from `start` on. */
  #observe(start: number, values: ArrayLike<unknown>, from: number, to: number): void {
    const low = this.#low;
    const high = this.#high;
    const end = this.count * 2;
    // Unsigned high words compare like signed ones once their highest bit is the other way round.
    const flip = this.#input.unsigned ? -0x80000000 : 0;
    let minLow = low[start * 2]!;
    let minHigh = high[start * 2 + 1]! ^ flip;
    let maxLow = minLow;
    let maxHigh = minHigh;
    for (let i = start * 2 + 2; i < end; i += 2) {
      const h = high[i + 1]! ^ flip;
      const l = low[i]!;
      if (h < minHigh || (h === minHigh && l < minLow)) {
        minHigh = h;
        minLow = l;
      } else if (h > maxHigh || (h === maxHigh && l > maxLow)) {
        maxHigh = h;
        maxLow = l;
      }
    }
    const min = this.#join(minHigh ^ flip, minLow);
    const max = this.#join(maxHigh ^ flip, maxLow);
    if (min < this.#input.low || max > this.#input.high)
      for (let i = from; i < to; i++) if (values[i] !== null && values[i] !== undefined) this.codec.encode(values[i]);
    if (this.#pageMin === undefined || min < this.#pageMin) this.#pageMin = min;
    if (this.#pageMax === undefined || max > this.#pageMax) this.#pageMax = max;
  }

  #join(high: number, low: number): bigint {
    const value = (BigInt(high) << 32n) | BigInt(low);
    return this.#input.unsigned ? BigInt.asUintN(64, value) : value;
  }

  protected encode(out: ByteBuffer): Encoding {
    const min = this.#pageMin!;
    const max = this.#pageMax!;
    if (this.#min === undefined || min < this.#min) this.#min = min;
    if (this.#max === undefined || max > this.#max) this.#max = max;
    this.#pageMin = undefined;
    this.#pageMax = undefined;
    const { physical } = this.#input;
    this.pageBounds = [physical(min), physical(max)];

    const page = { words: this.#high, stride: 2, count: this.count, min, max } as const;
    return this.#pages.encode(out, page);
  }

  protected override takeDictionary(out: ByteBuffer): number {
    return this.#pages.takeDictionary(out, 2);
  }

  protected takeBounds(): readonly [min: Physical, max: Physical] | undefined {
    const min = this.#min;
    const max = this.#max;
    this.#min = undefined;
    this.#max = undefined;
    if (min === undefined || max === undefined) return undefined;
    return [this.#input.physical(min), this.#input.physical(max)];
  }
}
