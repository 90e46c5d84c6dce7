import { LakeError } from '../../../errors.ts';
import type { FileOptions } from '../../format.ts';
import type { ByteBuffer } from './byte-buffer.ts';
import { compressSnappy } from './snappy.ts';

/** Compresses the values of one page, whole: `zstdCompress` of `node:zlib`, for example. */
export type CompressPage = (bytes: Uint8Array) => Promise<Uint8Array>;

/** Compression that isn't built in, by the name that the lake's options give it. */
export type Compressors = Readonly<Partial<Record<FileOptions['compression'], CompressPage>>>;

/** How the pages of a file are compressed: at once, later, or not at all. */
export interface Codec {
  /** Parquet's number of the codec. */
  readonly id: number;
  /** Appends the compressed bytes. Returns false, having appended nothing, when they aren't smaller; unless `always`. */
  readonly compressNow?: (source: ByteBuffer, start: number, end: number, out: ByteBuffer, always: boolean) => boolean;
  readonly compressLater?: CompressPage;
}

const ids: Readonly<Record<FileOptions['compression'], number>> = { uncompressed: 0, snappy: 1, gzip: 2, zstd: 6 };

/** The codec of a file. UNSUPPORTED when neither the caller nor the runtime has it. */
export function codecOf(name: FileOptions['compression'], compressors: Compressors): Codec {
  const given = compressors[name];
  const id = ids[name];
  if (given !== undefined) return { id, compressLater: given };
  if (name === 'uncompressed') return { id };
  if (name === 'snappy') return { id, compressNow: compressSnappy };
  if (!streams(name))
    throw new LakeError(
      'UNSUPPORTED',
      `this runtime has no ${name} compression of its own: hand one in, or set the lake's parquet_compression to snappy`,
    );
  return { id, compressLater: (bytes) => compressStream(bytes, name) };
}

function streams(name: string): boolean {
  try {
    new CompressionStream(name as CompressionFormat);
    return true;
  } catch {
    return false;
  }
}

async function compressStream(bytes: Uint8Array, name: string): Promise<Uint8Array> {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream();
  const packed = stream.pipeThrough(new CompressionStream(name as CompressionFormat));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}
