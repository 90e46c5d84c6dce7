import { describe, expect, test } from 'bun:test';
import { memoryCatalog, memoryStore } from '../../adapters/memory.ts';
import { type Lake, type ObjectStore, openLake, type Scan, type Table, t } from '../../src/index.ts';

const fileCount = 10;
const rowsPerFile = 3000;

/** A lake of ten files, and which of them are opened and read. */
async function watchedLake(): Promise<{
  readonly lake: Lake;
  readonly table: Table;
  readonly opened: string[];
  /** Until it is resolved no bytes come. */
  hold(gate: Promise<void> | undefined): void;
}> {
  const store = memoryStore();
  const opened: string[] = [];
  let gate: Promise<void> | undefined;
  const watched: ObjectStore = {
    name: store.name,
    create: (location, options) => store.create(location, options),
    delete: (locations, options) => store.delete(locations, options),
    list: (prefix, options) => store.list(prefix, options),
    async open(location, options) {
      opened.push(location);
      const { byteLength, slice } = await store.open(location, options);
      return {
        byteLength,
        async slice(start, end) {
          await gate;
          options?.signal?.throwIfAborted();
          return slice(start, end);
        },
      };
    },
  };
  const lake = await openLake({ catalog: memoryCatalog(), store: watched, dataPath: 'data/' });
  const table = (await lake.createTable('t', { i: t.int32(), s: t.varchar() })) as unknown as Table;
  for (let f = 0; f < fileCount; f++)
    await table.insert({
      columns: {
        i: Int32Array.from({ length: rowsPerFile }, (_, i) => f * rowsPerFile + i),
        s: Array.from({ length: rowsPerFile }, (_, i) => `s${i % 7}`),
      },
    });
  return { lake, table, opened, hold: (given) => (gate = given) };
}

async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setTimeout(resolve, 0));
}

/** Both kinds of stream, and how many rows an item of them is. */
const kinds: readonly [name: string, stream: (scan: Scan<unknown>) => ReadableStream<unknown>][] = [
  ['rows', (scan) => scan.stream()],
  ['batches', (scan) => scan.batchStream()],
];

test('a stream has the rows of the scan, in their order', async () => {
  const { lake, table } = await watchedLake();
  await using _ = lake;
  const scan = table.scan({ where: { s: 's3' }, limit: 5000 });
  const rows = await scan.toArray();
  expect(rows.length).toBeGreaterThan(4000);
  expect(await Array.fromAsync(scan.stream())).toEqual(rows);
  const batches = await Array.fromAsync(scan.batchStream());
  expect(batches).toEqual(await Array.fromAsync(scan.batches()));
  expect(batches.flatMap(({ columns }) => Array.from(columns['i']!))).toEqual(rows.map(({ i }) => i));
});

test('a table without rows ends at once; a scan that fails fails the stream', async () => {
  const { lake, table } = await watchedLake();
  await using _ = lake;
  for (const [, stream] of kinds) {
    expect(await Array.fromAsync(stream(table.scan({ where: { i: -1 } })))).toEqual([]);
    expect(await Array.fromAsync(stream(table.scan({ columns: ['nope'] }))).catch(({ code }) => code)).toBe(
      'NOT_FOUND',
    );
  }
});

describe.each(kinds)('a stream of %s', (_name, stream) => {
  test('reads no faster than it is read', async () => {
    const { lake, table, opened } = await watchedLake();
    await using _ = lake;
    const reader = stream(table.scan()).getReader();
    await settled();
    expect(opened.length).toBe(0);
    await reader.read();
    await settled();
    const ahead = opened.length;
    expect(ahead).toBeGreaterThan(0);
    expect(ahead).toBeLessThanOrEqual(fileCount / 2);
    let left = 0;
    while (!(await reader.read()).done) left++;
    expect(left).toBeGreaterThan(0);
    expect(opened.length).toBe(fileCount);
  });

  test('stops reading when it is cancelled, also amid a read', async () => {
    const { lake, table, opened, hold } = await watchedLake();
    await using _ = lake;
    const reader = stream(table.scan()).getReader();
    await reader.read();
    const before = opened.length;
    await reader.cancel('enough');
    await settled();
    expect(opened.length).toBe(before);
    expect(await reader.read()).toEqual({ done: true, value: undefined });

    const { promise, resolve } = Promise.withResolvers<void>();
    hold(promise);
    const held = stream(table.scan()).getReader();
    const pending = held.read();
    await settled();
    const begun = opened.length;
    const cancelled = held.cancel();
    resolve();
    await cancelled;
    expect(await pending).toEqual({ done: true, value: undefined });
    await settled();
    expect(opened.length).toBe(begun);
  });

  test("ends with its signal's reason, before a read, between reads and amid one", async () => {
    const { lake, table, opened, hold } = await watchedLake();
    await using _ = lake;
    const reason = new Error('stop');
    const failure = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error) => error);

    const early = stream(table.scan({ signal: AbortSignal.abort(reason) })).getReader();
    expect(await failure(early.read())).toBe(reason);
    expect(opened.length).toBe(0);

    const between = new AbortController();
    const reader = stream(table.scan({ signal: between.signal })).getReader();
    await reader.read();
    const before = opened.length;
    between.abort(reason);
    expect(await failure(reader.read())).toBe(reason);
    expect(await failure(reader.closed)).toBe(reason);
    await settled();
    expect(opened.length).toBe(before);

    const amid = new AbortController();
    hold(new Promise(() => {}));
    const held = stream(table.scan({ signal: amid.signal })).getReader();
    const pending = held.read();
    await settled();
    amid.abort(reason);
    expect(await failure(pending)).toBe(reason);
  });
});
