import { writeFile } from 'node:fs/promises';
import type { FileOptions } from '../../src/file/format.ts';
import { createEncodedWriter, type EncodedWriterOptions } from '../../src/file/parquet/encode/file-writer.ts';
import { RowCheck, readCells } from '../../src/write/row-cells.ts';
import type { DataSet, Row } from './data.ts';

export const blockRowCount = 1024;

export interface EncodeOptions extends EncodedWriterOptions {
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

/** Rows as batches of columns, whose arrays are used again, as inserts make them. */
export function* gathered(set: DataSet, rows: readonly Row[]): Generator<{ rowCount: number; columns: unknown[][] }> {
  const names = set.fields.map(({ name }) => name);
  const columns = names.map(() => new Array<unknown>(blockRowCount).fill(undefined));
  const check = new RowCheck(names);
  for (let start = 0; start < rows.length; start += blockRowCount) {
    const rowCount = Math.min(blockRowCount, rows.length - start);
    if (check.find(rows, start, start + rowCount) < start + rowCount) throw new TypeError('a row that does not fit');
    for (const [c, name] of names.entries()) readCells(rows, start, rowCount, c, name, columns[c]!);
    yield { rowCount, columns };
  }
}
