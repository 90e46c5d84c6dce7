import { carve } from './arena.ts';
import type { ByteBuffer } from './byte-buffer.ts';
import type { Codec } from './compression.ts';
import { type Encoding, encodings, type PageType, pageTypes } from './encodings.ts';
import { scratch } from './scratch.ts';
import { ThriftWriter } from './thrift.ts';

/** What a page's header says of its content. */
export interface PageContent {
  readonly type: PageType;
  readonly encoding: Encoding;
  /** Slots of a data page, entries of a dictionary. */
  readonly valueCount: number;
  readonly nullCount: number;
  readonly rowCount: number;
  /** Bytes of levels before the values, which stay as they are. */
  readonly repetitionLength: number;
  readonly definitionLength: number;
}

/** A page as it will stand in the file. */
export interface Page {
  readonly content: PageContent;
  /** Header and body; while a slow codec has yet to see the body, the body alone. */
  bytes: Uint8Array;
  /** Length of header and body before compression. */
  uncompressedLength: number;
}

const tinyLength = 64;

/** Makes pages: compresses their values and puts the header in front. */
export class PageAssembler {
  readonly #codec: Codec;
  #waiting: Page[] = [];

  constructor(codec: Codec) {
    this.#codec = codec;
  }

  /** A page of what is in `body`, levels first. It has no header yet when the codec is a slow one: see `settle`. */
  assemble(content: PageContent, body: ByteBuffer): Page {
    const { compressNow, compressLater } = this.#codec;
    if (compressLater !== undefined) {
      const page = { content, bytes: body.copy(), uncompressedLength: body.length };
      this.#waiting.push(page);
      return page;
    }
    const { packed } = scratch;
    packed.length = 0;
    const levels = content.repetitionLength + content.definitionLength;
    // Only data pages can say that they are not compressed. Where they are tiny that isn't even tried.
    const always = content.type === pageTypes.dictionary;
    const smaller =
      compressNow !== undefined &&
      (always || body.length - levels >= tinyLength) &&
      compressNow(body, levels, body.length, packed, always);
    const values = smaller ? packed.bytes.subarray(0, packed.length) : body.bytes.subarray(levels, body.length);
    return this.#join(content, body.length, body.bytes.subarray(0, levels), values, smaller);
  }

  /** Compresses what waits for a slow codec. Afterwards all pages are whole. */
  async settle(): Promise<void> {
    const { compressLater } = this.#codec;
    if (compressLater === undefined) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const page of waiting) {
      const { content, bytes } = page;
      const levels = content.repetitionLength + content.definitionLength;
      const raw = bytes.subarray(levels);
      const always = content.type === pageTypes.dictionary;
      const packed = always || raw.length > 0 ? await compressLater(raw) : raw;
      const smaller = always || packed.length < raw.length;
      const whole = this.#join(content, bytes.length, bytes.subarray(0, levels), smaller ? packed : raw, smaller);
      page.bytes = whole.bytes;
      page.uncompressedLength = whole.uncompressedLength;
    }
  }

  #join(content: PageContent, length: number, levels: Uint8Array, values: Uint8Array, compressed: boolean): Page {
    const { header } = scratch;
    header.length = 0;
    writeHeader(header, content, length, levels.length + values.length, compressed);
    const bytes = carve(header.length + levels.length + values.length);
    bytes.set(header.bytes.subarray(0, header.length));
    bytes.set(levels, header.length);
    bytes.set(values, header.length + levels.length);
    return { content, bytes, uncompressedLength: header.length + length };
  }
}

function writeHeader(
  out: ByteBuffer,
  content: PageContent,
  length: number,
  storedLength: number,
  compressed: boolean,
): void {
  const thrift = new ThriftWriter(out);
  thrift.element(() => {
    thrift.int32(1, content.type);
    thrift.int32(2, length);
    thrift.int32(3, storedLength);
    if (content.type === pageTypes.dictionary) {
      thrift.struct(7, () => {
        thrift.int32(1, content.valueCount);
        thrift.int32(2, encodings.plain);
      });
      return;
    }
    thrift.struct(8, () => {
      thrift.int32(1, content.valueCount);
      thrift.int32(2, content.nullCount);
      thrift.int32(3, content.rowCount);
      thrift.int32(4, content.encoding);
      thrift.int32(5, content.definitionLength);
      thrift.int32(6, content.repetitionLength);
      if (!compressed) thrift.bool(7, false);
    });
  });
}
