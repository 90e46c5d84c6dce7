import type { BoundsOf } from '../../file/format.ts';
import type { ScanColumn } from '../columns.ts';
import { gather, type VectorBatch } from '../vectors.ts';
import { selectRows } from './evaluate.ts';
import { type Expression, fieldsIn } from './expression.ts';
import { matters } from './prune.ts';

/** A scan's filter: which columns it needs beside those that are asked for, which rows are kept. */
export interface ScanFilter {
  /** The scan's own columns, then those that only the filter looks at. */
  readonly columns: readonly ScanColumn[];
  /** For the reader: row groups and pages. */
  readonly matters: (bounds: BoundsOf) => boolean;
  /** The rows for which the filter is true, without the columns that only it looks at. `batch` has those of `columns`. */
  readonly keep: (batch: VectorBatch) => VectorBatch;
}

/** `columns` are those of the scan. */
export function filterOf(expression: Expression, columns: readonly ScanColumn[]): ScanFilter {
  const all = [...columns];
  const places = new Map<number, number>();
  for (const field of fieldsIn(expression)) {
    const found = all.findIndex((column) => column.kind === 'field' && column.field.id === field.id);
    places.set(field.id, found >= 0 ? found : all.push({ kind: 'field', name: field.name, field }) - 1);
  }
  return {
    columns: all,
    matters: (boundsOf) => matters(expression, boundsOf),
    keep({ rowCount, columns: vectors }) {
      const selected = selectRows(expression, (field) => vectors[places.get(field.id)!]!, rowCount);
      const own = vectors.slice(0, columns.length);
      if (selected.length === rowCount) return { rowCount, columns: own };
      return { rowCount: selected.length, columns: own.map((vector) => gather(vector, selected)) };
    },
  };
}
