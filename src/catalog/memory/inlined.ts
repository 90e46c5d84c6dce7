import type { CatalogRow } from '../../spec/rows.ts';
import type { InlinedRow, InlinedRows, TableFiles } from '../table-files.ts';
import { copies, type Tables } from './rows.ts';

/** The inlined rows of a table that `isMeant` picks, with the columns of the schema versions that they are from. */
export function inlinedOf(
  tables: Tables,
  tableId: number,
  isMeant: (row: InlinedRow) => boolean,
): Pick<TableFiles, 'inlined' | 'inlinedFields'> {
  const ofTable = (row: CatalogRow): boolean => row['table_id'] === tableId;
  const registered = copies(tables, 'ducklake_inlined_data_tables', ofTable).sort(
    (a, b) => Number(a.schema_version) - Number(b.schema_version),
  );
  const inlined: InlinedRows[] = registered.flatMap(({ table_name: tableName, schema_version: version }) => {
    const found = tables.inlined.get(tableName!)!;
    const rows = found.rows.filter(isMeant).sort((a, b) => a.rowId - b.rowId || a.beginSnapshot - b.beginSnapshot);
    return rows.length === 0
      ? []
      : [{ tableName: tableName!, schemaVersion: Number(version), columns: found.columns, rows }];
  });
  const versions = copies(tables, 'ducklake_schema_versions', ofTable);
  const inlinedFields = new Map(
    registered.map(({ schema_version: version }) => {
      // The snapshot from which a schema version is, as DuckDB finds it.
      const begin = Math.max(
        ...versions
          .filter((row) => Number(row.schema_version) <= Number(version))
          .map((row) => Number(row.begin_snapshot)),
      );
      const isLive = (row: CatalogRow): boolean =>
        ofTable(row) &&
        Number(row['begin_snapshot']) <= begin &&
        (row['end_snapshot'] === null || Number(row['end_snapshot']) > begin);
      return [Number(version), copies(tables, 'ducklake_column', isLive)];
    }),
  );
  return { inlined, inlinedFields };
}
