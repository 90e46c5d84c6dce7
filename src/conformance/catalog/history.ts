import type { CatalogStore } from '../../catalog/store.ts';
import type { HistoryRequest, TableHistory } from '../../catalog/table-history.ts';
import { type CatalogRow, NEXT, relativeId } from '../../spec/rows.ts';
import { type ConformanceCase, collect, equal, rejects } from '../case.ts';
import {
  appendParts,
  type CatalogTarget,
  commitOnHead,
  createTables,
  fileRow,
  insert,
  millis,
  openLake,
  tick,
} from './batches.ts';

function deleteRow(tableId: number, dataFileId: number, more: CatalogRow = {}): CatalogRow {
  return {
    delete_file_id: relativeId(0),
    table_id: tableId,
    begin_snapshot: NEXT,
    data_file_id: dataFileId,
    path: `${crypto.randomUUID()}-deletes.parquet`,
    path_is_relative: true,
    format: 'parquet',
    delete_count: 1,
    file_size_bytes: 100,
    footer_size: 10,
    ...more,
  };
}

/** Each file with its delete files, by id. */
const filesOf = ({ files }: TableHistory): number[][] =>
  files.map(({ file, deletes }) => [file.data_file_id, ...deletes.map((row) => row.delete_file_id).sort()]);

/**
 * Snapshots 2 and 3 add files 0 and 1 to the first table, 4 deletes from file 0 (delete file 2), 5 ends file 1, 6 adds file 3;
 * 7 adds file 4 to the second table; 8 rewrites nothing, and says so.
 */
async function openHistory(target: CatalogTarget): Promise<CatalogStore> {
  const catalog = await openLake(target);
  const [a, b] = (await createTables(catalog, 'a', 'b')) as [number, number];
  await commitOnHead(catalog, appendParts(a));
  await tick();
  await commitOnHead(catalog, appendParts(a));
  await commitOnHead(catalog, {
    fileIdCount: 1,
    changes: [{ kind: 'deleted_from_table', id: a }],
    ops: [insert('ducklake_delete_file', deleteRow(a, 0))],
  });
  await commitOnHead(catalog, {
    changes: [{ kind: 'deleted_from_table', id: a }],
    ops: [{ kind: 'end', table: 'ducklake_data_file', match: { data_file_id: 1 } }],
  });
  await commitOnHead(catalog, appendParts(a));
  await commitOnHead(catalog, appendParts(b));
  await commitOnHead(catalog, { changes: [{ kind: 'rewrite_delete', id: a }] });
  return catalog;
}

export const historyCases: readonly ConformanceCase<CatalogTarget>[] = [
  {
    name: 'readHistory gives the files with rows that began or ended in a range of snapshots',
    async run(target) {
      await using catalog = await openHistory(target);
      const between = async (from: number, to: number): Promise<number[][]> =>
        filesOf(await catalog.readHistory({ tableId: 1, from: { snapshot: from }, to }));
      equal(await between(0, 1), [], 'before there were files');
      equal(await between(2, 2), [[0]], 'the first snapshot with a file, without what deleted from it later');
      equal(await between(3, 3), [[1]], 'one snapshot in the midst');
      equal(await between(2, 3), [[0], [1]], 'both ends are included');
      equal(await between(4, 4), [[0, 2]], 'a file that was deleted from');
      equal(await between(5, 5), [[1]], 'a file that ended');
      equal(await between(4, 5), [[0, 2], [1]], 'a file that was deleted from and one that ended');
      equal(await between(6, 6), [[3]], 'what came last');
      equal(await between(7, 8), [], 'what other tables did');
      equal(await between(0, 8), [[0, 2], [1], [3]], 'everything');
      equal(await between(5, 2), [], 'a range without snapshots');
      equal(filesOf(await catalog.readHistory({ tableId: 2, from: { snapshot: 0 }, to: 8 })), [[4]], 'the other table');
    },
  },
  {
    name: 'readHistory finds files whose rows are of several snapshots, and deletes that were written anew later',
    async run(target) {
      await using catalog = await openHistory(target);
      const between = async (from: number, to: number): Promise<number[][]> =>
        filesOf(await catalog.readHistory({ tableId: 1, from: { snapshot: from }, to }));
      // As a merge leaves it: rows of the snapshots 2 to 6 in one file.
      await commitOnHead(catalog, {
        fileIdCount: 1,
        changes: [{ kind: 'merge_adjacent', id: 1 }],
        ops: [insert('ducklake_data_file', fileRow(1, relativeId(0), 0, { begin_snapshot: 2, partial_max: 6 }))],
      });
      equal(await between(6, 6), [[3], [5]], 'the last snapshot of its rows');
      equal(await between(7, 8), [], 'after its rows');
      // Another delete file that begins when the first did: which rows it deletes now, only itself tells.
      await commitOnHead(catalog, {
        fileIdCount: 1,
        changes: [{ kind: 'deleted_from_table', id: 1 }],
        ops: [insert('ducklake_delete_file', deleteRow(1, 0, { begin_snapshot: 4, partial_max: null }))],
      });
      equal(await between(10, 10), [[0, 2, 6]], 'the snapshot that wrote it');
      equal(await between(7, 9), [[0, 2, 6]], 'what comes before, which it may tell of');
      equal(await between(3, 3), [[1], [5]], 'what comes before its first row');
    },
  },
  {
    name: 'readHistory tells where the range begins, how many snapshots are there, and what was rewritten',
    async run(target) {
      await using catalog = await openHistory(target);
      const told = async (from: HistoryRequest['from'], to: number): Promise<unknown> => {
        const history = await catalog.readHistory({ tableId: 1, from, to });
        return [history.from, history.snapshotCount, history.hasBefore, [...history.changes].sort()];
      };
      equal(
        await told({ snapshot: 3 }, 8),
        [
          3,
          6,
          true,
          [
            [3, 'inserted_into_table:1'],
            [8, 'rewrite_delete:1'],
          ],
        ],
        'a range in the midst',
      );
      equal(await told({ snapshot: 0 }, 1), [0, 2, false, [[0, 'created_schema:"main"']]], 'the beginning');
      equal(await told({ snapshot: 5 }, 2), [5, 0, true, [[5, 'deleted_from_table:1']]], 'a range without snapshots');
      const snapshots = await collect(catalog.readSnapshots());
      equal(await told({ time: new Date(0) }, 1), [0, 2, false, [[0, 'created_schema:"main"']]], 'from before all');
      const [second, third] = [snapshots[2]!, snapshots[3]!];
      // Snapshots have microseconds, a Date has milliseconds: the one after is the first that is surely later.
      equal(
        ((await told({ time: new Date(millis(second) + 1) }, 8)) as unknown[])[0],
        3,
        `from after snapshot 2 on, of ${second.time} and ${third.time}`,
      );
      for (const from of [{ snapshot: 99 }, { time: new Date('9999-12-31T23:59:59.999Z') }])
        await rejects(() => told(from, 8), 'NOT_FOUND', 'a beginning that is not there');
    },
  },
  {
    name: 'readHistory gives the name mappings of its files',
    async run(target) {
      await using catalog = await openHistory(target);
      await commitOnHead(catalog, {
        fileIdCount: 2,
        changes: [{ kind: 'inserted_into_table', id: 1 }],
        ops: [
          insert('ducklake_column_mapping', { mapping_id: relativeId(1), table_id: 1, type: 'map_by_name' }),
          insert('ducklake_name_mapping', {
            mapping_id: relativeId(1),
            column_id: 0,
            source_name: 'x',
            target_field_id: 1,
            parent_column: null,
            is_partition: false,
          }),
          insert('ducklake_data_file', fileRow(1, relativeId(0), relativeId(0), { mapping_id: 6 })),
        ],
      });
      const history = await catalog.readHistory({ tableId: 1, from: { snapshot: 9 }, to: 9 });
      equal(
        [history.mappings.map((row) => row.mapping_id), history.nameMappings.map((row) => row.source_name)],
        [[6], ['x']],
        'the mapping',
      );
      const before = await catalog.readHistory({ tableId: 1, from: { snapshot: 0 }, to: 8 });
      equal([before.mappings, before.nameMappings], [[], []], 'mappings of later files');
    },
  },
];
