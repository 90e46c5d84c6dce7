import type { ColumnMetaData, CompressionCodec, Compressors as Inflated } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { LakeError } from '../../errors.ts';
import type { Compressors } from '../compressors.ts';
import { corrupt, decodingLater } from './footer.ts';
import { inflateLz4 } from './lz4.ts';

/** Gives `byteLength` bytes, or fails. */
type Inflate = (bytes: Uint8Array, byteLength: number) => Uint8Array | Promise<Uint8Array>;

/** How pages of a codec are decompressed; `undefined` where the decoder does it itself. UNSUPPORTED for codecs that are not at hand. */
export function inflateOf(codec: CompressionCodec | undefined, compressors: Compressors): Inflate | undefined {
  if (codec === undefined) throw corrupt('a column is compressed in no way that Parquet knows');
  if (codec === 'SNAPPY' || codec === 'UNCOMPRESSED') return undefined;
  if (codec === 'LZ4_RAW') return inflateLz4;
  const name = codec.toLowerCase();
  if (name === 'gzip' || name === 'zstd' || name === 'brotli') {
    const given = compressors[name];
    if (given) return (bytes, byteLength) => given.decompress(bytes, { maxOutputLength: byteLength });
    if (inflates(name)) return (bytes, byteLength) => inflateStream(bytes, name, byteLength);
  }
  throw new LakeError(
    'UNSUPPORTED',
    `a data file is compressed with ${codec}, which this runtime can't decompress: hand it to openLake as compressors`,
  );
}

/** The chunk's pages, as far as the decoder can't decompress them itself. */
export async function inflatedPages(
  chunk: ColumnMetaData,
  bytes: Uint8Array,
  compressors: Compressors,
): Promise<Inflated> {
  const inflate = inflateOf(chunk.codec, compressors);
  return inflate ? decodingLater('pages', inflatePages(chunk, bytes, inflate)) : {};
}

/**
 * Decompresses a chunk's pages ahead of the decoder, which knows no promises: it then finds each page by where its bytes
 * lay.
 */
async function inflatePages(chunk: ColumnMetaData, bytes: Uint8Array, inflate: Inflate): Promise<Inflated> {
  const pages = new Map<number, Uint8Array>();
  const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
  while (reader.offset < bytes.byteLength) {
    const header = parquetHeader(reader);
    const v2 = header.data_page_header_v2;
    const levels = v2 ? v2.repetition_levels_byte_length + v2.definition_levels_byte_length : 0;
    const start = reader.offset + levels;
    const end = reader.offset + header.compressed_page_size;
    const inflatedLength = header.uncompressed_page_size - levels;
    if (v2?.is_compressed !== false && end > start && inflatedLength > 0)
      pages.set(bytes.byteOffset + start, await inflate(bytes.subarray(start, end), inflatedLength));
    reader.offset = end;
  }
  return { [chunk.codec]: (page: Uint8Array) => pages.get(page.byteOffset) ?? new Uint8Array(0) };
}

function inflates(name: string): boolean {
  try {
    new DecompressionStream(name as CompressionFormat);
    return true;
  } catch {
    return false;
  }
}

async function inflateStream(bytes: Uint8Array, name: string, byteLength: number): Promise<Uint8Array> {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream();
  const reader = stream.pipeThrough(new DecompressionStream(name as CompressionFormat)).getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let left = byteLength;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
    left -= value.length;
    // Before memory is taken for all that a few bytes may stand for.
    if (left < 0) {
      await reader.cancel();
      throw corrupt('a page is longer than its header says');
    }
    parts.push(value);
  }
}
