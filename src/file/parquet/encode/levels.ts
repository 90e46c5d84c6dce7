import type { ByteBuffer } from './byte-buffer.ts';
import { appendRun, bitWidth, encodeHybrid } from './hybrid.ts';

/** The levels of one leaf's open page. Slots are levels: values and what stands for NULL, of an empty or of a missing list. */
export interface Levels {
  readonly slots: number;
  /** Rows that begin in the page. */
  readonly rows: number;
  /** Appends repetition levels, if the leaf has any; then definition levels, if it has any. Returns the length of the former. */
  write(out: ByteBuffer): number;
  reset(): void;
}

/** Levels of a leaf outside lists: NULL or not, a slot a row. Only where the NULLs stand is kept. */
export class FlatLevels implements Levels {
  slots = 0;
  nullCount = 0;
  /** Slots of the page that are NULL; the first `nullCount` count. */
  nulls: Int32Array = new Int32Array(0);
  readonly #optional: boolean;

  constructor(maxDefinition: number) {
    this.#optional = maxDefinition > 0;
  }

  get rows(): number {
    return this.slots;
  }

  /** Makes room for as many more NULLs. */
  reserve(count: number): void {
    const needed = this.nullCount + count;
    if (needed <= this.nulls.length) return;
    const grown = new Int32Array(Math.max(needed, this.nulls.length * 2));
    grown.set(this.nulls.subarray(0, this.nullCount));
    this.nulls = grown;
  }

  write(out: ByteBuffer): number {
    if (!this.#optional) return 0;
    const { slots, nullCount, nulls } = this;
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
  repetition: Uint8Array = new Uint8Array(0);
  definition: Uint8Array = new Uint8Array(0);
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
