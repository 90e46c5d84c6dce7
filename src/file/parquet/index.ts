import type { Compressors } from '../compressors.ts';
import type { FileFormat } from '../format.ts';
import { openReader } from './reader.ts';
import { createWriter } from './writer.ts';

/** Parquet, the format of DuckLake's data files. `compressors` are those that the runtime lacks. */
export function parquetFormat(compressors: Compressors = {}): FileFormat {
  return {
    name: 'parquet',
    extension: '.parquet',
    createWriter,
    openReader: (object, hint) => openReader(object, { ...hint, compressors }),
  };
}
