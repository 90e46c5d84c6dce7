import type { ColumnRange, LiveFile } from '../../catalog/table-files.ts';
import type { TableInfo } from '../../catalog/view.ts';
import type { BoundsOf } from '../../file/format.ts';
import type { ScanColumn } from '../columns.ts';
import { gather, type VectorBatch } from '../vectors.ts';
import { selectRows } from './evaluate.ts';
import { fieldsOf } from './expression.ts';
import { boundsOfStats } from './file-bounds.ts';
import { parseWhere } from './parse.ts';
import { matters } from './prune.ts';
import { rangesOf } from './ranges.ts';

/** A scan's filter: which columns it needs beside those that are asked for, what needs no reading, which rows are kept. */
export interface ScanFilter {
  /** The scan's own columns, then those that only the filter looks at. */
  readonly columns: readonly ScanColumn[];
  /** For the catalog. */
  readonly within: readonly ColumnRange[];
  /** Columns whose statistics decide which files matter. */
  readonly stats: readonly number[];
  readonly fileMatters: (file: LiveFile) => boolean;
  /** For the reader: row groups and pages. */
  readonly matters: (bounds: BoundsOf) => boolean;
  /** The rows for which the filter is true, without the columns that only it looks at. `batch` has those of `columns`. */
  readonly keep: (batch: VectorBatch) => VectorBatch;
}

/** `columns` are those of the scan. Errors as of `parseWhere`. */
export function filterOf(where: unknown, table: TableInfo, columns: readonly ScanColumn[]): ScanFilter {
  const expression = parseWhere(where, { schema: table.schema.name, table: table.name, fields: table.fields });
  const fields = fieldsOf(expression);
  const all = [...columns];
  const places = new Map<number, number>();
  for (const field of fields) {
    const found = all.findIndex((column) => column.kind === 'field' && column.field.id === field.id);
    places.set(field.id, found >= 0 ? found : all.push({ kind: 'field', name: field.name, field }) - 1);
  }
  return {
    columns: all,
    // Types that nothing widens to: bounds of all others may be text of another type, which sorts differently.
    within: rangesOf(expression, ({ type }) => type.name === 'uuid'),
    stats: fields.map(({ id }) => id),
    fileMatters: (file) => matters(expression, boundsOfStats(file)),
    matters: (boundsOf) => matters(expression, boundsOf),
    keep({ rowCount, columns: vectors }) {
      const selected = selectRows(expression, (field) => vectors[places.get(field.id)!]!, rowCount);
      const own = vectors.slice(0, columns.length);
      if (selected.length === rowCount) return { rowCount, columns: own };
      return { rowCount: selected.length, columns: own.map((vector) => gather(vector, selected)) };
    },
  };
}
