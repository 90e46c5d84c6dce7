import { type ConformanceCase, check, collect, equal, rejects, rejectsWith } from '../../src/conformance/case.ts';
import { type LakeTarget, lakeCases } from '../../src/conformance/lake.ts';
import { type Lake, Timestamp, t } from '../../src/index.ts';

/** A place for a lake whose data files can be counted. */
export interface CountedTarget extends LakeTarget {
  fileCount(): Promise<number>;
}

const scalars = {
  id: t.int64().notNull(),
  truth: t.boolean(),
  small: t.int8(),
  unsigned: t.uint32(),
  big: t.uint64(),
  huge: t.float64(),
  price: t.decimal(38, 10),
  name: t.varchar(),
  data: t.json(),
  bytes: t.blob(),
  key: t.uuid(),
  day: t.date(),
  clock: t.time(),
  local: t.timestamp(),
  instant: t.timestamptz(),
  nano: t.timestampNs(),
  span: t.interval(),
};

const full = {
  id: 9_223_372_036_854_775_807n,
  truth: true,
  small: -128,
  unsigned: 4_294_967_295,
  big: 18_446_744_073_709_551_615n,
  huge: Number.NEGATIVE_INFINITY,
  price: '-1234567890123456789012345678.0000000001',
  name: 'naïve 🦆 \u{10ffff}',
  data: { a: [1, null, 'x'] },
  bytes: Uint8Array.of(0, 255),
  key: '0190f0c3-0000-7000-8000-000000000001',
  day: new Date(Date.UTC(2024, 1, 29)),
  clock: '23:59:59.999999',
  local: new Timestamp(-1n),
  instant: new Timestamp(1_705_321_800_123_456n),
  nano: new Timestamp(1_705_321_800_123_456_789n, 'ns'),
  span: { months: 14, days: 40, micros: 86_399_999_000n },
};

const empty = { ...Object.fromEntries(Object.keys(scalars).map((name) => [name, null])), id: 0n };

function numbers(count: number, from = 0): { n: number }[] {
  return Array.from({ length: count }, (_, i) => ({ n: from + i }));
}

function lakeCase(
  name: string,
  run: (lake: Lake, target: CountedTarget) => Promise<void>,
): ConformanceCase<CountedTarget> {
  return {
    name,
    async run(target) {
      const lake = await target.open({ dataInliningRowLimit: 0 });
      try {
        await run(lake, target);
      } finally {
        await lake.close();
      }
    },
  };
}

/** The conformance cases of a lake, and some that look at the files that it leaves. */
export const allLakeCases: readonly ConformanceCase<CountedTarget>[] = [
  ...lakeCases,

  lakeCase('values of every kind come back, to another client too', async (lake, target) => {
    const table = await lake.createTable('scalars', scalars);
    await table.insert([full, { id: 0n }]);
    const expected = [full, empty];
    equal(await table.scan().toArray(), expected, 'the rows');
    const other = await target.open({ dataInliningRowLimit: 0 });
    try {
      equal(await collect(other.table('scalars').scan()), expected, 'what another client reads');
      const [row] = await other
        .table('scalars')
        .scan({ columns: ['nano', 'instant'], limit: 1 })
        .toArray();
      const { nano, instant } = row as { nano: Timestamp; instant: Timestamp };
      equal([nano.nanos, instant.micros], [1_705_321_800_123_456_789n, 1_705_321_800_123_456n], 'below milliseconds');
    } finally {
      await other.close();
    }
  }),

  lakeCase('rows may come as arrays, columns, iterables, async iterables and streams', async (lake) => {
    const table = await lake.createTable('numbers', { n: t.int32().notNull() });
    await table.insert(numbers(2));
    await table.insert({ columns: { n: Int32Array.of(2, 3) } });
    await table.insert(new Set(numbers(2, 4)));
    await table.insert(
      (async function* () {
        yield* numbers(2, 6);
      })(),
    );
    await table.insert(
      new ReadableStream({
        start(controller) {
          for (const row of numbers(20_000, 8)) controller.enqueue(row);
          controller.close();
        },
      }),
    );
    const read = (await table.scan().toArray()).map(({ n }) => n).sort((a, b) => a - b);
    equal(
      read,
      numbers(20_008).map(({ n }) => n),
      'the numbers',
    );
    equal(
      (await table.files()).reduce((sum, { rowCount }) => sum + rowCount, 0),
      20_008,
      'rows of all files',
    );
    equal((await table.stats()).columns[0], {
      name: 'n',
      containsNull: false,
      containsNan: null,
      min: '0',
      max: '20007',
    });
  }),

  lakeCase('an empty insert makes no snapshot and no file', async (lake, target) => {
    const table = await lake.createTable('numbers', { n: t.int32() });
    equal((await table.insert([])).snapshotId, undefined, 'the snapshot');
    equal((await collect(lake.snapshots())).length, 2, 'snapshots');
    equal(await target.fileCount(), 0, 'files');
  }),

  lakeCase('a transaction is one snapshot, and nothing when it throws', async (lake, target) => {
    const { snapshotId } = await lake.transaction(
      async (tx) => {
        const a = await tx.createTable('a', { n: t.int32() });
        const b = await tx.createTable('b', { n: t.int32() });
        await a.insert(numbers(3));
        await b.insert(numbers(4));
      },
      { author: 'somebody', message: 'two tables', extraInfo: '{}' },
    );
    const last = (await collect(lake.snapshots())).at(-1);
    equal([last?.id, last?.author, last?.message, last?.extraInfo], [snapshotId, 'somebody', 'two tables', '{}'], 'it');
    const before = await target.fileCount();
    const reason = new Error('no');
    await rejectsWith(
      lake.transaction(async (tx) => {
        await tx.table('a').insert(numbers(5));
        await tx.createTable('c', { n: t.int32() });
        throw reason;
      }),
      reason,
    );
    equal((await lake.tables()).map(({ name }) => name).sort(), ['a', 'b'], 'the tables');
    equal((await lake.table('a').scan().toArray()).length, 3, 'rows of a');
    equal(await target.fileCount(), before, 'files');
  }),

  lakeCase('many appends at once all land, from two clients, in snapshots without a gap', async (lake, target) => {
    await lake.createTable('numbers', { n: t.int32().notNull() });
    const other = await target.open({ dataInliningRowLimit: 0 });
    try {
      const inserts = Array.from({ length: 12 }, (_, i) =>
        (i % 2 === 0 ? lake : other).table('numbers').insert(numbers(10, i * 10)),
      );
      const ids = (await Promise.all(inserts)).map(({ snapshotId }) => snapshotId);
      check(!ids.includes(undefined), 'every append has a snapshot');
    } finally {
      await other.close();
    }
    const rows = await lake.table('numbers').scan().toArray();
    equal(
      rows.map(({ n }) => n as number).sort((a, b) => a - b),
      numbers(120).map(({ n }) => n),
      'the numbers',
    );
    const snapshots = (await collect(lake.snapshots())).map(({ id }) => id);
    equal(
      snapshots,
      numbers(snapshots.length).map(({ n }) => n),
      'snapshot ids',
    );
    const taken = (await lake.table('numbers').files()).flatMap(({ rowIdStart, rowCount }) =>
      numbers(rowCount, rowIdStart ?? Number.NaN).map(({ n }) => n),
    );
    equal(new Set(taken).size, 120, 'different row ids');
  }),

  lakeCase('older versions stay readable, by snapshot and by time', async (lake) => {
    const table = await lake.createTable('numbers', { n: t.int32().notNull() });
    const { snapshotId } = await table.insert(numbers(1));
    const first = (await collect(lake.snapshots())).at(-1);
    await table.insert(numbers(1, 1));
    equal((await table.scan().toArray()).length, 2, 'rows now');
    equal(await table.scan({ asOf: { snapshot: snapshotId ?? -1 } }).toArray(), numbers(1), 'rows at the snapshot');
    // A Date has milliseconds: the next one lies at or after the snapshot, and perhaps after the second insert.
    const time = new Date((first?.time.getTime() ?? 0) + 1);
    check((await table.scan({ asOf: { time } }).toArray()).length >= 1, 'rows at its time');
    await rejects(table.scan({ asOf: { snapshot: 99 } }).toArray(), 'NOT_FOUND');
  }),

  lakeCase('an abort rejects with its reason and leaves nothing', async (lake, target) => {
    const table = await lake.createTable('numbers', { n: t.int32() });
    const controller = new AbortController();
    const reason = new Error('enough');
    const endless = async function* (): AsyncGenerator<{ n: number }> {
      for (let n = 0; ; n++) {
        if (n === 5_000) controller.abort(reason);
        yield { n };
      }
    };
    await rejectsWith(table.insert(endless(), { signal: controller.signal }), reason);
    equal(await target.fileCount(), 0, 'files');
    equal((await table.scan().toArray()).length, 0, 'rows');
    await rejectsWith(table.scan({ signal: AbortSignal.abort(reason) }).toArray(), reason);
  }),

  lakeCase('schemas and tables are made and dropped', async (lake) => {
    await lake.createSchema('s & co');
    await lake.createTable({ schema: 's & co', name: 'Ünïcode "t"' }, { n: t.int32() });
    const table = lake.table({ schema: 's & co', name: 'Ünïcode "t"' });
    await table.insert(numbers(2));
    equal((await table.scan().toArray()).length, 2, 'rows');
    await rejects(lake.createSchema('s & co'), 'ALREADY_EXISTS');
    await lake.createSchema('s & co', { ifNotExists: true });
    await lake.dropSchema('s & co', { cascade: true });
    await rejects(table.scan().toArray(), 'NOT_FOUND');
    equal(
      (await lake.schemas()).map(({ name }) => name),
      ['main'],
      'the schemas',
    );
  }),

  lakeCase('a value that does not fit is refused with its place, before anything is uploaded', async (lake, target) => {
    const table = await lake.createTable('numbers', { n: t.int8() });
    const error = await rejects(table.insert([{ n: 1 }, { n: 128 }]), 'INVALID_VALUE');
    equal([error.context['table'], error.context['column'], error.context['row']], ['numbers', 'n', 1], 'the context');
    equal(await target.fileCount(), 0, 'files');
  }),
];
