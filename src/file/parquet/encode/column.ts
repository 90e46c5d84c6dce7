import type { SchemaElement } from 'hyparquet';
import type { Field } from '../../../schema/field.ts';
import type { Physical, ValueCodec } from '../../../spec/values/codec.ts';
import type { ByteBuffer } from './byte-buffer.ts';
import { type Encoding, encodings, type PageType, pageTypes } from './encodings.ts';
import { FlatLevels, NestedLevels } from './levels.ts';
import type { Page, PageAssembler, PageContent } from './page.ts';
import { scratch } from './scratch.ts';

/** A column of the file: a field without children, and its place in the schema. */
export interface Leaf {
  readonly field: Field;
  /** Names from the root down: `path_in_schema`. */
  readonly path: readonly string[];
  readonly element: SchemaElement;
  readonly maxRepetition: number;
  readonly maxDefinition: number;
}

/** What the columns of one file share. */
export interface Workbench {
  readonly assembler: PageAssembler;
  /** Slots and bytes after which a page is closed. */
  readonly pageSlots: number;
  readonly pageByteLength: number;
  /** Of pages and encodings: see `FileOptions`. */
  readonly version: 1 | 2;
  /** Whether the bounds of text and floats are taken. */
  readonly statistics: boolean;
}

/** The first value of a block that can't be taken, and why. */
export interface Refused {
  readonly index: number;
  readonly value: unknown;
  readonly reason: unknown;
}

/** How many pages of a type have an encoding. */
export interface EncodingCount {
  readonly type: PageType;
  readonly encoding: Encoding;
  count: number;
}

/** One leaf of one row group, encoded. */
export interface Chunk {
  /** The dictionary first, when there is one. */
  readonly pages: readonly Page[];
  readonly encodings: readonly EncodingCount[];
  readonly slots: number;
  readonly nullCount: number;
  readonly bounds: readonly [min: Physical, max: Physical] | undefined;
  readonly containsNan: boolean;
}

/**
 * Encodes the values of one leaf, page by page. A subclass knows one physical type: how callers' values become that, and
 * which encodings there are. Its loops only need to find out *that* something is wrong; which value, and why, is then found
 * by asking the type's codec.
 */
export abstract class ColumnEncoder {
  readonly leaf: Leaf;
  readonly codec: ValueCodec;
  readonly flat: FlatLevels;
  /** Of a leaf within lists, maps or structs. */
  readonly nested: NestedLevels | undefined;
  protected readonly bench: Workbench;
  /** Values, none NULL, in the open page. */
  protected count = 0;
  protected capacity = 0;
  /** Of the page that `encode` encodes. Left `undefined` where it would cost much. */
  protected pageBounds: readonly [min: Physical, max: Physical] | undefined;
  #pages: Page[] = [];
  #pagesLength = 0;
  #slots = 0;
  #nullCount = 0;

  constructor(leaf: Leaf, codec: ValueCodec, bench: Workbench) {
    this.leaf = leaf;
    this.codec = codec;
    this.bench = bench;
    this.flat = new FlatLevels(leaf.maxDefinition);
    this.nested = leaf.path.length > 1 ? new NestedLevels(leaf.maxRepetition, leaf.maxDefinition) : undefined;
  }

  /** Bytes of the row group so far: pages as they will be stored, the open page as its values are kept. */
  get byteLength(): number {
    return this.#pagesLength + this.dictionaryByteLength() + this.openByteLength();
  }

  /** NULLs of the row group so far. */
  get nullCount(): number {
    return this.#nullCount + this.flat.nullCount;
  }

  protected get pageCount(): number {
    return this.#pages.length;
  }

  /** Takes rows in. Throws whatever the codec throws when a value is refused, or anything at all: see `findRefused`. */
  append(values: ArrayLike<unknown>, from: number, to: number): void {
    // A loop that has seen many kinds of arrays is slow on all of them: what has no path of its own becomes the usual one.
    if (!Array.isArray(values) && !this.isDirect(values)) {
      this.append(Array.prototype.slice.call(values, from, to), 0, to - from);
      return;
    }
    for (let at = from; at < to; ) {
      this.begin();
      this.flat.beginBlock(to - at);
      this.#reserve(to - at);
      const end = this.take(values, at, to);
      this.flat.keepNulls();
      this.flat.slots += end - at;
      at = end;
      this.#closeFullPage();
    }
  }

  /** Called before the first value of a file, when there was a file before. */
  renew(): void {}

  /** Called before values come, while levels and values agree: a page may be closed here. */
  begin(): void {}

  /** Takes in values of a nested leaf, none NULL, whose levels were added to `nested`. A page ends between rows only. */
  appendDense(values: readonly unknown[], count: number): void {
    for (let at = 0; at < count; ) {
      this.#reserve(count - at);
      at = this.take(values, at, count);
    }
    this.#closeFullPage();
  }

  #closeFullPage(): void {
    const slots = this.nested?.slots ?? this.flat.slots;
    if (slots >= this.bench.pageSlots || this.openByteLength() >= this.bench.pageByteLength) this.closePage();
  }

  #reserve(count: number): void {
    const needed = this.count + count;
    if (needed <= this.capacity) return;
    // Past a small file's rows, room for a block at once.
    this.capacity = this.capacity === 0 ? needed : Math.max(needed, this.capacity * 2, 1024);
    this.grow(this.capacity);
  }

  /** Whether `take` copies this kind of typed array as it is. */
  protected isDirect(_values: ArrayLike<unknown>): boolean {
    return false;
  }
  /** Makes room in the open page for `capacity` values in all. */
  protected abstract grow(capacity: number): void;
  /**
   * Validates, converts and keeps values; NULLs go to `flat`, whose slots the caller advances. Returns where it stopped:
   * at `to`, or before it when the page is full.
   */
  protected abstract take(values: ArrayLike<unknown>, from: number, to: number): number;
  /** Bytes that the values of the open page take about. */
  protected abstract openByteLength(): number;
  protected dictionaryByteLength(): number {
    return 0;
  }
  /** Appends the open page's values and empties it. */
  protected abstract encode(out: ByteBuffer): Encoding;
  /** Appends the row group's dictionary in PLAIN encoding and forgets it; returns the number of entries. */
  protected takeDictionary(_out: ByteBuffer): number {
    return 0;
  }
  /** The bounds of the row group, which begins anew. */
  protected abstract takeBounds(): readonly [min: Physical, max: Physical] | undefined;
  protected takeContainsNan(): boolean {
    return false;
  }

  protected closePage(): void {
    const levels = this.nested ?? this.flat;
    const { slots, rows } = levels;
    if (slots === 0) return;
    const { body } = scratch;
    body.length = 0;
    const repetitionLength = levels.write(body);
    const definitionLength = body.length - repetitionLength;
    const nullCount = slots - this.count;
    this.pageBounds = undefined;
    const encoding = this.count === 0 ? encodings.plain : this.encode(body);
    this.count = 0;
    levels.reset();
    this.#slots += slots;
    this.#nullCount += nullCount;
    const page = this.#addPage({
      type: pageTypes.dataV2,
      encoding,
      valueCount: slots,
      nullCount,
      rowCount: rows,
      repetitionLength,
      definitionLength,
    });
    page.bounds = this.pageBounds;
  }

  #addPage(content: PageContent): Page {
    const page = this.bench.assembler.assemble(content, scratch.body);
    this.#pagesLength += page.bytes.length;
    this.#pages.push(page);
    return page;
  }

  /** Ends the row group. */
  takeChunk(): Chunk {
    this.closePage();
    const { body } = scratch;
    body.length = 0;
    const entries = this.takeDictionary(body);
    if (entries > 0) {
      this.#addPage({
        type: pageTypes.dictionary,
        encoding: encodings.plain,
        valueCount: entries,
        nullCount: 0,
        rowCount: 0,
        repetitionLength: 0,
        definitionLength: 0,
      });
      this.#pages.unshift(this.#pages.pop()!);
    }
    const chunk = {
      pages: this.#pages,
      encodings: counted(this.#pages),
      slots: this.#slots,
      nullCount: this.#nullCount,
      bounds: this.takeBounds(),
      containsNan: this.takeContainsNan(),
    };
    this.#pages = [];
    this.#pagesLength = 0;
    this.#slots = 0;
    this.#nullCount = 0;
    return chunk;
  }

  /** The first value that the codec refuses, and why. */
  findRefused(values: ArrayLike<unknown>, from: number, to: number): Refused | undefined {
    for (let index = from; index < to; index++) {
      const value = values[index];
      if (value === null || value === undefined) continue;
      try {
        this.codec.encode(value);
      } catch (reason) {
        return { index, value, reason };
      }
    }
    return undefined;
  }
}

function counted(pages: readonly Page[]): EncodingCount[] {
  const counts: EncodingCount[] = [];
  for (const { content } of pages) {
    const { type, encoding } = content;
    const found = counts.find((one) => one.type === type && one.encoding === encoding);
    if (found) found.count++;
    else counts.push({ type, encoding, count: 1 });
  }
  return counts;
}
