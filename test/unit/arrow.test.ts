import { describe, expect, test } from 'bun:test';
import {
  Binary,
  DateDay,
  DateMillisecond,
  Decimal,
  Field,
  Float32,
  Int8,
  List,
  Map_,
  makeData,
  type RecordBatch,
  Struct,
  Table,
  TimeMillisecond,
  TimestampMicrosecond,
  TimestampNanosecond,
  TimestampSecond,
  tableFromArrays,
  Uint16,
  Utf8,
  Vector,
  vectorFromArray,
} from 'apache-arrow';
import { memoryLake } from '../../adapters/memory.ts';
import { isLakeError, type RowsInput, type TableSchema, t } from '../../src/index.ts';

/** What a lake gives back of an Arrow input. */
async function through(input: unknown, schema: TableSchema): Promise<Record<string, unknown>[]> {
  await using lake = await memoryLake();
  const table = await lake.createTable('t', schema);
  await table.insert(input as RowsInput<never>);
  return await table.scan().toArray();
}

const words = new Uint32Array(4);

describe('tables', () => {
  const table = tableFromArrays({
    a: Int32Array.of(1, 2, 3),
    b: ['x', null, 'é'],
    c: [1n, null, -3n],
    d: [true, false, null],
    e: [new Date(0), null, new Date(5)],
  });
  const schema = {
    a: t.int64(),
    b: t.varchar(),
    c: t.int64(),
    d: t.boolean(),
    e: t.timestamptz(),
    f: t.int8().default(7),
  };
  const rows = [
    { a: 1n, b: 'x', c: 1n, d: true, e: 0, f: 7 },
    { a: 2n, b: null, c: null, d: false, e: null, f: 7 },
    { a: 3n, b: 'é', c: -3n, d: null, e: 5, f: 7 },
  ];
  const flat = (found: Record<string, unknown>[]): unknown[] =>
    found.map((row) => ({ ...row, e: row['e'] === null ? null : (row['e'] as Date).getTime() }));

  test('whole, in slices, as record batches and as a stream of them', async () => {
    expect(flat(await through(table, schema))).toEqual(rows);
    for (const [from, to] of [
      [1, 3],
      [0, 1],
      [2, 3],
      [1, 2],
    ] as const)
      expect(flat(await through(table.slice(from, to), schema))).toEqual(rows.slice(from, to));
    expect(flat(await through(table.batches[0], schema))).toEqual(rows);
    const batches = async function* (): AsyncGenerator<RecordBatch> {
      yield* table.batches;
      yield* table.slice(1, 3).batches;
    };
    expect(flat(await through(batches(), schema))).toEqual([...rows, ...rows.slice(1)]);
  });

  test('with more rows than a batch holds', async () => {
    const n = 20_001;
    const long = tableFromArrays({
      i: Int32Array.from({ length: n }, (_, i) => i),
      s: Array.from({ length: n }, (_, i) => `s${i}`),
    });
    const found = await through(long, { i: t.int32(), s: t.varchar() });
    expect(found.length).toBe(n);
    expect(found.every(({ i, s }, at) => i === at && s === `s${at}`)).toBe(true);
  });

  test('a column that the table has not is refused', async () => {
    const error = await through(new Table({ zz: vectorFromArray([1]) }), schema).catch((reason) => reason);
    expect(isLakeError(error, 'INVALID_VALUE')).toBe(true);
    expect(error.context).toMatchObject({ table: 't', column: 'zz' });
  });
});

describe('types', () => {
  const cases: [name: string, input: Table, schema: TableSchema, expected: unknown[]][] = [
    [
      'small integers',
      new Table({ x: vectorFromArray([-128, null, 127], new Int8()) }),
      { x: t.int8() },
      [-128, null, 127],
    ],
    ['unsigned integers', new Table({ x: vectorFromArray([0, 65535], new Uint16()) }), { x: t.uint16() }, [0, 65535]],
    [
      'floats',
      new Table({ x: vectorFromArray([1.5, null, Number.NaN], new Float32()) }),
      { x: t.float32() },
      [1.5, null, Number.NaN],
    ],
    [
      'text that is not ASCII',
      new Table({ x: vectorFromArray(['a', '', 'ééé', '🦆'], new Utf8()) }),
      { x: t.varchar() },
      ['a', '', 'ééé', '🦆'],
    ],
    [
      'decimals, negative ones too',
      new Table({
        x: vectorFromArray([words.with(0, 150), null, words.map(() => 0xffffffff)], new Decimal(2, 10, 128)),
      }),
      { x: t.decimal(12, 4) },
      ['1.5000', null, '-0.0100'],
    ],
    [
      'bytes',
      new Table({ x: vectorFromArray([Uint8Array.of(1, 2), null, new Uint8Array()], new Binary()) }),
      { x: t.blob() },
      [Uint8Array.of(1, 2), null, new Uint8Array()],
    ],
    [
      'times',
      new Table({ x: vectorFromArray([0, 86_399_999], new TimeMillisecond()) }),
      { x: t.time() },
      ['00:00:00', '23:59:59.999'],
    ],
    [
      'lists, structs and maps',
      new Table({
        x: vectorFromArray(
          [[{ a: 1, m: new Map([['k', 2]]) }], null, []],
          new List(
            new Field(
              'item',
              new Struct([
                new Field('a', new Int8(), true),
                new Field(
                  'm',
                  new Map_(
                    new Field(
                      'entries',
                      new Struct<{ key: Utf8; value: Int8 }>([
                        new Field('key', new Utf8()),
                        new Field('value', new Int8(), true),
                      ]),
                    ),
                  ),
                  true,
                ),
              ]),
              true,
            ),
          ),
        ),
      }),
      { x: t.list(t.struct({ a: t.int8(), m: t.map(t.varchar(), t.int8()) })) },
      [[{ a: 1, m: new Map([['k', 2]]) }], null, []],
    ],
  ];
  for (const [name, input, schema, expected] of cases)
    test(name, async () => {
      expect((await through(input, schema)).map(({ x }) => x)).toEqual(expected);
    });

  test('instants in their units, exactly or not at all', async () => {
    const micros = (found: Record<string, unknown>[]): unknown[] =>
      found.map(({ x }) => (x === null ? null : (x as { micros: bigint }).micros));
    const dates = [new Date(-1000), null, new Date(2000)];
    for (const type of [new TimestampSecond(), new TimestampMicrosecond(), new TimestampNanosecond()])
      for (const column of [t.timestampS(), t.timestampMs(), t.timestamp(), t.timestamptz(), t.timestampNs()])
        expect(micros(await through(new Table({ x: vectorFromArray(dates, type) }), { x: column }))).toEqual([
          -1_000_000n,
          null,
          2_000_000n,
        ]);
    const fine = new Table({ x: vectorFromArray([new Date(1)], new TimestampMicrosecond()) });
    const error = await through(fine, { x: t.timestampS() }).catch((reason) => reason);
    expect(isLakeError(error, 'INVALID_VALUE')).toBe(true);
    expect(error.message).toContain('"x"');
  });

  test('dates of both units', async () => {
    for (const type of [new DateDay(), new DateMillisecond()]) {
      const found = await through(
        new Table({ x: vectorFromArray([new Date(-86_400_000), new Date(86_400_000)], type) }),
        {
          x: t.date(),
        },
      );
      expect(found.map(({ x }) => (x as Date).getTime())).toEqual([-86_400_000, 86_400_000]);
    }
  });
});

test('maps with a key twice are refused, not shortened', async () => {
  const entry = new Struct<{ key: Utf8; value: Int8 }>([
    new Field('key', new Utf8()),
    new Field('value', new Int8(), true),
  ]);
  const entries = vectorFromArray(
    ['a', 'b', 'b'].map((key, value) => ({ key, value })),
    entry,
  );
  const maps = new Vector([
    makeData({
      type: new Map_(new Field('entries', entry)),
      valueOffsets: Int32Array.of(0, 1, 3),
      child: entries.data[0]!,
    }),
  ]);
  const error = await through(new Table({ m: maps }), { m: t.map(t.varchar(), t.int8()) }).catch((reason) => reason);
  expect(isLakeError(error, 'INVALID_VALUE')).toBe(true);
  expect(error.context).toMatchObject({ column: 'm', row: 1 });
});

test('a row may have columns that an Arrow batch has as properties', async () => {
  const schema = {
    schema: t.varchar(),
    numRows: t.int32(),
    data: t.varchar(),
    batches: t.varchar(),
    columns: t.varchar(),
  };
  const row = { schema: 's', numRows: 1, data: 'd', batches: 'b', columns: 'c' };
  expect(await through([row], schema)).toEqual([row]);
  expect(await through(new Set([row]), schema)).toEqual([row]);
});
