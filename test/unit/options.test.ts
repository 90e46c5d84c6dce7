import { describe, expect, test } from 'bun:test';
import { localStore } from '../../adapters/local.ts';
import { memoryCatalog, memoryLake, memoryStore } from '../../adapters/memory.ts';
import { postgresCatalog } from '../../adapters/postgres.ts';
import { s3Store } from '../../adapters/s3.ts';
import { sqliteCatalog } from '../../adapters/sqlite.ts';
import { openLake, type Transaction, t } from '../../src/index.ts';

const rows = [{ id: 1 }];

async function setUp() {
  const catalog = memoryCatalog();
  const lake = await memoryLake({ catalog });
  const table = await lake.createTable('few', { id: t.int32() });
  const before = JSON.stringify(catalog.dump());
  /** What it says; the lake is as it was. */
  const refused = async (run: () => unknown): Promise<string> => {
    const error = await Promise.resolve()
      .then(run)
      .then(
        () => new Error('it was carried out'),
        (thrown: Error) => thrown,
      );
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(JSON.stringify(catalog.dump())).toBe(before);
    return error.message;
  };
  const within = (run: (tx: Transaction) => Promise<unknown>) => () =>
    lake.transaction(async (tx) => void (await run(tx)));
  return { lake, table, refused, within };
}

type Calls = Awaited<ReturnType<typeof setUp>>;

/** Every call that takes options, by the name of one that it has. */
const calls: readonly (readonly [known: string, run: (to: Calls, options: never) => unknown])[] = [
  ['idempotencyKey', ({ table }, options) => table.insert(rows, options)],
  ['onProgress', ({ table }, options) => table.writeFiles(rows, options)],
  ['maxRows', ({ table }, options) => table.writer(options)],
  ['idempotencyKey', ({ table }, options) => table.writer().append(rows, options)],
  ['asOf', ({ table }, options) => table.count({}, options)],
  ['asOf', ({ table }, options) => table.describe(options)],
  ['asOf', ({ table }, options) => table.files(options)],
  ['idempotencyKey', ({ lake }, options) => lake.transaction((tx) => tx.insert('few', rows), options)],
  ['ifNotExists', ({ lake }, options) => lake.createTable('new', { id: t.int32() }, options)],
  ['ifNotExists', ({ lake }, options) => lake.createSchema('new', options)],
  ['ifExists', ({ lake }, options) => lake.dropTable('few', options)],
  ['cascade', ({ lake }, options) => lake.dropSchema('main', options)],
  ['message', ({ lake }, options) => lake.register([], options)],
  ['keepFiles', ({ lake }, options) => lake.resolve('token', options)],
  ['usedBefore', ({ lake }, options) => lake.forgetKeys(options)],
  ['asOf', ({ lake }, options) => lake.schemas(options)],
  ['asOf', ({ lake }, options) => lake.tables(options)],
  ['asOf', ({ lake }, options) => lake.views(options)],
  ['asOf', ({ lake }, options) => lake.macros(options)],
  ['from', ({ lake }, options) => lake.snapshots(options).next()],
  ['table', ({ lake }, options) => lake.maintenance.flushInlined(options)],
  ['onProgress', ({ within }, options) => within((tx) => tx.table('few').insert(rows, options))()],
  ['asOf', ({ within }, options) => within((tx) => tx.table('few').count({}, options))()],
  ['ifNotExists', ({ within }, options) => within((tx) => tx.createTable('new', { id: t.int32() }, options))()],
  ['ifNotExists', ({ within }, options) => within((tx) => tx.createSchema('new', options))()],
  ['ifExists', ({ within }, options) => within((tx) => tx.dropTable('few', options))()],
  ['cascade', ({ within }, options) => within((tx) => tx.dropSchema('main', options))()],
  ['overrideDataPath', (_, options: object) => memoryLake({ ...options })],
  [
    'commitGapMs',
    (_, options: object) =>
      openLake({ catalog: memoryCatalog(), store: memoryStore(), dataPath: 'memory://x/', ...options }),
  ],
  ['sharedWith', (_, options) => memoryCatalog(options)],
  ['busyTimeoutMs', (_, options: object) => sqliteCatalog({ path: ':memory:', ...options })],
  ['prepare', (_, options: object) => postgresCatalog({ sql: sqlOf(), ...options })],
  ['root', (_, options) => localStore(options)],
  ['bulkDelete', (_, options) => s3Store(options)],
];

function sqlOf() {
  const unused = (): never => {
    throw new Error('not to be called');
  };
  return { unsafe: unused, end: unused };
}

describe('an option that there is none of is refused, with the one that was meant', () => {
  for (const [known, run] of calls)
    test(`${known} of ${/(\w+(\.\w+)?\(\)?\.?\w+)\(/.exec(String(run).replace(/^.*=>/s, ''))?.[0] ?? ''}…)`, async () => {
      const to = await setUp();
      const misspelt = known.toLowerCase() === known ? known.toUpperCase() : known.toLowerCase();
      const message = await to.refused(() => run(to, { [misspelt]: undefined } as never));
      expect(message).toBe(`there is no option "${misspelt}": did you mean "${known}"?`);
      expect(await to.refused(() => run(to, { constructor: 1 } as never))).toBe('there is no option "constructor"');
    });
});

describe('callbacks that are no functions, and switches that are neither on nor off', () => {
  const wrong: readonly (readonly [option: string, value: unknown, run: (to: Calls, options: never) => unknown])[] = [
    ['onProgress', 5, ({ table }, options) => table.insert(rows, options)],
    ['onProgress', 'log', ({ table }, options) => table.writeFiles(rows, options)],
    ['onProgress', {}, ({ within }, options) => within((tx) => tx.table('few').insert(rows, options))()],
    ['onBatchError', 'log', ({ table }, options) => table.writer(options)],
    ['waitUntil', {}, ({ table }, options) => table.writer(options)],
    ['onRetry', 'log', (_, options: object) => memoryLake({ ...options })],
    ['create', 'no', (_, options: object) => memoryLake({ ...options })],
    ['retry', 0, ({ lake }, options) => lake.transaction((tx) => tx.insert('few', rows), options)],
    ['retry', 'false', ({ lake }, options) => lake.dropTable('few', options)],
    ['ifExists', 'false', ({ lake }, options) => lake.dropTable('fewer', options)],
    ['cascade', 0, ({ within }, options) => within((tx) => tx.dropSchema('main', options))()],
    ['keepFiles', 1, ({ lake }, options) => lake.resolve('token', options)],
    ['wal', 'off', (_, options: object) => sqliteCatalog({ path: ':memory:', ...options })],
    ['busyTimeoutMs', '5s', (_, options: object) => sqliteCatalog({ path: ':memory:', ...options })],
    ['end', 'no', (_, options: object) => postgresCatalog({ sql: sqlOf(), ...options })],
    ['schema', 5, (_, options: object) => postgresCatalog({ sql: sqlOf(), ...options })],
    ['sql', 'postgres://…', (_, options) => postgresCatalog(options)],
    ['bulkDelete', 'yes', (_, options) => s3Store(options)],
    ['root', 5, (_, options) => localStore(options)],
  ];
  for (const [option, value, run] of wrong)
    test(`${option}: ${JSON.stringify(value)}, ${String(run).replace(/\s+/g, ' ').slice(0, 60)}`, async () => {
      const to = await setUp();
      expect(await to.refused(() => run(to, { [option]: value } as never))).toContain(option);
    });

  test('are taken when they are left out or undefined', async () => {
    const { table, lake } = await setUp();
    await table.insert(rows, { onProgress: undefined, idempotencyKey: undefined, signal: undefined });
    await lake.dropTable('few', { ifExists: undefined, retry: undefined });
    await lake.dropTable('few', { ifExists: true, retry: false, author: 'me' });
  });
});
