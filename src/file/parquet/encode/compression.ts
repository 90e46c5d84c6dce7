import { LakeError } from '../../../errors.ts';
import type { CompressOptions, Compressors } from '../../compressors.ts';
import type { FileOptions } from '../../format.ts';
import type { ByteBuffer } from './byte-buffer.ts';
import { compressSnappy } from './snappy.ts';

/** How the pages of a file are compressed: at once, later, or not at all. */
export interface Codec {
  /** Parquet's number of the codec. */
  readonly id: number;
  /** Appends the compressed bytes. Returns false, having appended nothing, when they aren't smaller; unless `always`. */
  readonly compressNow?: (source: ByteBuffer, start: number, end: number, out: ByteBuffer, always: boolean) => boolean;
  /** Compresses the values of one page, whole. */
  readonly compressLater?: (bytes: Uint8Array) => Uint8Array | Promise<Uint8Array>;
}

/** ZSTD_c_compressionLevel. */
const zstdLevel = 100;

const ids: Readonly<Record<FileOptions['compression'], number>> = { uncompressed: 0, snappy: 1, gzip: 2, zstd: 6 };

/** The codec of a file. UNSUPPORTED when neither the caller nor the runtime has it. */
export function codecOf({ compression: name, compressionLevel }: FileOptions, compressors: Compressors): Codec {
  const id = ids[name];
  if (name === 'uncompressed') return { id };
  if (name === 'snappy') return { id, compressNow: compressSnappy };
  const given = compressors[name];
  const level: CompressOptions =
    compressionLevel === undefined
      ? {}
      : name === 'zstd'
        ? { params: { [zstdLevel]: compressionLevel } }
        : { level: compressionLevel };
  if (given !== undefined) return { id, compressLater: (bytes) => given.compress(bytes, level) };
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
