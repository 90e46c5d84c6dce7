/**
 * What TypeScript infers of rows. Nothing here runs: `tsc` fails when an inference changes, or when a line that must not
 * compile does.
 */
import * as arrow from 'apache-arrow';
import type { Table } from '../../src/index.ts';
import {
  type ChangeType,
  type InsertRow,
  type IntervalParts,
  type JsonValue,
  type Lake,
  type Row,
  type RowBatch,
  type Timestamp,
  t,
} from '../../src/index.ts';

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : { readonly got: A; readonly wanted: B };

/** Compiles only when the type argument is `true`. */
function same<_Check extends true>(): void {}

const every = {
  boolean: t.boolean().notNull(),
  int8: t.int8().notNull(),
  int32: t.int32().notNull(),
  int64: t.int64().notNull(),
  uint32: t.uint32().notNull(),
  uint64: t.uint64().notNull(),
  int128: t.int128().notNull(),
  uint128: t.uint128().notNull(),
  float32: t.float32().notNull(),
  float64: t.float64().notNull(),
  decimal: t.decimal(12, 2).notNull(),
  varchar: t.varchar().notNull(),
  json: t.json().notNull(),
  blob: t.blob().notNull(),
  uuid: t.uuid().notNull(),
  date: t.date().notNull(),
  time: t.time().notNull(),
  timetz: t.timetz().notNull(),
  timestamp: t.timestamp().notNull(),
  timestamptz: t.timestamptz().notNull(),
  timestampNs: t.timestampNs().notNull(),
  interval: t.interval().notNull(),
};

same<
  Equal<
    Row<typeof every>,
    {
      boolean: boolean;
      int8: number;
      int32: number;
      int64: bigint;
      uint32: number;
      uint64: bigint;
      int128: bigint;
      uint128: bigint;
      float32: number;
      float64: number;
      decimal: string;
      varchar: string;
      json: JsonValue;
      blob: Uint8Array;
      uuid: string;
      date: Date;
      time: string;
      timetz: string;
      timestamp: Timestamp;
      timestamptz: Timestamp;
      timestampNs: Timestamp;
      interval: IntervalParts;
    }
  >
>();

const events = {
  id: t.int64().notNull(),
  kind: t.varchar(),
  price: t.decimal(12, 2).default('0.00'),
  state: t.varchar().notNull().default('new'),
};

same<Equal<Row<typeof events>, { id: bigint; kind: string | null; price: string | null; state: string }>>();
same<
  Equal<
    InsertRow<typeof events>,
    {
      readonly id: number | bigint;
      readonly kind?: string | null | undefined;
      readonly price?: string | number | bigint | null | undefined;
      readonly state?: string | undefined;
    }
  >
>();

export async function insertsAndScans(lake: Lake): Promise<void> {
  const table = await lake.createTable('events', events);
  same<Equal<typeof table, Table<InsertRow<typeof events>, Row<typeof events>>>>();

  await table.insert([{ id: 1 }, { id: 2n, kind: null, price: 3, state: 'old' }]);
  await table.insert(new Set([{ id: 1 }]));
  await table.insert(rows());
  await table.insert(new ReadableStream<{ id: number }>());
  await table.insert({ columns: { id: [1, 2], price: new Float64Array(2) } });
  // @ts-expect-error a NOT NULL column without a default has to be there
  await table.insert([{ kind: 'view' }]);
  // @ts-expect-error NOT NULL
  await table.insert([{ id: null }]);
  // @ts-expect-error NOT NULL, although it has a default
  await table.insert([{ id: 1, state: null }]);
  // @ts-expect-error a value of another type
  await table.insert([{ id: '1' }]);
  // @ts-expect-error an unknown column
  await table.insert([{ id: 1, other: 1 }]);
  // @ts-expect-error one row is not rows
  await table.insert({ id: 1 });

  for await (const { snapshot_id, rowid, change_type, id, kind } of table.changes({ from: 1, to: new Date() })) {
    same<Equal<[typeof snapshot_id, typeof rowid, typeof change_type], [bigint, bigint, ChangeType]>>();
    same<Equal<[typeof id, typeof kind], [bigint, string | null]>>();
  }
  for await (const row of table.changes({ from: 1n, columns: ['id'], where: { kind: 'a' }, types: ['insert'] }))
    same<Equal<keyof typeof row, 'snapshot_id' | 'rowid' | 'change_type' | 'id'>>();
  // @ts-expect-error: a feed begins somewhere
  table.changes({});
  // @ts-expect-error: no such column
  table.changes({ from: 1, columns: ['other'] });
  for await (const row of table.scan()) same<Equal<typeof row, Row<typeof events>>>();
  for await (const row of table.scan({ columns: ['id', 'kind'] }))
    same<Equal<{ [K in keyof typeof row]: (typeof row)[K] }, { id: bigint; kind: string | null }>>();
  // @ts-expect-error a column that the table doesn't have
  table.scan({ columns: ['id', 'other'] });
  same<Equal<ReturnType<typeof rowStream>, ReadableStream<Pick<Row<typeof events>, 'id'>>>>();
  // What a row has beside the table's columns has to be asked for.
  for await (const row of table.scan({ columns: ['id', 'rowid', 'snapshot_id', 'filename'] }))
    same<Equal<typeof row, { id: bigint; rowid: bigint; snapshot_id: bigint; filename: string }>>();
  const named = await lake.createTable('named', { rowid: t.varchar().notNull() });
  for await (const row of named.scan({ columns: ['rowid', 'file_index'] }))
    same<Equal<typeof row, { rowid: string; file_index: bigint }>>();
  await lake.transaction(async (tx) => {
    for await (const row of tx.table<object, { id: bigint }>('events').scan({ columns: ['id', 'snapshot_id'] }))
      same<Equal<typeof row, { id: bigint; snapshot_id: bigint | null }>>();
  });
  const rowStream = () => table.scan({ columns: ['id'] }).stream();
  same<Equal<ReturnType<typeof batchStream>, ReadableStream<RowBatch>>>();
  const batchStream = () => table.scan().batchStream();
  for await (const batch of table.scan().arrow(arrow)) same<Equal<typeof batch, arrow.RecordBatch<arrow.TypeMap>>>();
  same<Equal<Awaited<ReturnType<typeof arrowTable>>, arrow.Table<arrow.TypeMap>>>();
  const arrowTable = () => table.scan().arrowTable(arrow);
  await table.insert(table.scan().arrow(arrow));
  await table.insert(await arrowTable());
  // @ts-expect-error another module
  await table.scan().arrowTable({ Table: Map });
  const all = await table.scan({ limit: 1 }).toArray();
  same<Equal<typeof all, Row<typeof events>[]>>();

  // A handle by name knows nothing of the columns, unless it is told.
  const loose = lake.table('events');
  await loose.insert([{ anything: 1 }]);
  // An interface has no index signature.
  interface Event {
    readonly id: number;
  }
  const ofInterface: Event[] = [{ id: 1 }];
  await loose.insert(ofInterface);
  await loose.writer().append(ofInterface);
  // @ts-expect-error rows are objects
  await loose.insert([1]);
  for await (const row of loose.scan()) same<Equal<typeof row, Record<string, unknown>>>();
  const told = lake.table<{ id: number }, { id: bigint }>({ schema: 'main', name: 'events' });
  await told.insert([{ id: 1 }]);
  for await (const row of told.scan()) same<Equal<typeof row.id, bigint>>();
}

async function* rows(): AsyncGenerator<{ id: number; kind: string }> {
  yield { id: 1, kind: 'view' };
}

export async function transactions(lake: Lake): Promise<void> {
  const { snapshotId, value } = await lake.transaction(async (tx) => {
    const table = await tx.createTable('events', events);
    // @ts-expect-error a value of another type, in a transaction too
    await table.insert([{ id: 1, kind: 7 }]);
    const { rowCount } = await table.insert([{ id: 1 }]);
    return { rowCount };
  });
  same<Equal<typeof snapshotId, number | undefined>>();
  same<Equal<typeof value, { rowCount: number }>>();
}

// @ts-expect-error a default is a value of the column
t.varchar().default(1);
// @ts-expect-error decimals have a precision and a scale
t.decimal();
// @ts-expect-error a string of JSON is JSON's text, but undefined is no JSON at all
const notJson: JsonValue = undefined;
void notJson;

// In whichever order they are said, a default makes a column that refuses NULL one that may be left out.
const defaults = {
  a: t.int32().default(1).notNull(),
  b: t.int32().notNull().default(1),
};
same<
  Equal<
    InsertRow<typeof defaults>,
    { readonly a?: number | bigint | undefined; readonly b?: number | bigint | undefined }
  >
>();

/** A handle as a table's name keeps the types of its rows. */
export async function handles(lake: Lake): Promise<void> {
  const made = await lake.createTable('events', { id: t.int64().notNull(), kind: t.varchar() });
  const again = lake.table(made);
  same<Equal<typeof again, typeof made>>();
  await lake.transaction(async (tx) => {
    const mine = tx.table(made);
    await mine.insert([{ id: 1n, kind: 'click' }]);
    // @ts-expect-error: there is no such column
    await mine.insert([{ id: 1n, other: 1 }]);
    for (const row of await mine.scan({ columns: ['id'] }).toArray()) same<Equal<typeof row, { id: bigint }>>();
  });
  const named = lake.table<{ id: number }, { id: bigint }>('events');
  same<Equal<typeof named, Table<{ id: number }, { id: bigint }>>>();
  const untyped = lake.table({ schema: 'main', name: 'events' });
  same<Equal<typeof untyped, Table>>();
  await made.scan({ asOf: { snapshot: 2n } }).toArray();
}
