import type { StagedRows } from '../catalog/pending.ts';
import type { TableInfo } from '../catalog/view.ts';
import type { ColumnBatch } from '../file/format.ts';
import { RefusedWithin } from '../file/parquet/encode/nested-input.ts';
import { explain, missingValue } from '../file/parquet/refuse.ts';
import { uuidv7 } from '../util/uuid.ts';
import { InlinedColumnEncoder, Unfit } from './inlined-values.ts';

/**
 * Rows as the catalog keeps them. `undefined` when a value can't be kept there; the rows then go into a file. INVALID_VALUE for
 * those that the table doesn't take, as for a file.
 */
export function inlineRows(table: TableInfo, batches: readonly ColumnBatch[]): Omit<StagedRows, 'into'> | undefined {
  const encoders = table.fields.map((field) => new InlinedColumnEncoder(field));
  const rows: (string | null)[][] = [];
  let isFit = true;
  for (const batch of batches) {
    const first = rows.length;
    for (let i = 0; i < batch.rowCount; i++) rows.push(new Array<string | null>(encoders.length).fill(null));
    // Column by column, as in a file: of several bad values the same one is told of.
    for (const [c, field] of table.fields.entries()) {
      for (let i = 0; i < batch.rowCount; i++) {
        const value = batch.columns[c]![i];
        const place = { schema: table.schema.name, table: table.name, field, row: batch.firstRow + i };
        try {
          rows[first + i]![c] = encoders[c]!.add(value);
        } catch (error) {
          if (error instanceof Unfit) isFit = false;
          else throw explain(error, place, error instanceof RefusedWithin ? error.value : value);
        }
      }
      if (field.nullable) continue;
      const at = rows
        .slice(first)
        .findIndex((_, i) => batch.columns[c]![i] === null || batch.columns[c]![i] === undefined);
      if (at >= 0)
        throw missingValue(
          { schema: table.schema.name, table: table.name, field, row: batch.firstRow + at },
          batch.columns[c]![at] as null | undefined,
        );
    }
  }
  if (!isFit) return undefined;
  return {
    id: uuidv7(),
    columns: table.fields.map(({ name, type }) => ({ name, type })),
    rows,
    stats: encoders.flatMap((encoder) => encoder.stats()),
  };
}
