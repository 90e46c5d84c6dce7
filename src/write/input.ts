import { LakeError, showValue } from '../errors.ts';
import type { ColumnBatch, ColumnValues } from '../file/format.ts';
import { blockRowCount, computedDefault, fillDefaults, Gatherer, type TargetTable, unknownColumn } from './gather.ts';

/** Columns of equal length by name: arrays or typed arrays. Columns left out get their default. */
export interface ColumnsInput {
  readonly columns: Readonly<Record<string, ColumnValues>>;
}

/** What `table.insert` takes: row objects in any container that can be walked once, or columns. */
export type RowsInput<Row> = readonly Row[] | ColumnsInput | Iterable<Row> | AsyncIterable<Row> | ReadableStream<Row>;

/** Rows of columns that a batch holds: a slice costs little, so it may be large. */
const columnBatchRowCount = 8192;

/** The input as batches of columns in the order of the target's fields. Never holds more than a block of rows. */
export function batchesOf(
  input: RowsInput<unknown>,
  target: TargetTable,
): Iterable<ColumnBatch> | AsyncIterable<ColumnBatch> {
  if (Array.isArray(input)) return fromArray(input, target);
  if (typeof input === 'object' && input !== null) {
    if (Symbol.asyncIterator in input) return fromAsync(input as AsyncIterable<unknown>, target);
    if (Symbol.iterator in input) return fromAsync(input as Iterable<unknown>, target);
    // Safari's ReadableStream can't be iterated.
    if ('getReader' in input) return fromAsync(readStream(input), target);
    if ('columns' in input && typeof input.columns === 'object' && input.columns !== null)
      return fromColumns(input.columns, target);
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

async function* fromAsync(
  rows: Iterable<unknown> | AsyncIterable<unknown>,
  target: TargetTable,
): AsyncGenerator<ColumnBatch> {
  const gatherer = new Gatherer(target);
  let block: unknown[] = [];
  let firstRow = 0;
  for await (const row of rows) {
    block.push(row);
    if (block.length < blockRowCount) continue;
    yield gatherer.gather(block, 0, block.length, firstRow);
    firstRow += block.length;
    block = [];
  }
  if (block.length > 0) yield gatherer.gather(block, 0, block.length, firstRow);
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

function* fromColumns(columns: ColumnsInput['columns'], target: TargetTable): Generator<ColumnBatch> {
  const { schema, table } = target;
  const names = Object.keys(columns);
  const known = new Set(target.columns.map(({ field }) => field.name));
  for (const name of names) if (!known.has(name)) throw unknownColumn(target, name, undefined, columns[name]);
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

function sliceColumn(
  target: TargetTable,
  column: number,
  source: ColumnValues | undefined,
  start: number,
  end: number,
): ColumnValues {
  const { field, isComputed } = target.columns[column]!;
  if (source === undefined) {
    if (isComputed) throw computedDefault(target, field, start);
    return new Array(end - start).fill(target.columns[column]!.defaultValue);
  }
  if (ArrayBuffer.isView(source) && 'subarray' in source) return (source as Uint8Array).subarray(start, end);
  const cells: unknown[] = Array.prototype.slice.call(source, start, end);
  fillDefaults(target, column, cells, end - start, start);
  return cells;
}
