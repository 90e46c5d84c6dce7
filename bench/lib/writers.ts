import { writeFile } from 'node:fs/promises';
import type { ColumnBatch, FileOptions } from '../../src/file/format.ts';
import type { EncoderOptions } from '../../src/file/parquet/encode/encoders.ts';
import { createEncodedWriter } from '../../src/file/parquet/encode/file-writer.ts';
import { blockRowCount, Gatherer } from '../../src/write/gather.ts';
import type { DataSet, Row } from './data.ts';

export interface EncodeOptions extends EncoderOptions {
  readonly file?: Partial<FileOptions>;
}

/** Our writer, from batches of columns to a file at `path`, or to nowhere. */
export async function encode(
  set: DataSet,
  batches: Iterable<{ rowCount: number; columns: readonly ArrayLike<unknown>[] }>,
  path: string | undefined,
  { file, ...more }: EncodeOptions = {},
): Promise<number> {
  const pieces: Uint8Array[] = [];
  const writer = createEncodedWriter(
    {
      table: { schema: 'main', table: set.name },
      fields: set.fields,
      options: { rowGroupRowCount: 122_880, rowGroupByteLength: 64 * 2 ** 20, compression: 'snappy', ...file },
      open: async () => ({
        async write(bytes) {
          pieces.push(bytes);
        },
        async close() {},
        async abort() {},
      }),
    },
    more,
  );
  let firstRow = 0;
  for (const { rowCount, columns } of batches) {
    await writer.write({ rowCount, firstRow, columns });
    firstRow += rowCount;
  }
  const { byteLength } = await writer.close();
  if (path !== undefined) await writeFile(path, pieces);
  return byteLength;
}

/** Rows as batches of columns, as inserts make them. */
export function* gathered(set: DataSet, rows: readonly Row[]): Generator<ColumnBatch> {
  const gatherer = gathererOf(set);
  for (let start = 0; start < rows.length; start += blockRowCount)
    yield gatherer.gather(rows, start, Math.min(rows.length, start + blockRowCount), 0);
}

export function gathererOf({ name, fields }: DataSet): Gatherer {
  const columns = fields.map((field) => ({ field, defaultValue: undefined, isComputed: false }));
  return new Gatherer({ schema: 'main', table: name, columns });
}
