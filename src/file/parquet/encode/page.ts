import type { Physical } from '../../../spec/values/codec.ts';
import { carve } from './arena.ts';
import { ByteBuffer } from './byte-buffer.ts';
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
  /** Of the values of a data page, where they are known; text as its UTF-8. */
  bounds?: readonly [min: Physical, max: Physical] | undefined;
}

const tinyLength = 64;

/** Makes pages: compresses their values and puts the header in front. */
export class PageAssembler {
  readonly #codec: Codec;
  readonly #version: 1 | 2;
  #waiting: Page[] = [];

  constructor(codec: Codec, version: 1 | 2) {
    this.#codec = codec;
    this.#version = version;
  }

  /** A page of what is in `body`, levels first. It has no header yet when the codec is a slow one: see `settle`. */
  assemble(given: PageContent, levelsFirst: ByteBuffer): Page {
    const { compressNow, compressLater } = this.#codec;
    const isOld = this.#version === 1 && given.type === pageTypes.dataV2;
    const content = isOld ? { ...given, type: pageTypes.data } : given;
    const body = isOld ? prefixedLevels(given, levelsFirst) : levelsFirst;
    if (compressLater !== undefined) {
      const page = { content, bytes: body.copy(), uncompressedLength: body.length };
      this.#waiting.push(page);
      return page;
    }
    const { packed } = scratch;
    packed.length = 0;
    const levels = plainLevelsLength(content);
    // Only data pages of version 2 can say that they are not compressed. Where they are tiny that isn't even tried.
    const always = content.type !== pageTypes.dataV2;
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
      const levels = plainLevelsLength(content);
      const raw = bytes.subarray(levels);
      const always = content.type !== pageTypes.dataV2;
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

/** Bytes of levels that stay uncompressed: in pages of version 1 they are part of what is compressed. */
function plainLevelsLength({ type, repetitionLength, definitionLength }: PageContent): number {
  return type === pageTypes.dataV2 ? repetitionLength + definitionLength : 0;
}

/** A page's body as version 1 has it: each kind of levels behind its length. */
function prefixedLevels({ repetitionLength, definitionLength }: PageContent, body: ByteBuffer): ByteBuffer {
  const out = new ByteBuffer(body.length + 8);
  let at = 0;
  for (const length of [repetitionLength, definitionLength]) {
    if (length === 0) continue;
    out.view.setUint32(out.length, length, true);
    out.length += 4;
    out.append(body.bytes.subarray(at, at + length));
    at += length;
  }
  out.append(body.bytes.subarray(at, body.length));
  return out;
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
    if (content.type === pageTypes.data) {
      thrift.struct(5, () => {
        thrift.int32(1, content.valueCount);
        thrift.int32(2, content.encoding);
        thrift.int32(3, encodings.rle);
        thrift.int32(4, encodings.rle);
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
