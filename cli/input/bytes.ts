import { createReadStream, createWriteStream, ReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addAbortSignal, pipeline, type Readable } from 'node:stream';
import { pipeline as pipe } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { CommandError, InputError } from '../errors.ts';
import type { InputFile } from './file.ts';

/** What passes through every reader. */
export interface ReadContext {
  readonly stdin: () => Readable;
  readonly signal?: AbortSignal | undefined;
  /** Called with the count of bytes just read from a file. */
  readonly onBytes?: ((byteLength: number) => void) | undefined;
}

/** The text of a file, in pieces. Bytes that are no UTF-8 are refused, a byte order mark is dropped. */
export async function* readText(file: InputFile, { stdin, signal, onBytes }: ReadContext): AsyncGenerator<string> {
  signal?.throwIfAborted();
  const source = file.path === undefined ? stdin() : createReadStream(file.path, { highWaterMark: 1 << 18 });
  if (signal) addAbortSignal(signal, source);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let bytesRead = 0;
  try {
    for await (const chunk of file.gzipped ? gunzip(source) : source) {
      const read = source instanceof ReadStream ? source.bytesRead : bytesRead + (chunk as Buffer).length;
      onBytes?.(read - bytesRead);
      bytesRead = read;
      yield decoder.decode(chunk as Buffer, { stream: true });
    }
    const rest = decoder.decode();
    if (rest !== '') yield rest;
  } catch (error) {
    signal?.throwIfAborted();
    throw readError(file, error);
  } finally {
    source.destroy();
  }
}

function gunzip(source: Readable): Readable {
  // Whoever reads the result sees the error, of either stream.
  return pipeline(source, createGunzip(), () => {});
}

/** An error of opening or reading a file, as one of ours where the reader can do something about it. */
export function readError(file: InputFile, cause: unknown): unknown {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
    return new InputError(file.label, 'the file is not UTF-8: convert it first, for example with iconv', { cause });
  if (code.startsWith('Z_')) return new InputError(file.label, 'the file is not whole gzip data', { cause });
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: 'there is no such file',
    EISDIR: 'it is a directory',
    EACCES: 'permission denied',
  };
  const reason = reasons[code];
  return reason === undefined ? cause : new CommandError(`can't read ${file.path ?? file.label}: ${reason}`, { cause });
}

/** Standard input in a temporary file, so that it can be read twice. Disposing removes it. */
export class Spool implements AsyncDisposable {
  readonly #directory: string;
  readonly file: InputFile;

  private constructor(directory: string, file: InputFile) {
    this.#directory = directory;
    this.file = file;
  }

  static async of(file: InputFile, stdin: Readable, signal: AbortSignal | undefined): Promise<Spool> {
    const directory = await mkdtemp(join(tmpdir(), 'edgemere-'));
    const spool = new Spool(directory, { ...file, path: join(directory, 'input') });
    try {
      await pipe(stdin, createWriteStream(spool.file.path!), signal ? { signal } : {});
    } catch (error) {
      await spool[Symbol.asyncDispose]();
      signal?.throwIfAborted();
      throw error;
    }
    return spool;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }
}
