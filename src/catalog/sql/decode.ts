import { LakeError } from '../../errors.ts';
import { type CatalogRow, type CatalogTable, type Cell, type CellSpec, cellsOf, type RowOf } from '../../spec/rows.ts';
import { instantMicros, instantText } from '../instant.ts';
import type { Snapshot } from '../store.ts';

/** Decodes rows that a statement gave as JSON arrays of all the table's columns, in their order. */
export function decodeRows<Table extends CatalogTable>(table: Table, json: readonly string[]): RowOf<Table>[] {
  const cells = cellsOf(table);
  // One parse of everything is several times faster than one for each row.
  const rows = JSON.parse(`[${json.join(',')}]`) as unknown[][];
  return rows.map((values) => {
    const row: Record<string, Cell> = {};
    for (let i = 0; i < cells.length; i++) {
      const [name, { type }] = cells[i]!;
      row[name] = decodeCell(values[i], type, table, name);
    }
    return row as CatalogRow as RowOf<Table>;
  });
}

function decodeCell(value: unknown, type: CellSpec['type'], table: CatalogTable, column: string): Cell {
  if (value === null) return null;
  switch (type) {
    case 'bigint':
      // An integer beyond the exact ones was rounded to one that is not safe either.
      if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
      break;
    case 'boolean':
      if (typeof value === 'boolean') return value;
      if (value === 0 || value === 1) return value === 1;
      break;
    case 'timestamptz':
      if (typeof value === 'string') return instantText(instantMicros(value));
      break;
    case 'uuid':
      if (typeof value === 'string') return value.toLowerCase();
      break;
    case 'varchar':
      if (typeof value === 'string') return value;
  }
  throw new LakeError(
    'CORRUPT',
    `${table}.${column} holds ${JSON.stringify(value)}, which is no ${type} of this version`,
  );
}

/** Throws CORRUPT when the row lacks what every snapshot has. */
export function snapshotOf(row: RowOf<'ducklake_snapshot'>): Snapshot {
  const { snapshot_id: id, snapshot_time: time, schema_version, next_catalog_id, next_file_id } = row;
  if (time === null || schema_version === null || next_catalog_id === null || next_file_id === null)
    throw new LakeError('CORRUPT', `snapshot ${id} lacks its time or its counters`, { context: { snapshotId: id } });
  return { id, time, schemaVersion: schema_version, nextCatalogId: next_catalog_id, nextFileId: next_file_id };
}
