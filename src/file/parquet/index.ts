import type { Compressors } from '../compressors.ts';
import type { FileFormat } from '../format.ts';
import { createEncodedWriter } from './encode/file-writer.ts';

/** Parquet, the format of DuckLake's data files. `compressors` are those that the runtime lacks. */
export function parquetFormat(compressors: Compressors = {}): FileFormat {
  return {
    name: 'parquet',
    extension: '.parquet',
    createWriter: (target) => createEncodedWriter(target, { compressors }),
    // Whoever only appends doesn't load it: bundlers put it apart.
    openReader: async (object, hint) => {
      const { openReader } = await import('./reader.ts');
      return openReader(object, { ...hint, compressors });
    },
  };
}
