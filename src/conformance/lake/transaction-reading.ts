import { t } from '../../schema/builder.ts';
import type { Transaction } from '../../transaction.ts';
import { type ConformanceCase, check, equal, rejects } from '../case.ts';
import { createNumbered, ids, type LakeTarget, numbered } from './target.ts';

const inMain = async (tx: Transaction): Promise<string[]> =>
  (await tx.tables()).filter(({ schema }) => schema === 'main').map(({ name }) => name);

export const transactionReadingCases: readonly ConformanceCase<LakeTarget>[] = [
  {
    name: 'a transaction reads its own rows, and others do not',
    async run(target) {
      await using lake = await target.open();
      await using other = await target.open();
      const table = await createNumbered(lake, 'events');
      await table.insert(numbered(1, 3));
      await lake.transaction(async (tx) => {
        const events = tx.table<{ id: number }, { id: bigint }>('events');
        await events.insert(numbered(4, 5));
        await events.insert(numbered(6, 6));
        const read = async (options: Parameters<typeof events.scan>[0] = {}): Promise<number[]> =>
          (await events.scan(options).toArray()).map(({ id }) => Number(id)).sort((a, b) => a - b);
        equal(await read(), [1, 2, 3, 4, 5, 6], 'all rows');
        equal(await read({ where: { id: { gt: 2, lt: 6 } } }), [3, 4, 5], 'rows between');
        equal(await read({ where: { id: 6 } }), [6], 'one row of its own');
        equal((await read({ limit: 4 })).length, 4, 'the row count up to a limit');
        equal(await read({ asOf: { snapshot: 2 } }), [1, 2, 3], 'what was committed');
        equal(await ids(other.table('events')), [1, 2, 3], 'what others see');
        equal([await events.count(), await events.count({ id: { gt: 3 } })], [6, 3], 'the counts');
        equal(await events.count({}, { asOf: { snapshot: 2 } }), 3, 'the count of what was committed');
        let rowCount = 0;
        for await (const batch of events.scan().batches()) rowCount += batch.rowCount;
        equal(rowCount, 6, 'the row count of batches');
        const virtual = await tx
          .table('events')
          .scan({ columns: ['rowid', 'snapshot_id', 'id'], where: { id: { gte: 3 } } })
          .toArray();
        const local = 10n ** 18n;
        equal(
          virtual.map((row) => [row['rowid'], row['snapshot_id'], Number(row['id'])]),
          [
            [2n, 2n, 3],
            [local, null, 4],
            [local + 1n, null, 5],
            [local + 2n, null, 6],
          ],
          'row ids and snapshots',
        );
      });
      equal(
        (
          await lake
            .table('events')
            .scan({ columns: ['rowid', 'snapshot_id'] })
            .toArray()
        ).map((row) => [row['rowid'], row['snapshot_id']]),
        [
          [0n, 2n],
          [1n, 2n],
          [2n, 2n],
          [3n, 3n],
          [4n, 3n],
          [5n, 3n],
        ],
        'row ids and snapshots after the commit',
      );
    },
  },
  {
    name: 'a transaction sees the schemas and tables that it makes and drops',
    async run(target) {
      await using lake = await target.open();
      const old = await createNumbered(lake, 'old');
      await old.insert(numbered(1, 2));
      await lake.createSchema('empty');
      await lake.transaction(async (tx) => {
        await tx.createSchema('s');
        await tx.dropSchema('empty');
        equal(
          (await tx.schemas()).map(({ name }) => name),
          ['main', 's'],
          'the schemas',
        );
        const made = await tx.createTable({ schema: 's', name: 'made' }, { id: t.int32().notNull(), v: t.varchar() });
        equal(await made.scan().toArray(), [], 'the rows of a new table');
        await made.insert([{ id: 1, v: 'a' }]);
        equal(await made.scan().toArray(), [{ id: 1, v: 'a' }], 'the rows that were inserted into it');
        const { id, columns, ...rest } = await made.describe();
        check(id < 0, 'the id of a table that is not committed is negative');
        equal([rest.schema, rest.name], ['s', 'made'], 'its names');
        equal(
          columns.map(({ name, type, nullable }) => [name, type, nullable]),
          [
            ['id', 'int32', false],
            ['v', 'varchar', true],
          ],
          'its columns',
        );
        // The same name again, as another table.
        await tx.dropTable('old');
        await rejects(() => tx.table('old').scan().toArray(), 'NOT_FOUND');
        await rejects(() => tx.table('old').describe(), 'NOT_FOUND');
        const again = await tx.createTable('old', { w: t.int32() });
        equal(await again.scan().toArray(), [], 'the rows of a table made anew');
        await again.insert([{ w: 7 }]);
        equal(await tx.table('OLD').scan().toArray(), [{ w: 7 }], 'the rows of the new one');
        equal(
          (
            await tx
              .table('old')
              .scan({ asOf: { snapshot: 2 } })
              .toArray()
          ).length,
          2,
          'the row count of the old one, as of then',
        );
        await tx.dropTable({ schema: 's', name: 'made' });
        equal(await inMain(tx), ['old'], 'the tables');
        equal((await tx.tables()).length, 1, 'the number of tables');
        await tx.dropSchema('s');
        equal(
          (await tx.schemas()).map(({ name }) => name),
          ['main'],
          'the schemas in the end',
        );
      });
      equal(await lake.table('old').scan().toArray(), [{ w: 7 }], 'the rows after the commit');
    },
  },
  {
    name: 'a transaction does not see what others commit meanwhile',
    async run(target) {
      await using lake = await target.open();
      await using other = await target.open();
      const table = await createNumbered(lake, 'events');
      await createNumbered(lake, 'gone');
      await table.insert(numbered(1, 1));
      await lake.transaction(async (tx) => {
        const events = tx.table<{ id: number }, { id: bigint }>('events');
        await other.table('events').insert(numbered(2, 3));
        await other.createSchema('later');
        await createNumbered(other, 'made');
        await other.dropTable('gone');
        const seen = async (): Promise<unknown> => (await events.scan().toArray()).map(({ id }) => Number(id));
        equal(await seen(), [1], 'the rows');
        await events.insert(numbered(4, 4));
        await other.table('events').insert(numbered(5, 5));
        equal(await seen(), [1, 4], 'the rows with its own');
        equal(await inMain(tx), ['events', 'gone'], 'the tables');
        equal(await tx.table('gone').scan().toArray(), [], 'the rows of a table that others dropped');
        await rejects(() => tx.table('made').scan().toArray(), 'NOT_FOUND');
        equal(
          (await tx.schemas()).map(({ name }) => name),
          ['main'],
          'the schemas',
        );
        equal(await ids(lake.table('events')), [1, 2, 3, 5], 'what its own lake handle sees');
      });
      equal(await ids(lake.table('events')), [1, 2, 3, 4, 5], 'the rows after the commit');
    },
  },
  {
    name: 'nothing is read through a transaction that is over',
    async run(target) {
      await using lake = await target.open();
      await createNumbered(lake, 'events');
      let left: Transaction | undefined;
      await lake.transaction((tx) => {
        left = tx;
      });
      const tx = left!;
      for (const call of [
        () => tx.table('events').scan().toArray(),
        () =>
          tx
            .table('events')
            .scan({ asOf: { snapshot: 1 } })
            .toArray(),
        () => tx.table('events').describe(),
        () => tx.tables(),
        () => tx.schemas(),
      ])
        await rejects(call, 'CLOSED');
    },
  },
];
