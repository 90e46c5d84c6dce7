import type { ColumnVector } from '../file/format.ts';
import type { PartRead } from './data-file.ts';
import { inlinedColumns } from './inlined.ts';
import type { InlinedPart } from './parts.ts';
import { rowIdOf } from './row-ids.ts';
import { constant, type VectorBatch } from './vectors.ts';

/** The rows of one table of inlined rows, which comes after all data files. */
export function inlinedBatch(read: PartRead, part: InlinedPart): VectorBatch {
  const { rows } = part;
  const fields = read.columns.flatMap((column) => (column.kind === 'field' ? [column.field] : []));
  const vectors = inlinedColumns(read.table, part, fields).values();
  const columns = read.columns.map((column): ColumnVector => {
    if (column.kind === 'field') return vectors.next().value!;
    switch (column.name) {
      case 'rowid':
        return { values: BigInt64Array.from(rows, ({ rowId }) => rowIdOf(rowId, 0)), decode: undefined };
      case 'snapshot_id':
        return {
          values: rows.map(({ beginSnapshot }) => (beginSnapshot < 0 ? null : BigInt(beginSnapshot))),
          decode: undefined,
        };
      case 'filename':
        return constant(part.tableName, rows.length);
      case 'file_row_number':
        // DuckDB's for rows that are no file's: the row id, once it is there.
        return {
          values: BigInt64Array.from(rows, ({ rowId }, row) => BigInt(rowId < 0 ? row : rowId)),
          decode: undefined,
        };
      default:
        return constant(BigInt(part.fileIndex), rows.length);
    }
  });
  return { rowCount: rows.length, columns };
}
