import { join } from 'node:path';
import type { ColumnVector, FileOptions, FileTarget, ReadRequest, WrittenFile } from '../../src/file/format.ts';
import { parquetFormat } from '../../src/file/parquet/index.ts';
import type { Field } from '../../src/schema/field.ts';
import { parseType } from '../../src/spec/types.ts';
import type { ObjectReader, ObjectWriter } from '../../src/storage/object-store.ts';
import type { Oracle } from './oracle.ts';

const parquet = parquetFormat();

export function field(id: number, name: string, type: string, more: Partial<Field> = {}): Field {
  return {
    id,
    name,
    type: parseType(type),
    nullable: true,
    children: [],
    initialDefault: null,
    defaultValue: null,
    defaultValueType: null,
    beginSnapshot: 1,
    ...more,
  };
}

/** An object in memory, with what happened to it. */
export interface Sink {
  readonly chunks: Uint8Array[];
  readonly calls: string[];
  open(): Promise<ObjectWriter>;
  bytes(): Uint8Array;
}

export function memorySink(): Sink {
  const chunks: Uint8Array[] = [];
  const calls: string[] = [];
  return {
    chunks,
    calls,
    async open() {
      calls.push('open');
      return {
        async write(bytes) {
          calls.push('write');
          chunks.push(bytes);
        },
        async close() {
          calls.push('close');
        },
        async abort() {
          calls.push('abort');
        },
      };
    },
    bytes: () => new Uint8Array(chunks.flatMap((chunk) => [...chunk])),
  };
}

export const fileOptions: FileOptions = {
  rowGroupRowCount: 122_880,
  rowGroupByteLength: 128 * 2 ** 20,
  compression: 'snappy',
};

export function target(fields: readonly Field[], sink: Sink, options: Partial<FileOptions> = {}): FileTarget {
  return {
    table: { schema: 'main', table: 't' },
    fields,
    options: { ...fileOptions, ...options },
    open: () => sink.open(),
  };
}

/** Writes columns as one file. */
export async function writeFile(
  fields: readonly Field[],
  columns: readonly (readonly unknown[])[],
  options: Partial<FileOptions> = {},
): Promise<{ bytes: Uint8Array; file: WrittenFile }> {
  const sink = memorySink();
  const writer = parquet.createWriter(target(fields, sink, options));
  await writer.write({ rowCount: columns[0]?.length ?? 0, firstRow: 0, columns });
  const file = await writer.close();
  return { bytes: sink.bytes(), file };
}

/** An open object over bytes; `ranges` takes what was read. */
export function objectOf(bytes: Uint8Array, ranges: [number, number][] = []): ObjectReader {
  return {
    byteLength: bytes.length,
    async slice(start, end = bytes.length) {
      ranges.push([start, end]);
      return bytes.slice(start, end).buffer as ArrayBuffer;
    },
  };
}

/** All values of a file's columns. */
export async function readFile(bytes: Uint8Array, request: ReadRequest): Promise<unknown[][]> {
  const reader = await parquet.openReader(objectOf(bytes));
  const columns: unknown[][] = request.fields.map(() => []);
  for await (const batch of reader.read(request))
    for (const [i, column] of batch.columns.entries()) columns[i]!.push(...decoded(column, batch.rowCount));
  return columns;
}

/** A column's values as callers get them. */
export function decoded({ values, decode }: ColumnVector, rowCount: number = values.length): unknown[] {
  return Array.from({ length: rowCount }, (_, row) => {
    const value = values[row];
    return decode && value !== null ? decode(value as never) : value;
  });
}

/** DuckDB's own file of a query, with field ids as given. */
export async function duckFileOf(
  duck: Oracle,
  dir: string,
  query: string,
  ids: Record<string, number | string>,
  options = '',
): Promise<Uint8Array> {
  const path = join(dir, `${crypto.randomUUID()}.parquet`);
  const fieldIds = Object.entries(ids).map(([name, id]) => `${name}: ${id}`);
  await duck.run(`COPY (${query}) TO '${path}' (FORMAT parquet, FIELD_IDS {${fieldIds.join(', ')}}${options})`);
  return new Uint8Array(await Bun.file(path).arrayBuffer());
}
