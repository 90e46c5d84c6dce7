import type { AsOf } from '../catalog/store.ts';
import type { CatalogView, TableInfo } from '../catalog/view.ts';
import { LakeError } from '../errors.ts';
import type { Session } from '../session.ts';
import { type ScanColumn, scanColumns } from './columns.ts';
import type { TableRead } from './data-file.ts';
import { type RowBatch, rowsOf } from './rows.ts';
import { streamOf } from './stream.ts';
import { decoded, firstRows } from './vectors.ts';
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
    const { where, limit, asOf, signal } = this.#options;
    signal?.throwIfAborted();
    if (limit !== undefined && (!Number.isSafeInteger(limit) || limit < 0))
      throw new LakeError('INVALID_ARGUMENT', `limit is ${limit}; it must be a whole number from 0`);
    const view = asOf === undefined ? await this.#session.refresh() : await this.#session.viewAt(asOf);
    const table = this.#find(view);
    const columns = scanColumns(table, this.#options.columns);
    // Whoever only appends doesn't load these: bundlers put them apart.
    const filter =
      where === undefined ? undefined : (await import('./where/filter.ts')).filterOf(where, table, columns);
    if (limit === 0) return;
    const snapshotId = view.snapshot.id;
    const files = await this.#session.catalog.readFiles({
      snapshotId,
      tableId: table.id,
      stats: filter?.stats ?? 'none',
      within: filter?.within,
    });
    signal?.throwIfAborted();
    const read: TableRead = {
      session: this.#session,
      table,
      snapshotId,
      columns: filter?.columns ?? columns,
      files: filter ? { ...files, files: files.files.filter(filter.fileMatters) } : files,
      signal,
      matters: filter?.matters,
    };
    let rest = limit ?? Number.POSITIVE_INFINITY;
    const { batchesOf } = await import('./batches.ts');
    for await (const found of batchesOf(read, filter ? Number.POSITIVE_INFINITY : rest)) {
      const batch = filter ? filter.keep(found) : found;
      if (batch.rowCount === 0) continue;
      const rowCount = Math.min(batch.rowCount, rest);
      rest -= rowCount;
      const values = batch.columns.map((vector) =>
        decoded(rowCount < batch.rowCount ? firstRows(vector, rowCount) : vector),
      );
      yield { rowCount, columns: namedColumns(columns, values) };
      if (rest === 0) return;
    }
  }
}

/** A record that also holds columns with names such as `__proto__` as keys of its own. */
function namedColumns(columns: readonly ScanColumn[], values: readonly ArrayLike<unknown>[]): RowBatch['columns'] {
  return Object.fromEntries(columns.map(({ name }, c) => [name, values[c]!]));
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
