import { LakeError } from '../../errors.ts';
import type { Field } from '../../schema/field.ts';
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
  const schema = arrowSchema(arrow, columns);
  const maker = new DataMaker(arrow, most);
  const fields = columns.map((column) => (column.kind === 'field' ? column.field : virtualFields[column.name]));

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

function virtualField(type: 'int64' | 'varchar'): Field {
  return {
    id: 0,
    name: '',
    type: { name: type },
    nullable: false,
    children: [],
    initialDefault: null,
    defaultValue: null,
    defaultValueType: null,
    beginSnapshot: 0,
  };
}

const [int64, varchar] = [virtualField('int64'), virtualField('varchar')];
const virtualFields = {
  rowid: int64,
  snapshot_id: int64,
  filename: varchar,
  file_row_number: int64,
  file_index: int64,
};
