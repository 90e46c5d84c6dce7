import type { Physical, ValueCodec } from '../../../spec/values/codec.ts';
import { uuidText } from '../../../spec/values/uuid.ts';
import { storedForm } from '../stored.ts';
import { carve } from './arena.ts';
import { ByteBounds } from './byte-bounds.ts';
import type { ByteBuffer } from './byte-buffer.ts';
import { ColumnEncoder, type Leaf, type Workbench } from './column.ts';
import { type Encoding, encodings } from './encodings.ts';

/** FIXED_LEN_BYTE_ARRAY, in PLAIN encoding. */
abstract class FixedColumn extends ColumnEncoder {
  readonly #width: number;
  protected bytes: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  protected view: DataView<ArrayBuffer> = new DataView(this.bytes.buffer);

  constructor(leaf: Leaf, codec: ValueCodec, bench: Workbench, width: number) {
    super(leaf, codec, bench);
    this.#width = width;
  }

  protected grow(capacity: number): void {
    const grown = carve(capacity * this.#width);
    grown.set(this.bytes.subarray(0, this.count * this.#width));
    this.bytes = grown;
    this.view = new DataView(grown.buffer, grown.byteOffset, grown.length);
  }

  protected openByteLength(): number {
    return this.count * this.#width;
  }

  protected take(values: ArrayLike<unknown>, from: number, to: number): number {
    const { flat } = this;
    const slot = flat.slots - from;
    for (let i = from; i < to; i++) {
      const value = values[i];
      if (value === null || value === undefined) flat.blockNulls[flat.blockNullCount++] = slot + i;
      else this.put(value, this.count++ * this.#width);
    }
    return to;
  }

  /** Converts one value to its bytes at `at`, and minds the bounds. */
  protected abstract put(value: unknown, at: number): void;

  protected encode(out: ByteBuffer): Encoding {
    out.append(this.bytes.subarray(0, this.count * this.#width));
    return encodings.plain;
  }
}

/** UUIDs: 16 bytes in the order of the text. */
export class UuidColumn extends FixedColumn {
  readonly #bounds = new ByteBounds(this.bench.statistics);

  constructor(leaf: Leaf, codec: ValueCodec, bench: Workbench) {
    super(leaf, codec, bench, 16);
  }

  protected put(value: unknown, at: number): void {
    if (typeof value === 'string' && parseUuid(value, this.bytes, at)) return;
    parseUuid(this.codec.encode(value) as string, this.bytes, at);
  }

  protected override encode(out: ByteBuffer): Encoding {
    const start = out.length;
    const encoding = super.encode(out);
    this.#bounds.observe(out, start, 0, new Int32Array(this.count).fill(16), this.count);
    return encoding;
  }

  protected takeBounds(): readonly [min: Physical, max: Physical] | undefined {
    const bounds = this.#bounds.take();
    return bounds && [uuidText(bounds[0]), uuidText(bounds[1])];
  }
}

/** The value of a hexadecimal digit by its character code; 16 and more for other characters. */
const digits: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(value) ? 16 : value;
});

/** False, with rubbish in `bytes`, when the text is no UUID. */
function parseUuid(text: string, bytes: Uint8Array, start: number): boolean {
  if (text.length !== 36) return false;
  let at = start;
  let seen = 0;
  for (let i = 0; i < 36; i += 2) {
    if (i === 8 || i === 13 || i === 18 || i === 23) {
      if (text.charCodeAt(i) !== 45) return false;
      i++;
    }
    const high = text.charCodeAt(i);
    const low = text.charCodeAt(i + 1);
    const highDigit = high < 128 ? digits[high]! : 16;
    const lowDigit = low < 128 ? digits[low]! : 16;
    seen |= highDigit | lowDigit;
    bytes[at++] = (highDigit << 4) | lowDigit;
  }
  return seen < 16;
}

/** Decimals of more than 18 digits: 16 bytes, big-endian two's complement. */
export class Decimal128Column extends FixedColumn {
  #min: bigint | undefined;
  #max: bigint | undefined;

  constructor(leaf: Leaf, codec: ValueCodec, bench: Workbench) {
    super(leaf, codec, bench, 16);
  }

  protected put(value: unknown, at: number): void {
    const unscaled = this.codec.encode(value) as bigint;
    this.view.setBigInt64(at, unscaled >> 64n);
    this.view.setBigUint64(at + 8, BigInt.asUintN(64, unscaled));
    if (this.#min === undefined || unscaled < this.#min) this.#min = unscaled;
    if (this.#max === undefined || unscaled > this.#max) this.#max = unscaled;
  }

  protected takeBounds(): readonly [min: Physical, max: Physical] | undefined {
    const bounds = this.#min !== undefined && this.#max !== undefined ? ([this.#min, this.#max] as const) : undefined;
    this.#min = undefined;
    this.#max = undefined;
    return bounds;
  }
}

/** Intervals: 12 bytes, without bounds. */
export class IntervalColumn extends FixedColumn {
  readonly #stored = storedForm({ name: 'interval' })!;

  constructor(leaf: Leaf, codec: ValueCodec, bench: Workbench) {
    super(leaf, codec, bench, 12);
  }

  protected put(value: unknown, at: number): void {
    this.bytes.set(this.#stored(this.codec.encode(value)) as Uint8Array, at);
  }

  protected takeBounds(): undefined {
    return undefined;
  }
}
