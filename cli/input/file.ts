import { basename, extname } from 'node:path';
import { UsageError } from '../errors.ts';

export type InputFormat = 'ndjson' | 'json' | 'csv' | 'parquet';
export const inputFormats: readonly InputFormat[] = ['ndjson', 'json', 'csv', 'parquet'];

/** A file to read, or standard input. */
export interface InputFile {
  /** What messages call it. */
  readonly label: string;
  /** `undefined` for standard input. */
  readonly path: string | undefined;
  readonly format: InputFormat;
  /** Between the cells of a CSV file. */
  readonly delimiter: string;
  readonly gzipped: boolean;
}

export interface InputOptions {
  readonly format?: InputFormat | undefined;
  readonly delimiter?: string | undefined;
}

const byExtension: Readonly<Record<string, InputFormat>> = {
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.json': 'json',
  '.csv': 'csv',
  '.tsv': 'csv',
  '.parquet': 'parquet',
};

/**
 * An argument of `append`, `-` being standard input. The format is the one given, else the extension's; standard input is NDJSON
 * unless told otherwise.
 */
export function inputFile(argument: string, options: InputOptions): InputFile {
  if (argument === '-') {
    const format = options.format ?? 'ndjson';
    return { label: 'stdin', path: undefined, format, delimiter: options.delimiter ?? ',', gzipped: false };
  }
  const gzipped = /\.gz$/i.test(argument);
  const extension = extname(gzipped ? argument.slice(0, -3) : argument).toLowerCase();
  const format = options.format ?? byExtension[extension];
  if (format === undefined)
    throw new UsageError(`can't tell the format of ${argument} by its name: add --format ${inputFormats.join('|')}`);
  if (gzipped && format === 'parquet')
    throw new UsageError(
      `${argument}: Parquet files are read in place and can't be gzipped as a whole; gunzip it first`,
    );
  const delimiter = options.delimiter ?? (extension === '.tsv' ? '\t' : ',');
  return { label: basename(argument), path: argument, format, delimiter, gzipped };
}
