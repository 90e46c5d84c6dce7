import { carveInt32 } from './arena.ts';
import type { ByteBuffer } from './byte-buffer.ts';
import { appendRun, bitWidth, encodeHybrid } from './hybrid.ts';

const none: Int32Array = new Int32Array(0);
const noBytes: Uint8Array = new Uint8Array(0);

/** The levels of one leaf's open page. Slots are levels: values and what stands for NULL, of an empty or of a missing list. */
export interface Levels {
  readonly slots: number;
  /** Rows that begin in the page. */
  readonly rows: number;
  /** Appends repetition levels, if the leaf has any; then definition levels, if it has any. Returns the length of the former. */
  write(out: ByteBuffer): number;
  reset(): void;
}

/** Where a block's NULLs are put at first: shared by all columns, one after the other. */
let blockNulls: Int32Array = new Int32Array(1024);

/** Levels of a leaf outside lists: NULL or not, a slot a row. Only where the NULLs stand is kept. */
export class FlatLevels implements Levels {
  slots = 0;
  /** Slots that a block found to be NULL. It counts them in `blockNullCount`, and `keepNulls` follows. */
  blockNulls: Int32Array = blockNulls;
  blockNullCount = 0;
  /** Of the page. */
  nullCount = 0;
  #nulls: Int32Array = none;
  readonly #optional: boolean;

  constructor(maxDefinition: number) {
    this.#optional = maxDefinition > 0;
  }

  get rows(): number {
    return this.slots;
  }

  /** Makes room for a block of as many NULLs. */
  beginBlock(count: number): void {
    if (blockNulls.length < count) blockNulls = new Int32Array(count);
    this.blockNulls = blockNulls;
  }

  keepNulls(): void {
    if (this.blockNullCount === 0) return;
    const nullCount = this.nullCount + this.blockNullCount;
    if (nullCount > this.#nulls.length) {
      const grown = carveInt32(Math.max(nullCount, this.#nulls.length * 2));
      grown.set(this.#nulls.subarray(0, this.nullCount));
      this.#nulls = grown;
    }
    this.#nulls.set(this.blockNulls.subarray(0, this.blockNullCount), this.nullCount);
    this.nullCount = nullCount;
    this.blockNullCount = 0;
  }

  write(out: ByteBuffer): number {
    if (!this.#optional) return 0;
    const { slots, nullCount } = this;
    const nulls = this.#nulls;
    if (nullCount === 0 || nullCount === slots) {
      appendRun(out, nullCount === 0 ? 1 : 0, slots, 1);
      return 0;
    }
    // Runs of levels pay from about 64 slots on; before that one bit a slot is shorter, and quicker to make.
    let runs = 1;
    for (let i = 1; i < nullCount; i++) if (nulls[i]! - nulls[i - 1]! > 1) runs++;
    if (runs * 64 < slots) {
      const levels = new Uint8Array(slots).fill(1);
      for (let i = 0; i < nullCount; i++) levels[nulls[i]!] = 0;
      encodeHybrid(out, levels, 0, slots, 1);
      return 0;
    }
    const groups = (slots + 7) >>> 3;
    out.varint(groups * 2 + 1);
    out.reserve(groups);
    const { bytes, length } = out;
    bytes.fill(255, length, length + groups);
    if (slots & 7) bytes[length + groups - 1] = (1 << (slots & 7)) - 1;
    for (let i = 0; i < nullCount; i++) {
      const slot = nulls[i]!;
      bytes[length + (slot >>> 3)]! &= ~(1 << (slot & 7));
    }
    out.length += groups;
    return 0;
  }

  reset(): void {
    this.slots = 0;
    this.nullCount = 0;
  }
}

/** Levels of a leaf within lists, maps or structs, as Dremel has them. */
export class NestedLevels implements Levels {
  slots = 0;
  rows = 0;
  repetition: Uint8Array = noBytes;
  definition: Uint8Array = noBytes;
  readonly #maxRepetition: number;
  readonly #maxDefinition: number;

  constructor(maxRepetition: number, maxDefinition: number) {
    this.#maxRepetition = maxRepetition;
    this.#maxDefinition = maxDefinition;
  }

  add(repetition: number, definition: number): void {
    if (this.slots === this.definition.length) this.#grow();
    this.repetition[this.slots] = repetition;
    this.definition[this.slots++] = definition;
    if (repetition === 0) this.rows++;
  }

  #grow(): void {
    const length = Math.max(256, this.slots * 2);
    for (const name of ['repetition', 'definition'] as const) {
      const grown = new Uint8Array(length);
      grown.set(this[name]);
      this[name] = grown;
    }
  }

  write(out: ByteBuffer): number {
    const start = out.length;
    if (this.#maxRepetition > 0) encodeHybrid(out, this.repetition, 0, this.slots, bitWidth(this.#maxRepetition));
    const repetitionLength = out.length - start;
    if (this.#maxDefinition > 0) encodeHybrid(out, this.definition, 0, this.slots, bitWidth(this.#maxDefinition));
    return repetitionLength;
  }

  reset(): void {
    this.slots = 0;
    this.rows = 0;
  }
}
