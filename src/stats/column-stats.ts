/** What the catalog stores of one column (a leaf, when nested) of one file. */
export interface ColumnStats {
  readonly fieldId: number;
  /** Bytes of the column's chunks as stored. */
  readonly byteLength: number;
  /** Values that are not NULL. */
  readonly valueCount: number;
  readonly nullCount: number;
  /** DuckDB's text; `undefined` when there was no value or the bounds can't be written. */
  readonly min: string | undefined;
  readonly max: string | undefined;
  /** `undefined` where the type has no NaN. */
  readonly containsNan: boolean | undefined;
}

/** How bounds of a column compare as text: as numbers, by UTF-8 bytes, or as dates and times that may lie BC or after 9999. */
export type BoundsOrder = 'number' | 'bytes' | 'temporal';

/** What an append adds to one row of `ducklake_table_column_stats`. */
export interface ColumnStatsDelta {
  readonly columnId: number;
  readonly containsNull: boolean;
  /** `null` where the type has no NaN. */
  readonly containsNan: boolean | null;
  /**
   * `'none'`: there was no value, the bounds stay. `'unknown'`: there were values without known bounds, which makes the
   * table's unknown for good. Otherwise the bounds to widen to.
   */
  readonly bounds: 'none' | 'unknown' | { readonly min: string; readonly max: string };
  readonly order: BoundsOrder;
}
