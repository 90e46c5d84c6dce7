import type { CatalogStore } from '../../catalog/store.ts';
import { NEXT, relativeId } from '../../spec/rows.ts';
import { type ConformanceCase, check, collect, equal, rejects } from '../case.ts';
import {
  appendParts,
  type CatalogTarget,
  commitOnHead,
  createTables,
  fileRow,
  insert,
  millis,
  openLake,
  statsRow,
  tick,
} from './batches.ts';

const tableNames = async (catalog: CatalogStore, snapshot?: number): Promise<(string | null)[]> => {
  const rows = await catalog.readCatalog(snapshot === undefined ? undefined : { snapshot });
  check(rows !== undefined, 'the lake is gone');
  return rows.tables.map((row) => row.table_name).sort();
};

export const readCases: readonly ConformanceCase<CatalogTarget>[] = [
  {
    name: 'readCatalog shows what was live at a snapshot, and rows as they are stored',
    async run(target) {
      await using catalog = await openLake(target);
      const [a] = await createTables(catalog, 'a');
      await createTables(catalog, 'b');
      await commitOnHead(catalog, {
        changesSchema: true,
        changes: [{ kind: 'dropped_table', id: a! }],
        ops: [
          { kind: 'end', table: 'ducklake_table', match: { table_id: a! } },
          { kind: 'end', table: 'ducklake_column', match: { table_id: a! } },
        ],
      });
      equal(
        await Promise.all([0, 1, 2, 3].map((id) => tableNames(catalog, id))),
        [[], ['a'], ['a', 'b'], ['b']],
        'the tables at each snapshot',
      );
      equal(await tableNames(catalog), ['b'], 'the tables at the head');
      const then = await catalog.readCatalog({ snapshot: 2 });
      equal(
        then?.tables.find((row) => row.table_name === 'a')?.end_snapshot,
        3,
        'end_snapshot of the table that is dropped later',
      );
      equal(
        then?.columns.map((row) => [row.table_id, row.end_snapshot]).sort(),
        [
          [1, 3],
          [2, null],
        ],
        'the columns then',
      );
      equal(
        (await catalog.readCatalog())?.columns.map((row) => row.table_id),
        [2],
        'the columns now',
      );
      equal(then?.snapshot.schemaVersion, 2, 'the schema version then');
    },
  },
  {
    name: 'readCatalog finds the newest snapshot that is not younger than an instant',
    async run(target) {
      await using catalog = await openLake(target);
      const { snapshot: first } = await catalog.readHead();
      for (const name of ['a', 'b', 'c']) {
        await tick();
        await createTables(catalog, name);
      }
      const snapshots = await collect(catalog.readSnapshots());
      for (const snapshot of snapshots) {
        // Snapshots have microseconds, a Date has milliseconds: the one after is the first that is surely not earlier.
        const found = await catalog.readCatalog({ time: new Date(millis(snapshot) + 1) });
        equal(found?.snapshot.id, snapshot.id, `the snapshot at ${snapshot.time}`);
      }
      const late = await catalog.readCatalog({ time: new Date('9999-12-31T23:59:59.999Z') });
      equal(late?.snapshot.id, 3, 'the snapshot in the far future');
      await rejects(() => catalog.readCatalog({ time: new Date(millis(first) - 1) }), 'NOT_FOUND', 'a time before all');
      await rejects(() => catalog.readCatalog({ time: new Date(-1) }), 'NOT_FOUND', 'a time before 1970');
    },
  },
  {
    name: 'readCatalog of a snapshot that the lake does not have is NOT_FOUND',
    async run(target) {
      await using catalog = await openLake(target);
      for (const snapshot of [1, 4_000_000_000, Number.MAX_SAFE_INTEGER, -1])
        await rejects(() => catalog.readCatalog({ snapshot }), 'NOT_FOUND', `snapshot ${snapshot}`);
    },
  },
  {
    name: 'readHead tells the newest snapshot and those since the one that the caller knows',
    async run(target) {
      await using catalog = await openLake(target);
      await createTables(catalog, 'a');
      await commitOnHead(catalog, { ...appendParts(1), author: 'A', message: 'M', extraInfo: '{"x":1}' });
      const head = await catalog.readHead();
      equal(head.since, [], 'since, when it was not asked for');
      equal(
        { ...head.snapshot, time: '' },
        { id: 2, time: '', schemaVersion: 1, nextCatalogId: 2, nextFileId: 1 },
        'the head',
      );
      equal(await catalog.readHead(2), { snapshot: head.snapshot, since: [] }, 'the head since itself');
      const records = await collect(catalog.readSnapshots());
      equal((await catalog.readHead(0)).since, records.slice(1), 'the snapshots since 0');
      equal(
        (await catalog.readHead(1)).since,
        [
          {
            ...head.snapshot,
            changes: 'inserted_into_table:1',
            author: 'A',
            message: 'M',
            extraInfo: '{"x":1}',
          },
        ],
        'the snapshots since 1',
      );
      equal((await catalog.readCatalog())?.snapshot, head.snapshot, 'the snapshot of readCatalog');
    },
  },
  {
    name: 'readSnapshots goes from one snapshot to another, both included, oldest first',
    async run(target) {
      await using catalog = await openLake(target);
      await createTables(catalog, 't');
      for (let i = 2; i <= 30; i++) await commitOnHead(catalog, appendParts(1));
      const ids = async (range?: { from?: number; to?: number }): Promise<number[]> =>
        (await collect(catalog.readSnapshots(range))).map(({ id }) => id);
      const upTo30 = Array.from({ length: 31 }, (_, id) => id);
      equal(await ids(), upTo30, 'all');
      equal(await ids({}), upTo30, 'a range without ends');
      equal(await ids({ from: 9 }), upTo30.slice(9), 'from 9');
      equal(await ids({ to: 9 }), upTo30.slice(0, 10), 'to 9');
      equal(await ids({ from: 9, to: 11 }), [9, 10, 11], 'from 9 to 11');
      equal(await ids({ from: 30, to: 99 }), [30], 'to beyond the head');
      equal(await ids({ from: 31 }), [], 'from beyond the head');
      equal(await ids({ from: 7, to: 6 }), [], 'an empty range');
      for await (const { id } of catalog.readSnapshots()) if (id === 3) break;
      await commitOnHead(catalog, appendParts(1));
      equal((await catalog.readHead()).snapshot.id, 31, 'the head after an iteration that was left early');
      const times = (await collect(catalog.readSnapshots())).map(millis);
      check(
        times.every((time, i) => i === 0 || times[i - 1]! <= time),
        'the times of snapshots go backwards',
      );
    },
  },
  {
    name: 'readFiles lists the live files of one table by id, with their live deletes, and statistics when asked',
    async run(target) {
      await using catalog = await openLake(target);
      const [a, b] = (await createTables(catalog, 'a', 'b')) as [number, number];
      await commitOnHead(catalog, appendParts(a, 12));
      await commitOnHead(catalog, appendParts(b, 1));
      const deleteFile = (dataFileId: number, path: string): Record<string, string | number | boolean> => ({
        delete_file_id: relativeId(0),
        table_id: a,
        begin_snapshot: NEXT,
        data_file_id: dataFileId,
        path,
        path_is_relative: true,
        format: 'parquet',
        delete_count: 2,
        file_size_bytes: 300,
        footer_size: 30,
      });
      const deleting = { fileIdCount: 1, changes: [{ kind: 'deleted_from_table', id: a }] } as const;
      await commitOnHead(catalog, { ...deleting, ops: [insert('ducklake_delete_file', deleteFile(9, 'first'))] });
      await commitOnHead(catalog, {
        ...deleting,
        ops: [
          { kind: 'end', table: 'ducklake_delete_file', match: { data_file_id: 9 } },
          insert('ducklake_delete_file', deleteFile(9, 'second')),
        ],
      });
      await commitOnHead(catalog, {
        changes: [{ kind: 'deleted_from_table', id: a }],
        ops: [{ kind: 'end', table: 'ducklake_data_file', match: { data_file_id: 3 } }],
      });
      const at = async (snapshotId: number, tableId: number): Promise<unknown[]> =>
        (await catalog.readFiles({ snapshotId, tableId, stats: 'none' })).files.map(({ file, deletes, stats }) => [
          file.data_file_id,
          deletes.map((row) => row.path),
          stats.length,
        ]);
      const all = Array.from({ length: 12 }, (_, id): [number, string[], number] => [id, [], 0]);
      const with9 = (path: string): unknown[] => all.map((entry) => (entry[0] === 9 ? [9, [path], 0] : entry));
      equal(await at(1, a), [], 'before the first append');
      equal(await at(2, a), all, 'after the append');
      equal(await at(3, a), all, 'after an append to another table');
      equal(await at(4, a), with9('first'), 'after the first delete');
      equal(await at(5, a), with9('second'), 'after the second delete');
      equal(await at(6, a), with9('second').toSpliced(3, 1), 'after all of a file was deleted');
      equal(await at(6, b), [[12, [], 0]], 'of the other table');
      equal(await at(6, 99), [], 'of a table that is not there');

      const [first] = (await catalog.readFiles({ snapshotId: 2, tableId: a, stats: 'all' })).files;
      equal(
        first?.stats,
        [{ ...statsRow(a, 0, 1), contains_nan: null, extra_stats: null }],
        'the statistics of file 0',
      );
      const deleted = (await catalog.readFiles({ snapshotId: 5, tableId: a, stats: 'all' })).files[9];
      equal(
        deleted?.deletes,
        [
          {
            ...deleteFile(9, 'second'),
            delete_file_id: 14,
            begin_snapshot: 5,
            end_snapshot: null,
            encryption_key: null,
            partial_max: null,
          },
        ],
        'the delete file of file 9',
      );
    },
  },
  {
    name: 'a file row comes back cell by cell',
    async run(target) {
      await using catalog = await openLake(target);
      const [id] = (await createTables(catalog, 't')) as [number];
      const row = {
        path: `a/b=%2F c/'"\\🦆.parquet`,
        path_is_relative: false,
        record_count: 3_000_000_000,
        file_size_bytes: 5_000_000_000_000,
        footer_size: 4_294_967_296,
        file_order: 7,
        partition_id: 8,
        mapping_id: 9,
        encryption_key: 'a2V5+/==',
        partial_max: 11,
      };
      await commitOnHead(catalog, {
        fileIdCount: 1,
        changes: [{ kind: 'inserted_into_table', id }],
        ops: [insert('ducklake_data_file', fileRow(id, relativeId(0), relativeId(0), row))],
      });
      const [found] = (await catalog.readFiles({ snapshotId: 2, tableId: id, stats: 'all' })).files;
      equal(
        found?.file,
        {
          ...fileRow(id, 0, 0, row),
          begin_snapshot: 2,
          end_snapshot: null,
        },
        'the row',
      );
      equal([found?.deletes, found?.stats], [[], []], 'its deletes and statistics');
    },
  },
  {
    name: 'text in statistics comes back as it was, whatever it looks like',
    async run(target) {
      await using catalog = await openLake(target);
      const [id] = (await createTables(catalog, 't')) as [number];
      // biome-ignore format: a list
      const texts = [
        '', 'NULL', 'null', ' ', '\\', '\\N', '\\x41', '"', "'", "''", '{a,b}', '{}', '{"a":1}', '[1]', '$1', '?', ':a', '%_',
        'true', '0', '1e5', '\n\t\r', 'é', '🦆', '\u{10ffff}', '\u0001', 'x'.repeat(10_000),
      ];
      await commitOnHead(catalog, {
        fileIdCount: 1,
        changes: [{ kind: 'inserted_into_table', id }],
        ops: [
          insert('ducklake_data_file', fileRow(id, relativeId(0), relativeId(0))),
          insert(
            'ducklake_file_column_stats',
            ...texts.map((text, k) =>
              statsRow(id, relativeId(0), k + 1, { min_value: text, max_value: null, contains_nan: k % 2 === 0 }),
            ),
          ),
        ],
      });
      const [found] = (await catalog.readFiles({ snapshotId: 2, tableId: id, stats: 'all' })).files;
      const stats = [...(found?.stats ?? [])].sort((x, y) => x.column_id! - y.column_id!);
      equal(
        stats.map((row) => row.min_value),
        texts,
        'the texts',
      );
      equal(
        stats.map((row) => [row.max_value, row.contains_nan]),
        texts.map((_, k) => [null, k % 2 === 0]),
        'NULL and booleans beside them',
      );
    },
  },
  {
    name: 'a table that DuckDB never inlined has no inlined rows',
    async run(target) {
      await using catalog = await openLake(target);
      const [id] = (await createTables(catalog, 't')) as [number];
      await commitOnHead(catalog, appendParts(id));
      const { files, ...others } = await catalog.readFiles({ snapshotId: 2, tableId: id, stats: 'none' });
      const none = { inlined: [], inlinedFields: new Map(), mappings: [], nameMappings: [], partitionColumns: [] };
      equal(others, none, 'beside the files');
      equal([files.length, files[0]?.inlinedDeletes], [1, []], 'the file and its inlined deletes');
      equal(
        await catalog.readFiles({ snapshotId: 0, tableId: 77, stats: 'all' }),
        { files: [], ...none },
        'of a table that is not there',
      );
    },
  },
  {
    name: 'a table without statistics has none',
    async run(target) {
      await using catalog = await openLake(target);
      const [id] = (await createTables(catalog, 't')) as [number];
      equal(await catalog.readTableStats(id), { table: undefined, columns: [] }, 'the statistics');
    },
  },
];
