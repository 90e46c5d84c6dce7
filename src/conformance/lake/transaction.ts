import { t } from '../../schema/builder.ts';
import type { Transaction, TransactionTable } from '../../transaction.ts';
import { type ConformanceCase, check, collect, equal, rejects, rejectsWith } from '../case.ts';
import { createNumbered, headId, ids, type LakeTarget, numbered, range } from './target.ts';

export const transactionCases: readonly ConformanceCase<LakeTarget>[] = [
  {
    name: 'creations and inserts into several tables are one snapshot',
    async run(target) {
      await using lake = await target.open();
      await using other = await target.open();
      const first = await createNumbered(lake, 'first');
      await first.insert(numbered(1, 3));
      const { snapshotId, value } = await lake.transaction(
        async (tx) => {
          await tx.createSchema('s');
          const second = await tx.createTable({ schema: 's', name: 'second' }, { id: t.int64(), text: t.varchar() });
          equal((await second.insert([{ id: 1, text: 'a' }])).rowCount, 1, 'the row count of an insert');
          await second.insert([{ id: 2 }]);
          await tx.table('first').insert(numbered(4, 5));
          await tx.table<{ id: number }>({ schema: 'S', name: 'SECOND' }).insert([{ id: 3 }]);
          equal((await tx.table('first').insert([])).rowCount, 0, 'the row count of an insert of nothing');
          equal(
            (await other.tables()).map(({ name }) => name),
            ['first'],
            'what others see meanwhile',
          );
          return 'done';
        },
        { author: 'A', message: 'M' },
      );
      equal([snapshotId, value], [3, 'done'], 'the result');
      equal(await headId(other), 3, 'the head');
      const [snapshot] = await collect(other.snapshots({ from: 3 }));
      equal([snapshot?.author, snapshot?.message, snapshot?.schemaVersion], ['A', 'M', 2], 'the snapshot');
      equal(
        snapshot?.changes,
        [
          { kind: 'created_schema', name: 's' },
          { kind: 'created_table', schema: 's', name: 'second' },
          { kind: 'inserted_into_table', id: 1 },
          { kind: 'inserted_into_table', id: 3 },
        ],
        'its changes',
      );
      const second = other.table({ schema: 's', name: 'second' });
      equal(
        await second.scan().toArray(),
        [
          { id: 1n, text: 'a' },
          { id: 2n, text: null },
          { id: 3n, text: null },
        ],
        'the rows of the new table',
      );
      equal(
        (await second.files()).map(({ rowIdStart }) => rowIdStart),
        [0, 1, 2],
        'its first row ids',
      );
      equal(await ids(first), [1, 2, 3, 4, 5], 'the rows of the old table');
      equal(
        (await first.files()).map(({ rowIdStart }) => rowIdStart),
        [0, 3],
        'its first row ids',
      );
      equal(
        (await second.stats()).columns.map(({ name, containsNull, min, max }) => [name, containsNull, min, max]),
        [
          ['id', false, '1', '3'],
          ['text', true, 'a', 'a'],
        ],
        'its statistics',
      );
    },
  },
  {
    name: 'inserts of one transaction may run at once',
    async run(target) {
      await using lake = await target.open();
      const table = await createNumbered(lake);
      const { snapshotId } = await lake.transaction((tx) =>
        Promise.all(range(0, 7).map((k) => tx.table('numbers').insert(numbered(k * 10, k * 10 + 9)))),
      );
      equal(snapshotId, 2, 'the snapshot');
      equal(await ids(table), range(0, 79), 'the rows');
      equal(
        (await table.files()).map(({ rowIdStart }) => rowIdStart),
        range(0, 7).map((k) => k * 10),
        'the first row ids',
      );
    },
  },
  {
    name: 'a transaction inside another is one of its own',
    async run(target) {
      await using lake = await target.open();
      const table = await createNumbered(lake);
      const reason = new Error('no');
      await rejectsWith(
        () =>
          lake.transaction(async (tx) => {
            await tx.table('numbers').insert([{ id: 1 }]);
            await lake.transaction((inner) => inner.table('numbers').insert([{ id: 2 }]));
            await table.insert([{ id: 3 }]);
            throw reason;
          }),
        reason,
        'the outer transaction',
      );
      equal(await ids(table), [2, 3], 'the rows');
    },
  },
  {
    name: 'a throw inside leaves nothing, and is rethrown',
    async run(target) {
      await using lake = await target.open();
      const table = await createNumbered(lake);
      const reason = new Error('no');
      await rejectsWith(
        () =>
          lake.transaction(async (tx) => {
            await tx.createSchema('s');
            await tx.table('numbers').insert(numbered(1, 10));
            throw reason;
          }),
        reason,
        'the transaction',
      );
      await rejects(
        () =>
          lake.transaction(async (tx) => {
            await tx.table('numbers').insert(numbered(1, 10));
            await tx.table('numbers').insert([{ id: 'x' }]);
          }),
        'INVALID_VALUE',
        'a transaction with a bad row',
      );
      const controller = new AbortController();
      await rejectsWith(
        () =>
          lake.transaction(
            async (tx) => {
              await tx.table('numbers').insert(numbered(1, 10));
              controller.abort(reason);
            },
            { signal: controller.signal },
          ),
        reason,
        'a transaction that was aborted',
      );
      equal([await headId(lake), await ids(table), (await lake.schemas()).length], [1, [], 1], 'what there is');
      await table.insert([{ id: 1 }]);
      equal(await ids(table), [1], 'the rows after the next insert');
    },
  },
  {
    name: 'a bad row that the callback catches costs that insert alone',
    async run(target) {
      await using lake = await target.open();
      const table = await createNumbered(lake);
      await lake.transaction(async (tx) => {
        await tx.table('numbers').insert(numbered(1, 3));
        await rejects(() => tx.table('numbers').insert([{ id: 4 }, { id: 'x' }]), 'INVALID_VALUE', 'the bad insert');
        await tx.table('numbers').insert(numbered(5, 6));
      });
      equal(await ids(table), [1, 2, 3, 5, 6], 'the rows');
    },
  },
  {
    name: 'a transaction that changes nothing makes no snapshot',
    async run(target) {
      await using lake = await target.open();
      const table = await createNumbered(lake);
      const result = await lake.transaction(async (tx) => {
        await tx.table('numbers').insert([]);
        await tx.createTable('numbers', { id: t.int64() }, { ifNotExists: true });
        await tx.dropTable('other', { ifExists: true });
        await tx.createSchema('s');
        await tx.dropSchema('s');
        await tx.createTable('brief', { id: t.int64() });
        await tx.table('brief').insert([{ id: 1 }]);
        await tx.dropTable('brief');
        return 1;
      });
      equal(result, { snapshotId: undefined, value: 1 }, 'the result');
      equal([await headId(lake), (await lake.tables()).length, await ids(table)], [1, 1, []], 'what there is');
    },
  },
  {
    name: 'a transaction sees its own changes of the schema',
    async run(target) {
      await using lake = await target.open();
      await createNumbered(lake);
      await lake.transaction(async (tx) => {
        await tx.createTable('t', { id: t.int64() });
        await rejects(() => tx.createTable('T', { id: t.int64() }), 'ALREADY_EXISTS', 'making a table twice');
        await tx.dropTable('numbers');
        await rejects(() => tx.table('numbers').insert([{ id: 1 }]), 'NOT_FOUND', 'an insert into a dropped table');
        await rejects(() => tx.dropTable('numbers'), 'NOT_FOUND', 'dropping a table twice');
        await tx.createTable('numbers', { other: t.varchar() });
        await tx.table('numbers').insert([{ other: 'x' }]);
        await tx.createSchema('s');
        await tx.createTable({ schema: 's', name: 'inside' }, { id: t.int64() });
        await rejects(() => tx.dropSchema('s'), 'INVALID_ARGUMENT', 'dropping a schema that holds a new table');
      });
      equal(
        (await lake.tables()).map(({ schema, name }) => `${schema}.${name}`).sort(),
        ['main.numbers', 'main.t', 's.inside'],
        'the tables',
      );
      equal(
        await lake.table('numbers').scan().toArray(),
        [{ other: 'x' }],
        'the rows of the table that replaced another',
      );
    },
  },
  {
    name: 'a transaction is over when its callback is',
    async run(target) {
      await using lake = await target.open();
      await createNumbered(lake);
      let kept: { tx: Transaction; table: TransactionTable } | undefined;
      await lake.transaction(async (tx) => {
        kept = { tx, table: tx.table('numbers') };
      });
      await rejects(() => kept!.table.insert([{ id: 1 }]), 'CLOSED', 'an insert afterwards');
      await rejects(() => kept!.tx.createSchema('s'), 'CLOSED', 'createSchema afterwards');
      let late: Promise<unknown> | undefined;
      await lake.transaction((tx) => {
        late = tx.table('numbers').insert(numbered(1, 10));
        late.catch(() => {});
      });
      await rejects(late!, 'CLOSED', 'an insert that was not awaited');
      equal(await headId(lake), 1, 'the head');
    },
  },
  {
    name: 'rows that arrive after their table was dropped, in the same transaction, are refused',
    async run(target) {
      await using lake = await target.open();
      const table = await createNumbered(lake);
      await table.insert(numbered(1, 3));
      const dropped = Promise.withResolvers<void>();
      const late = async function* () {
        await dropped.promise;
        yield { id: 4 };
      };
      await lake.transaction(async (tx) => {
        const fresh = await tx.createTable('fresh', { id: t.int64() });
        const inserts = [tx.table('numbers').insert(late()), fresh.insert(late())];
        for (const insert of inserts) insert.catch(() => {});
        await Promise.all([tx.dropTable('numbers'), tx.dropTable('fresh')]);
        await tx.createTable('other', { text: t.varchar() });
        dropped.resolve();
        for (const insert of inserts) await rejects(insert, 'NOT_FOUND', 'an insert into a table that was dropped');
      });
      equal(await lake.table('other').scan().toArray(), [], 'the rows of the table that was made afterwards');
      equal(await ids(table, 2), [1, 2, 3], 'the rows before the drop');
    },
  },
  {
    name: 'two transactions that make the same table: one wins, the other conflicts',
    async run(target) {
      await using a = await target.open();
      await using b = await target.open();
      const slow = a.transaction(async (tx) => {
        const table = await tx.createTable('same', { id: t.int64() });
        await table.insert([{ id: 1 }]);
        await b.createTable('SAME', { id: t.int64() });
      });
      const error = await rejects(slow, 'CONFLICT', 'the transaction that came second');
      check(error.retryable, 'a conflict is not marked as retryable');
      equal(
        (await a.tables()).map(({ name }) => name),
        ['SAME'],
        'the tables',
      );
      equal(await a.table('same').scan().toArray(), [], 'the rows');
      equal(await headId(a), 1, 'the head');
    },
  },
  {
    name: 'what was committed meanwhile stands against a transaction only where they touch',
    async run(target) {
      await using a = await target.open();
      await using b = await target.open();
      await createNumbered(a, 'dropped');
      const kept = await createNumbered(a, 'kept');
      await a.createSchema('gone');
      const during = (change: () => Promise<unknown>, work: (tx: Transaction) => Promise<unknown>): Promise<unknown> =>
        a.transaction(async (tx) => {
          await work(tx);
          await change();
        });
      // Appends and new tables of others are no conflict.
      await during(
        async () => {
          await b.table('kept').insert(numbered(1, 3));
          await createNumbered(b, 'fresh');
        },
        async (tx) => {
          await tx.table('kept').insert(numbered(4, 6));
          await tx.createTable('mine', { id: t.int64() });
        },
      );
      equal(await ids(kept), range(1, 6), 'the rows of both');
      equal(
        (await kept.files()).map(({ rowIdStart }) => rowIdStart),
        [0, 3],
        'their first row ids',
      );
      equal(
        (await b.tables()).map(({ name }) => name).sort(),
        ['dropped', 'fresh', 'kept', 'mine'],
        'the tables of both',
      );
      await rejects(
        () =>
          during(
            () => b.dropTable('dropped'),
            (tx) => tx.table('dropped').insert([{ id: 1 }]),
          ),
        'CONFLICT',
        'an insert into a table that was dropped meanwhile',
      );
      await rejects(
        () =>
          during(
            () => b.dropSchema('gone'),
            (tx) => tx.createTable({ schema: 'gone', name: 't' }, { id: t.int64() }),
          ),
        'CONFLICT',
        'a table in a schema that was dropped meanwhile',
      );
      await rejects(
        () =>
          during(
            () => b.dropTable('mine'),
            (tx) => tx.dropTable('mine'),
          ),
        'CONFLICT',
        'a drop of what was dropped meanwhile',
      );
      equal(await ids(kept), range(1, 6), 'the rows in the end');
    },
  },
  {
    name: 'a handle whose schema is out of date inserts into the table of today',
    async run(target) {
      await using a = await target.open();
      await using b = await target.open();
      const table = await createNumbered(a);
      await b.dropTable('numbers');
      const again = await createNumbered(b);
      await table.insert(numbered(1, 3));
      equal(await ids(again), [1, 2, 3], 'the rows of the new table');
      equal((await again.files()).length, 1, 'the number of its files');
      await b.dropTable('numbers');
      await rejects(() => table.insert([{ id: 1 }]), 'NOT_FOUND', 'an insert when there is none');
    },
  },
];
