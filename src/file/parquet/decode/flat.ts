import type { ColumnMetaData, Compressors, PageHeader, SchemaElement } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { LakeError } from '../../../errors.ts';
import type { Physical } from '../../../spec/values/value-codec.ts';
import { corrupt } from '../footer.ts';
import type { Raw } from '../source.ts';
import { Cursor } from './cursor.ts';
import { readHybrid } from './hybrid.ts';
import { checkSnappyLength, inflateSnappy } from './snappy.ts';
import { isTyped, readValues, type Values } from './values.ts';

/** A column chunk of a column that is not nested. */
export interface FlatChunk {
  readonly chunk: ColumnMetaData;
  readonly bytes: Uint8Array;
  readonly element: SchemaElement;
  readonly isText: boolean;
  /** From what is stored to physical values. */
  readonly load: ((raw: Raw) => Physical) | undefined;
  /** Gives the pages that were decompressed ahead, by codec. */
  readonly compressors: Compressors;
}

/** The first `rowCount` values: a typed array where there is one for them and none is NULL. */
export function readFlat(source: FlatChunk, rowCount: number): ArrayLike<unknown> {
  const pages = new Pages(source, spare?.deref());
  const values = new Joined(rowCount);
  while (values.rowCount < rowCount) pages.next(values);
  spare = Weak && new Weak(pages.scratch);
  return values.done();
}

/** The values of a chunk's dictionary, which are the chunk's first bytes; as stored where they are objects to callers. */
export function readDictionary(source: FlatChunk): ArrayLike<unknown> {
  return new Pages(source).dictionary();
}

/** What the last chunk's pages were decompressed into: pages of text are of megabytes, which take long to allocate. */
let spare: WeakRef<Uint8Array> | undefined;
/** Some runtimes at the edge have none. */
const Weak: typeof WeakRef | undefined = globalThis.WeakRef;

class Pages {
  readonly #source: FlatChunk;
  readonly #reader: { view: DataView; offset: number };
  #dictionary: Values | undefined;
  /** Nothing that is returned is a view of it. */
  scratch: Uint8Array;
  #codes: Int32Array = new Int32Array(0);

  constructor(source: FlatChunk, scratch: Uint8Array = new Uint8Array(0)) {
    const { bytes } = source;
    this.#source = source;
    this.scratch = scratch;
    this.#reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
  }

  dictionary(): Values {
    const { header, body } = this.#page();
    if (header.type !== 'DICTIONARY_PAGE') throw corrupt('it has no dictionary where it should have one');
    this.#readDictionary(header, body);
    return this.#dictionary!;
  }

  #page(): { readonly header: PageHeader; readonly body: Uint8Array } {
    const { bytes } = this.#source;
    const reader = this.#reader;
    const header = parquetHeader(reader);
    const start = reader.offset;
    const end = start + header.compressed_page_size;
    if (!(end >= start && end <= bytes.length)) throw corrupt('a page is longer than its column');
    reader.offset = end;
    return { header, body: bytes.subarray(start, end) };
  }

  /** Decodes one page. */
  next(out: Joined): void {
    if (this.#reader.offset >= this.#source.bytes.length)
      throw corrupt(`${out.rowCount} rows were found, ${out.wanted} expected`);
    const { header, body } = this.#page();
    switch (header.type) {
      case 'DICTIONARY_PAGE':
        this.#readDictionary(header, body);
        break;
      case 'DATA_PAGE':
        this.#readPage(header, body, out);
        break;
      case 'DATA_PAGE_V2':
        this.#readPageV2(header, body, out);
        break;
      case 'INDEX_PAGE':
        break;
      default:
        throw corrupt(`it has a page of type ${header.type} among its data`);
    }
  }

  #readDictionary({ dictionary_page_header, uncompressed_page_size }: PageHeader, body: Uint8Array): void {
    if (!dictionary_page_header || this.#dictionary) throw corrupt('its dictionary is damaged');
    const { num_values: count } = dictionary_page_header;
    // Values may be views of it: it gets bytes of its own.
    const page = this.#inflate(body, uncompressed_page_size, new Uint8Array(0));
    checkCount(count, page.length * 8);
    this.#dictionary = this.#loaded(readValues(new Cursor(page), 'PLAIN', count, this.#source), true);
  }

  #readPage({ data_page_header, uncompressed_page_size }: PageHeader, body: Uint8Array, out: Joined): void {
    if (!data_page_header) throw corrupt('a page has no header');
    const { num_values: count, encoding, definition_level_encoding } = data_page_header;
    const page = this.#inflate(body, uncompressed_page_size, this.scratch);
    checkCount(count, Number(this.#source.chunk.num_values));
    const cursor = new Cursor(page);
    let defined: Uint8Array | undefined;
    if (this.#isOptional) {
      if (definition_level_encoding !== 'RLE')
        throw new LakeError('UNSUPPORTED', `pages with levels in ${definition_level_encoding} cannot be read`);
      defined = definedOf(cursor.take(cursor.uint32()), count);
    }
    this.#readData(cursor, encoding, count, defined, out);
  }

  #readPageV2({ data_page_header_v2, uncompressed_page_size }: PageHeader, body: Uint8Array, out: Joined): void {
    if (!data_page_header_v2) throw corrupt('a page has no header');
    const { num_values: count, encoding, is_compressed } = data_page_header_v2;
    const { repetition_levels_byte_length: skipped, definition_levels_byte_length: length } = data_page_header_v2;
    const levels = new Cursor(body);
    levels.take(skipped);
    const level = levels.take(length);
    const data = body.subarray(levels.at);
    const byteLength = uncompressed_page_size - levels.at;
    const page = is_compressed === false ? data : this.#inflate(data, byteLength, this.scratch);
    checkCount(count, Number(this.#source.chunk.num_values));
    this.#readData(new Cursor(page), encoding, count, this.#isOptional ? definedOf(level, count) : undefined, out);
  }

  get #isOptional(): boolean {
    return this.#source.element.repetition_type !== 'REQUIRED';
  }

  #readData(cursor: Cursor, encoding: string, count: number, defined: Uint8Array | undefined, out: Joined): void {
    const valueCount = defined ? countDefined(defined) : count;
    if (valueCount === 0) {
      out.addNulls(count);
      return;
    }
    const values =
      encoding === 'PLAIN_DICTIONARY' || encoding === 'RLE_DICTIONARY'
        ? this.#fromDictionary(cursor, valueCount)
        : this.#loaded(readValues(cursor, encoding, valueCount, this.#source), false);
    out.add(values, count, defined);
  }

  #fromDictionary(cursor: Cursor, count: number): Values {
    const dictionary = this.#dictionary;
    if (!dictionary) throw corrupt('its dictionary is missing');
    const [width] = cursor.take(1);
    if (this.#codes.length < count) this.#codes = new Int32Array(count);
    const codes = this.#codes.subarray(0, count);
    readHybrid(cursor, width!, codes);
    checkCodes(codes, dictionary.length);
    const values = mapped(codes, dictionary);
    const { load } = this.#source;
    return load && this.#loadsObjects ? loadAll(values, load) : values;
  }

  /** Objects are made anew for each row: callers may change them. */
  #loadsObjects = false;

  #loaded(values: Values, isDictionary: boolean): Values {
    const { load } = this.#source;
    if (!load || values.length === 0) return values;
    if (isDictionary && typeof load(values[0] as Raw) === 'object') {
      this.#loadsObjects = true;
      return values;
    }
    return loadAll(values, load);
  }

  #inflate(body: Uint8Array, byteLength: number, scratch: Uint8Array): Uint8Array {
    const { chunk, compressors } = this.#source;
    if (chunk.codec === 'UNCOMPRESSED') return body;
    if (byteLength === 0) return body.subarray(0, 0);
    if (chunk.codec === 'SNAPPY') {
      checkSnappyLength(body, byteLength);
      let out = scratch;
      if (out.length < byteLength) {
        out = new Uint8Array(byteLength);
        if (scratch === this.scratch) this.scratch = out;
      }
      const page = out.subarray(0, byteLength);
      inflateSnappy(body, page);
      return page;
    }
    const page = compressors[chunk.codec]?.(body, byteLength);
    if (page?.length !== byteLength) throw corrupt('a page has another length than its header says');
    // A Buffer's slices would be views.
    return new Uint8Array(page.buffer, page.byteOffset, page.length);
  }
}

/** Values of pages, one after the other, with NULLs where they are. */
class Joined {
  readonly wanted: number;
  rowCount = 0;
  #values: unknown[] | Exclude<Values, readonly unknown[]> | undefined;

  constructor(wanted: number) {
    this.wanted = wanted;
  }

  addNulls(count: number): void {
    const values = this.#asArray();
    const end = Math.min(this.rowCount + count, this.wanted);
    for (let row = this.rowCount; row < end; row++) values[row] = null;
    this.rowCount = end;
  }

  add(values: Values, count: number, defined: Uint8Array | undefined): void {
    const taken = Math.min(count, this.wanted - this.rowCount);
    if (defined === undefined) this.#addDefined(values, taken);
    else this.#addSome(this.#asArray(), values, defined, taken);
    this.rowCount += taken;
  }

  done(): ArrayLike<unknown> {
    return this.#values ?? [];
  }

  #addDefined(values: Values, taken: number): void {
    if (this.#values === undefined && taken === this.wanted) {
      this.#values = (taken === values.length ? values : values.slice(0, taken)) as unknown[];
      return;
    }
    if (isTyped(values)) {
      this.#values ??= new (values.constructor as Float64ArrayConstructor)(this.wanted);
      if (this.#values.constructor === values.constructor) {
        (this.#values as Float64Array).set(values.subarray(0, taken) as Float64Array, this.rowCount);
        return;
      }
    }
    const all = this.#asArray();
    for (let i = 0, row = this.rowCount; i < taken; i++) all[row++] = values[i];
  }

  #addSome(all: unknown[], values: Values, defined: Uint8Array, taken: number): void {
    let row = this.rowCount;
    for (let i = 0, next = 0; i < taken; i++) all[row++] = defined[i] === 0 ? null : values[next++];
  }

  #asArray(): unknown[] {
    const values = this.#values;
    if (Array.isArray(values)) return values;
    const all = new Array<unknown>(this.wanted);
    if (values) for (let i = 0; i < this.rowCount; i++) all[i] = values[i];
    this.#values = all;
    return all;
  }
}

/** Which rows have a value: 1 for each that has; `undefined` when all do. */
function definedOf(levels: Uint8Array, count: number): Uint8Array | undefined {
  const cursor = new Cursor(levels);
  if (levels.length > 1) {
    const run = cursor.varint();
    if ((run & 1) === 0 && run >>> 1 >= count && levels[cursor.at] === 1) return undefined;
    cursor.at = 0;
  }
  const defined = new Uint8Array(count);
  readHybrid(cursor, 1, defined);
  let most = 0;
  let all = 1;
  for (let i = 0; i < count; i++) {
    most |= defined[i]!;
    all &= defined[i]!;
  }
  if (most > 1) throw corrupt('levels are higher than the column has');
  return all === 1 ? undefined : defined;
}

function countDefined(defined: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < defined.length; i++) count += defined[i]!;
  return count;
}

/** Guards against allocating what a damaged header claims. */
function checkCount(count: number, most: number): void {
  if (!(count >= 0 && count <= most)) throw corrupt(`a page claims to hold ${count} values, of ${most} at most`);
}

function checkCodes(codes: Int32Array, length: number): void {
  let highest = 0;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]! >>> 0;
    if (code > highest) highest = code;
  }
  if (highest >= length) throw corrupt(`entry ${highest} of a dictionary of ${length}`);
}

function mapped(codes: Int32Array, dictionary: Values): Values {
  if (dictionary instanceof BigInt64Array) {
    const out = new BigInt64Array(codes.length);
    for (let i = 0; i < codes.length; i++) out[i] = dictionary[codes[i]!]!;
    return out;
  }
  if (isTyped(dictionary)) {
    const out = new (dictionary.constructor as Float64ArrayConstructor)(codes.length);
    for (let i = 0; i < codes.length; i++) out[i] = dictionary[codes[i]!] as number;
    return out;
  }
  const out = new Array<unknown>(codes.length);
  for (let i = 0; i < codes.length; i++) out[i] = dictionary[codes[i]!];
  return out;
}

function loadAll(values: Values, load: (raw: Raw) => Physical): Values {
  const out = new Array<unknown>(values.length);
  for (let i = 0; i < out.length; i++) out[i] = load(values[i] as Raw);
  return out;
}
