import type { ColumnType } from '../spec/types.ts';

/** A column, or a part of a nested one, of a table at one snapshot. */
export interface Field {
  /** `column_id` in the catalog, `field_id` in Parquet. */
  readonly id: number;
  readonly name: string;
  readonly type: ColumnType;
  readonly nullable: boolean;
  /** Of a list: one, its element. Of a map: two, key and value. Of a struct: its members. Otherwise empty. */
  readonly children: readonly Field[];
  /** DuckDB's text of the value that rows written before the column was added have; `null` for NULL. */
  readonly initialDefault: string | null;
  /** DuckDB's text of the value of a column that an insert leaves out; `null` for NULL. */
  readonly defaultValue: string | null;
  /** `expression` when the default is SQL, which isn't evaluated here. */
  readonly defaultValueType: string | null;
  readonly beginSnapshot: number;
}
