import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import fc from 'fast-check';
import { type MemoryCatalog, memoryCatalog, memoryLake } from '../../adapters/memory.ts';
import { isLakeError, type LakeError, t } from '../../src/index.ts';
import { INPUT_FORMS, inForm } from '../support/input-forms.ts';
import { typeCases } from '../support/type-cases.ts';
import { watchedStore } from '../support/watched-store.ts';

setDefaultTimeout(300_000);

const loneSurrogate = fc
  .tuple(fc.string(), fc.constantFrom('\ud800', '\udbff', '\udc00', '\udfff'), fc.stringMatching(/^[a-z]*$/))
  .map(([before, half, after]) => `${before.replaceAll(/[\ud800-\udfff]/g, '')}${half}${after}`);

const things: readonly unknown[] = [
  Symbol('s'),
  () => 0,
  /x/,
  new Map(),
  new Set([1]),
  Object.create(null),
  new Uint16Array(2),
  new ArrayBuffer(2),
  Promise.resolve(1),
];
const thing = fc.constantFrom(...things);
const object = fc.oneof(thing, fc.constant({}), fc.constant([]), fc.constant([1]), fc.constant({ a: 1 }));
const number = fc.oneof(fc.double(), fc.integer());
const text = fc.oneof(fc.string(), fc.constantFrom('', 'NULL', '1', 'true', '2024-01-15'));
const notWhole = fc.oneof(
  fc.double({ noInteger: true }),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0.5, -1e-300),
);
const invalidDate = fc.constantFrom(new Date(Number.NaN), new Date(8.64e15 + 1));
const notBoolean = fc.oneof(number, fc.bigInt(), text, object, invalidDate);

function notInteger(low: bigint, high: bigint): fc.Arbitrary<unknown> {
  const outside = fc.oneof(
    fc.bigInt({ min: high + 1n, max: high + 2n ** 140n }),
    fc.bigInt({ min: low - 2n ** 140n, max: low - 1n }),
  );
  const unsafe = fc.constantFrom(2 ** 53, 1e300, -1e300, -(2 ** 53));
  return fc.oneof(outside, unsafe, notWhole, text, object, fc.boolean(), fc.date());
}

const int = (bits: number): fc.Arbitrary<unknown> => notInteger(-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n);
const uint = (bits: number): fc.Arbitrary<unknown> =>
  fc.oneof(fc.constant(-1), notInteger(0n, 2n ** BigInt(bits) - 1n));
const notDecimal = (tooLong: readonly unknown[]): fc.Arbitrary<unknown> =>
  fc.oneof(
    fc.constantFrom(
      ...tooLong,
      'x',
      '',
      ' 1',
      '1 ',
      '1e',
      '0x10',
      '1_000',
      '1,5',
      '١',
      Number.NaN,
      Number.POSITIVE_INFINITY,
      2 ** 60,
    ),
    object,
    fc.boolean(),
  );
const notTime = fc.oneof(
  fc.constantFrom(
    '',
    '25:00:00',
    '24:00:01',
    '12:60:00',
    '12:00:60',
    '12',
    '12:00:00.1234567',
    '-01:00:00',
    -1n,
    86_400_000_001n,
  ),
  object,
  fc.boolean(),
  number,
);
const notInstant = fc.oneof(
  fc.constantFrom(
    '',
    'now',
    '2024-01-15T25:00:00Z',
    '2024-02-30 00:00:00+00',
    '2024-13-01',
    '15.1.2024',
    '2024-01-15 12:00:00 CET',
  ),
  invalidDate,
  object,
  fc.boolean(),
  number,
);
const beyond = fc.bigInt({ min: 2n ** 63n, max: 2n ** 90n });

/** What is no value of a type. */
const wrong: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  boolean: notBoolean,
  int8: int(8),
  int16: int(16),
  int32: int(32),
  int64: int(64),
  int128: int(128),
  uint8: uint(8),
  uint16: uint(16),
  uint32: uint(32),
  uint64: uint(64),
  uint128: uint(128),
  float32: fc.oneof(fc.constantFrom(3.5e38, -1e39, Number.MAX_VALUE), text, fc.bigInt(), fc.boolean(), object),
  float64: fc.oneof(text, fc.bigInt(), fc.boolean(), object),
  'decimal(4,1)': notDecimal(['1000', '0.15', 1000, 0.15, 1000n, '-1000.0']),
  'decimal(9,9)': notDecimal(['1', '0.0000000001', 1n]),
  'decimal(18,3)': notDecimal(['1000000000000000', '0.0001', 0.0001]),
  'decimal(38,0)': notDecimal([`1${'0'.repeat(38)}`, '0.1', 10n ** 38n]),
  'decimal(38,38)': notDecimal(['1', `0.${'0'.repeat(38)}1`]),
  varchar: fc.oneof(loneSurrogate, number, fc.bigInt(), fc.boolean(), object, fc.date()),
  json: fc.oneof(
    loneSurrogate.map((value) => JSON.stringify({ value }).replaceAll(/\\u(d[89a-f])/g, '\\u$1')),
    loneSurrogate.map((value) => ({ value })),
    fc.constantFrom('', '{', '{"a":}', "{'a':1}", 'undefined', '[1,]', Number.NaN, [Number.POSITIVE_INFINITY], {
      a: Number.NaN,
    }),
    fc.constantFrom(...things.slice(0, 3), new Map(), new Set()),
    fc.constantFrom({ f: () => 0 }, { s: Symbol('s') }),
  ),
  blob: fc.oneof(text, number, fc.bigInt(), fc.boolean(), object),
  uuid: fc.oneof(
    text,
    fc.constantFrom(
      '0f8fad5b-d9cb-469f-a165-70867728950',
      '0f8fad5bd9cb469fa16570867728950e',
      '{0f8fad5b-d9cb-469f-a165-70867728950e}',
    ),
    number,
    object,
    fc.constant(new Uint8Array(16)),
  ),
  date: fc.oneof(
    fc.constantFrom('', '2024-02-30', '2023-02-29', '2024-1-5', '2024-01-15T00:00:00Z', '5881580-07-11', new Date(1)),
    invalidDate,
    object,
    fc.boolean(),
    number,
    fc.bigInt(),
  ),
  time: notTime,
  timetz: fc.oneof(notTime, fc.constantFrom('12:00:00', '12:00:00+16:00', '12:00:00 CET')),
  timestamp: fc.oneof(notInstant, beyond, fc.constantFrom('2024-01-15 12:00:00+01', '2024-01-15 12:00:00.1234567')),
  timestamptz: fc.oneof(notInstant, beyond, fc.constantFrom('2024-01-15 12:00:00', '2024-01-15 12:00:00.1234567Z')),
  timestamp_s: fc.oneof(notInstant, beyond, fc.constantFrom('2024-01-15 12:00:00.5', new Date(1))),
  timestamp_ms: fc.oneof(notInstant, beyond, fc.constantFrom('2024-01-15 12:00:00.0001')),
  timestamp_ns: fc.oneof(notInstant, beyond, fc.constantFrom('2262-04-11 23:47:17', '2024-01-15 12:00:00.0123456789')),
  interval: fc.oneof(
    thing,
    text,
    number,
    fc.constantFrom<unknown>(
      {},
      { months: 1 },
      { months: 1, days: 1 },
      { months: 0.5, days: 0, micros: 0n },
      { months: 2 ** 31, days: 0, micros: 0n },
      { months: 0, days: 0, micros: 2n ** 63n },
      { months: 0, days: 0, micros: 0n, years: 1 },
    ),
  ),
};

/** What an insert throws, which must leave nothing behind. */
async function refusal(
  catalog: MemoryCatalog,
  left: () => Promise<string[]>,
  run: () => Promise<unknown>,
): Promise<LakeError> {
  const before = JSON.stringify(catalog.dump());
  const error = await run().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isLakeError(error)) throw new Error(`it threw ${error}`, { cause: error });
  expect(await left()).toEqual([]);
  expect(JSON.stringify(catalog.dump())).toBe(before);
  return error;
}

describe('a wrong value', () => {
  test('there are some of every type', () => {
    expect(Object.keys(wrong).sort()).toEqual(typeCases.map(({ name }) => name).sort());
  });

  test.each(typeCases.map((type) => [type.name, type] as const))(
    'of %s is refused with table, column, row and value, before anything is written',
    async (name, type) => {
      const catalog = memoryCatalog();
      const { store, created, left } = watchedStore();
      await using lake = await memoryLake({ catalog, store });
      await lake.createSchema('sales');
      const table = await lake.createTable(
        { schema: 'sales', name: 'Orders' },
        { id: t.int64(), 'the value': type.column },
      );
      const good = type.values.map(({ given }) => given);
      await fc.assert(
        fc.asyncProperty(
          wrong[name]!,
          fc.nat({ max: 40 }),
          fc.nat({ max: 5 }),
          fc.constantFrom(...INPUT_FORMS),
          async (bad, at, after, form) => {
            const rows = Array.from({ length: at + 1 + after }, (_, i) => ({
              id: i,
              'the value': i === at ? bad : good[i % good.length],
            }));
            const error = await refusal(catalog, left, () => table.insert(inForm(form, rows)));
            expect(error.code).toBe('INVALID_VALUE');
            expect(error.retryable).toBe(false);
            expect(error.context).toMatchObject({ schema: 'sales', table: 'Orders', column: 'the value', row: at });
            expect(typeof error.context.value).toBe('string');
            for (const part of ['Orders', 'the value', String(at), error.context.value!])
              expect(error.message).toContain(part);
            expect(error.message.isWellFormed()).toBe(true);
          },
        ),
        { numRuns: 40 },
      );
      expect(created).toEqual([]);
    },
  );

  test('also far into the rows, when files have been begun: they are removed', async () => {
    const catalog = memoryCatalog();
    const { store, created, left } = watchedStore();
    await using lake = await memoryLake({ catalog, store });
    const table = await lake.createTable('t', { id: t.int32(), s: t.varchar() });
    const rowCount = 400_000;
    const rows = function* (): Generator<{ id: number; s: string }> {
      for (let id = 0; id < rowCount; id++) yield { id, s: id === rowCount - 1 ? '\ud800' : `${id}` };
    };
    const error = await refusal(catalog, left, () => table.insert(rows()));
    expect(error).toMatchObject({ code: 'INVALID_VALUE', context: { column: 's', row: rowCount - 1 } });
    expect(created.length).toBe(1);
  });

  test('in a typed array of another kind than the column', async () => {
    const catalog = memoryCatalog();
    const { store, created, left } = watchedStore();
    await using lake = await memoryLake({ catalog, store });
    const table = lake.table('t');
    await lake.createTable('t', {
      i8: t.int8(),
      i64: t.int64(),
      u32: t.uint32(),
      f32: t.float32(),
      b: t.boolean(),
      s: t.varchar(),
      at: t.timestamp(),
      d: t.decimal(3, 1),
    });
    const cases: readonly (readonly [string, ArrayLike<unknown>, number])[] = [
      ['i8', Int16Array.of(1, 127, 128), 2],
      ['i8', Float64Array.of(1, 1.5), 1],
      ['i8', BigInt64Array.of(-128n, -129n), 1],
      ['i64', BigUint64Array.of(1n, 2n ** 63n), 1],
      ['i64', Float64Array.of(1, 2 ** 53), 1],
      ['u32', Int32Array.of(0, -1), 1],
      ['u32', Float64Array.of(Number.NaN), 0],
      ['f32', Float64Array.of(1.5, 1e39), 1],
      ['f32', BigInt64Array.of(1n), 0],
      ['b', Uint8Array.of(1), 0],
      ['s', Uint8Array.of(97), 0],
      ['at', Float64Array.of(0), 0],
      ['d', Float64Array.of(99.9, 0.25), 1],
    ];
    for (const [column, values, row] of cases) {
      const error = await refusal(catalog, left, () => table.insert({ columns: { [column]: values } }));
      expect([column, error.code, error.context.column, error.context.row]).toEqual([
        column,
        'INVALID_VALUE',
        column,
        row,
      ]);
    }
    expect(created).toEqual([]);
  });
});

describe('rows that do not fit the table', () => {
  const setUp = async () => {
    const catalog = memoryCatalog();
    const watched = watchedStore();
    const lake = await memoryLake({ catalog, store: watched.store, dataInliningRowLimit: 0 });
    const table = lake.table('t');
    await lake.createTable('t', {
      id: t.int32().notNull(),
      Name: t.varchar(),
      at: t.date().notNull().default('2024-01-15'),
    });
    return { catalog, lake, table, ...watched };
  };

  test('a column that is not there', async () => {
    const { catalog, table, created, left } = await setUp();
    await fc.assert(
      fc.asyncProperty(
        fc.string().filter((name) => !['id', 'Name', 'at'].includes(name)),
        fc.nat({ max: 20 }),
        fc.constantFrom(...INPUT_FORMS),
        async (name, at, form) => {
          const rows = Array.from({ length: at + 2 }, (_, id) =>
            // As a key of its own, also when the name is `__proto__`.
            Object.fromEntries([['id', id], ...(id === at || form === 'columns' ? [[name, 1]] : [])]),
          );
          const error = await refusal(catalog, left, () => table.insert(inForm(form, rows)));
          expect(error).toMatchObject({ code: 'INVALID_VALUE', context: { schema: 'main', table: 't', column: name } });
          if (form !== 'columns') expect(error.context.row).toBe(at);
          expect(error.message).toContain('"t"');
        },
      ),
      {
        numRuns: 100,
        examples: [
          ['__proto__', 1, 'rows'],
          ['constructor', 0, 'stream'],
          ['NAME', 2, 'columns'],
        ],
      },
    );
    expect(created).toEqual([]);
  });

  test('NULL, or nothing, where NULL is not allowed', async () => {
    const { catalog, table, created, left } = await setUp();
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<Record<string, unknown>>({ id: null }, { id: undefined }, {}, { Name: 'x' }),
        fc.nat({ max: 3000 }),
        fc.constantFrom(...INPUT_FORMS.filter((form) => form !== 'columns')),
        async (bad, at, form) => {
          const rows = Array.from({ length: at + 2 }, (_, id) => (id === at ? bad : { id }));
          const error = await refusal(catalog, left, () => table.insert(inForm(form, rows)));
          expect(error).toMatchObject({ code: 'INVALID_VALUE', context: { table: 't', column: 'id', row: at } });
        },
      ),
      { numRuns: 40 },
    );
    for (const columns of [{ id: [1, null] }, { Name: ['a', 'b'] }, { id: [1, undefined], Name: ['a', 'b'] }]) {
      const error = await refusal(catalog, left, () => table.insert({ columns }));
      expect(error).toMatchObject({ code: 'INVALID_VALUE', context: { column: 'id', row: 'id' in columns ? 1 : 0 } });
    }
    // A default stands for what is left out, not for an explicit NULL.
    const error = await refusal(catalog, left, () => table.insert([{ id: 1 }, { id: 2, at: null }]));
    expect(error).toMatchObject({ code: 'INVALID_VALUE', context: { column: 'at', row: 1, value: 'null' } });
    expect(created).toEqual([]);
  });

  test('rows that are no objects', async () => {
    const { catalog, table, created, left } = await setUp();
    for (const row of [null, undefined, 1, 'id', true, [1], 1n, Symbol('row'), () => ({ id: 1 })])
      for (const form of INPUT_FORMS.filter((form) => form !== 'columns')) {
        const error = await refusal(catalog, left, () => table.insert(inForm(form, [{ id: 0 }, row as never])));
        expect(error).toMatchObject({ code: 'INVALID_VALUE', context: { schema: 'main', table: 't', row: 1 } });
      }
    expect(created).toEqual([]);
  });

  test('input that is no rows', async () => {
    const { catalog, table, created, left } = await setUp();
    const inputs: readonly unknown[] = [
      ...[null, undefined, 1, 'rows', true, {}, { id: [1] }, Promise.resolve([{ id: 1 }]), () => []],
      ...[
        { columns: null },
        { columns: 'id' },
        { columns: [{ id: 1 }] },
        { columns: { id: 1 } },
        { columns: { id: null } },
      ],
      ...[{ columns: { id: undefined } }, { columns: { id: 'ab' } }, { columns: { id: new Set([1]) } }],
      ...[
        { columns: { id: { length: -1 } } },
        { columns: { id: [1, 2], Name: ['a'] } },
        { columns: { id: new DataView(new ArrayBuffer(4)) } },
      ],
    ];
    for (const input of inputs) {
      const error = await refusal(catalog, left, () => table.insert(input as never));
      expect([input, error.code, error.context.table]).toEqual([input, 'INVALID_ARGUMENT', 't']);
    }
    expect(created).toEqual([]);
  });

  test('a source that fails: its own error, and nothing left', async () => {
    const { catalog, table, left } = await setUp();
    const before = JSON.stringify(catalog.dump());
    const mine = new Error('the source broke');
    const sources: readonly (() => unknown)[] = [
      function* () {
        for (let id = 0; id < 3000; id++) yield { id };
        throw mine;
      },
      async function* () {
        yield { id: 1 };
        throw mine;
      },
      () => new ReadableStream({ pull: (controller) => controller.error(mine) }),
      () => [
        { id: 1 },
        {
          get id() {
            throw mine;
          },
        },
      ],
    ];
    for (const source of sources) await expect(table.insert(source() as never)).rejects.toBe(mine);
    expect(await left()).toEqual([]);
    expect(JSON.stringify(catalog.dump())).toBe(before);
  });

  test('in a transaction: nothing of it happens', async () => {
    const { catalog, lake, created, left } = await setUp();
    const error = await refusal(catalog, left, () =>
      lake.transaction(async (tx) => {
        const other = await tx.createTable('other', { s: t.varchar() });
        await other.insert([{ s: 'fine' }]);
        await tx.table('t').insert([{ id: 1 }, { id: 2 ** 31 }]);
      }),
    );
    expect(error).toMatchObject({
      code: 'INVALID_VALUE',
      context: { table: 't', column: 'id', row: 1, value: '2147483648' },
    });
    expect(created.length).toBe(1);
  });
});
