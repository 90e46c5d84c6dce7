import { t } from '../../schema/builder.ts';
import { type ConformanceCase, check, collect, equal, rejects, rejectsWith } from '../case.ts';
import { createNumbered, ids, type LakeTarget, numbered, range } from './target.ts';

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

export const readingCases: readonly ConformanceCase<LakeTarget>[] = [
  {
    name: 'time travel by snapshot and by time',
    async run(target) {
      await using lake = await target.open();
      const table = await createNumbered(lake);
      const results = [];
      for (let k = 0; k < 4; k++) {
        await pause();
        results.push(await table.insert(numbered(k * 10, k * 10 + 9)));
      }
      const times = (await collect(lake.snapshots({ from: results[0]!.snapshotId! }))).map(({ time }) => time);
      for (const [k, { snapshotId }] of results.entries()) {
        equal(await ids(table, snapshotId), range(0, k * 10 + 9), `the rows at snapshot ${snapshotId}`);
        const [snapshot] = await collect(lake.snapshots({ from: snapshotId!, to: snapshotId! }));
        // Snapshots have microseconds: a Timestamp carries them, a Date doesn't, and the next snapshot may be before it.
        const date = new Date(snapshot!.time.getTime() + 1);
        const byDate = times.filter((time) => time.micros <= BigInt(date.getTime()) * 1000n).length;
        for (const [time, count] of [
          [snapshot!.time, k + 1],
          [date, byDate],
        ] as const) {
          const rows = await table.scan({ asOf: { time } }).toArray();
          equal(rows.length, count * 10, `the number of rows at ${time.toISOString()}`);
        }
      }
      equal(await ids(table, 1), [], 'the rows right after the table was made');
      await rejects(() => ids(table, 0), 'NOT_FOUND', 'a scan before the table was made');
      await rejects(() => ids(table, 99), 'NOT_FOUND', 'a scan at a snapshot that is not there');
      for (const time of [new Date(0), new Date(-8.64e15)])
        await rejects(() => table.scan({ asOf: { time } }).toArray(), 'NOT_FOUND', 'a scan before all');
      equal((await table.scan({ asOf: { time: new Date(8.64e15) } }).toArray()).length, 40, 'rows at the end of time');
    },
  },
  {
    name: 'each snapshot is found by its own time, however close to the next',
    async run(target) {
      await using lake = await target.open();
      await createNumbered(lake);
      // Messages of their own keep them apart: others may become one snapshot.
      await Promise.all(range(1, 12).map((id) => lake.table('numbers').insert([{ id }], { message: `${id}` })));
      const snapshots = await collect(lake.snapshots());
      for (const { id, time } of snapshots.slice(1))
        equal(
          (await lake.table('numbers').scan({ asOf: { time } }).toArray()).length,
          id - 1,
          `rows at snapshot ${id}`,
        );
    },
  },
  {
    name: 'snapshots tell what happened, oldest first',
    async run(target) {
      await using lake = await target.open();
      const table = await createNumbered(lake);
      await table.insert([{ id: 1 }]);
      await lake.dropTable('numbers');
      const snapshots = await collect(lake.snapshots());
      equal(
        snapshots.map(({ id, schemaVersion, changes }) => [id, schemaVersion, changes]),
        [
          [0, 0, [{ kind: 'created_schema', name: 'main' }]],
          [1, 1, [{ kind: 'created_table', schema: 'main', name: 'numbers' }]],
          [2, 1, [{ kind: 'inserted_into_table', id: 1 }]],
          [3, 2, [{ kind: 'dropped_table', id: 1 }]],
        ],
        'the snapshots',
      );
      for (const { time } of snapshots) {
        check(time instanceof Date && Math.abs(time.getTime() - Date.now()) < 3_600_000, `a time is ${time}`);
        check(typeof time.micros === 'bigint', 'a time has no microseconds');
      }
      equal(
        (await collect(lake.snapshots({ from: 1, to: 2 }))).map(({ id }) => id),
        [1, 2],
        'a range',
      );
      for await (const { id } of lake.snapshots()) if (id === 1) break;
    },
  },
  {
    name: 'a scan gives the columns and as many rows as it is asked for, each time it is iterated',
    async run(target) {
      await using lake = await target.open();
      const table = await lake.createTable('t', { a: t.int32(), b: t.varchar(), c: t.boolean() });
      await table.insert([
        { a: 1, b: 'x', c: true },
        { a: 2, b: 'y' },
      ]);
      await table.insert([{ a: 3, b: 'z', c: false }]);
      const scan = table.scan({ columns: ['c', 'a'] });
      const expected = [
        { c: true, a: 1 },
        { c: null, a: 2 },
        { c: false, a: 3 },
      ];
      equal(await collect(scan), expected, 'the rows');
      equal(await scan.toArray(), expected, 'the rows again');
      equal(Object.keys((await scan.toArray())[0]!), ['c', 'a'], 'the order of the columns');
      equal(Object.keys((await table.scan().toArray())[0]!), ['a', 'b', 'c'], 'the order of all columns');
      for (const limit of [0, 1, 2, 3, 4, 1000]) {
        const rows = await table.scan({ limit }).toArray();
        equal(
          rows.map(({ a }) => a),
          [1, 2, 3].slice(0, limit),
          `the rows up to ${limit}`,
        );
        let counted = 0;
        for await (const batch of table.scan({ limit }).batches()) {
          for (const column of Object.values(batch.columns))
            check(column.length >= batch.rowCount, 'a column of a batch is too short');
          counted += batch.rowCount;
        }
        equal(counted, Math.min(3, limit), `the rows of batches up to ${limit}`);
      }
      for (const limit of [-1, 1.5, Number.NaN])
        await rejects(() => table.scan({ limit }).toArray(), 'INVALID_ARGUMENT', `limit ${limit}`);
      await rejects(() => table.scan({ columns: ['d' as 'a'] }).toArray(), 'NOT_FOUND', 'a column that is not there');
      for await (const { a } of table.scan()) if (a === 1) break;
      equal((await table.scan({ columns: [] }).toArray()).length, 3, 'the number of rows without columns');
    },
  },
  {
    name: 'counts, plans and explanations say what scans give',
    async run(target) {
      await using lake = await target.open();
      const table = await createNumbered(lake);
      for (let k = 0; k < 3; k++) await table.insert(numbered(k * 100, k * 100 + 99));
      await table.insert([{ id: 1000 }]);
      for (const where of [
        undefined,
        {},
        { id: { gte: 150 } },
        { id: { lt: 100 } },
        { id: { in: [5, 1000] } },
        { id: -1 },
        { not: { id: { gt: 50 } } },
      ])
        for (const snapshot of [1, 3, 5]) {
          const options = { asOf: { snapshot } };
          const rows = await table.scan({ ...options, where }).toArray();
          equal(await table.count(where, options), rows.length, `rows of ${JSON.stringify(where)} at ${snapshot}`);
        }
      const scan = table.scan({ where: { id: { gte: 150, lt: 300 } } });
      const { tasks, snapshotId, limit } = await scan.plan();
      equal([tasks.length >= 2, snapshotId, limit], [true, 5, null], 'the plan');
      equal(JSON.parse(JSON.stringify(tasks)), tasks, 'tasks on their way through JSON');
      const { files, pruned, readByteLength, requestCount } = await scan.explain();
      equal(
        files.map(({ rowCount, readRowGroupCount }) => [rowCount, readRowGroupCount]),
        [
          [100, 1],
          [100, 1],
        ],
        'the files that are read',
      );
      check(
        pruned.some(({ fileCount, filter }) => fileCount === 1 && filter === '"id" >= 150'),
        'what is ruled out',
      );
      check(requestCount === 2 && readByteLength > 0, `${requestCount} requests for ${readByteLength} bytes`);
    },
  },
  {
    name: 'a scan reads the version that it began with',
    async run(target) {
      await using lake = await target.open();
      await using other = await target.open();
      const table = await createNumbered(lake);
      await table.insert([{ id: 1 }]);
      await table.insert([{ id: 2 }]);
      const seen: bigint[] = [];
      for await (const { id } of table.scan()) {
        if (seen.length === 0) {
          await other.table('numbers').insert([{ id: 3 }]);
          await other.dropTable('numbers');
        }
        seen.push(id);
      }
      equal(seen, [1n, 2n], 'the rows');
    },
  },
  {
    name: 'an aborted scan rejects with the reason',
    async run(target) {
      await using lake = await target.open();
      const table = await createNumbered(lake);
      for (let k = 0; k < 3; k++) await table.insert(numbered(k * 1000, k * 1000 + 999));
      const reason = new Error('enough');
      await rejectsWith(() => table.scan({ signal: AbortSignal.abort(reason) }).toArray(), reason, 'before');
      const controller = new AbortController();
      await rejectsWith(
        async () => {
          for await (const { id } of table.scan({ signal: controller.signal })) if (id === 5n) controller.abort(reason);
        },
        reason,
        'during',
      );
      equal(
        (await table.scan({ signal: new AbortController().signal }).toArray()).length,
        3000,
        'the rows without abort',
      );
    },
  },
  {
    name: 'an empty table reads as no rows, with statistics of none',
    async run(target) {
      await using lake = await target.open();
      const table = await lake.createTable('t', { a: t.int32(), b: t.float64() });
      equal(await table.scan().toArray(), [], 'the rows');
      equal(await table.files(), [], 'the files');
      const none = { containsNull: null, containsNan: null, min: null, max: null };
      equal(
        await table.stats(),
        {
          rowCount: 0,
          byteLength: 0,
          columns: [
            { name: 'a', ...none },
            { name: 'b', ...none },
          ],
        },
        'the statistics',
      );
    },
  },
];
