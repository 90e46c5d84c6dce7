import type { ReadContext } from './bytes.ts';
import type { Inference, InferredColumn } from './infer.ts';

/** A column of the table that is filled. */
export interface TargetColumn {
  readonly name: string;
  /** DuckLake's type. */
  readonly type: string;
  /** Of a list its element, of a map key and value, of a struct its members. */
  readonly children?: readonly TargetColumn[] | undefined;
}

/** Rows, as the library's insert takes them. */
export type InputRow = Record<string, unknown>;

/** Reads one file of one format. */
export interface InputReader {
  /** The rows, in blocks. Their values fit `columns`, or an InputError says where one doesn't. */
  rows(columns: readonly TargetColumn[], context: ReadContext): AsyncIterable<readonly InputRow[]>;
  /** Where a row came from, for errors that turn up later; `row` counts from 0 within the file. */
  place(row: number): string;
  /** Looks at every record, for a table that is to be made. Returns how many there were. */
  observe(inference: Inference, context: ReadContext): Promise<number>;
  /** The columns that the file itself declares; `undefined` for text, whose types are inferred. */
  declared(context: ReadContext): Promise<readonly InferredColumn[] | undefined>;
}
