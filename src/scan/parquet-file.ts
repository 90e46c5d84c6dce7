import type { ColumnValues } from '../file/format.ts';
import { createEncodedWriter } from '../file/parquet/encode/file-writer.ts';
import type { Field } from '../schema/field.ts';
import type { ObjectWriter } from '../storage/object-store.ts';
import { fieldOf } from './columns.ts';
import { type PlannedRead, readParts } from './read-parts.ts';
import { withTextOfJson } from './text-of-json.ts';
import { decoded } from './vectors.ts';

/** A Parquet file that a scan's rows were written to. */
export interface ParquetFile {
  readonly rowCount: number;
  readonly byteLength: number;
}

/** As DuckDB writes files by itself. */
const options = { compression: 'snappy', rowGroupRowCount: 122_880, rowGroupByteLength: 64 * 2 ** 20 } as const;

/** All rows into one file, which is there as a whole when this resolves, and not at all when it rejects. */
export async function writeParquetFile(planned: PlannedRead, open: () => Promise<ObjectWriter>): Promise<ParquetFile> {
  const { signal } = planned.from;
  const { table, columns } = planned.read;
  // NULL is allowed everywhere, as in DuckDB's own files.
  const fields = columns.map((column, index) => withDecimals({ ...fieldOf(column, index), nullable: true }));
  const writer = createEncodedWriter({ table: { schema: table.schema, table: table.name }, fields, options, open });
  try {
    let firstRow = 0;
    for await (const { rowCount, columns: vectors } of readParts({
      ...planned,
      read: { ...planned.read, columns: withTextOfJson(columns) },
    })) {
      const values = vectors.map((vector, c): ColumnValues => {
        return isTakenAsStored(fields[c]!) ? vector.values : decoded(vector);
      });
      await writer.write({ rowCount, firstRow, columns: values });
      firstRow += rowCount;
      signal?.throwIfAborted();
    }
    const { rowCount, byteLength } = await writer.close();
    return { rowCount, byteLength };
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

/** Types whose stored values the encoder takes: counts in the column's unit, and JSON's text. */
function isTakenAsStored({ type }: Field): boolean {
  return /^(json|time|timestamp)/.test(type.name);
}

/** Parquet has no integers of 128 bits: decimals, as long as they have 38 digits at most. */
function withDecimals(field: Field): Field {
  const children = field.children.map(withDecimals);
  if (!/^u?int128$/.test(field.type.name)) return { ...field, children };
  return { ...field, type: { name: 'decimal', precision: 38, scale: 0 } };
}
