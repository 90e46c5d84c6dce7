import { LakeError } from '../../errors.ts';
import type { CatalogTable, CellType } from '../../spec/rows.ts';
import type { RangeEnd } from '../bounds.ts';

/**
 * What differs between SQL databases in reading a catalog and in making its tables. How a commit is written differs too much to
 * be a matter of spelling: that is the adapter's own.
 */
export interface SqlDialect {
  /** A catalog table's name in SQL, quoted and qualified by the schema that the lake is in. */
  table(name: string): string;
  /** The type of a column. */
  type(type: CellType): string;
  /** An expression for a JSON array of these expressions, as text. */
  jsonArray(expressions: readonly string[]): string;
  /** The n-th bound parameter (from 1), which is text, as a value of this type. They appear once each, in order. */
  parameter(n: number, type: CellType): string;
  /** Text as a constant. It holds neither NUL characters nor lone surrogates. */
  textLiteral(text: string): string;
  /** An expression that orders instants, of a column and of a constant. */
  instant(column: string): string;
  instantLiteral(time: Date): string;
  /** An aggregate: a JSON array of a group's values, as text. */
  jsonGroup(expression: string): string;
  /** An expression: a JSON array, as text, of the `[name, type]` of a catalog table's columns; NULL when it isn't there. */
  columnsOf(tableName: string): string;
  /** An expression for a value inlined in a column of this type, as text: see `cellDecoder` for what. */
  inlinedCell(column: string, type: string): string;
  /**
   * A condition: whether a bound, which is text that may be anything, is certainly below or above an end of a range. False or NULL
   * where that takes a comparison that is not exact.
   */
  isBeyond(bound: string, operator: '<' | '>', end: RangeEnd): string;
  /**
   * A source, with the columns of a table, of some thousands of its rows: those that were added last, as far as the database can tell
   * without reading it whole.
   */
  newestRows(table: CatalogTable): string;
  /** A condition: whether the catalog has a table of this name. */
  tableExists(name: string): string;
}

/**
 * Runs statements that read. Results are text, whatever the driver makes of 64-bit integers, booleans, instants, column
 * names: the statements see to that.
 */
export interface SqlExecutor {
  /**
   * One statement in one round trip, and one consistent view of the database. Rows are arrays of text. Rejects with
   * {@link MissingTables} when a table or column isn't there, otherwise with a `LakeError`.
   */
  query(text: string, parameters?: readonly string[]): Promise<readonly (readonly string[])[]>;
}

/** A statement named a table or a column that the database doesn't have: there is no lake, or one of another version. */
export class MissingTables extends Error {
  override readonly name: string = 'MissingTables';
}

/** A name in SQL, as standard SQL quotes it. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** An integer in SQL text. Everything else is bound. */
export function integer(value: number): string {
  if (!Number.isSafeInteger(value)) throw new LakeError('INVALID_ARGUMENT', `${value} is no id: ids are safe integers`);
  return String(value);
}
