import type { ByteBounds } from './byte-bounds.ts';
import type { ByteBuffer } from './byte-buffer.ts';
import { bitWidth } from './hybrid.ts';
import { scratch } from './scratch.ts';
import { appendUtf8 } from './utf8.ts';

const maxEntries: number = 1 << 16;
const maxUnits: number = 1 << 20;
/** A first and a second look at how many values are new: after so many values, at what share of new ones to give up. */
const looks = [
  { values: 4096, since: 0, share: 0.95 },
  { values: 16384, since: 8192, share: 0.6 },
] as const;

/** Codes are numbered on from row group to row group, so that those of earlier ones are known; up to this number. */
const maxCode: number = 1 << 30;
const keptCodes = 64;

/**
 * The dictionary of a row group's text. Entries are strings, looked up in a Map; they become bytes once, at the end. The next row
 * group finds most of its strings in the Map again: a Map made anew for each would fill the garbage collector's young
 * generation with what survives, which then grows and stays large.
 */
export class TextDictionary {
  /** Places in `codes` of the strings of this row group and of earlier ones. */
  readonly placeOf: Map<unknown, number> = new Map();
  /** Codes, above `firstCode`; what is below is a string of an earlier row group. */
  codes: Int32Array = new Int32Array(keptCodes);
  firstCode = 1;
  entries: string[] = [];
  /** UTF-16 units of all entries. */
  unitCount = 0;
  #values = 0;
  #look = 0;
  #entriesBefore = 0;

  get width(): number {
    return bitWidth(Math.max(0, this.entries.length - 1));
  }

  /** No more entries: what comes next goes without. */
  get isFull(): boolean {
    return this.entries.length >= maxEntries || this.unitCount >= maxUnits;
  }

  /** The code of a string, which becomes an entry if it isn't one. */
  codeOf(text: string): number {
    let place = this.placeOf.get(text);
    if (place === undefined) {
      place = this.placeOf.size;
      this.placeOf.set(text, place);
      if (place === this.codes.length) {
        const grown = new Int32Array(place * 2);
        grown.set(this.codes);
        this.codes = grown;
      }
    } else if (this.codes[place]! >= this.firstCode) return this.codes[place]! - this.firstCode;
    const code = this.entries.length;
    this.codes[place] = this.firstCode + code;
    this.entries.push(text);
    this.unitCount += text.length;
    return code;
  }

  /** Counts values that were looked up. True when too many of them are new for the dictionary to be of use. */
  isUselessAfter(count: number): boolean {
    const look = looks[this.#look];
    this.#values += count;
    if (look === undefined) return false;
    if (look.since > 0 && this.#entriesBefore === 0 && this.#values >= look.since)
      this.#entriesBefore = this.entries.length;
    if (this.#values < look.values) return false;
    this.#look++;
    return this.entries.length - this.#entriesBefore > (this.#values - look.since) * look.share;
  }

  /** Appends the entries in PLAIN encoding, shows them to `bounds`, and begins anew; returns their number. */
  take(out: ByteBuffer, bounds: ByteBounds): number {
    const { entries, unitCount } = this;
    const packed = scratch.text;
    packed.length = 0;
    const lengths = new Int32Array(entries.length);
    // All were well-formed when they were added.
    appendUtf8(packed, entries, unitCount, lengths, 0);
    bounds.observe(packed, 0, 0, lengths, entries.length);
    out.reserve(packed.length + entries.length * 4);
    let from = 0;
    for (const length of lengths) {
      out.view.setInt32(out.length, length, true);
      out.length += 4;
      // A call of `set` costs as much as about 48 steps of this loop.
      if (length < 48) for (let i = 0; i < length; i++) out.bytes[out.length + i] = packed.bytes[from + i]!;
      else out.bytes.set(packed.bytes.subarray(from, from + length), out.length);
      out.length += length;
      from += length;
    }
    this.begin();
    return lengths.length;
  }

  /** Begins the next row group's dictionary. */
  begin(): void {
    this.firstCode += this.entries.length;
    if (this.placeOf.size >= maxEntries || this.firstCode > maxCode) this.#forget();
    this.entries = [];
    this.unitCount = 0;
    this.#values = 0;
    this.#look = 0;
    this.#entriesBefore = 0;
  }

  /** Begins anew, without the strings of earlier row groups. */
  clear(): void {
    this.begin();
    // Most small files have used none, and what is empty costs as much to clear.
    if (this.placeOf.size > 0) this.#forget();
  }

  /** Codes are those of no string then: each is set when its place is given away. */
  #forget(): void {
    this.placeOf.clear();
    if (this.codes.length > keptCodes) this.codes = new Int32Array(keptCodes);
    this.firstCode = 1;
  }
}
