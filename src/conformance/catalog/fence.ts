import type { CommitBatch, Snapshot } from '../../catalog/store.ts';
import type { Change } from '../../spec/changes.ts';
import { type ConformanceCase, check, collect, equal } from '../case.ts';
import {
  appendParts,
  appendUnless,
  batchOn,
  type CatalogTarget,
  commitOnHead,
  committed,
  createTables,
  insert,
  leavesNothing,
  openLake,
  tableOps,
} from './batches.ts';

/** Changes that concern table 1 and forbid an append to it. */
const against: readonly Change[] = [
  { kind: 'dropped_table', id: 1 },
  { kind: 'altered_table', id: 1 },
  { kind: 'deleted_from_table', id: 1 },
  { kind: 'inlined_delete', id: 1 },
];

/** Changes that have nothing to do with table 1, however much their text may look like it. */
const unrelated: readonly Change[] = [
  { kind: 'inserted_into_table', id: 1 },
  { kind: 'inlined_insert', id: 1 },
  { kind: 'dropped_table', id: 10 },
  { kind: 'dropped_view', id: 1 },
  { kind: 'dropped_schema', id: 1 },
  { kind: 'altered_table', id: 11 },
  { kind: 'altered_view', id: 1 },
  { kind: 'deleted_from_table', id: 21 },
  { kind: 'inlined_delete', id: 100 },
  { kind: 'created_schema', name: 'a' },
];

export const fenceCases: readonly ConformanceCase<CatalogTarget>[] = [
  {
    name: 'an exact batch on top of an older snapshot is superseded and leaves nothing',
    async run(target) {
      await using catalog = await openLake(target);
      await using other = await target.open();
      const [id] = (await createTables(catalog, 't')) as [number];
      const { snapshot: base } = await catalog.readHead();
      await commitOnHead(other, appendParts(id));
      const batch = batchOn(base, appendParts(id, 2));
      const outcome = await leavesNothing(catalog, () => catalog.commit(batch));
      equal(outcome, { status: 'superseded' }, 'the outcome');
      equal(await catalog.findCommit(batch), undefined, 'findCommit');
      committed(
        await catalog.commit({ ...batch, base: (await catalog.readHead()).snapshot }),
        'the batch planned again',
      );
    },
  },
  {
    name: 'an exact batch that creates something is superseded as a whole',
    async run(target) {
      await using catalog = await openLake(target);
      const { snapshot: base } = await catalog.readHead();
      await createTables(catalog, 't');
      const batch = batchOn(base, {
        changesSchema: true,
        catalogIdCount: 1,
        changes: [{ kind: 'created_table', schema: 'main', name: 't' }],
        ops: [
          { kind: 'end', table: 'ducklake_schema', match: { schema_id: 0 } },
          ...tableOps({ id: -1, name: 't' }),
          insert('ducklake_metadata', { key: 'k', value: 'v' }),
        ],
      });
      const outcome = await leavesNothing(catalog, () => catalog.commit(batch));
      equal(outcome, { status: 'superseded' }, 'the outcome');
    },
  },
  {
    name: 'of several exact batches on one base, one is committed and the others are superseded',
    async run(target) {
      await using catalog = await openLake(target);
      const [id] = (await createTables(catalog, 't')) as [number];
      const { snapshot: base } = await catalog.readHead();
      const catalogs = await Promise.all(Array.from({ length: 4 }, () => target.open()));
      try {
        const batches = catalogs.map((_, k) => batchOn(base, { ...appendParts(id), author: `writer ${k}` }));
        const outcomes = await Promise.all(catalogs.map((one, k) => one.commit(batches[k]!)));
        equal(
          outcomes.map(({ status }) => status).sort(),
          ['committed', 'superseded', 'superseded', 'superseded'],
          'the outcomes',
        );
        const winner = outcomes.findIndex(({ status }) => status === 'committed');
        equal(
          (await catalog.readHead(base.id)).since.map(({ id, author }) => [id, author]),
          [[base.id + 1, `writer ${winner}`]],
          'the snapshots since',
        );
        equal((await catalog.readTableStats(id)).table?.record_count, 10, 'the rows');
        equal(
          (await catalog.readFiles({ snapshotId: base.id + 1, tableId: id, stats: 'none' })).files.length,
          1,
          'the files',
        );
        for (const [k, batch] of batches.entries())
          equal(
            (await catalog.findCommit(batch))?.id,
            k === winner ? base.id + 1 : undefined,
            `findCommit of batch ${k}`,
          );
      } finally {
        for (const one of catalogs) await one[Symbol.asyncDispose]();
      }
    },
  },
  {
    name: 'an append goes on top of later snapshots that made none of the changes it fears',
    async run(target) {
      await using catalog = await openLake(target);
      await using other = await target.open();
      const [id] = (await createTables(catalog, 't')) as [number];
      const { snapshot: base } = await catalog.readHead();
      equal((await commitOnHead(other, appendParts(id, 2))).nextFileId, 2, 'the next file id of the other writer');
      for (const change of unrelated) await commitOnHead(other, { changes: [change] });
      await createTables(other, 'u');
      await commitOnHead(other, { changes: [...unrelated] });
      const { snapshot: head } = await other.readHead();

      const batch = appendUnless(base, id, 3);
      const snapshot = committed(await catalog.commit(batch));
      equal(
        { ...snapshot, time: '' },
        {
          id: head.id + 1,
          time: '',
          schemaVersion: head.schemaVersion,
          nextCatalogId: head.nextCatalogId,
          nextFileId: 5,
        },
        'the snapshot',
      );
      equal(await catalog.findCommit(batch), snapshot, 'findCommit');
      equal(
        (await catalog.readFiles({ snapshotId: snapshot.id, tableId: id, stats: 'all' })).files.map(
          ({ file, stats }) => [
            file.data_file_id,
            file.begin_snapshot,
            file.row_id_start,
            stats.map((row) => row.data_file_id),
          ],
        ),
        [
          [0, 2, 0, [0]],
          [1, 2, 10, [1]],
          [2, snapshot.id, 20, [2]],
          [3, snapshot.id, 30, [3]],
          [4, snapshot.id, 40, [4]],
        ],
        'the files',
      );
      equal(
        (await catalog.readTableStats(id)).table,
        { table_id: id, record_count: 50, next_row_id: 50, file_size_bytes: 5000 },
        'the totals',
      );
    },
  },
  ...against.map(
    (change): ConformanceCase<CatalogTarget> => ({
      name: `an append is superseded by a later ${change.kind} of its table, wherever that stands in the changes`,
      async run(target) {
        await using catalog = await openLake(target);
        await createTables(catalog, 't');
        const around: readonly Change[] = [{ kind: 'created_table', schema: 'main', name: 'a"b' }, ...unrelated];
        for (const changes of [[change], [change, ...around], [...around, change], [...around, change, ...around]]) {
          const { snapshot: base } = await catalog.readHead();
          await commitOnHead(catalog, { changes });
          // It need not be the newest snapshot that did it.
          await commitOnHead(catalog, { changes: [{ kind: 'inserted_into_table', id: 1 }] });
          const batch = appendUnless(base, 1);
          const outcome = await leavesNothing(catalog, () => catalog.commit(batch));
          equal(outcome, { status: 'superseded' }, `the outcome after ${changes.length} changes`);
          equal(await catalog.findCommit(batch), undefined, 'findCommit');
        }
        const { snapshot: head } = await catalog.readHead();
        committed(await catalog.commit(appendUnless(head, 1)), 'an append on top of the head');
      },
    }),
  ),
  {
    name: 'a name full of quotes hides no change after it',
    async run(target) {
      await using catalog = await openLake(target);
      const [id] = (await createTables(catalog, 't')) as [number];
      for (const name of ['"', '""', 'a"', '"a', '","', '\\', "'", 'x,dropped_table:2']) {
        const { snapshot: base } = await catalog.readHead();
        await commitOnHead(catalog, {
          changes: [
            { kind: 'created_schema', name },
            { kind: 'created_table', schema: name, name },
            { kind: 'dropped_table', id },
          ],
        });
        const outcome = await catalog.commit(appendUnless(base, id));
        equal(outcome, { status: 'superseded' }, `the outcome after ${JSON.stringify(name)}`);
      }
    },
  },
  {
    name: 'what a quoted name holds is no change, whatever it looks like',
    async run(target) {
      await using catalog = await openLake(target);
      const [id] = (await createTables(catalog, 't')) as [number];
      const { snapshot: base } = await catalog.readHead();
      for (const name of [`x,dropped_table:${id},y`, `"",dropped_table:${id},""`, `a,"altered_table:${id}"`])
        await commitOnHead(catalog, { changes: [{ kind: 'created_table', schema: name, name }] });
      committed(await catalog.commit(appendUnless(base, id)), 'the append');
    },
  },
  {
    name: 'a batch that needs the same schema is superseded by a later schema version, not by a later snapshot',
    async run(target) {
      await using catalog = await openLake(target);
      const [id] = (await createTables(catalog, 't')) as [number];
      const { snapshot: base } = await catalog.readHead();
      const sameSchema = (on: Snapshot): CommitBatch => {
        const batch = appendUnless(on, id);
        return { ...batch, fence: { ...batch.fence, sameSchema: true } as CommitBatch['fence'] };
      };
      await commitOnHead(catalog, appendParts(id));
      committed(await catalog.commit(sameSchema(base)), 'on top of an append');
      await createTables(catalog, 'u');
      const outcome = await leavesNothing(catalog, () => catalog.commit(sameSchema(base)));
      equal(outcome, { status: 'superseded' }, 'the outcome on top of a new table');
      committed(await catalog.commit(sameSchema((await catalog.readHead()).snapshot)), 'on top of the head');
    },
  },
  {
    name: 'a batch on top of a snapshot that is gone, or across one that is gone, is superseded',
    async run(target) {
      await using catalog = await openLake(target);
      const [id] = (await createTables(catalog, 't')) as [number];
      const { snapshot: base } = await catalog.readHead();
      // A batch that also writes a snapshot further on leaves a gap, as expiring snapshots does.
      const gap = base.id + 2;
      await commitOnHead(catalog, {
        changes: [{ kind: 'inserted_into_table', id }],
        ops: [
          insert('ducklake_snapshot', {
            snapshot_id: base.id + 3,
            snapshot_time: base.time,
            schema_version: base.schemaVersion,
            next_catalog_id: base.nextCatalogId,
            next_file_id: base.nextFileId,
          }),
          insert('ducklake_snapshot_changes', { snapshot_id: base.id + 3, changes_made: `inserted_into_table:${id}` }),
        ],
      });
      for (const batch of [
        appendUnless(base, id),
        appendUnless({ ...base, id: gap }, id),
        batchOn(base, appendParts(id)),
      ]) {
        const outcome = await leavesNothing(catalog, () => catalog.commit(batch));
        equal(outcome, { status: 'superseded' }, `the outcome on top of ${batch.base.id}`);
      }
      const { snapshot: head } = await catalog.readHead();
      equal(head.id, base.id + 3, 'the head');
      equal(committed(await catalog.commit(appendUnless(head, id))).id, head.id + 1, 'the snapshot on top of the head');
    },
  },
  {
    name: 'a batch on top of a snapshot that is not there yet is superseded',
    async run(target) {
      await using catalog = await openLake(target);
      const [id] = (await createTables(catalog, 't')) as [number];
      const { snapshot } = await catalog.readHead();
      const base = { ...snapshot, id: snapshot.id + 5 };
      for (const batch of [appendUnless(base, id), batchOn(base, appendParts(id))]) {
        const outcome = await leavesNothing(catalog, () => catalog.commit(batch));
        equal(outcome, { status: 'superseded' }, `the outcome of ${batch.fence.kind}`);
      }
    },
  },
  {
    name: 'racing appends of several clients are all committed, with no gap and no overlap',
    async run(target) {
      await using catalog = await openLake(target);
      const tableIds = (await createTables(catalog, 't', 'u')) as [number, number];
      const { snapshot: base } = await catalog.readHead();
      const [writers, rounds, filesPerBatch] = [4, 6, 2];
      const catalogs = await Promise.all(Array.from({ length: writers }, () => target.open()));
      const snapshotIds: number[] = [];
      try {
        await Promise.all(
          catalogs.map(async (one, k) => {
            for (let round = 0; round < rounds; round++) {
              // A stale base all along: the store has to cope.
              const outcome = await one.commit(appendUnless(base, tableIds[k % 2]!, filesPerBatch));
              snapshotIds.push(committed(outcome, `append ${round} of writer ${k}`).id);
            }
          }),
        );
      } finally {
        for (const one of catalogs) await one[Symbol.asyncDispose]();
      }
      const { snapshot: head } = await catalog.readHead();
      const commits = writers * rounds;
      equal(
        snapshotIds.sort((a, b) => a - b),
        Array.from({ length: commits }, (_, k) => base.id + 1 + k),
        'the snapshots that were reported',
      );
      equal(
        (await collect(catalog.readSnapshots())).map(({ id }) => id),
        Array.from({ length: head.id + 1 }, (_, id) => id),
        'the snapshots that are there',
      );
      const fileIds: number[] = [];
      for (const tableId of tableIds) {
        const files = (await catalog.readFiles({ snapshotId: head.id, tableId, stats: 'all' })).files;
        const rowCount = (commits / 2) * filesPerBatch * 10;
        fileIds.push(...files.map(({ file }) => file.data_file_id));
        equal(
          files.map(({ file }) => file.row_id_start).sort((a, b) => a! - b!),
          Array.from({ length: rowCount / 10 }, (_, k) => k * 10),
          `the first row ids of table ${tableId}`,
        );
        check(
          files.every(({ file, stats }) => stats.length === 1 && stats[0]?.data_file_id === file.data_file_id),
          'a file lacks its statistics',
        );
        equal(
          (await catalog.readTableStats(tableId)).table,
          { table_id: tableId, record_count: rowCount, next_row_id: rowCount, file_size_bytes: rowCount * 100 },
          `the totals of table ${tableId}`,
        );
      }
      equal(
        fileIds.sort((a, b) => a - b),
        Array.from({ length: commits * filesPerBatch }, (_, id) => id),
        'the file ids',
      );
    },
  },
];
