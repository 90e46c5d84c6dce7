/**
 * What is done to a lake, as data: it can be stored, and shrunk by leaving steps out. A statement that DuckDB refuses is
 * passed over, so every part of a history is a history.
 */
export interface History {
  /** Further options of ATTACH when the lake is made: `DATA_INLINING_ROW_LIMIT 10`. */
  readonly attach: string;
  readonly steps: readonly Step[];
}

/** A history that edgemere once read wrong or may easily, as a file of the folder `kept`. */
export interface KeptHistory extends History {
  /** What was wrong. */
  readonly about: string;
  /** Of the comparison's random choices. */
  readonly seed?: number;
}

/**
 * A statement; or the statements of one transaction, the last of them `COMMIT` or `ROLLBACK`. The lake is attached as `lake`;
 * `$DIR` stands for a folder outside of the lake's data path, `$DATA` for the data path, both without a slash at the end.
 * {@link REATTACH} detaches the lake and attaches it again.
 */
export type Step = string | readonly string[];

export const REATTACH = 'REATTACH';
