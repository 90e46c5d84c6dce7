/** A query of porsager's `postgres`, sent when it is awaited. */
export interface PostgresQuery extends PromiseLike<unknown> {
  /** Rows as arrays, whatever the client makes of column names. */
  values(): PromiseLike<unknown>;
}

/** What is used of porsager's `sql`: any client with this shape will do. */
export interface PostgresClient {
  unsafe(text: string, parameters?: string[], options?: { readonly prepare?: boolean }): PostgresQuery;
  end(): Promise<void>;
  readonly options?: { readonly prepare?: boolean };
}
