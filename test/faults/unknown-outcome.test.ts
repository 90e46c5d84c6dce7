import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { memoryCatalog, memoryStore } from '../../adapters/memory.ts';
import { collect, rejects } from '../../src/conformance/case.ts';
import { type CatalogStore, type Lake, type ObjectStore, openLake, t } from '../../src/index.ts';
import { type HeldCommits, heldCommits } from '../support/held-commits.ts';
import { type LakeHost, postgresHost, sqliteHost } from '../support/lake-places.ts';

const hosts: LakeHost[] = [];
beforeAll(async () => {
  hosts.push(await sqliteHost(), await postgresHost());
});
afterAll(async () => {
  for (const host of hosts) await host[Symbol.asyncDispose]();
});

const kinds: Readonly<Record<string, () => () => CatalogStore>> = {
  memory: () => {
    const rows = memoryCatalog();
    return () => memoryCatalog({ sharedWith: rows });
  },
  sqlite: () => {
    const place = hosts[0]!.place();
    return () => place.open();
  },
  postgres: () => {
    const place = hosts[1]!.place();
    return () => place.open();
  },
};

interface Place extends AsyncDisposable {
  readonly lake: Lake;
  readonly net: HeldCommits;
  readonly store: ObjectStore;
  /** Another client, with a sound connection. */
  readonly other: Lake;
}

async function place(open: () => CatalogStore, dataInliningRowLimit = 0): Promise<Place> {
  const net = heldCommits(open());
  const store = memoryStore();
  const dataPath = 'memory://lake/';
  const lake = await openLake({ dataInliningRowLimit, catalog: net.catalog, store, dataPath, retryWaitMs: 1 });
  await lake.createTable('t', { id: t.int64().notNull() });
  const other = await openLake({ dataInliningRowLimit, catalog: open(), store, dataPath });
  return {
    lake,
    net,
    store,
    other,
    async [Symbol.asyncDispose]() {
      await lake.close();
      await other.close();
    },
  };
}

const idsOf = async (lake: Lake, name = 't'): Promise<number[]> =>
  ((await lake.table(name).scan().toArray()) as { id: bigint }[]).map(({ id }) => Number(id)).sort((a, b) => a - b);
const fileCount = async (store: ObjectStore): Promise<number> => (await collect(store.list(''))).length;

/** A commit that was sent when the connection broke for a while: the token of its error. */
async function lost({ net }: Place, call: () => Promise<unknown>): Promise<string> {
  net.hold(true);
  const { context } = await rejects(call, 'COMMIT_UNKNOWN');
  net.connect();
  expect(context.token).toBeString();
  return JSON.parse(JSON.stringify(context.token));
}

for (const [kind, make] of Object.entries(kinds))
  describe(`on ${kind}`, () => {
    const calls: Readonly<Record<string, (lake: Lake) => Promise<unknown>>> = {
      'an insert': (lake) => lake.table('t').insert([{ id: 1 }]),
      'an insert with a key': (lake) => lake.table('t').insert([{ id: 1 }], { idempotencyKey: 'k' }),
      'a transaction': (lake) =>
        lake.transaction(async (tx) => {
          const u = await tx.createTable('u', { id: t.int64() });
          await u.insert([{ id: 1 }]);
          await tx.table('t').insert([{ id: 1 }]);
        }),
      'a new schema': (lake) => lake.createSchema('s'),
      'a drop': (lake) => lake.dropTable('t'),
    };
    for (const [name, call] of Object.entries(calls)) {
      test.concurrent(`${name} that never arrives is known as not committed, and never is`, async () => {
        await using here = await place(make());
        const { lake, net, other, store } = here;
        const token = await lost(here, () => call(lake));
        const files = await fileCount(store);
        expect(await other.resolve(token, { keepFiles: true })).toEqual({ status: 'notCommitted' });
        expect(await fileCount(store)).toBe(files);
        expect(await net.deliver(net.held[0]!)).toEqual({ status: 'superseded' });
        const snapshots = (await collect(other.snapshots())).length;
        // Asking again changes nothing more.
        expect(await lake.resolve(token)).toEqual({ status: 'notCommitted' });
        expect([await fileCount(store), (await collect(other.snapshots())).length]).toEqual([0, snapshots]);
        expect(await net.deliver(net.held[0]!)).toEqual({ status: 'superseded' });
        await call(lake);
        if (name !== 'a new schema' && name !== 'a drop') expect(await idsOf(other)).toEqual([1]);
        expect((await other.tables()).map((table) => table.name).includes('t')).toBe(name !== 'a drop');
      });

      test.concurrent(`${name} that arrives late is known as committed`, async () => {
        await using here = await place(make());
        const { lake, net, other, store } = here;
        const token = await lost(here, () => call(lake));
        const files = await fileCount(store);
        const outcome = await net.deliver(net.held[0]!);
        if (outcome.status !== 'committed') throw new Error(outcome.status);
        await other.createTable('other', { id: t.int64() });
        await other.table('other').insert([{ id: 9 }]);
        expect(await other.resolve(token)).toEqual({ status: 'committed', snapshotId: outcome.snapshot.id });
        expect(await lake.resolve(token)).toEqual({ status: 'committed', snapshotId: outcome.snapshot.id });
        expect(await fileCount(store)).toBe(files + 1);
        expect((await collect(other.snapshots())).length).toBe(outcome.snapshot.id + 3);
      });
    }

    test.concurrent('a call that loses its connection for a moment settles it by itself, and commits once', async () => {
      await using here = await place(make());
      const { lake, net, other } = here;
      net.hold();
      expect((await lake.table('t').insert([{ id: 1 }])).rowCount).toBe(1);
      expect(await net.deliver(net.held[0]!)).toEqual({ status: 'superseded' });
      expect(await idsOf(other)).toEqual([1]);
      const records = await collect(other.snapshots());
      expect(records.map(({ id }) => id)).toEqual([0, 1, 2, 3]);
      expect([records[2]!.author, records[2]!.changes]).toEqual(['edgemere', []]);
    });

    test.concurrent('inlined rows are told from those of others that are alike', async () => {
      for (const isLate of [false, true]) {
        await using here = await place(make(), 10);
        const { lake, net, other, store } = here;
        await lake.table('t').insert([{ id: 1 }]);
        const token = await lost(here, () => lake.table('t').insert([{ id: 1 }]));
        const outcome = isLate ? await net.deliver(net.held[0]!) : undefined;
        const same = await other.table('t').insert([{ id: 1 }]);
        const expected =
          outcome?.status === 'committed'
            ? { status: 'committed' as const, snapshotId: outcome.snapshot.id }
            : { status: 'notCommitted' as const };
        expect(await other.resolve(token)).toEqual(expected);
        if (!isLate) expect(await net.deliver(net.held[0]!)).toEqual({ status: 'superseded' });
        net.hold();
        await lake.table('t').insert([{ id: 2 }]);
        expect(await net.deliver(net.held.at(-1)!)).toEqual({ status: 'superseded' });
        expect(await idsOf(other)).toEqual(isLate ? [1, 1, 1, 2] : [1, 1, 2]);
        expect([same.snapshotId !== undefined, await fileCount(store)]).toEqual([true, 0]);
      }
    });

    test.concurrent('inlined rows whose extra information is the caller’s are known by a key alone', async () => {
      for (const idempotencyKey of [undefined, 'k']) {
        await using here = await place(make(), 10);
        const { lake, net, other } = here;
        const options = { extraInfo: '{"mine":1}', idempotencyKey };
        await lake.table('t').insert([{ id: 1 }]);
        const token = await lost(here, () => lake.table('t').insert([{ id: 2 }], options));
        await net.deliver(net.held[0]!);
        if (idempotencyKey) expect((await other.resolve(token)).status).toBe('committed');
        else await rejects(() => other.resolve(token), 'COMMIT_UNKNOWN');
        const [last] = (await collect(other.snapshots())).slice(-1);
        expect(last!.extraInfo).toBe('{"mine":1}');
        expect(await idsOf(other)).toEqual([1, 2]);
      }
    });

    test.concurrent('a repeat with the same key and the first, which arrives late, are one', async () => {
      for (const isFirst of [true, false]) {
        await using here = await place(make());
        const { lake, net, other } = here;
        const token = await lost(here, () => lake.table('t').insert([{ id: 1 }], { idempotencyKey: 'k' }));
        const [late, again] = await Promise.all([
          isFirst ? net.deliver(net.held[0]!) : undefined,
          isFirst ? undefined : other.table('t').insert([{ id: 1 }], { idempotencyKey: 'k' }),
        ]);
        const second = again ?? (await other.table('t').insert([{ id: 1 }], { idempotencyKey: 'k' }));
        const first = late ?? (await net.deliver(net.held[0]!));
        expect(first.status).toBe(isFirst ? 'committed' : 'used');
        expect(second.isRepeat ?? false).toBe(isFirst);
        expect(await lake.resolve(token)).toEqual({ status: 'committed', snapshotId: second.snapshotId! });
        expect(await idsOf(lake)).toEqual([1]);
      }
    });

    test.concurrent('whoever resolves while the statement arrives is told the truth', async () => {
      const round = async (delayMs: number): Promise<void> => {
        await using here = await place(make());
        const { lake, net, other, store } = here;
        const token = await lost(here, () => lake.table('t').insert([{ id: 1 }]));
        const late = Bun.sleep(delayMs).then(() => net.deliver(net.held[0]!));
        const answers = await Promise.all([lake.resolve(token), other.resolve(token), late]);
        const isCommitted = answers[2].status === 'committed';
        for (const { status } of answers.slice(0, 2)) expect(status).toBe(isCommitted ? 'committed' : 'notCommitted');
        expect(await idsOf(other)).toEqual(isCommitted ? [1] : []);
        expect(await fileCount(store)).toBe(isCommitted ? 1 : 0);
      };
      await Promise.all(Array.from({ length: 10 }, (_, k) => round(k / 2)));
    });

    test.concurrent('another lake refuses the token, and so does everybody what is none', async () => {
      const here = await place(make());
      // SQLite and memory tell times apart by milliseconds.
      await Bun.sleep(5);
      const there = await place(make());
      const token = await lost(here, () => here.lake.table('t').insert([{ id: 1 }]));
      await rejects(() => there.lake.resolve(token), 'INVALID_ARGUMENT');
      const parsed = JSON.parse(token);
      const broken = [
        '',
        'null',
        '{}',
        '[]',
        token.slice(0, -1),
        JSON.stringify({ ...parsed, files: ['memory://lake/main/t/other.parquet'] }),
        JSON.stringify({ ...parsed, witness: { ...parsed.witness, column: 'path = path OR path' } }),
        JSON.stringify({ ...parsed, witness: { ...parsed.witness, table: 'pg_class' } }),
        JSON.stringify({ ...parsed, base: { ...parsed.base, id: -0.5 } }),
        JSON.stringify({ ...parsed, fence: 'none' }),
        undefined as unknown as string,
      ];
      for (const text of broken) await rejects(() => here.lake.resolve(text), 'INVALID_ARGUMENT', String(text));
      expect(await fileCount(here.store)).toBe(1);
      for (const one of [here, there]) await one[Symbol.asyncDispose]();
    });
  });
