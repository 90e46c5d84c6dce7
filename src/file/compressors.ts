/** The lake's `parquet_compression_level`, when it sets one, as the functions of `node:zlib` take it. */
export interface CompressOptions {
  readonly level?: number;
  /** The same for zstd, under the number of its parameter. */
  readonly params?: Readonly<Record<number, number>>;
}

/** How long what is decompressed may be, as the functions of `node:zlib` take it: a damaged page may claim any length. */
export interface DecompressOptions {
  readonly maxOutputLength: number;
}

/** A compression that the caller hands in, each page whole. */
export interface Compressor {
  compress(bytes: Uint8Array, options: CompressOptions): Uint8Array | Promise<Uint8Array>;
  decompress(bytes: Uint8Array, options: DecompressOptions): Uint8Array | Promise<Uint8Array>;
}

/**
 * Compressions beyond Snappy, by the name that the lake's `parquet_compression` gives them. `gzip` is there without, where
 * the runtime has `CompressionStream`; so are `zstd` and `brotli` where the runtime's streams know them. `lz4_raw` is read
 * everywhere.
 *
 * @example
 * ```ts
 * import { gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
 * import type { Compressors } from 'edgemere';
 *
 * const compressors: Compressors = {
 *   gzip: { compress: gzipSync, decompress: gunzipSync },
 *   zstd: { compress: zstdCompressSync, decompress: zstdDecompressSync },
 * };
 * console.log(Object.keys(compressors)); // [ 'gzip', 'zstd' ]
 * ```
 */
export interface Compressors {
  readonly gzip?: Compressor | undefined;
  readonly zstd?: Compressor | undefined;
  /** To read: files are not written in it. */
  readonly brotli?: Pick<Compressor, 'decompress'> | undefined;
}
