import type { ColumnMetaData, CompressionCodec, Compressors as Inflated } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { LakeError } from '../../errors.ts';
import type { Compressors } from '../compressors.ts';
import { corrupt } from './footer.ts';

type Inflate = (bytes: Uint8Array) => Uint8Array | Promise<Uint8Array>;

/** How pages of a codec are decompressed; `undefined` where the decoder does it itself. UNSUPPORTED for codecs that are not at hand. */
export function inflateOf(codec: CompressionCodec | undefined, compressors: Compressors): Inflate | undefined {
  if (codec === undefined) throw corrupt('a column is compressed in no way that Parquet knows');
  if (codec === 'SNAPPY' || codec === 'UNCOMPRESSED') return undefined;
  const name = codec.toLowerCase();
  if (name === 'gzip' || name === 'zstd') {
    const given = compressors[name];
    if (given) return (bytes) => given.decompress(bytes);
    if (inflates(name)) return (bytes) => inflateStream(bytes, name);
  }
  throw new LakeError(
    'UNSUPPORTED',
    `a data file is compressed with ${codec}, which this runtime can't decompress: hand it to openLake as compressors`,
  );
}

/**
 * Decompresses a chunk's pages ahead of the decoder, which knows no promises: it then finds each page by where its bytes
 * lay.
 */
export async function inflatePages(chunk: ColumnMetaData, bytes: Uint8Array, inflate: Inflate): Promise<Inflated> {
  const pages = new Map<number, Uint8Array>();
  const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
  while (reader.offset < bytes.byteLength) {
    const { compressed_page_size: byteLength, data_page_header_v2: v2 } = parquetHeader(reader);
    const levels = v2 ? v2.repetition_levels_byte_length + v2.definition_levels_byte_length : 0;
    const start = reader.offset + levels;
    const end = reader.offset + byteLength;
    if (v2?.is_compressed !== false && end > start)
      pages.set(bytes.byteOffset + start, await inflate(bytes.subarray(start, end)));
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

async function inflateStream(bytes: Uint8Array, name: string): Promise<Uint8Array> {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream();
  return new Uint8Array(
    await new Response(stream.pipeThrough(new DecompressionStream(name as CompressionFormat))).arrayBuffer(),
  );
}
