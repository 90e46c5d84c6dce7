import type { ChangesRequest } from './changes/request.ts';
import type { RowBatch } from './rows.ts';

export type { ChangeRow, ChangesBound, ChangesOptions, ChangeType } from './changes/request.ts';

/**
 * A read of a table's changes that runs when it is iterated, each time anew: snapshot by snapshot; in each, first what was deleted,
 * then what was inserted, both in the order of the files and of the rows in them, inlined rows last.
 */
export class Changes<Row> implements AsyncIterable<Row> {
  readonly #request: ChangesRequest;

  /** @internal */
  constructor(request: ChangesRequest) {
    this.#request = request;
  }

  /** Change by change, one object each. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Row> {
    const { rowsOf } = await import('./rows.ts');
    for await (const batch of this.batches()) for (const row of rowsOf(batch)) yield row as Row;
  }

  async toArray(): Promise<Row[]> {
    const all: Row[] = [];
    for await (const row of this) all.push(row);
    return all;
  }

  /** Batch by batch, as columns: `snapshot_id`, `rowid`, `change_type`, then the table's. */
  async *batches(): AsyncGenerator<RowBatch> {
    const { changeBatches } = await import('./changes/feed.ts');
    yield* changeBatches(this.#request);
  }
}
