import { LakeError, showValue } from '../errors.ts';
import type { ColumnBatch, ColumnValues } from '../file/format.ts';
import { type ArrowBatch, type ArrowTable, isArrowBatch, isArrowTable } from './arrow-batch.ts';
import { blockRowCount, computedDefault, fillDefaults, Gatherer, type TargetTable, unknownColumn } from './gather.ts';

/** Columns of equal length by name: arrays or typed arrays. Columns left out get their default. */
export interface ColumnsInput {
  readonly columns: Readonly<Record<string, ColumnValues>>;
}

/**
 * What `table.insert` takes: row objects in any container that can be walked once, columns, or an Arrow table or record
 * batches (of apache-arrow, by structure).
 */
export type RowsInput<Row> =
  | readonly Row[]
  | ColumnsInput
  | Iterable<Row>
  | AsyncIterable<Row | ArrowBatch>
  | ReadableStream<Row | ArrowBatch>
  | ArrowTable
  | ArrowBatch;

/**
 * Rows of an iterable that are held at once. They are young: with more of them alive, V8 lets its young generation grow to
 * several times their size, which is then most of an insert's memory.
 */
const streamBlockRowCount = 128;

/** Rows of columns that a batch holds: a slice costs little, so it may be large. */
const columnBatchRowCount = 8192;

/** The input as batches of columns in the order of the target's fields. Never holds more than a block of rows. */
export function batchesOf(
  input: RowsInput<unknown>,
  target: TargetTable,
): Iterable<ColumnBatch> | AsyncIterable<ColumnBatch> {
  if (Array.isArray(input)) return fromArray(input, target);
  if (typeof input === 'object' && input !== null) {
    // Before iterables: an Arrow table iterates over its rows, one object each.
    if (isArrowTable(input)) return fromArrow(input.batches, target);
    if (isArrowBatch(input)) return fromArrow([input], target);
    if (Symbol.asyncIterator in input) return fromAsync(input as AsyncIterable<unknown>, target);
    if (Symbol.iterator in input) return fromIterable(input as Iterable<unknown>, target);
    // Safari's ReadableStream can't be iterated.
    if ('getReader' in input) return fromAsync(readStream(input as unknown as ReadableStream<unknown>), target);
    if ('columns' in input && isRecord(input.columns)) return fromColumns(input.columns, target);
  }
  const { schema, table } = target;
  throw new LakeError(
    'INVALID_ARGUMENT',
    `insert into "${table}" takes an array or iterable of row objects, a stream of them, or { columns }; got ${showValue(input)}`,
    { context: { schema, table, value: showValue(input) } },
  );
}

function* fromArray(rows: readonly unknown[], target: TargetTable): Generator<ColumnBatch> {
  const gatherer = new Gatherer(target);
  for (let start = 0; start < rows.length; start += blockRowCount)
    yield gatherer.gather(rows, start, Math.min(rows.length, start + blockRowCount), 0);
}

async function* fromIterable(rows: Iterable<unknown>, target: TargetTable): AsyncGenerator<ColumnBatch> {
  const blocks = new Blocks(target);
  for (const row of rows) {
    if (blocks.isOpenFor(row)) blocks.add(row);
    else yield* blocks.take(row);
  }
  yield* blocks.rest();
}

async function* fromAsync(rows: AsyncIterable<unknown>, target: TargetTable): AsyncGenerator<ColumnBatch> {
  const blocks = new Blocks(target);
  for await (const row of rows) {
    if (blocks.isOpenFor(row)) blocks.add(row);
    else yield* blocks.take(row);
  }
  yield* blocks.rest();
}

/** Collects what an iterable yields, rows or Arrow batches, into blocks. */
class Blocks {
  readonly #target: TargetTable;
  readonly #gatherer: Gatherer;
  readonly #rows: unknown[] = [];
  #firstRow = 0;

  constructor(target: TargetTable) {
    this.#target = target;
    this.#gatherer = new Gatherer(target);
  }

  /** Whether a row completes no block: it can be added without a generator, which would cost more than the row. */
  isOpenFor(row: unknown): boolean {
    return this.#rows.length < streamBlockRowCount - 1 && !isArrowBatch(row);
  }

  add(row: unknown): void {
    this.#rows.push(row);
  }

  async *take(item: unknown): AsyncGenerator<ColumnBatch> {
    if (isArrowBatch(item)) {
      yield* this.rest();
      yield* fromArrow([item], this.#target, this.#firstRow);
      this.#firstRow += item.numRows;
      return;
    }
    this.#rows.push(item);
    if (this.#rows.length === streamBlockRowCount) yield* this.rest();
  }

  *rest(): Generator<ColumnBatch> {
    const rowCount = this.#rows.length;
    if (rowCount === 0) return;
    yield this.#gatherer.gather(this.#rows, 0, rowCount, this.#firstRow);
    this.#firstRow += rowCount;
    this.#rows.length = 0;
  }
}

async function* readStream(stream: ReadableStream<unknown>): AsyncGenerator<unknown> {
  const reader = stream.getReader();
  let isDone = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      yield value;
    }
    isDone = true;
  } finally {
    if (!isDone) await reader.cancel().catch(() => {});
    reader.releaseLock();
  }
}

async function* fromArrow(batches: readonly ArrowBatch[], target: TargetTable, start = 0): AsyncGenerator<ColumnBatch> {
  // Who has no Arrow doesn't load it: bundlers put it apart.
  const { arrowValues } = await import('./arrow.ts');
  let firstRow = start;
  for (const batch of batches) {
    const names = batch.schema.fields.map((field) => field.name);
    for (const name of names)
      if (!target.columns.some(({ field }) => field.name === name))
        throw unknownColumn(target, name, undefined, 'an Arrow column');
    for (let from = 0; from < batch.numRows; from += columnBatchRowCount) {
      const to = Math.min(batch.numRows, from + columnBatchRowCount);
      const columns = target.columns.map(({ field }, c) => {
        const data = batch.data.children[names.indexOf(field.name)];
        return data ? arrowValues(data, from, to, field) : absentColumn(target, c, to - from, firstRow + from);
      });
      yield { rowCount: to - from, firstRow: firstRow + from, columns };
    }
    firstRow += batch.numRows;
  }
}

function* fromColumns(columns: ColumnsInput['columns'], target: TargetTable): Generator<ColumnBatch> {
  const { schema, table } = target;
  const names = Object.keys(columns);
  const known = new Set(target.columns.map(({ field }) => field.name));
  for (const name of names) {
    if (!known.has(name)) throw unknownColumn(target, name, undefined, columns[name]);
    if (!isArrayLike(columns[name]))
      throw new LakeError(
        'INVALID_ARGUMENT',
        `column "${name}" for table "${table}" is ${showValue(columns[name])}; expected an array or typed array of its values`,
        { context: { schema, table, column: name, value: showValue(columns[name]) } },
      );
  }
  const rowCount = names.length === 0 ? 0 : columns[names[0]!]!.length;
  for (const name of names)
    if (columns[name]!.length !== rowCount)
      throw new LakeError(
        'INVALID_ARGUMENT',
        `columns for table "${table}" differ in length: "${names[0]}" has ${rowCount} values, "${name}" ${columns[name]!.length}`,
        { context: { schema, table, column: name } },
      );
  const sources = target.columns.map(({ field }) =>
    Object.hasOwn(columns, field.name) ? columns[field.name] : undefined,
  );
  for (let start = 0; start < rowCount; start += columnBatchRowCount) {
    const end = Math.min(rowCount, start + columnBatchRowCount);
    yield {
      rowCount: end - start,
      firstRow: start,
      columns: sources.map((source, c) => sliceColumn(target, c, source, start, end)),
    };
  }
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Not a string, which is a value, and not a Map or Set, which have a size. */
function isArrayLike(value: unknown): value is ArrayLike<unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const { length } = value as { readonly length?: unknown };
  return Number.isSafeInteger(length) && (length as number) >= 0;
}

function sliceColumn(
  target: TargetTable,
  column: number,
  source: ColumnValues | undefined,
  start: number,
  end: number,
): ColumnValues {
  if (source === undefined) return absentColumn(target, column, end - start, start);
  if (ArrayBuffer.isView(source) && 'subarray' in source) return (source as Uint8Array).subarray(start, end);
  const cells: unknown[] = Array.prototype.slice.call(source, start, end);
  fillDefaults(target, column, cells, end - start, start);
  return cells;
}

function absentColumn(target: TargetTable, column: number, rowCount: number, firstRow: number): ColumnValues {
  const { field, isComputed, defaultValue } = target.columns[column]!;
  if (isComputed) throw computedDefault(target, field, firstRow);
  return new Array(rowCount).fill(defaultValue);
}
