import type { Physical, ValueCodec } from '../../../spec/values/codec.ts';
import { carve } from './arena.ts';
import type { ByteBuffer } from './byte-buffer.ts';
import { ColumnEncoder, type Leaf, type Workbench } from './column.ts';
import type { Encoding } from './encodings.ts';
import { FloatPages } from './float-pages.ts';

type Floats = Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

const noSingles = new Float32Array(0);
const noDoubles = new Float64Array(0);

/** FLOAT and DOUBLE. */
export class FloatColumn extends ColumnEncoder {
  readonly #single: boolean;
  readonly #pages: FloatPages;
  #values: Floats;
  #pageMin = Number.POSITIVE_INFINITY;
  #pageMax = Number.NEGATIVE_INFINITY;
  #pageHasNan = false;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;
  #containsNan = false;

  constructor(leaf: Leaf, codec: ValueCodec, bench: Workbench, single: boolean) {
    super(leaf, codec, bench);
    this.#single = single;
    this.#values = single ? noSingles : noDoubles;
    this.#pages = new FloatPages(single ? 1 : 2);
  }

  protected grow(capacity: number): void {
    const { buffer, byteOffset } = carve(capacity * (this.#single ? 4 : 8));
    const grown = this.#single
      ? new Float32Array(buffer, byteOffset, capacity)
      : new Float64Array(buffer, byteOffset, capacity);
    grown.set(this.#values.subarray(0, this.count));
    this.#values = grown;
  }

  protected openByteLength(): number {
    return this.count * this.#values.BYTES_PER_ELEMENT;
  }

  protected override isDirect(values: ArrayLike<unknown>): values is Floats {
    return values instanceof Float64Array || values instanceof Float32Array;
  }

  protected take(values: ArrayLike<unknown>, from: number, to: number): number {
    const start = this.count;
    if (this.isDirect(values)) {
      this.#values.set(values.subarray(from, to), start);
      this.count += to - from;
    } else this.#takeAny(values, from, to);
    if (this.bench.statistics || this.#single) this.#observe(start, values, from, to);
    return to;
  }

  #takeAny(values: ArrayLike<unknown>, from: number, to: number): void {
    const { blockNulls } = this.flat;
    const slot = this.flat.slots - from;
    const floats = this.#values;
    let nullCount = 0;
    let count = this.count;
    for (let i = from; i < to; i++) {
      const value = values[i];
      if (typeof value === 'number') floats[count++] = value;
      else if (value === null || value === undefined) blockNulls[nullCount++] = slot + i;
      else floats[count++] = this.codec.encode(value) as number;
    }
    this.count = count;
    this.flat.blockNullCount = nullCount;
  }

  /** Takes the bounds of the stored floats from `start` on. */
  #observe(start: number, values: ArrayLike<unknown>, from: number, to: number): void {
    const floats = this.#values;
    let min = this.#pageMin;
    let max = this.#pageMax;
    let nans = 0;
    for (let i = start; i < this.count; i++) {
      const value = floats[i]!;
      if (value < min) min = value;
      if (value > max) max = value;
      // biome-ignore lint/suspicious/noSelfCompare: the quickest test for NaN.
      if (value !== value) nans++;
    }
    // A number that is too large for a float32 was stored as infinity.
    if (this.#single && (max === Number.POSITIVE_INFINITY || min === Number.NEGATIVE_INFINITY))
      for (let i = from; i < to; i++) if (typeof values[i] === 'number') this.codec.encode(values[i]);
    this.#pageMin = min;
    this.#pageMax = max;
    if (nans > 0) this.#pageHasNan = true;
  }

  protected encode(out: ByteBuffer): Encoding {
    const min = this.#pageMin;
    const max = this.#pageMax;
    // To readers that order NaN above all numbers bounds without it would be wrong.
    if (min <= max && !this.#pageHasNan) this.pageBounds = [min, max];
    if (min < this.#min) this.#min = min;
    if (max > this.#max) this.#max = max;
    this.#containsNan ||= this.#pageHasNan;
    this.#pageMin = Number.POSITIVE_INFINITY;
    this.#pageMax = Number.NEGATIVE_INFINITY;
    this.#pageHasNan = false;
    const { buffer, byteOffset, byteLength } = this.#values;
    return this.#pages.encode(out, new Int32Array(buffer, byteOffset, byteLength >>> 2), this.count);
  }

  protected override takeDictionary(out: ByteBuffer): number {
    return this.#pages.takeDictionary(out);
  }

  protected takeBounds(): readonly [min: Physical, max: Physical] | undefined {
    const bounds = this.#min <= this.#max ? ([this.#min, this.#max] as const) : undefined;
    this.#min = Number.POSITIVE_INFINITY;
    this.#max = Number.NEGATIVE_INFINITY;
    return bounds;
  }

  protected override takeContainsNan(): boolean {
    const nan = this.#containsNan;
    this.#containsNan = false;
    return nan;
  }
}
