import { type CatalogTable, cellsOf } from '../../spec/rows.ts';
import { quoteName, type SqlDialect } from './dialect.ts';

export interface RowsSource {
  /** What rows are read from: the table itself by default. */
  readonly source?: string | undefined;
  /** An expression for the tag: the table's name by default. */
  readonly tag?: string | undefined;
}

/** Rows of a catalog table, called `x`, as two cells: a tag, and their own as JSON. */
export type SelectRows = (table: CatalogTable, where: string, of?: RowsSource) => string;

export function selectRowsOf(dialect: SqlDialect): SelectRows {
  return (table, where, { source = dialect.table(table), tag = `'${table}'` } = {}) => {
    const cells = cellsOf(table).map(([name]) => `x.${quoteName(name)}`);
    return `SELECT ${tag} AS t, ${dialect.jsonArray(cells)} AS j FROM ${source} x WHERE ${where}`;
  };
}

/** Whether row `x` is live at a snapshot, which an expression gives. */
export function live(snapshotId: string): string {
  return `x.begin_snapshot <= ${snapshotId} AND (x.end_snapshot IS NULL OR x.end_snapshot > ${snapshotId})`;
}
