import { describe, expect, test } from 'bun:test';
import { memoryCatalog, memoryLake } from '../../adapters/memory.ts';
import { type Transaction, t } from '../../src/index.ts';

async function setUp() {
  const catalog = memoryCatalog();
  const lake = await memoryLake({ catalog });
  const table = await lake.createTable('few', { id: t.int32(), j: t.json() });
  const before = JSON.stringify(catalog.dump());
  /** It is an error of ours, and the lake is as it was. */
  const refused = async (code: string, run: () => unknown): Promise<void> => {
    await expect(Promise.resolve().then(run)).rejects.toMatchObject({ code });
    expect(JSON.stringify(catalog.dump())).toBe(before);
  };
  return { lake, table, refused };
}

describe('what can not be is refused in our own words, and changes nothing', () => {
  const rows = [{ id: 1 }];
  for (const options of [null, 5, { signal: 5 }, { signal: {} }] as never[])
    test(`options ${JSON.stringify(options)}`, async () => {
      const { lake, table, refused } = await setUp();
      const within = (run: (tx: Transaction) => Promise<unknown>) => () =>
        lake.transaction(async (tx) => void (await run(tx)));
      for (const run of [
        () => table.insert(rows, options),
        () => table.writeFiles(rows, options),
        () => lake.register([], options),
        () => lake.transaction((tx) => tx.table('few').insert(rows), options),
        () => lake.maintenance.flushInlined(options),
        within((tx) => tx.table('few').insert(rows, options)),
        within((tx) => tx.table('few').scan(options).toArray()),
        within((tx) => tx.table('few').count({}, options)),
        within((tx) => tx.createTable('few', { id: t.int32() }, options)),
        within((tx) => tx.dropTable('few', options)),
        within((tx) => tx.createSchema('main', options)),
        within((tx) => tx.dropSchema('main', options)),
        async () => {
          await using writer = table.writer();
          await writer.append(rows, options);
        },
      ])
        await refused('INVALID_ARGUMENT', run);
    });

  test('a transaction that is no function, keys to forget without an instant', async () => {
    const { lake, refused } = await setUp();
    for (const run of [null, undefined, 5, {}, []] as never[])
      await refused('INVALID_ARGUMENT', () => lake.transaction(run));
    for (const options of [null, undefined, 5, {}] as never[])
      await refused('INVALID_ARGUMENT', () => lake.forgetKeys(options));
  });

  test('rows that a writer of so many bytes can not walk through', async () => {
    const { table, refused } = await setUp();
    const cyclic: { id: number; j?: unknown } = { id: 1 };
    cyclic.j = cyclic;
    const broken = {
      id: 1,
      get j(): never {
        throw new Error('no value');
      },
    };
    await using writer = table.writer({ maxBytes: 1000 });
    await refused('INVALID_VALUE', () => writer.append([cyclic as never]));
    // The caller's own error comes back as it is.
    await expect(writer.append([broken])).rejects.toThrow('no value');
  });
});
