import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { localStore } from '../../adapters/local.ts';
import { memoryCatalog, memoryStore } from '../../adapters/memory.ts';
import { type CatalogStore, type Lake, type ObjectStore, openLake, t } from '../../src/index.ts';

setDefaultTimeout(300_000);

/** Told what happens, before it does and after. */
type Hook = (event: string) => void | Promise<void>;

/** A catalog with a hook, and with options of a lake. */
function hookedCatalog(catalog: CatalogStore, options: Readonly<Record<string, string>>, hook: Hook): CatalogStore {
  const metadata = Object.entries(options).map(([key, value]) => ({ key, value, scope: null, scope_id: null }));
  const hooked = async <T>(name: string, call: () => Promise<T>): Promise<T> => {
    await hook(name);
    const result = await call();
    await hook(`${name} done`);
    return result;
  };
  return {
    name: catalog.name,
    inlining: catalog.inlining,
    initialize: (init) => catalog.initialize(init),
    readCatalog: (asOf) =>
      hooked('readCatalog', async () => {
        const rows = await catalog.readCatalog(asOf);
        return rows && { ...rows, metadata: [...rows.metadata, ...metadata] };
      }),
    readHead: (since) => hooked('readHead', () => catalog.readHead(since)),
    readSnapshots: (range) => catalog.readSnapshots(range),
    readFiles: (request) => catalog.readFiles(request),
    readHistory: (request) => catalog.readHistory(request),
    readTableStats: (tableId) => catalog.readTableStats(tableId),
    commit: (batch) => hooked('commit', () => catalog.commit(batch)),
    findCommit: (batch) => catalog.findCommit(batch),
    findKeys: (keys) => catalog.findKeys(keys),
    forgetKeys: (request) => catalog.forgetKeys(request),
    [Symbol.asyncDispose]: () => catalog[Symbol.asyncDispose](),
  };
}

function hookedStore(store: ObjectStore, hook: Hook): ObjectStore {
  return {
    name: store.name,
    open: (location, options) => store.open(location, options),
    delete: (locations, options) => store.delete(locations, options),
    list: (prefix, options) => store.list(prefix, options),
    async create(location, options) {
      await hook('create');
      const writer = await store.create(location, options);
      await hook('create done');
      return {
        async write(bytes) {
          await hook('write');
          await Promise.all([writer.write(bytes), hook('writing')]);
          await hook('write done');
        },
        async close() {
          await hook('close');
          await Promise.all([writer.close(), hook('closing')]);
          await hook('close done');
        },
        abort: () => writer.abort(),
      };
    },
  };
}

interface Stage {
  readonly lake: Lake;
  /** Is told everything from now on. */
  listen(listener: Hook): void;
  /** Another client of the same lake, without a hook. */
  other(): Promise<Lake>;
  /** Every object there is, whatever its name. */
  left(): Promise<string[]>;
}

type Kind = 'memory' | 'local';

const kinds: readonly Kind[] = ['memory', 'local'];

/** A file takes one batch: 128 rows of a stream, 1024 of an array. */
const streamBatch = 128;
const fileCount = 5;
const rowCount = 600;
const ids = Array.from({ length: rowCount }, (_, id) => id);
const arrayIds = Array.from({ length: 5000 }, (_, id) => id);

const target = {
  schema: { id: t.int32().notNull() },
  options: { target_file_size: '1', parquet_row_group_size: '75' },
};

/** A lake with a table `t` that rolls its files. The table and nothing else makes it two snapshots. */
async function stage(kind: Kind, folder: string): Promise<Stage> {
  const dataPath = kind === 'memory' ? 'memory://lake/' : `${folder}/${crypto.randomUUID()}/`;
  const store = kind === 'memory' ? memoryStore() : localStore();
  const now: { hook: Hook } = { hook: () => {} };
  const hook: Hook = (event) => now.hook(event);
  const catalog = memoryCatalog();
  const lake = await openLake({
    dataInliningRowLimit: 0,
    catalog: hookedCatalog(catalog, target.options, hook),
    store: hookedStore(store, hook),
    dataPath,
  });
  await lake.createTable('t', target.schema);
  return {
    lake,
    listen(listener) {
      now.hook = listener;
    },
    other: () => openLake({ dataInliningRowLimit: 0, catalog: memoryCatalog({ sharedWith: catalog }), store }),
    async left() {
      if (kind === 'memory') return (await Array.fromAsync(store.list(''))).map(({ location }) => location).sort();
      // Not through the store, which doesn't list what isn't whole yet.
      const found = await readdir(dataPath, { recursive: true, withFileTypes: true }).catch(() => []);
      return found.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : [])).sort();
    },
  };
}

async function* source(hook: Hook): AsyncGenerator<{ id: number }> {
  try {
    for (const id of ids) {
      if (id % 64 === 0) await hook('pull');
      yield { id };
    }
  } finally {
    hook('source ended');
  }
}

/** Nothing of the insert is there. */
async function expectNothing({ lake, left, listen }: Stage): Promise<void> {
  listen(() => {});
  expect(await left()).toEqual([]);
  expect(await Array.fromAsync(lake.snapshots(), ({ id }) => id)).toEqual([0, 1]);
  expect(await lake.table('t').files()).toEqual([]);
}

/** All of it is there, and not a file more. */
async function expectAll(
  { lake, left, listen }: Stage,
  snapshotId: number | undefined,
  expected: readonly number[] = ids,
): Promise<void> {
  listen(() => {});
  expect(snapshotId).toBe(2);
  expect(await Array.fromAsync(lake.snapshots(), ({ id }) => id)).toEqual([0, 1, 2]);
  expect((await lake.table('t').scan().toArray()).map((row) => row['id'])).toEqual([...expected]);
  const files = await lake.table('t').files();
  expect(files.length).toBe(fileCount);
  expect(await left()).toEqual(files.map(({ location }) => location).sort());
}

/** How the rows get into the lake. */
const ways = {
  stream: ({ lake }: Stage, signal: AbortSignal, hook: Hook) => lake.table('t').insert(source(hook), { signal }),
  array: ({ lake }: Stage, signal: AbortSignal) =>
    lake.table('t').insert(
      arrayIds.map((id) => ({ id })),
      { signal },
    ),
  transaction: ({ lake }: Stage, signal: AbortSignal, hook: Hook) =>
    lake.transaction((tx) => tx.table('t').insert(source(hook)), { signal }),
} as const;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edgemere-abort-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

for (const kind of kinds)
  for (const [way, insert] of Object.entries(ways))
    describe(`${way} into the ${kind} store`, () => {
      const given = way === 'array' ? arrayIds : ids;

      /** Every moment of an insert that nobody disturbs. */
      async function momentsOf(): Promise<string[]> {
        const moments: string[] = [];
        const listener: Hook = (event) => void moments.push(event);
        const quiet = await stage(kind, folder);
        quiet.listen(listener);
        const { snapshotId } = await insert(quiet, new AbortController().signal, listener);
        await expectAll(quiet, snapshotId, given);
        return moments;
      }

      test('the signal fires at any moment', async () => {
        const moments = await momentsOf();
        for (const event of ['create', 'writing', 'write done', 'closing', 'close done', 'commit', 'commit done'])
          expect(moments).toContain(event);
        if (way !== 'array') expect(moments).toContain('pull');
        expect(moments.filter((event) => event === 'create').length).toBe(fileCount);
        const commit = moments.indexOf('commit');
        for (const [at, event] of moments.entries()) {
          const place = await stage(kind, folder);
          const controller = new AbortController();
          const reason = new Error(`at ${at}: ${event}`);
          let count = 0;
          let isFired = false;
          const listener: Hook = () => {
            if (count++ !== at) return;
            isFired = true;
            controller.abort(reason);
          };
          place.listen(listener);
          const [outcome] = await Promise.allSettled([insert(place, controller.signal, listener)]);
          expect(isFired).toBe(true);
          const status = at < commit ? 'rejected' : 'fulfilled';
          expect({ at, event, status: outcome.status }).toEqual({ at, event, status });
          if (outcome.status === 'rejected') {
            expect(outcome.reason).toBe(reason);
            await expectNothing(place);
          } else await expectAll(place, outcome.value.snapshotId, given);
        }
      });

      test('the signal fires before', async () => {
        const place = await stage(kind, folder);
        const events: string[] = [];
        place.listen((event) => void events.push(event));
        for (const reason of [new Error('no'), 'text', null, 0]) {
          const signal = AbortSignal.abort(reason);
          const outcome = await insert(place, signal, (event) => void events.push(event)).catch((error) => ({ error }));
          expect(outcome).toEqual({ error: reason });
        }
        for (const event of ['pull', 'create', 'commit']) expect(events).not.toContain(event);
        await expectNothing(place);
      });

      test('the signal fires at any time', async () => {
        await fc.assert(
          fc.asyncProperty(fc.integer({ min: 0, max: 60 }), async (millis) => {
            const place = await stage(kind, folder);
            const slow: Hook = () => new Promise((resolve) => setTimeout(resolve, 1));
            place.listen(slow);
            const controller = new AbortController();
            const timer = setTimeout(() => controller.abort('late'), millis);
            const [outcome] = await Promise.allSettled([insert(place, controller.signal, slow)]);
            clearTimeout(timer);
            if (outcome.status === 'fulfilled') return expectAll(place, outcome.value.snapshotId, given);
            expect(outcome.reason).toBe('late');
            await expectNothing(place);
          }),
          { numRuns: 12 },
        );
      });
    });

describe('sources', () => {
  test.each([0, 1, streamBatch - 1, streamBatch, 400, rowCount - 1])('one that throws after %d rows', async (after) => {
    const error = new Error('the source broke');
    const rows = function* (): Generator<{ id: number }> {
      for (const id of ids) {
        if (id === after) throw error;
        yield { id };
      }
    };
    const inTurn = async function* (): AsyncGenerator<{ id: number }> {
      yield* rows();
    };
    const left = rows();
    const stream = new ReadableStream<{ id: number }>({
      pull(controller) {
        const { done, value } = left.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    });
    for (const given of [rows(), inTurn(), stream]) {
      const place = await stage('memory', folder);
      expect(
        await place.lake
          .table('t')
          .insert(given)
          .catch((reason) => reason),
      ).toBe(error);
      await expectNothing(place);
    }
  });

  test.each([0, 60, streamBatch, 400])('one that hangs after %d rows while the signal fires', async (after) => {
    const place = await stage('memory', folder);
    let returned = 0;
    const hanging = Promise.withResolvers<void>();
    const given: AsyncIterable<{ id: number }> = {
      [Symbol.asyncIterator]() {
        let id = 0;
        return {
          next() {
            if (id < after) return Promise.resolve({ done: false, value: { id: id++ } });
            hanging.resolve();
            return new Promise(() => {});
          },
          async return() {
            returned++;
            return { done: true, value: undefined };
          },
        };
      },
    };
    const controller = new AbortController();
    const insert = place.lake.table('t').insert(given, { signal: controller.signal });
    await hanging.promise;
    expect((await place.left()).length).toBe(Math.floor(after / streamBatch));
    controller.abort('enough');
    expect(await insert.catch((reason) => reason)).toBe('enough');
    await expectNothing(place);
    expect(returned).toBeLessThanOrEqual(1);
  });

  test('a source that is not at its end is told to end', async () => {
    const place = await stage('memory', folder);
    const controller = new AbortController();
    const ended = Promise.withResolvers<void>();
    const hook: Hook = (event) => {
      if (event === 'source ended') ended.resolve();
    };
    let pulls = 0;
    const insert = place.lake.table('t').insert(
      source((event) => {
        if (event === 'pull' && pulls++ === 4) controller.abort('enough');
        return hook(event);
      }),
      { signal: controller.signal },
    );
    expect(await insert.catch((reason) => reason)).toBe('enough');
    // Nobody waits for that: a source may be stuck.
    await ended.promise;
    await expectNothing(place);
  });
});

describe('elsewhere', () => {
  test('a store that hangs until the signal fires', async () => {
    for (const at of ['create', 'write', 'close']) {
      const place = await stage('memory', folder);
      const controller = new AbortController();
      let count = 0;
      place.listen((event) => {
        if (event !== at || count++ < 1) return;
        setTimeout(() => controller.abort('enough'), 5);
        // As a store's own waiting ends when its signal fires.
        return new Promise((_, reject) => {
          controller.signal.addEventListener('abort', () => reject(controller.signal.reason));
        });
      });
      const insert = place.lake.table('t').insert(
        source(() => {}),
        { signal: controller.signal },
      );
      expect(await insert.catch((reason) => reason)).toBe('enough');
      await expectNothing(place);
    }
  });

  test('a transaction that lost its race is not tried again', async () => {
    const place = await stage('memory', folder);
    await using other = await place.other();
    const controller = new AbortController();
    let count = 0;
    place.listen(async (event) => {
      if (event !== 'commit') return;
      count++;
      await other.createSchema('ours');
      controller.abort('enough');
    });
    const insert = place.lake.transaction(
      async (tx) => {
        await tx.table('t').insert(source(() => {}));
        await tx.createSchema('ours');
      },
      { signal: controller.signal },
    );
    expect(await insert.catch((reason) => reason)).toBe('enough');
    expect(count).toBe(1);
    expect(await place.left()).toEqual([]);
    expect(await place.lake.table('t').files()).toEqual([]);
    expect(await Array.fromAsync(other.snapshots(), ({ id }) => id)).toEqual([0, 1, 2]);
  });

  test('of two inserts the one that is aborted leaves the other alone', async () => {
    const place = await stage('memory', folder);
    const controller = new AbortController();
    let pulls = 0;
    const aborted = place.lake.table('t').insert(
      source((event) => {
        if (event === 'pull' && pulls++ === 6) controller.abort('enough');
      }),
      { signal: controller.signal },
    );
    const kept = place.lake.table('t').insert(source(() => {}));
    expect(await aborted.catch((reason) => reason)).toBe('enough');
    await expectAll(place, (await kept).snapshotId);
  });
});
