import { LakeError } from '../../errors.ts';
import { fieldOf } from '../columns.ts';
import { type PlannedRead, readParts } from '../read-parts.ts';
import { withTextOfJson } from '../text-of-json.ts';
import type { VectorBatch } from '../vectors.ts';
import { DataMaker, TooLong } from './data.ts';
import type { ArrowLibrary, LibraryData } from './module.ts';
import { arrowSchema } from './schema.ts';

/** What offsets of 32 bits count. */
const maxOffset = 2 ** 31 - 1;

/** A read as Arrow data. */
export interface ArrowRead {
  batches(): AsyncGenerator<unknown>;
  table(): Promise<unknown>;
}

/** `most` is the largest offset that a batch may have: one that needs more becomes several. */
export function arrowRead(module: object, planned: PlannedRead, most: number = maxOffset): ArrowRead {
  const arrow = module as ArrowLibrary;
  for (const name of ['RecordBatch', 'Schema', 'makeData', 'IntervalMonthDayNano'] as const)
    if (typeof arrow?.[name] !== 'function')
      throw new LakeError(
        'INVALID_ARGUMENT',
        `what was handed in as apache-arrow has no ${name}: version 19 or later has`,
      );
  const { columns } = planned.read;
  const fields = columns.map(fieldOf);
  const schema = arrowSchema(arrow, fields);
  const maker = new DataMaker(arrow, most);

  function* recordBatches({ rowCount, columns: vectors }: VectorBatch): Generator<unknown> {
    let children: LibraryData[];
    try {
      children = vectors.map(({ values }, c) => maker.column(schema.fields[c]!, fields[c]!, values));
    } catch (error) {
      if (!(error instanceof TooLong)) throw error;
      if (rowCount === 1)
        throw new LakeError('UNSUPPORTED', 'a row has more text than an Arrow batch can hold', { cause: error });
      const half = rowCount >>> 1;
      yield* recordBatches(slicedRows(vectors, 0, half));
      yield* recordBatches(slicedRows(vectors, half, rowCount));
      return;
    }
    const type = new arrow.Struct(schema.fields);
    yield new arrow.RecordBatch(schema, arrow.makeData({ type, length: rowCount, nullCount: 0, children }));
  }

  async function* batches(): AsyncGenerator<unknown> {
    for await (const batch of readParts({ ...planned, read: { ...planned.read, columns: withTextOfJson(columns) } }))
      yield* recordBatches(batch);
  }

  return {
    batches,
    async table() {
      const made: unknown[] = [];
      for await (const batch of batches()) made.push(batch);
      return new arrow.Table(schema, made);
    },
  };
}

function slicedRows(vectors: VectorBatch['columns'], from: number, to: number): VectorBatch {
  const columns = vectors.map(({ values, decode }) => {
    const list = values as unknown[] & { subarray?: (from: number, to: number) => ArrayLike<unknown> };
    return { values: list.subarray ? list.subarray(from, to) : list.slice(from, to), decode };
  });
  return { rowCount: to - from, columns };
}
