import { open } from 'node:fs/promises';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import {
  type AsyncBuffer,
  type Compressors,
  type FileMetaData,
  type ParquetParsers,
  parquetMetadataAsync,
  parquetScan,
  parquetSchema,
  type SchemaElement,
} from 'hyparquet';
import { CommandError, InputError } from '../errors.ts';
import { showType } from '../sql-types.ts';
import { type ReadContext, readError } from './bytes.ts';
import { CellError } from './cells.ts';
import { type BoundColumn, ColumnBinder } from './columns.ts';
import type { InputFile } from './file.ts';
import type { InferredColumn } from './infer.ts';
import { parquetColumn } from './parquet-types.ts';
import type { InputReader, InputRow, TargetColumn } from './reader.ts';

/** hyparquet has Snappy built in; the others come with Node. */
const compressors: Compressors = {
  ZSTD: (input) => zstdDecompressSync(input),
  GZIP: (input) => gunzipSync(input),
  BROTLI: (input) => brotliDecompressSync(input),
};

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Numbers stay as they are stored: what they mean is the column's business. */
const parsers: Partial<ParquetParsers> = {
  timestampFromMilliseconds: (value) => value,
  timestampFromMicroseconds: (value) => value,
  timestampFromNanoseconds: (value) => value,
  dateFromDays: (value) => value,
  stringFromBytes: (bytes) => bytes && utf8.decode(bytes),
  jsonFromBytes: (bytes) => bytes && utf8.decode(bytes),
};

const blockRowCount = 1024;

/** A Parquet file, read row group by row group. */
export class ParquetReader implements InputReader {
  readonly #file: InputFile;

  constructor(file: InputFile) {
    this.#file = file;
  }

  async *rows(columns: readonly TargetColumn[], { signal, onBytes }: ReadContext): AsyncGenerator<InputRow[]> {
    const binder = new ColumnBinder(columns);
    await using opened = await this.#open();
    const { metadata, elements, buffer } = opened;
    const sources = elements.map((element) => {
      const column = binder.find(element.name, () => this.#file.label);
      const known = parquetColumn(element);
      if (known === undefined) throw this.#unsupported(element);
      return { name: element.name, column, convert: known.convert(column.type) };
    });
    const scan = await parquetScan({
      file: buffer,
      metadata: withRawBytes(metadata),
      compressors,
      parsers,
      utf8: false,
      geoparquet: false,
    });
    let rowStart = 0;
    let bytesRead = 0;
    for (const group of metadata.row_groups) {
      const rowEnd = rowStart + Number(group.num_rows);
      const values: ArrayLike<unknown>[] = [];
      for (const { name } of sources) {
        signal?.throwIfAborted();
        values.push(await this.#decode(name, () => scan.readColumn({ column: name, rowStart, rowEnd })));
      }
      onBytes?.(opened.bytesRead - bytesRead);
      bytesRead = opened.bytesRead;
      for (let at = 0; at < rowEnd - rowStart; at += blockRowCount) {
        signal?.throwIfAborted();
        const end = Math.min(rowEnd - rowStart, at + blockRowCount);
        yield this.#block(sources, values, at, end, rowStart);
      }
      rowStart = rowEnd;
    }
  }

  place(row: number): string {
    return `${this.#file.label}, row ${row + 1}`;
  }

  async observe(): Promise<number> {
    await using opened = await this.#open();
    return Number(opened.metadata.num_rows);
  }

  async declared(): Promise<readonly InferredColumn[]> {
    await using opened = await this.#open();
    return opened.elements.map((element) => {
      const column = parquetColumn(element);
      if (column === undefined) throw this.#unsupported(element);
      return { name: element.name, type: column.type };
    });
  }

  #block(
    sources: readonly { column: BoundColumn; convert: ((value: unknown) => unknown) | undefined }[],
    values: readonly ArrayLike<unknown>[],
    start: number,
    end: number,
    groupStart: number,
  ): InputRow[] {
    const rows: InputRow[] = Array.from({ length: end - start }, () => ({}));
    sources.forEach(({ column, convert }, c) => {
      const cells = values[c]!;
      const { name } = column;
      for (let i = start; i < end; i++) {
        let value: unknown = cells[i] ?? null;
        if (convert !== undefined && value !== null) {
          try {
            value = convert(value);
          } catch (error) {
            if (!(error instanceof CellError)) throw error;
            throw new InputError(
              this.place(groupStart + i),
              `column "${name}" (${showType(column)}): ${error.message}`,
            );
          }
        }
        if (name === '__proto__')
          Object.defineProperty(rows[i - start]!, name, {
            value,
            enumerable: true,
            configurable: true,
            writable: true,
          });
        else rows[i - start]![name] = value;
      }
    });
    return rows;
  }

  async #decode<T>(column: string, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new InputError(this.#file.label, `column "${column}" can't be decoded: ${reason}`, { cause: error });
    }
  }

  #unsupported({ name, num_children, logical_type, converted_type, repetition_type }: SchemaElement): InputError {
    const what =
      num_children !== undefined || repetition_type === 'REPEATED'
        ? 'is nested'
        : `is of type ${logical_type?.type ?? converted_type}`;
    return new InputError(
      this.#file.label,
      `column "${name}" ${what}, which can't be loaded yet: write the file without it`,
    );
  }

  async #open(): Promise<OpenParquet> {
    const { path } = this.#file;
    if (path === undefined)
      throw new CommandError('Parquet is read from its end: standard input has to be kept in a file first');
    try {
      return await OpenParquet.open(path);
    } catch (cause) {
      const error = readError(this.#file, cause);
      if (error !== cause) throw error;
      throw new InputError(this.#file.label, `not a Parquet file: ${(cause as Error).message}`, { cause });
    }
  }
}

/** A file kept open for as long as it is read. */
class OpenParquet implements AsyncDisposable {
  readonly buffer: AsyncBuffer;
  readonly metadata: FileMetaData;
  /** Of the top-level columns. */
  readonly elements: readonly SchemaElement[];
  readonly #close: () => Promise<void>;
  readonly #count: { bytes: number };

  private constructor(
    buffer: AsyncBuffer,
    metadata: FileMetaData,
    count: { bytes: number },
    close: () => Promise<void>,
  ) {
    this.buffer = buffer;
    this.metadata = metadata;
    this.elements = parquetSchema(metadata).children.map(({ element }) => element);
    this.#count = count;
    this.#close = close;
  }

  get bytesRead(): number {
    return this.#count.bytes;
  }

  static async open(path: string): Promise<OpenParquet> {
    const handle = await open(path);
    try {
      const { size } = await handle.stat();
      const count = { bytes: 0 };
      const buffer: AsyncBuffer = {
        byteLength: size,
        async slice(start, end = size) {
          const bytes = new Uint8Array(Math.max(0, end - start));
          const { bytesRead } = await handle.read(bytes, 0, bytes.length, start);
          if (bytesRead !== bytes.length) throw new Error('the file ends too early');
          count.bytes += bytesRead;
          return bytes.buffer;
        },
      };
      const metadata = await parquetMetadataAsync(buffer, { geoparquet: false });
      return new OpenParquet(buffer, metadata, count, () => handle.close());
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

/** Decimals and intervals without their meaning, for which hyparquet would make doubles of them or give up. */
function withRawBytes(metadata: FileMetaData): FileMetaData {
  const schema = metadata.schema.map((element) => {
    const { converted_type, logical_type, ...rest } = element;
    const isRaw = converted_type === 'DECIMAL' || converted_type === 'INTERVAL' || logical_type?.type === 'DECIMAL';
    return isRaw ? rest : element;
  });
  return { ...metadata, schema };
}
