import type { AsOf } from '../catalog/store.ts';
import type { CatalogView, TableInfo } from '../catalog/view.ts';
import type { Session } from '../session.ts';
import { type RowBatch, rowsOf } from './rows.ts';
import { streamOf } from './stream.ts';
import type { Where } from './where/where.ts';

export type { RowBatch } from './rows.ts';

export interface ScanOptions<Name extends string = string, Row = Record<string, unknown>> {
  /** Which columns, in the order in which batches hold them. All by default. */
  readonly columns?: readonly Name[] | undefined;
  /** Which rows; all by default. See {@link Where}. */
  readonly where?: Where<Row> | undefined;
  /** The most rows that are wanted, of those that `where` keeps. */
  readonly limit?: number | undefined;
  /** The version to read: a snapshot's id or a time. The head by default. */
  readonly asOf?: AsOf | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Filters are looked at when the scan runs, whatever their type was. */
type AnyOptions = Omit<ScanOptions, 'where'> & { readonly where?: unknown };

/** A read of one table that runs when it is iterated, each time anew. */
export class Scan<Row> implements AsyncIterable<Row> {
  readonly #session: Session;
  readonly #find: (view: CatalogView) => TableInfo;
  readonly #options: AnyOptions;

  /** @internal */
  constructor(session: Session, find: (view: CatalogView) => TableInfo, options: AnyOptions) {
    this.#session = session;
    this.#find = find;
    this.#options = options;
  }

  /** Row by row, one object each. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Row> {
    for await (const rows of piecesOf<Row>(this.batches())) yield* rows;
  }

  async toArray(): Promise<Row[]> {
    const all: Row[] = [];
    for await (const batch of this.batches()) for (const row of rowsOf(batch)) all.push(row as Row);
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
    return streamOf((signal) => piecesOf<Row>(this.#with(signal).batches()), this.#options.signal);
  }

  /** As {@link Scan.stream}, batch by batch, as columns. */
  batchStream(): ReadableStream<RowBatch> {
    return streamOf((signal) => singly(this.#with(signal).batches()), this.#options.signal);
  }

  #with(signal: AbortSignal): Scan<Row> {
    return new Scan(this.#session, this.#find, { ...this.#options, signal });
  }

  /** Batch by batch, as columns: the cheaper way when no row objects are needed. */
  async *batches(): AsyncGenerator<RowBatch> {
    const { store, format } = this.#session;
    // Whoever only appends doesn't load these: bundlers put them apart.
    const [{ planScan }, { readParts }] = await Promise.all([import('./plan.ts'), import('./read-parts.ts')]);
    const { read, parts } = await planScan({ ...this.#options, session: this.#session, find: this.#find });
    yield* readParts(read, parts, { store, format, signal: this.#options.signal });
  }
}

/** Rows of a piece: objects are made as they are asked for, since a batch may be a row group of millions. */
const pieceRowCount = 1024;

async function* piecesOf<Row>(batches: AsyncIterable<RowBatch>): AsyncGenerator<Row[]> {
  for await (const batch of batches)
    for (let from = 0; from < batch.rowCount; from += pieceRowCount)
      yield rowsOf(batch, from, Math.min(batch.rowCount, from + pieceRowCount)) as Row[];
}

async function* singly<T>(items: AsyncIterable<T>): AsyncGenerator<[T]> {
  for await (const item of items) yield [item];
}
