import { t } from '../../schema/builder.ts';
import { type ConformanceCase, check, collect, equal, rejects } from '../case.ts';
import { createNumbered, ids, type LakeTarget, type NumberedTable, numbered, range } from './target.ts';

const rowIds = async (table: NumberedTable): Promise<number[]> => {
  const rows = await table.scan({ columns: ['rowid'] as never }).toArray();
  return rows.map((row) => Number((row as { readonly rowid?: unknown }).rowid)).sort((a, b) => a - b);
};

/** Rows that the catalog itself keeps. */
export const inliningCases: readonly ConformanceCase<LakeTarget>[] = [
  {
    name: 'a few rows are kept in the catalog, more in a file',
    async run(target) {
      await using lake = await target.open();
      const table = await createNumbered(lake);
      const few = await table.insert(numbered(1, 10));
      equal([few.snapshotId, few.rowCount, few.inlinedRowCount, few.files], [2, 10, 10, []], 'ten rows');
      const many = await table.insert(numbered(11, 21));
      equal([many.rowCount, many.inlinedRowCount, many.files.length], [11, 0, 1], 'eleven rows');
      await table.insert(numbered(22, 22));
      equal(await ids(table), range(1, 22), 'the rows');
      equal(await rowIds(table), range(0, 21), 'the row ids');
      equal(await ids(table, 2), range(1, 10), 'the rows of an older snapshot');
      equal((await table.files()).length, 1, 'the number of files');
      const stats = await table.stats();
      equal([stats.rowCount, stats.columns[0]?.min, stats.columns[0]?.max], [22, '1', '22'], 'the statistics');
      const changes = (await collect(lake.snapshots({ from: 2 }))).flatMap((snapshot) => snapshot.changes);
      equal(
        changes,
        [
          { kind: 'inlined_insert', id: 1 },
          { kind: 'inserted_into_table', id: 1 },
          { kind: 'inlined_insert', id: 1 },
        ],
        'the changes',
      );
      await using other = await target.open();
      equal(await ids(await numbersOf(other)), range(1, 22), 'the rows, to another');
    },
  },
  {
    name: 'rows of a stream are counted before it is decided where they go',
    async run(target) {
      await using lake = await target.open({ dataInliningRowLimit: 200 });
      const table = await createNumbered(lake);
      async function* stream(from: number, to: number): AsyncGenerator<{ readonly id: number }> {
        for (const row of numbered(from, to)) yield row;
      }
      equal((await table.insert(stream(1, 200))).inlinedRowCount, 200, 'as many as the limit');
      equal((await table.insert(stream(201, 401))).inlinedRowCount, 0, 'one more');
      equal((await table.insert(stream(402, 1000))).rowCount, 599, 'many more');
      equal((await table.insert({ columns: { id: [1001, 1002] } })).inlinedRowCount, 2, 'columns');
      equal((await table.insert(stream(1, 0))).snapshotId, undefined, 'none');
      equal(await ids(table), range(1, 1002), 'the rows');
    },
  },
  {
    name: 'values of many kinds are kept in the catalog as they are',
    async run(target) {
      await using lake = await target.open();
      const table = await lake.createTable('t', {
        id: t.int32(),
        v: t.varchar(),
        b: t.blob(),
        f: t.float32(),
        o: t.boolean(),
        i: t.interval(),
        d: t.decimal(20, 3),
        h: t.int64(),
        l: t.list(t.varchar()),
        s: t.struct({ 'a b': t.int32(), m: t.map(t.varchar(), t.list(t.date())) }),
      });
      const first = {
        id: 1,
        v: 'a\0b "c" \'d\' \\ é🦆\ufeff',
        b: Uint8Array.of(0, 255, 39, 92),
        f: -0,
        o: false,
        i: { months: 14, days: 3, micros: 14_706_500_000n },
        d: '-0.001',
        h: -(2n ** 63n),
        l: ['a b', 'a,b', null, 'NULL', '', "q'x]", '\\'],
        s: { 'a b': null, m: new Map([["k='", [new Date(0), null]]]) },
      };
      const rest = {
        v: '',
        b: new Uint8Array(),
        f: Number.NaN,
        o: true,
        i: null,
        d: null,
        h: 2n ** 63n - 1n,
        l: [],
        s: null,
      };
      const rows = [first, { id: 2 }, { id: 3, ...rest }];
      equal((await table.insert(rows)).inlinedRowCount, 3, 'the rows in the catalog');
      const none = Object.fromEntries(Object.keys(first).map((name) => [name, null]));
      equal(await table.scan().toArray(), [first, { ...none, id: 2 }, { id: 3, ...rest }], 'the rows');
    },
  },
  {
    name: 'a value that does not fit leaves nothing of a small insert',
    async run(target) {
      await using lake = await target.open();
      const table = await lake.createTable('t', { id: t.int32().notNull(), l: t.list(t.struct({ a: t.int8() })) });
      const wrong = await rejects(() => table.insert([{ id: 1, l: [{ a: 1 }, { a: 300 }] }]), 'INVALID_VALUE');
      equal(wrong.context.column, 'l', 'the column');
      check(wrong.message.includes('[1].a'), `the message says where: ${wrong.message}`);
      const missing = await rejects(() => table.insert([{ id: 1 }, { l: [] } as never]), 'INVALID_VALUE');
      equal([missing.context.column, missing.context.row], ['id', 1], 'the missing value');
      equal(await table.scan().toArray(), [], 'the rows');
      equal((await table.insert([{ id: 5 }])).snapshotId, 2, 'the next snapshot');
    },
  },
  {
    name: 'rows in the catalog and in files are part of one transaction',
    async run(target) {
      await using lake = await target.open();
      const table = await createNumbered(lake);
      await lake.transaction(async (tx) => {
        const made = await tx.createTable('made', { id: t.int64() });
        await tx.table('numbers').insert(numbered(1, 3));
        await tx.table('numbers').insert(numbered(4, 30));
        await made.insert(numbered(1, 2));
        await tx.table('numbers').insert(numbered(31, 32));
        equal((await tx.table('numbers').scan().toArray()).length, 32, 'the rows, inside it');
      });
      equal(await ids(table), range(1, 32), 'the rows');
      equal(await rowIds(table), range(0, 31), 'the row ids');
      equal(await ids(lake.table('made') as unknown as NumberedTable), [1, 2], 'the rows of the new table');
      const failed = lake.transaction(async (tx) => {
        await tx.table('numbers').insert(numbered(50, 51));
        throw new Error('no');
      });
      await failed.catch(() => undefined);
      equal(await ids(table), range(1, 32), 'the rows after a failed one');
    },
  },
  {
    name: 'several writers make the place for the rows of an older table once',
    async run(target) {
      {
        await using old = await target.open({ dataInliningRowLimit: 0 });
        await createNumbered(old);
        await old.table<{ readonly id: number }>('numbers').insert(numbered(1, 2));
      }
      const clients = await Promise.all(Array.from({ length: 4 }, () => target.open()));
      try {
        await Promise.all(clients.map(async (lake, i) => (await numbersOf(lake)).insert(numbered(10 + i, 10 + i))));
        await Promise.all(clients.map(async (lake, i) => (await numbersOf(lake)).insert(numbered(20 + i, 20 + i))));
        const table = await numbersOf(clients[0]!);
        equal(await ids(table), [1, 2, 10, 11, 12, 13, 20, 21, 22, 23], 'the rows');
        equal(await rowIds(table), range(0, 9), 'the row ids');
      } finally {
        await Promise.all(clients.map((lake) => lake.close()));
      }
    },
  },
  {
    name: 'small inserts of many callers land once each, in few snapshots',
    async run(target) {
      await using lake = await target.open();
      const table = await createNumbered(lake);
      await table.insert(numbered(1, 1));
      const results = await Promise.all(
        Array.from({ length: 40 }, (_, i) => table.insert(numbered(2 + 2 * i, 3 + 2 * i))),
      );
      check(new Set(results.map(({ snapshotId }) => snapshotId)).size < 20, 'callers share snapshots');
      equal(
        results.every(({ inlinedRowCount, rowCount }) => inlinedRowCount === 2 && rowCount === 2),
        true,
        'each has its own result',
      );
      equal(await ids(table), range(1, 81), 'the rows');
      equal(await rowIds(table), range(0, 80), 'the row ids');
    },
  },
  {
    name: 'flushing moves rows into a file, and no snapshot shows anything else',
    async run(target) {
      await using lake = await target.open();
      const table = await createNumbered(lake);
      const other = await lake.createTable('other', { id: t.int64(), l: t.list(t.varchar()), j: t.json() });
      for (let i = 0; i < 5; i++) await table.insert(numbered(1 + 2 * i, 2 + 2 * i));
      const rows = [
        { id: 1n, l: ['a', null], j: 'text' },
        { id: null, l: [], j: { a: [1] } },
      ];
      await other.insert([{ ...rows[0]!, j: '"text"' }, rows[1]!]);
      const { snapshotId, tables } = await lake.maintenance.flushInlined();
      equal(
        tables,
        [
          { schema: 'main', name: 'numbers', rowCount: 10, deleteCount: 0 },
          { schema: 'main', name: 'other', rowCount: 2, deleteCount: 0 },
        ],
        'what was flushed',
      );
      equal(
        (await table.files()).map(({ rowCount, beginSnapshot }) => [rowCount, beginSnapshot]),
        [[10, 3]],
        'the file',
      );
      for (let i = 0; i <= 5; i++) equal(await ids(table, 2 + i), range(1, 2 * i), `the rows at snapshot ${2 + i}`);
      equal(await rowIds(table), range(0, 9), 'the row ids');
      equal(await other.scan().toArray(), rows, 'the rows of the other table');
      equal(
        (await collect(lake.snapshots({ from: snapshotId! })))[0]?.changes.map(({ kind }) => kind),
        ['inline_flush', 'inline_flush'],
        'the changes',
      );
      await table.insert(numbered(11, 12));
      equal(await rowIds(table), range(0, 11), 'the row ids after another insert');
      equal((await lake.maintenance.flushInlined({ table: 'other' })).snapshotId, undefined, 'nothing to flush');
      equal((await lake.maintenance.flushInlined({ schema: 'main' })).tables.length, 1, 'one table to flush');
      equal(await ids(table), range(1, 12), 'the rows in the end');
      await rejects(() => lake.maintenance.flushInlined({ table: 'nowhere' }), 'NOT_FOUND');
    },
  },
  {
    name: 'inserts go on while their table is flushed',
    async run(target) {
      await using lake = await target.open();
      await using second = await target.open();
      const table = await createNumbered(lake);
      await table.insert(numbered(1, 1));
      const again = await numbersOf(second);
      const inserting = (async () => {
        for (let i = 2; i <= 30; i++) await again.insert(numbered(i, i));
      })();
      for (let i = 0; i < 5; i++) await lake.maintenance.flushInlined();
      await inserting;
      await lake.maintenance.flushInlined();
      equal(await ids(table), range(1, 30), 'the rows');
      equal(await rowIds(table), range(0, 29), 'the row ids');
    },
  },
  {
    name: 'columns of reserved names keep their rows out of the catalog',
    async run(target) {
      await using lake = await target.open();
      const table = await lake.createTable('t', { row_id: t.int32(), BEGIN_snapshot: t.int32() });
      equal((await table.insert([{ row_id: 1 }])).inlinedRowCount, 0, 'the rows in the catalog');
      equal((await table.scan().toArray()).length, 1, 'the rows');
    },
  },
];

async function numbersOf(lake: Awaited<ReturnType<LakeTarget['open']>>): Promise<NumberedTable> {
  return lake.table('numbers') as unknown as NumberedTable;
}
