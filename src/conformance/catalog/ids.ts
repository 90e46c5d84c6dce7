import type { Change } from '../../spec/changes.ts';
import { NEXT, relativeId } from '../../spec/rows.ts';
import { type ConformanceCase, equal } from '../case.ts';
import {
  appendParts,
  batchOn,
  bySnapshot,
  type CatalogTarget,
  columnRow,
  commitOnHead,
  committed,
  createTables,
  fileRow,
  insert,
  numbers,
  openLake,
  statsRow,
  tableOps,
} from './batches.ts';

export const idCases: readonly ConformanceCase<CatalogTarget>[] = [
  {
    name: 'one batch creates a schema, a table in it and its first files, all by relative ids',
    async run(target) {
      await using catalog = await openLake(target);
      await createTables(catalog, 'before');
      const { snapshot: base } = await catalog.readHead();
      const [schema, table] = [relativeId(0), relativeId(1)];
      const schemaUuid = crypto.randomUUID();
      const tableUuid = crypto.randomUUID();
      const append = appendParts(table, 2);
      const outcome = await catalog.commit(
        batchOn(base, {
          ...append,
          changesSchema: true,
          catalogIdCount: 2,
          changes: [
            { kind: 'created_schema', name: 's' },
            { kind: 'created_table', schema: 's', name: 't' },
            { kind: 'inserted_into_table', id: table },
          ],
          ops: [
            insert('ducklake_schema', {
              schema_id: schema,
              schema_uuid: schemaUuid,
              begin_snapshot: NEXT,
              schema_name: 's',
              path: 's/',
              path_is_relative: true,
            }),
            ...tableOps({ id: table, schemaId: schema, name: 't', uuid: tableUuid }),
            ...append.ops!,
          ],
        }),
      );
      const snapshot = committed(outcome);
      equal(
        { ...snapshot, time: '' },
        { id: 2, time: '', schemaVersion: 2, nextCatalogId: 4, nextFileId: 2 },
        'the snapshot',
      );
      const rows = await catalog.readCatalog();
      equal(rows?.snapshot, snapshot, 'the head');
      equal(
        rows?.schemas.find((row) => row.schema_id === 2),
        {
          schema_id: 2,
          schema_uuid: schemaUuid,
          begin_snapshot: 2,
          end_snapshot: null,
          schema_name: 's',
          path: 's/',
          path_is_relative: true,
        },
        'the schema',
      );
      equal(
        rows?.tables.find((row) => row.table_id === 3),
        {
          table_id: 3,
          table_uuid: tableUuid,
          begin_snapshot: 2,
          end_snapshot: null,
          schema_id: 2,
          table_name: 't',
          path: `${tableUuid}/`,
          path_is_relative: true,
        },
        'the table',
      );
      equal(
        rows?.columns.filter((row) => row.table_id === 3),
        [
          {
            ...columnRow(3, 1),
            begin_snapshot: 2,
            end_snapshot: null,
            initial_default: null,
            parent_column: null,
          },
        ],
        'the columns',
      );
      const files = (await catalog.readFiles({ snapshotId: 2, tableId: 3, stats: 'all' })).files;
      equal(
        files.map(({ file, stats }) => [
          file.data_file_id,
          file.begin_snapshot,
          file.row_id_start,
          stats.map((row) => [row.data_file_id, row.table_id]),
        ]),
        [
          [0, 2, 0, [[0, 3]]],
          [1, 2, 10, [[1, 3]]],
        ],
        'the files',
      );
      equal(
        (await catalog.readTableStats(3)).table,
        { table_id: 3, record_count: 20, next_row_id: 20, file_size_bytes: 2000 },
        'the totals',
      );
      equal(
        await bySnapshot(catalog, 2),
        'created_schema:"s",created_table:"s"."t",inserted_into_table:3',
        'the changes',
      );
    },
  },
  {
    name: 'an append leaves the schema version and the catalog ids alone',
    async run(target) {
      await using catalog = await openLake(target);
      const [id] = (await createTables(catalog, 't')) as [number];
      const first = await commitOnHead(catalog, appendParts(id, 3));
      const second = await commitOnHead(catalog, appendParts(id, 1));
      equal(
        [first, second].map((snapshot) => ({ ...snapshot, time: '' })),
        [
          { id: 2, time: '', schemaVersion: 1, nextCatalogId: 2, nextFileId: 3 },
          { id: 3, time: '', schemaVersion: 1, nextCatalogId: 2, nextFileId: 4 },
        ],
        'the snapshots',
      );
      equal((await catalog.readHead()).snapshot, second, 'the head');
    },
  },
  {
    name: 'row ids of several files of several tables in one batch go on from each table',
    async run(target) {
      await using catalog = await openLake(target);
      const [a, b, c] = (await createTables(catalog, 'a', 'b', 'c')) as [number, number, number];
      await commitOnHead(catalog, appendParts(a, 2));
      await commitOnHead(catalog, appendParts(b, 1));
      const fresh = relativeId(0);
      const perTable = [a, b, c, fresh].map((tableId, t) => ({
        tableId,
        files: [0, 1, 2].map((k) => ({ id: relativeId(3 * t + k), rowIdStart: relativeId(k * 5), rows: 5 })),
      }));
      const { snapshot: base } = await catalog.readHead();
      const outcome = await catalog.commit(
        batchOn(base, {
          changesSchema: true,
          catalogIdCount: 1,
          fileIdCount: 12,
          changes: [
            { kind: 'created_table', schema: 'main', name: 'd' },
            ...perTable.map(({ tableId }): Change => ({ kind: 'inserted_into_table', id: tableId })),
          ],
          ops: [
            ...tableOps({ id: fresh, name: 'd' }),
            insert(
              'ducklake_data_file',
              ...perTable.flatMap(({ tableId, files }) =>
                files.map(({ id, rowIdStart, rows }) => fileRow(tableId, id, rowIdStart, { record_count: rows })),
              ),
            ),
            ...perTable.map(({ tableId }) => ({
              kind: 'addStats' as const,
              stats: { tableId, recordCount: 15, rowIdCount: 15, byteLength: 3000, columns: [numbers] },
            })),
          ],
        }),
      );
      const { id } = committed(outcome);
      const starts = async (tableId: number): Promise<unknown> =>
        (await catalog.readFiles({ snapshotId: id, tableId, stats: 'none' })).files
          .filter(({ file }) => file.begin_snapshot === id)
          .map(({ file }) => [file.data_file_id, file.row_id_start]);
      equal(
        await Promise.all([a, b, c, base.nextCatalogId].map(starts)),
        // biome-ignore format: a table
        [
          [[3, 20], [4, 25], [5, 30]],
          [[6, 10], [7, 15], [8, 20]],
          [[9, 0], [10, 5], [11, 10]],
          [[12, 0], [13, 5], [14, 10]],
        ],
        'file ids and first row ids',
      );
      const totals = async (tableId: number): Promise<unknown> => (await catalog.readTableStats(tableId)).table;
      equal(
        await Promise.all([a, b, c, base.nextCatalogId].map(totals)),
        [
          { table_id: 1, record_count: 35, next_row_id: 35, file_size_bytes: 5000 },
          { table_id: 2, record_count: 25, next_row_id: 25, file_size_bytes: 4000 },
          { table_id: 3, record_count: 15, next_row_id: 15, file_size_bytes: 3000 },
          { table_id: 4, record_count: 15, next_row_id: 15, file_size_bytes: 3000 },
        ],
        'the totals',
      );
    },
  },
  {
    name: 'counts above 2^32 and ids near them are exact',
    async run(target) {
      await using catalog = await openLake(target);
      const [id] = (await createTables(catalog, 't')) as [number];
      const big = 2 ** 52 + 1;
      for (const rows of [3_000_000_000, big - 3_000_000_000]) {
        await commitOnHead(catalog, {
          fileIdCount: 2,
          changes: [{ kind: 'inserted_into_table', id }],
          ops: [
            insert(
              'ducklake_data_file',
              fileRow(id, relativeId(0), relativeId(0), { record_count: rows - 1 }),
              fileRow(id, relativeId(1), relativeId(rows - 1), { record_count: 1, file_size_bytes: big }),
            ),
            {
              kind: 'addStats',
              stats: { tableId: id, recordCount: rows, rowIdCount: rows, byteLength: rows, columns: [numbers] },
            },
          ],
        });
      }
      equal(
        (await catalog.readTableStats(id)).table,
        { table_id: id, record_count: big, next_row_id: big, file_size_bytes: big },
        'the totals',
      );
      equal(
        (await catalog.readFiles({ snapshotId: 3, tableId: id, stats: 'none' })).files.map(({ file }) => [
          file.row_id_start,
          file.file_size_bytes,
        ]),
        [
          [0, 1000],
          [2_999_999_999, big],
          [3_000_000_000, 1000],
          [big - 1, big],
        ],
        'first row ids and sizes',
      );
    },
  },
  {
    name: 'a batch of 20 files with 300 columns each',
    async run(target) {
      await using catalog = await openLake(target);
      const [files, columns] = [20, 300];
      const columnIds = Array.from({ length: columns }, (_, k) => k + 1);
      const table = relativeId(0);
      await commitOnHead(catalog, {
        changesSchema: true,
        catalogIdCount: 1,
        fileIdCount: files,
        changes: [
          { kind: 'created_table', schema: 'main', name: 'wide' },
          { kind: 'inserted_into_table', id: table },
        ],
        ops: [
          ...tableOps({ id: table, name: 'wide', columns: columnIds.map((id) => columnRow(table, id)) }),
          insert(
            'ducklake_data_file',
            ...Array.from({ length: files }, (_, k) => fileRow(table, relativeId(k), relativeId(k * 10))),
          ),
          insert(
            'ducklake_file_column_stats',
            ...Array.from({ length: files }, (_, k) =>
              columnIds.map((id) => statsRow(table, relativeId(k), id, { min_value: `${k}`, max_value: `${id}` })),
            ).flat(),
          ),
          {
            kind: 'addStats',
            stats: {
              tableId: table,
              recordCount: files * 10,
              rowIdCount: files * 10,
              byteLength: files * 1000,
              columns: columnIds.map((columnId) => ({
                ...numbers,
                columnId,
                bounds: { min: '0', max: `${columnId}` },
              })),
            },
          },
        ],
      });
      // Onto rows that exist by now, too.
      await commitOnHead(catalog, {
        fileIdCount: 1,
        changes: [{ kind: 'inserted_into_table', id: 1 }],
        ops: [
          insert('ducklake_data_file', fileRow(1, relativeId(0), relativeId(0))),
          insert('ducklake_file_column_stats', ...columnIds.map((id) => statsRow(1, relativeId(0), id))),
          {
            kind: 'addStats',
            stats: {
              tableId: 1,
              recordCount: 10,
              rowIdCount: 10,
              byteLength: 1000,
              columns: columnIds.map((columnId) => ({ ...numbers, columnId, bounds: { min: '-1', max: '150' } })),
            },
          },
        ],
      });
      const live = (await catalog.readFiles({ snapshotId: 2, tableId: 1, stats: 'all' })).files;
      equal(
        live.map(({ file, stats }) => [file.data_file_id, stats.length]),
        Array.from({ length: files + 1 }, (_, k) => [k, columns]),
        'the files and how many statistics each has',
      );
      const some = live[19]?.stats.find((row) => row.column_id === 300);
      equal([some?.min_value, some?.max_value], ['19', '300'], 'the bounds of the last column of file 19');
      const { columns: merged } = await catalog.readTableStats(1);
      equal(merged.length, columns, 'the number of column statistics of the table');
      for (const row of merged)
        equal(
          [row.min_value, row.max_value],
          ['-1', String(Math.max(150, row.column_id!))],
          `the bounds of column ${row.column_id}`,
        );
      equal((await catalog.readCatalog())?.columns.length, columns, 'the number of columns');
    },
  },
];
