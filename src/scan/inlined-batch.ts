import type { InlinedRows } from '../catalog/table-files.ts';
import type { ColumnVector } from '../file/format.ts';
import type { TableRead } from './data-file.ts';
import { inlinedColumns } from './inlined.ts';
import { constant, type VectorBatch } from './vectors.ts';

/** The rows of one table of inlined rows, which comes after all data files. */
export function inlinedBatch(read: TableRead, inlined: InlinedRows, index: number): VectorBatch {
  const { rows } = inlined;
  const fields = read.columns.flatMap((column) => (column.kind === 'field' ? [column.field] : []));
  const vectors = inlinedColumns(read.table, read.files, inlined, fields).values();
  const columns = read.columns.map((column): ColumnVector => {
    if (column.kind === 'field') return vectors.next().value!;
    switch (column.name) {
      case 'rowid':
        return { values: BigInt64Array.from(rows, ({ rowId }) => BigInt(rowId)), decode: undefined };
      case 'snapshot_id':
        return { values: BigInt64Array.from(rows, ({ beginSnapshot }) => BigInt(beginSnapshot)), decode: undefined };
      case 'filename':
        return constant(inlined.tableName, rows.length);
      case 'file_row_number':
        return { values: BigInt64Array.from(rows, (_, row) => BigInt(row)), decode: undefined };
      default:
        return constant(BigInt(index), rows.length);
    }
  });
  return { rowCount: rows.length, columns };
}
