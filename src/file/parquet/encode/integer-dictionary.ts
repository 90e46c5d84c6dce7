import { bitWidth } from './hybrid.ts';

const none: Int32Array = new Int32Array(0);

/** Integers further apart than this get no dictionary. */
export const maxDictionarySpan = 65535;

/**
 * The dictionary of integers that lie close together: a table finds the code of each. It reaches somewhat beyond the first page's
 * integers, so that those of the next pages may be in it.
 */
export class IntegerDictionary {
  /** The smallest integer that may be in the dictionary. */
  readonly base: bigint;
  /** Entries so far, as distances from the base. */
  entries: Int32Array = none;
  entryCount = 0;
  /** Codes of the page that was encoded last. */
  codes: Int32Array = none;
  readonly #span: number;
  /** Codes plus 1, by the distance from the base. */
  readonly #table: Uint16Array;

  constructor(min: bigint, max: bigint) {
    const span = Number(max - min);
    this.#span = Math.min(maxDictionarySpan - 1, Math.max(255, span * 3));
    // Doubling the reach on both sides, or what there is of it.
    this.base = min - BigInt(Math.floor((this.#span - span) / 2));
    this.#table = new Uint16Array(this.#span + 1);
  }

  get width(): number {
    return bitWidth(Math.max(0, this.entryCount - 1));
  }

  covers(min: bigint, max: bigint): boolean {
    return min >= this.base && max <= this.base + BigInt(this.#span);
  }

  /** Finds the codes of integers that are all covered, given by their low words, one each `stride` words. */
  encode(words: Int32Array, stride: number, count: number): void {
    if (this.codes.length < count) this.codes = new Int32Array(count);
    const mostEntries = Math.min(this.entryCount + count, this.#span + 1);
    if (this.entries.length < mostEntries) {
      const grown = new Int32Array(Math.min(mostEntries * 2, this.#span + 1));
      grown.set(this.entries.subarray(0, this.entryCount));
      this.entries = grown;
    }
    const { codes, entries } = this;
    const table = this.#table;
    const base = Number(BigInt.asIntN(32, this.base));
    let entryCount = this.entryCount;
    for (let i = 0, at = 0; i < count; i++, at += stride) {
      const distance = (words[at]! - base) | 0;
      let code = table[distance]!;
      if (code === 0) {
        entries[entryCount] = distance;
        code = ++entryCount;
        table[distance] = code;
      }
      codes[i] = code - 1;
    }
    this.entryCount = entryCount;
  }
}
