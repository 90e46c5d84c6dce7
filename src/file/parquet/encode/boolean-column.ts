import type { Physical } from '../../../spec/values/codec.ts';
import { carve } from './arena.ts';
import type { ByteBuffer } from './byte-buffer.ts';
import { ColumnEncoder } from './column.ts';
import { type Encoding, encodings } from './encodings.ts';

const noBits = new Uint8Array(0);

/** BOOLEAN, packed as the values come. */
export class BooleanColumn extends ColumnEncoder {
  #bits = noBits;
  #trues = 0;
  #falses = 0;

  protected grow(capacity: number): void {
    const grown = carve((capacity + 7) >>> 3);
    grown.set(this.#bits);
    this.#bits = grown;
  }

  protected openByteLength(): number {
    return this.count >>> 3;
  }

  protected take(values: ArrayLike<unknown>, from: number, to: number): number {
    const { blockNulls } = this.flat;
    const slot = this.flat.slots - from;
    const bits = this.#bits;
    const start = this.count;
    let nullCount = 0;
    let count = start;
    let trues = 0;
    for (let i = from; i < to; i++) {
      const value = values[i];
      if (value === true) {
        bits[count >>> 3]! |= 1 << (count & 7);
        count++;
        trues++;
      } else if (value === false) count++;
      else if (value === null || value === undefined) blockNulls[nullCount++] = slot + i;
      else this.codec.encode(value);
    }
    this.count = count;
    this.flat.blockNullCount = nullCount;
    this.#trues += trues;
    this.#falses += count - start - trues;
    return to;
  }

  protected encode(out: ByteBuffer): Encoding {
    const length = (this.count + 7) >>> 3;
    out.append(this.#bits.subarray(0, length));
    this.#bits.fill(0, 0, length);
    return encodings.plain;
  }

  protected takeBounds(): readonly [min: Physical, max: Physical] | undefined {
    const bounds = this.#trues + this.#falses > 0 ? ([this.#falses === 0, this.#trues > 0] as const) : undefined;
    this.#trues = 0;
    this.#falses = 0;
    return bounds;
  }
}
