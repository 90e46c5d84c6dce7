import { bitWidth } from './hybrid.ts';

const maxEntries = 32768;

/** The dictionary of values of one or two words, told apart by their bits: an open-addressed hash table. */
export class WordDictionary {
  /** Words of the entries, in the order of their codes. */
  entries: Int32Array;
  entryCount = 0;
  /** Codes of the page that was encoded last. */
  codes: Int32Array = new Int32Array(0);
  readonly #stride: 1 | 2;
  /** Codes plus 1; more than twice as long as there are entries. */
  #table: Uint16Array = new Uint16Array(2048);

  constructor(stride: 1 | 2) {
    this.#stride = stride;
    this.entries = new Int32Array(1024 * stride);
  }

  get width(): number {
    return bitWidth(Math.max(0, this.entryCount - 1));
  }

  /** Finds the codes of `count` values. False when there are more different values than a dictionary takes. */
  encode(words: Int32Array, count: number): boolean {
    if (this.codes.length < count) this.codes = new Int32Array(count);
    for (let from = 0; from < count; ) {
      const to = Math.min(count, from + 1024);
      if (this.entryCount + (to - from) > maxEntries) return false;
      if ((this.entryCount + (to - from)) * 2 > this.#table.length) this.#grow();
      else {
        this.#encode(words, from, to);
        from = to;
      }
    }
    return true;
  }

  #encode(words: Int32Array, from: number, to: number): void {
    const { codes, entries } = this;
    const table = this.#table;
    const mask = table.length - 1;
    const two = this.#stride === 2;
    let entryCount = this.entryCount;
    for (let i = from; i < to; i++) {
      const low = words[two ? i * 2 : i]!;
      const high = two ? words[i * 2 + 1]! : 0;
      let slot = hash(low, high) & mask;
      let code = table[slot]!;
      while (code !== 0) {
        const entry = two ? code * 2 - 2 : code - 1;
        if (entries[entry] === low && (!two || entries[entry + 1] === high)) break;
        slot = (slot + 1) & mask;
        code = table[slot]!;
      }
      if (code === 0) {
        if (two) {
          entries[entryCount * 2] = low;
          entries[entryCount * 2 + 1] = high;
        } else entries[entryCount] = low;
        code = ++entryCount;
        table[slot] = code;
      }
      codes[i] = code - 1;
    }
    this.entryCount = entryCount;
  }

  #grow(): void {
    const table = new Uint16Array(this.#table.length * 2);
    const entries = new Int32Array(table.length * 0.5 * this.#stride);
    entries.set(this.entries);
    const two = this.#stride === 2;
    for (let code = 1; code <= this.entryCount; code++) {
      const low = entries[two ? code * 2 - 2 : code - 1]!;
      const high = two ? entries[code * 2 - 1]! : 0;
      let slot = hash(low, high) & (table.length - 1);
      while (table[slot] !== 0) slot = (slot + 1) & (table.length - 1);
      table[slot] = code;
    }
    this.#table = table;
    this.entries = entries;
  }
}

function hash(low: number, high: number): number {
  const mixed = Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b);
  return mixed ^ (mixed >>> 15);
}
