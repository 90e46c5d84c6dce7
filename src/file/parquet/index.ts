import type { FileFormat } from '../format.ts';
import { openReader } from './reader.ts';
import { createWriter } from './writer.ts';

/** Parquet, the format of DuckLake's data files. */
export const parquet: FileFormat = {
  name: 'parquet',
  extension: '.parquet',
  createWriter,
  openReader,
};
