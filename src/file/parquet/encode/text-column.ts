import type { Physical, ValueCodec } from '../../../spec/values/codec.ts';
import { carveInt32 } from './arena.ts';
import { writeByteArrays } from './byte-arrays.ts';
import { ByteBounds } from './byte-bounds.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { ColumnEncoder, type Leaf, type Workbench } from './column.ts';
import type { Encoding } from './encodings.ts';
import { writeCodes } from './integer-pages.ts';
import { TextDictionary } from './text-dictionary.ts';
import { appendUtf8, decodeUtf8 } from './utf8.ts';

/** Strings that are encoded together: enough to hide the cost of a call, few enough to stay in the cache. */
const joinedCount = 1024;
const joinedUnits = 65536;
/** How many strings may wait for the decision whether a dictionary is made at all. */
const maxHeldCount = 2048;
/** More than this isn't encoded a second time when a dictionary is given up. */
const maxConvertedUnits: number = 1 << 22;

/** What is encoded together, used again and again by all columns. */
const joined: string[] = new Array(joinedCount).fill('');

/** Strings as they are, JSON (text or other values), or integers stored as their digits. */
export type TextKind = 'text' | 'json' | 'digits';

const noIntegers = new Int32Array(0);

/**
 * BYTE_ARRAY of text. Values go to a dictionary at first; where they hardly repeat, to DELTA_LENGTH_BYTE_ARRAY: all bytes in
 * one piece, the lengths apart.
 */
export class TextColumn extends ColumnEncoder {
  readonly #kind: TextKind;
  readonly #bounds = new ByteBounds(this.bench.statistics);
  readonly #dictionary = new TextDictionary();
  /** Whether the open page holds bytes and lengths, not codes. */
  #direct = false;
  /** Whether the page that comes next, or every row group that comes next, does. */
  #directNext = false;
  #directForGood = false;
  /**
   * The file's first strings, while there are few: they are in the page as bytes. A small file's strings mostly differ, and then a
   * dictionary is work for nothing.
   */
  #held: string[] | undefined;
  /** Codes, or lengths. */
  #integers = noIntegers;
  readonly #bytes = new ByteBuffer(0);

  constructor(leaf: Leaf, codec: ValueCodec, bench: Workbench, kind: TextKind) {
    super(leaf, codec, bench);
    this.#kind = kind;
    this.renew();
  }

  override renew(): void {
    this.#dictionary.clear();
    this.#held = [];
    this.#directForGood = this.#kind === 'digits';
    this.#direct = this.#directForGood;
  }

  protected grow(capacity: number): void {
    const grown = carveInt32(capacity);
    grown.set(this.#integers.subarray(0, this.count));
    this.#integers = grown;
  }

  protected openByteLength(): number {
    return this.#bytes.length + this.count * 2;
  }

  protected override dictionaryByteLength(): number {
    return this.#dictionary.unitCount;
  }

  override begin(): void {
    if (!this.#directNext) return;
    if (this.pageCount > 0 || !this.#convert()) this.closePage();
    this.#directNext = false;
    this.#direct = true;
  }

  protected take(values: ArrayLike<unknown>, from: number, to: number): number {
    if (this.#direct) return this.#takeDirect(values, from, to, undefined);
    if (this.#held !== undefined && this.#held.length + (to - from) <= maxHeldCount)
      return this.#takeDirect(values, from, to, this.#held);
    this.#codeHeld();
    return this.#takeCoded(values, from, to);
  }

  /** Turns the strings held into codes. */
  #codeHeld(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held === undefined || held.length === 0) return;
    this.count = 0;
    this.#bytes.length = 0;
    for (let at = 0; at < held.length; ) at = this.#takeCoded(held, at, held.length);
  }

  #takeCoded(values: ArrayLike<unknown>, from: number, to: number): number {
    const { blockNulls } = this.flat;
    const slot = this.flat.slots - from;
    const codes = this.#integers;
    const dictionary = this.#dictionary;
    const { placeOf, firstCode } = dictionary;
    const start = this.count;
    let nullCount = 0;
    let count = start;
    let full = false;
    let i = from;
    for (; i < to && !full; i++) {
      const value = values[i];
      const place = placeOf.get(value);
      let code = place === undefined ? -1 : dictionary.codes[place]! - firstCode;
      if (code < 0) {
        if (value === null || value === undefined) {
          blockNulls[nullCount++] = slot + i;
          continue;
        }
        // What JSON columns take besides strings is known by its text.
        code = dictionary.codeOf(this.codec.encode(value) as string);
        if (dictionary.isFull) {
          this.#directNext = true;
          full = this.nested === undefined;
        }
      }
      codes[count++] = code;
    }
    this.count = count;
    this.flat.blockNullCount = nullCount;
    if (dictionary.isUselessAfter(count - start)) {
      this.#directNext = true;
      this.#directForGood = true;
    }
    return i;
  }

  #takeDirect(values: ArrayLike<unknown>, from: number, to: number, held: string[] | undefined): number {
    const { blockNulls } = this.flat;
    const slot = this.flat.slots - from;
    const plain = this.#kind === 'text';
    const strings = joined;
    let nullCount = 0;
    let i = from;
    while (i < to && (i === from || this.openByteLength() < this.bench.pageByteLength)) {
      let length = 0;
      let units = 0;
      for (; i < to && length < joinedCount && units < joinedUnits; i++) {
        const value = values[i];
        if (value === null || value === undefined) {
          blockNulls[nullCount++] = slot + i;
          continue;
        }
        const text = plain && typeof value === 'string' ? value : String(this.codec.encode(value));
        units += text.length;
        strings[length++] = text;
      }
      const taken = length < joinedCount ? strings.slice(0, length) : strings;
      this.#append(taken, units);
      held?.push(...taken);
    }
    this.flat.blockNullCount = nullCount;
    return i;
  }

  #append(strings: readonly string[], units: number): void {
    if (strings.length === 0) return;
    // Only the codec says what is wrong with one.
    if (!appendUtf8(this.#bytes, strings, units, this.#integers, this.count))
      strings.map((text) => this.codec.encode(text));
    this.count += strings.length;
  }

  /** Turns the open page's codes into bytes, and forgets the dictionary. False, with nothing done, when that is much work. */
  #convert(): boolean {
    const { entries } = this.#dictionary;
    const codes = this.#integers;
    const total = this.count;
    let units = 0;
    for (let i = 0; i < total; i++) units += entries[codes[i]!]!.length;
    if (units > maxConvertedUnits) return false;
    this.count = 0;
    while (this.count < total) {
      const strings: string[] = [];
      const end = Math.min(total, this.count + joinedCount);
      units = 0;
      for (let i = this.count; i < end; i++) {
        const text = entries[codes[i]!]!;
        units += text.length;
        strings.push(text);
      }
      this.#append(strings, units);
    }
    this.#dictionary.clear();
    return true;
  }

  protected encode(out: ByteBuffer): Encoding {
    const count = this.count;
    if (this.#held !== undefined && mayRepeat(this.#held)) this.#codeHeld();
    if (!this.#direct && this.#held === undefined) {
      const { entries, width } = this.#dictionary;
      if (this.pageCount > 0 || entries.length * 2 <= count || !this.#convert())
        return writeCodes(out, this.#integers, count, width);
      this.#direct = true;
    }
    this.#bounds.observe(this.#bytes, 0, 0, this.#integers, count);
    if (this.#kind === 'text') this.pageBounds = this.#bounds.observed;
    const encoding = writeByteArrays(out, this.#bytes, this.#integers, count, this.bench.version);
    this.#bytes.length = 0;
    this.#held = undefined;
    return encoding;
  }

  protected override takeDictionary(out: ByteBuffer): number {
    this.#direct = this.#directForGood;
    this.#directNext = false;
    return this.#dictionary.entries.length === 0 ? 0 : this.#dictionary.take(out, this.#bounds);
  }

  protected takeBounds(): readonly [min: Physical, max: Physical] | undefined {
    const bounds = this.#bounds.take();
    return bounds && [decodeUtf8(bounds[0]), decodeUtf8(bounds[1])];
  }
}

/** Whether a dictionary may be of use: by a few of the strings. */
function mayRepeat(strings: readonly string[]): boolean {
  const step = Math.max(1, Math.min(strings.length >>> 5, 8));
  const sample = new Set<string>();
  for (let i = 0; i < strings.length; i += step) sample.add(strings[i]!);
  return sample.size <= Math.ceil(strings.length / step) * 0.75;
}
