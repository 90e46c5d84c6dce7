import { realpath, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { CommandError, Interrupted, UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { LocationStore } from '../store.ts';
import type { RowFormat } from './rows.ts';

/** Formats of files: `parquet` beside those of text. */
export type FileFormat = RowFormat | 'parquet';

/** A file, or an object in S3, that is written as a whole or not at all. */
export class OutputFile {
  readonly store: LocationStore;
  readonly location: string;
  readonly #signal: AbortSignal;

  /** `argument` is a path, or `s3://BUCKET/KEY`. What is there is replaced, unless it is no regular file. */
  static async at(argument: string, { env, signal }: Io): Promise<OutputFile> {
    return new OutputFile(new LocationStore(env), await resolved(argument), signal);
  }

  private constructor(store: LocationStore, location: string, signal: AbortSignal) {
    this.store = store;
    this.location = location;
    this.#signal = signal;
  }

  /** Runs what hands over the file's text, piece by piece. Returns the file's length in bytes. */
  async write(run: (write: (text: string) => Promise<void>) => Promise<void>): Promise<number> {
    const encoder = new TextEncoder();
    let byteLength = 0;
    const writer = await this.store.create(this.location, { signal: this.#signal });
    try {
      await run(async (text) => {
        const bytes = encoder.encode(text);
        byteLength += bytes.length;
        if (bytes.length > 0) await writer.write(bytes);
      });
      await writer.close();
    } catch (error) {
      await writer.abort();
      throw error;
    }
    return byteLength;
  }
}

/** Where a file is to be renamed to: what a link points at, never a device or a pipe. */
async function resolved(argument: string): Promise<string> {
  if (argument.startsWith('s3://')) return argument;
  const found = await stat(argument).catch(() => undefined);
  if (found === undefined) return argument;
  if (found.isDirectory()) throw new CommandError(`--output ${argument} is a folder: name a file in it`);
  if (!found.isFile())
    throw new CommandError(`--output ${argument} is no regular file: leave --output out and use > ${argument}`);
  return realpath(argument);
}

const byExtension: Readonly<Record<string, FileFormat>> = {
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.json': 'json',
  '.csv': 'csv',
  '.parquet': 'parquet',
};

/** The format of an output file whose name says it. */
export function formatOfFile(argument: string): FileFormat {
  const format = byExtension[extname(argument).toLowerCase()];
  if (format !== undefined) return format;
  throw new UsageError(`can't tell the format of ${argument} by its name: add --format ndjson|json|csv|parquet`);
}

/** What an interrupted write ends with. */
export function nothingWritten(error: unknown): unknown {
  return error instanceof Interrupted ? new Interrupted(': nothing was written') : error;
}
