import type { Compressors } from '../compressors.ts';
import type { FileFormat } from '../format.ts';
import { createEncodedWriter } from './encode/file-writer.ts';
import { openReader } from './reader.ts';

/** Parquet, the format of DuckLake's data files. `compressors` are those that the runtime lacks. */
export function parquetFormat(compressors: Compressors = {}): FileFormat {
  return {
    name: 'parquet',
    extension: '.parquet',
    createWriter: (target) => createEncodedWriter(target, { compressors }),
    openReader: (object, hint) => openReader(object, { ...hint, compressors }),
  };
}
