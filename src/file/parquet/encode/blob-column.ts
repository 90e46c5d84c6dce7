import type { Physical } from '../../../spec/values/codec.ts';
import { carveInt32 } from './arena.ts';
import { writeByteArrays } from './byte-arrays.ts';
import { ByteBounds } from './byte-bounds.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { ColumnEncoder } from './column.ts';
import type { Encoding } from './encodings.ts';

const noIntegers = new Int32Array(0);

/** BYTE_ARRAY of bytes, without a dictionary. */
export class BlobColumn extends ColumnEncoder {
  readonly #bounds = new ByteBounds(this.bench.statistics);
  readonly #bytes = new ByteBuffer(0);
  #lengths = noIntegers;

  protected grow(capacity: number): void {
    const grown = carveInt32(capacity);
    grown.set(this.#lengths.subarray(0, this.count));
    this.#lengths = grown;
  }

  protected openByteLength(): number {
    return this.#bytes.length + this.count;
  }

  protected take(values: ArrayLike<unknown>, from: number, to: number): number {
    const { flat } = this;
    const slot = flat.slots - from;
    let i = from;
    for (; i < to && (i === from || this.openByteLength() < this.bench.pageByteLength); i++) {
      const value = values[i];
      if (value === null || value === undefined) {
        flat.blockNulls[flat.blockNullCount++] = slot + i;
        continue;
      }
      const bytes = value instanceof Uint8Array ? value : (this.codec.encode(value) as Uint8Array);
      this.#bytes.append(bytes);
      this.#lengths[this.count++] = bytes.length;
    }
    return i;
  }

  protected encode(out: ByteBuffer): Encoding {
    this.#bounds.observe(this.#bytes, 0, 0, this.#lengths, this.count);
    const encoding = writeByteArrays(out, this.#bytes, this.#lengths, this.count, this.bench.version);
    this.#bytes.length = 0;
    return encoding;
  }

  protected takeBounds(): readonly [min: Physical, max: Physical] | undefined {
    return this.#bounds.take();
  }
}
