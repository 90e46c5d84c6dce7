import { checkBackend } from '../errors.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { ArrowRead } from './arrow/batches.ts';
import type { ArrowModule, RecordBatchOf, TableOf } from './arrow/module.ts';
import type { ParquetFile } from './parquet-file.ts';
import type { PlannedRead } from './read-parts.ts';
import type { RowBatch } from './rows.ts';

/** Rows that are read when they are iterated, each time anew, in the form that is asked for. */
export class Rows<Row> implements AsyncIterable<Row> {
  readonly #plan: (signal: AbortSignal | undefined) => Promise<PlannedRead>;
  readonly #signal: AbortSignal | undefined;

  /** @internal `plan` says what to read. */
  constructor(plan: (signal: AbortSignal | undefined) => Promise<PlannedRead>, signal: AbortSignal | undefined) {
    this.#plan = plan;
    this.#signal = signal;
  }

  /** Row by row, one object each. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Row> {
    const { piecesOf } = await import('./rows.ts');
    for await (const rows of piecesOf<Row>(this.#batches(this.#signal))) yield* rows;
  }

  async toArray(): Promise<Row[]> {
    const { rowsOf } = await import('./rows.ts');
    const all: Row[] = [];
    for await (const batch of this.#batches(this.#signal)) for (const row of rowsOf(batch)) all.push(row as Row);
    return all;
  }

  /**
   * A web stream of rows. No faster than they are taken; cancelling it, or the scan's signal, stops the reads.
   *
   * @example
   * ```ts
   * import { t } from 'edgemere';
   * import { memoryLake } from 'edgemere/memory';
   *
   * await using lake = await memoryLake();
   * const events = await lake.createTable('events', { id: t.int32() });
   * await events.insert([{ id: 1 }]);
   * const lines = events.scan().stream().pipeThrough(
   *   new TransformStream<{ id: number | null }, string>({ transform: (row, out) => out.enqueue(`${JSON.stringify(row)}\n`) }),
   * );
   * const response = new Response(lines.pipeThrough(new TextEncoderStream()));
   * console.log((await response.text()).trim()); // {"id":1}
   * ```
   */
  stream(): ReadableStream<Row> {
    return streamFrom(async () => {
      const { rowSource } = await import('./stream.ts');
      return rowSource<Row>((signal) => this.#batches(signal), this.#signal);
    });
  }

  /** As {@link Rows.stream}, batch by batch, as columns. */
  batchStream(): ReadableStream<RowBatch> {
    return streamFrom(async () => {
      const { batchSource } = await import('./stream.ts');
      return batchSource((signal) => this.#batches(signal), this.#signal);
    });
  }

  /** Batch by batch, as columns: the cheaper way when no row objects are needed. */
  batches(): AsyncGenerator<RowBatch> {
    return this.#batches(this.#signal);
  }

  /**
   * Arrow record batches, made with the `apache-arrow` that is handed in. Columns of numbers and times without NULL become buffers as they
   * were read. Types: 128-bit integers are Decimal256, JSON and UUIDs are marked as Arrow's extension types, `timetz` is a time in UTC,
   * times and timestamps keep their units.
   *
   * @example
   * ```ts
   * import * as arrow from 'apache-arrow';
   * import { t } from 'edgemere';
   * import { memoryLake } from 'edgemere/memory';
   *
   * await using lake = await memoryLake();
   * const events = await lake.createTable('events', { id: t.int32(), name: t.varchar() });
   * await events.insert([{ id: 1, name: 'a' }, { id: 2, name: null }]);
   * for await (const batch of events.scan().arrow(arrow)) console.log(batch.numRows, String(batch.schema.fields[1])); // 2 name: Utf8
   * ```
   */
  async *arrow<Arrow extends ArrowModule>(arrow: Arrow): AsyncGenerator<RecordBatchOf<Arrow>> {
    for await (const batch of (await this.#arrow(arrow)).batches()) yield batch as RecordBatchOf<Arrow>;
  }

  /** An Arrow table of all rows: as {@link Rows.arrow}, with the columns also where there are no rows. */
  async arrowTable<Arrow extends ArrowModule>(arrow: Arrow): Promise<TableOf<Arrow>> {
    return (await (await this.#arrow(arrow)).table()) as TableOf<Arrow>;
  }

  /**
   * Writes all rows into one Parquet file at `location` of `store`, which is there as a whole when this resolves, and not at all when it
   * rejects. 128-bit integers become decimals of 38 digits; INVALID_VALUE, naming column and row, for what Parquet can't hold: longer ones,
   * and intervals that are negative or finer than milliseconds.
   *
   * @example
   * ```ts
   * import { t } from 'edgemere';
   * import { memoryLake, memoryStore } from 'edgemere/memory';
   *
   * await using lake = await memoryLake();
   * const events = await lake.createTable('events', { id: t.int32() });
   * await events.insert([{ id: 1 }, { id: 2 }]);
   * const { rowCount } = await events.scan({ where: { id: 2 } }).writeParquet(memoryStore(), 'two.parquet');
   * console.log(rowCount); // 1
   * ```
   */
  async writeParquet(store: ObjectStore, location: string): Promise<ParquetFile> {
    const signal = this.#signal;
    checkBackend('store', 'create', store);
    const { writeParquetFile } = await import('./parquet-file.ts');
    return writeParquetFile(await this.#plan(signal), () => store.create(location, { signal }));
  }

  async #arrow(arrow: ArrowModule): Promise<ArrowRead> {
    const { arrowRead } = await import('./arrow/batches.ts');
    return arrowRead(arrow, await this.#plan(this.#signal));
  }

  async *#batches(signal: AbortSignal | undefined): AsyncGenerator<RowBatch> {
    // Whoever only appends doesn't load this: bundlers put it apart.
    const { readParts, decodedBatch } = await import('./read-parts.ts');
    const planned = await this.#plan(signal);
    for await (const batch of readParts(planned)) yield decodedBatch(planned.read.columns, batch);
  }
}

/** A stream of a source that is loaded when it is needed. Nothing is read before it is asked for. */
function streamFrom<T>(load: () => Promise<UnderlyingDefaultSource<T>>): ReadableStream<T> {
  const source = load();
  return new ReadableStream<T>(
    {
      start: async (controller) => (await source).start?.(controller),
      pull: async (controller) => (await source).pull?.(controller),
      cancel: async (reason) => (await source).cancel?.(reason),
    },
    { highWaterMark: 0 },
  );
}
