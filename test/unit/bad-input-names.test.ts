import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { memoryCatalog, memoryLake, memoryStore } from '../../adapters/memory.ts';
import { sqliteCatalog } from '../../adapters/sqlite.ts';
import { type ErrorCode, isLakeError, openLake, readTask, t } from '../../src/index.ts';
import { watchedStore } from '../support/watched-store.ts';

async function setUp() {
  const catalog = memoryCatalog();
  const watched = watchedStore();
  const lake = await memoryLake({ catalog, store: watched.store });
  await lake.createSchema('Sales');
  await lake.createTable('Events', { id: t.int32() });
  const before = JSON.stringify(catalog.dump());
  /** The error's code and context; the lake is as it was. */
  const refused = async (
    run: () => Promise<unknown>,
  ): Promise<{ code: ErrorCode; context: object; message: string }> => {
    const error = await run().then(
      (value) => `nothing, but returned ${value}`,
      (thrown: unknown) => thrown,
    );
    if (!isLakeError(error)) throw new Error(`it threw ${error}`, { cause: error });
    expect(JSON.stringify(catalog.dump())).toBe(before);
    expect(watched.created).toEqual([]);
    expect(error.message.isWellFormed()).toBe(true);
    return error;
  };
  return { catalog, lake, refused, ...watched };
}

const plain = fc.string({ maxLength: 10 });
const badName = fc.oneof(
  fc.constant(''),
  fc.tuple(plain, plain).map(([a, b]) => `${a}\0${b}`),
  fc.tuple(plain, fc.constantFrom('\ud800', '\udfff')).map(([a, half]) => `${a}${half}x`),
  fc.mixedCase(fc.constantFrom('_ducklake_', '_ducklake_x', '_DUCKLAKE_internal')),
  fc.constantFrom<unknown>(undefined, null, 1, {}, [], Symbol('name'), true) as fc.Arbitrary<string>,
);

describe('names', () => {
  test('that no lake can hold are refused', async () => {
    const { lake, refused } = await setUp();
    await fc.assert(
      fc.asyncProperty(badName, async (name) => {
        const code = 'INVALID_ARGUMENT';
        expect(await refused(() => lake.createSchema(name))).toMatchObject({ code });
        expect(await refused(() => lake.createTable({ schema: 'main', name }, { id: t.int32() }))).toMatchObject({
          code,
        });
        if (typeof name === 'string')
          expect(
            await refused(() =>
              lake.createTable(
                't',
                Object.fromEntries([
                  ['id', t.int32()],
                  [name, t.int32()],
                ]),
              ),
            ),
          ).toMatchObject({ code, context: { column: name } });
      }),
    );
  });

  test('that differ in the case of ASCII letters only are the same', async () => {
    const { lake, refused } = await setUp();
    for (const name of ['Sales', 'sales', 'SALES', 'Main'])
      expect(await refused(() => lake.createSchema(name))).toMatchObject({ code: 'ALREADY_EXISTS' });
    for (const name of ['Events', 'events', 'EVENTS'])
      expect(await refused(() => lake.createTable(name, { id: t.int32() }))).toMatchObject({ code: 'ALREADY_EXISTS' });
    expect(await refused(() => lake.createTable('t', { id: t.int32(), ID: t.int32() }))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      context: { table: 't', column: 'ID' },
    });
    expect(await refused(() => lake.createTable('t', { kelvin: t.int32(), KELVIN: t.int32() }))).toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
    // Other letters have no case: the Kelvin sign is no k.
    await lake.createTable('t', { ä: t.int32(), Ä: t.int32(), k: t.int32(), '\u212a': t.int32() });
    await lake.createTable('EventS'.replace('S', '\u017f'), { id: t.int32() });
    expect((await lake.tables()).map(({ name }) => name)).toEqual(['Events', 't', 'Event\u017f']);
  });

  test('of what is not there', async () => {
    const { lake, refused } = await setUp();
    const runs: readonly (readonly [() => Promise<unknown>, ErrorCode, object])[] = [
      [() => lake.dropSchema('nope'), 'NOT_FOUND', { schema: 'nope' }],
      [() => lake.dropTable('nope'), 'NOT_FOUND', { schema: 'main', table: 'nope' }],
      [() => lake.dropTable({ schema: 'nope', name: 'Events' }), 'NOT_FOUND', { schema: 'nope', table: 'Events' }],
      [() => lake.createTable({ schema: 'nope', name: 't' }, { id: t.int32() }), 'NOT_FOUND', { schema: 'nope' }],
      [() => lake.table('nope').insert([{ id: 1 }]), 'NOT_FOUND', { schema: 'main', table: 'nope' }],
      [() => lake.table('nope').insert([]), 'NOT_FOUND', { table: 'nope' }],
      [() => lake.table('__proto__').insert([]), 'NOT_FOUND', { table: '__proto__' }],
      [() => lake.table('nope').scan().toArray(), 'NOT_FOUND', { table: 'nope' }],
      [() => lake.table('nope').describe(), 'NOT_FOUND', { table: 'nope' }],
      [() => lake.table('nope').files(), 'NOT_FOUND', { table: 'nope' }],
      [() => lake.table('nope').stats(), 'NOT_FOUND', { table: 'nope' }],
      [
        () =>
          lake
            .table('Events')
            .scan({ columns: ['nope'] })
            .toArray(),
        'NOT_FOUND',
        { table: 'Events', column: 'nope' },
      ],
      [
        () =>
          lake
            .table('Events')
            .scan({ columns: ['__proto__'] })
            .toArray(),
        'NOT_FOUND',
        { column: '__proto__' },
      ],
      [() => lake.transaction((tx) => tx.insert('nope', [])), 'NOT_FOUND', { table: 'nope' }],
      [() => lake.dropSchema('main'), 'INVALID_ARGUMENT', { schema: 'main' }],
    ];
    for (const [run, code, context] of runs) expect(await refused(run)).toMatchObject({ code, context });
  });

  test('any other name is taken, and kept as it is', async () => {
    const { lake } = await setUp();
    const names = fc.sample(
      fc
        .string({ unit: 'binary', minLength: 1, maxLength: 40 })
        .filter((name) => name.isWellFormed() && !name.includes('\0')),
      60,
    );
    const unique = [...new Map(names.map((name) => [name.toLowerCase(), name])).values()];
    for (const name of [...unique, '__proto__', 'toString', 'constructor', 'x'.repeat(200)]) {
      const ref = { schema: name, name };
      await lake.createSchema(name);
      const table = await lake.createTable(ref, Object.fromEntries([[name, t.int32()]]));
      await table.insert([Object.fromEntries([[name, 1]])]);
      const [row] = await lake.table(ref).scan().toArray();
      expect(Object.entries(row!)).toEqual([[name, 1]]);
      expect((await table.describe()).columns.map((column) => column.name)).toEqual([name]);
      await lake.dropSchema(name, { cascade: true });
    }
  });
});

describe('definitions', () => {
  test('of columns that can not be', async () => {
    const { lake, refused } = await setUp();
    for (const columns of [
      {},
      { a: undefined },
      { a: null },
      { a: 'int32' },
      { a: {} },
      { a: t.int32 },
      null,
      undefined,
      'id int',
    ])
      expect([columns, await refused(() => lake.createTable('t', columns as never))]).toMatchObject([
        columns,
        { code: 'INVALID_ARGUMENT' },
      ]);
    for (const [precision, scale] of [
      [0, 0],
      [39, 0],
      [5, 6],
      [5, -1],
      [5.5, 1],
      [5, 0.5],
      [Number.NaN, 0],
    ] as const)
      expect(await refused(async () => lake.createTable('t', { d: t.decimal(precision, scale) }))).toMatchObject({
        code: 'INVALID_ARGUMENT',
      });
  });

  test('of defaults that are no values of their type', async () => {
    const { lake, refused } = await setUp();
    const columns = {
      a: t.int8().default(128),
      b: t.varchar().default('\ud800'),
      c: t.varchar().default('a\0b'),
      d: t.varchar().default('NULL'),
      e: t.decimal(3, 1).default('0.25'),
      f: t.date().default('2024-02-30'),
      g: t.boolean().default('true' as never),
      h: t.json().default('{'),
      i: t.uuid().default('x'),
    };
    for (const [name, column] of Object.entries(columns))
      expect(await refused(() => lake.createTable('t', { [name]: column }))).toMatchObject({
        code: 'INVALID_ARGUMENT',
        context: { table: 't', column: name },
      });
  });
});

describe('options', () => {
  test('of a commit that the catalog can not hold', async () => {
    const { lake, refused } = await setUp();
    for (const text of ['a\0b', '\ud800', 1 as never, {} as never])
      for (const key of ['author', 'message', 'extraInfo'])
        for (const run of [
          () => lake.table('Events').insert([{ id: 1 }], { [key]: text }),
          () => lake.createSchema('s', { [key]: text }),
          () => lake.transaction((tx) => tx.insert('Events', [{ id: 1 }]), { [key]: text }),
        ])
          expect(await refused(run)).toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('of a scan that make no sense', async () => {
    const { lake, refused } = await setUp();
    const events = lake.table('Events');
    for (const limit of [-1, 1.5, Number.NaN, '1', 2n])
      expect(await refused(() => events.scan({ limit: limit as never }).toArray())).toMatchObject({
        code: 'INVALID_ARGUMENT',
      });
    for (const asOf of [
      { snapshot: 1.5 },
      { snapshot: Number.NaN },
      { snapshot: '1' },
      { time: new Date(Number.NaN) },
      { time: 0 },
      {},
      1,
    ])
      expect([asOf, await refused(() => events.scan({ asOf: asOf as never }).toArray())]).toMatchObject([
        asOf,
        { code: 'INVALID_ARGUMENT' },
      ]);
    for (const asOf of [{ snapshot: 99 }, { snapshot: -1 }, { time: new Date(0) }])
      expect([asOf, await refused(() => events.scan({ asOf }).toArray())]).toMatchObject([asOf, { code: 'NOT_FOUND' }]);
  });

  test('of what is no name, no schema of a table and no list of columns', async () => {
    const { lake, refused } = await setUp();
    const code = { code: 'INVALID_ARGUMENT' };
    for (const ref of [undefined, null, 5, {}, { name: 'events' }, { schema: 'main' }, ['events']] as never[]) {
      expect([ref, await refused(async () => lake.table(ref).describe())]).toMatchObject([ref, code]);
      expect([ref, await refused(() => lake.createTable(ref, { id: t.int8() }))]).toMatchObject([ref, code]);
      expect([ref, await refused(() => lake.dropTable(ref, { ifExists: true }))]).toMatchObject([ref, code]);
      expect([ref, await refused(() => lake.dropSchema(ref, { ifExists: true }))]).toMatchObject([ref, code]);
    }
    for (const columns of [
      [t.int8()],
      new Map([[1, t.int8()]]),
      new Map([['a', 'int8']]),
      new Map(),
      new Set(),
    ] as never[])
      expect(await refused(() => lake.createTable('u', columns))).toMatchObject(code);
    for (const columns of ['id', 5, null, { id: true }] as never[])
      expect([columns, await refused(() => lake.table('events').scan({ columns }).toArray())]).toMatchObject([
        columns,
        code,
      ]);
  });

  test('of options that are none', async () => {
    const { lake, refused } = await setUp();
    const events = lake.table('events');
    for (const options of [null, true, 'snappy', 5] as never[])
      for (const call of [
        () => events.insert([], options),
        async () => events.writer(options),
        async () => events.scan(options).toArray(),
        () => lake.transaction(() => undefined, options),
        () => lake.createSchema('s', options),
        () => lake.createTable('u', { id: t.int8() }, options),
        () => lake.dropTable('events', options),
        () => lake.dropSchema('main', options),
      ])
        expect([options, call, await refused(call)]).toMatchObject([options, call, { code: 'INVALID_ARGUMENT' }]);
  });

  test('of a range of snapshots', async () => {
    const { lake, refused } = await setUp();
    for (const id of [1.5, Number.NaN, '0', Number.POSITIVE_INFINITY])
      for (const range of [{ from: id as number }, { to: id as number }])
        expect(await refused(() => Array.fromAsync(lake.snapshots(range)))).toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('of opening', async () => {
    const codes: [object, ErrorCode][] = [
      [{ create: false }, 'NOT_FOUND'],
      [{ dataPath: '' }, 'INVALID_ARGUMENT'],
      [{ dataPath: 'a\0b' }, 'INVALID_ARGUMENT'],
      [{ dataPath: '\ud800' }, 'INVALID_ARGUMENT'],
      [{ maxRetries: -1 }, 'INVALID_ARGUMENT'],
      [{ maxRetries: 1.5 }, 'INVALID_ARGUMENT'],
      [{ retryWaitMs: Number.NaN }, 'INVALID_ARGUMENT'],
      [{ retryBackoff: -1 }, 'INVALID_ARGUMENT'],
    ];
    for (const [options, code] of codes) {
      const catalog = memoryCatalog();
      const error = await memoryLake({ catalog, ...options }).catch((thrown: unknown) => thrown);
      expect([options, isLakeError(error) ? error.code : error]).toEqual([options, code]);
      expect(catalog.dump().ducklake_snapshot).toEqual([]);
      // Nobody else could close it.
      await expect(catalog.readHead()).rejects.toMatchObject({ code: 'CLOSED' });
    }
  });

  test('of backends, and of reads without options', async () => {
    const { lake, refused } = await setUp();
    const store = memoryStore();
    const none = undefined as never;
    const mistakes: [string, () => Promise<unknown>][] = [
      ['catalog', () => openLake({ catalog: 'catalog.sqlite' as never, store, dataPath: 'data/' })],
      ['catalog', () => openLake({ store } as never)],
      ['store', () => openLake({ catalog: memoryCatalog(), store: 'data/' as never, dataPath: 'data/' })],
      ['store', () => openLake({ catalog: memoryCatalog(), dataPath: 'data/' } as never)],
      ['path', async () => sqliteCatalog('catalog.sqlite' as never)],
      ['path', async () => sqliteCatalog({} as never)],
      ['path', async () => sqliteCatalog(none)],
      ['options', () => lake.table('Events').changes(none).toArray()],
      ['options', async () => readTask({} as never, none)],
      ['store', async () => readTask({} as never, {} as never)],
      ['"codecs"', async () => readTask({} as never, { store, codecs: {} } as never)],
      [
        '"maxBytes"',
        () =>
          lake
            .table('Events')
            .scan()
            .plan({ maxBytes: 1 } as never),
      ],
      [
        'options',
        () =>
          lake
            .table('Events')
            .scan()
            .plan(null as never),
      ],
      ['store', () => lake.table('Events').scan().writeParquet(none, 'rows.parquet')],
      // By another name a filter would be no filter.
      [
        '"filter"',
        () =>
          lake
            .table('Events')
            .scan({ filter: { id: 1 } } as never)
            .toArray(),
      ],
      [
        '"filter"',
        () =>
          lake
            .table('Events')
            .scan({ filter: { id: 1 } } as never)
            .plan(),
      ],
      [
        '"colums"',
        () =>
          lake
            .table('Events')
            .changes({ from: 1, colums: ['id'] } as never)
            .toArray(),
      ],
    ];
    for (const [word, mistake] of mistakes) {
      const { code, message } = await refused(mistake);
      expect([code, message]).toEqual(['INVALID_ARGUMENT', expect.stringContaining(word)]);
    }
    const path = '/nowhere/at/all/catalog.sqlite';
    const { code, message } = await refused(() =>
      openLake({ catalog: sqliteCatalog({ path }), store, dataPath: 'd/' }),
    );
    expect([code, message]).toEqual(['CATALOG_UNAVAILABLE', expect.stringContaining(path)]);
  });
});
