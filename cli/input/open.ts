import { CsvReader } from './csv.ts';
import type { InputFile } from './file.ts';
import { JsonReader } from './json.ts';
import { ParquetReader } from './parquet.ts';
import type { InputReader } from './reader.ts';

export function openInput(file: InputFile): InputReader {
  switch (file.format) {
    case 'ndjson':
    case 'json':
      return new JsonReader(file);
    case 'csv':
      return new CsvReader(file);
    case 'parquet':
      return new ParquetReader(file);
  }
}
