import type { CatalogStore, ColumnStatsDelta } from '../../catalog/store.ts';
import { relativeId } from '../../spec/rows.ts';
import { type ConformanceCase, equal } from '../case.ts';
import {
  type CatalogTarget,
  columnRow,
  commitOnHead,
  createTables,
  fileRow,
  insert,
  numbers,
  openLake,
  statsRow,
} from './batches.ts';
import { type Series, series } from './bounds.ts';

type Bounds = ColumnStatsDelta['bounds'];

/** Appends one file of ten rows whose columns have these statistics. */
async function append(catalog: CatalogStore, tableId: number, columns: readonly ColumnStatsDelta[]): Promise<void> {
  await commitOnHead(catalog, {
    fileIdCount: 1,
    changes: [{ kind: 'inserted_into_table', id: tableId }],
    ops: [
      insert('ducklake_data_file', fileRow(tableId, relativeId(0), relativeId(0))),
      insert(
        'ducklake_file_column_stats',
        ...columns.map(({ columnId, bounds }) =>
          statsRow(tableId, relativeId(0), columnId, {
            value_count: bounds === 'none' ? 0 : 10,
            null_count: bounds === 'none' ? 10 : 0,
            min_value: typeof bounds === 'string' ? null : bounds.min,
            max_value: typeof bounds === 'string' ? null : bounds.max,
          }),
        ),
      ),
      { kind: 'addStats', stats: { tableId, recordCount: 10, rowIdCount: 10, byteLength: 1000, columns } },
    ],
  });
}

// biome-ignore format: a table
const boundsOf = (item: Series['appends'][number]): Bounds =>
  typeof item === 'string' ? item : { min: item[0], max: item[1] };

export const statsCases: readonly ConformanceCase<CatalogTarget>[] = [
  ...(['number', 'bytes', 'temporal'] as const).map(
    (order): ConformanceCase<CatalogTarget> => ({
      name: `bounds of a table widen in the order of ${order}`,
      async run(target) {
        await using catalog = await openLake(target);
        // Each series is a column of one table, which takes as many appends as the longest.
        const columns = series.filter((one) => one.order === order);
        const [tableId] = (await createTables(catalog, 't')) as [number];
        const length = Math.max(...columns.map(({ appends }) => appends.length));
        for (let step = 0; step < length; step++) {
          await append(
            catalog,
            tableId,
            columns.map(({ appends }, k) => ({
              columnId: k + 1,
              containsNull: false,
              containsNan: null,
              bounds: boundsOf(appends[step] ?? 'none'),
              order,
            })),
          );
        }
        const stats = await catalog.readTableStats(tableId);
        equal(stats.columns.length, columns.length, 'the number of columns with statistics');
        for (const row of stats.columns) {
          const { what, expected } = columns[row.column_id! - 1]!;
          equal([row.min_value, row.max_value], expected ? [...expected] : [null, null], what);
        }
      },
    }),
  ),
  {
    name: 'one commit widens bounds of each order at once, and of its own table alone',
    async run(target) {
      await using catalog = await openLake(target);
      const [a, b] = (await createTables(catalog, 'a', 'b')) as [number, number];
      const orders = ['number', 'bytes', 'temporal'] as const;
      const bounds: readonly (readonly [Bounds, Bounds])[] = [
        [
          { min: '9', max: '9' },
          { min: '10', max: '10' },
        ],
        [
          { min: '9', max: '9' },
          { min: '10', max: '10' },
        ],
        [
          { min: '9999-01-01', max: '9999-01-01' },
          { min: '10000-01-01', max: '10000-01-01' },
        ],
      ];
      for (const step of [0, 1] as const)
        await append(
          catalog,
          a,
          orders.map((order, k) => ({ ...numbers, columnId: k + 1, order, bounds: bounds[k]![step] })),
        );
      await append(catalog, b, [{ ...numbers, bounds: { min: '-5', max: '5' } }]);
      const found = async (tableId: number): Promise<unknown> =>
        (await catalog.readTableStats(tableId)).columns
          .toSorted((x, y) => x.column_id! - y.column_id!)
          .map((row) => [row.table_id, row.column_id, row.min_value, row.max_value]);
      equal(
        await found(a),
        [
          [a, 1, '9', '10'],
          [a, 2, '10', '9'],
          [a, 3, '9999-01-01', '10000-01-01'],
        ],
        'the bounds of the first table',
      );
      equal(await found(b), [[b, 1, '-5', '5']], 'the bounds of the second table');
    },
  },
  {
    name: 'contains_null and contains_nan are known to the end or not at all',
    async run(target) {
      await using catalog = await openLake(target);
      const [tableId] = (await createTables(catalog, 't')) as [number];
      // As DuckDB leaves them behind after an inlined insert.
      await commitOnHead(catalog, {
        changes: [{ kind: 'inserted_into_table', id: tableId }],
        ops: [
          insert('ducklake_column', columnRow(tableId, 5), columnRow(tableId, 6)),
          insert('ducklake_table_column_stats', {
            table_id: tableId,
            column_id: 5,
            contains_null: false,
            contains_nan: null,
            min_value: '0.5',
            max_value: '2.0',
            extra_stats: '{}',
          }),
        ],
      });
      // biome-ignore format: a table
      const steps: readonly (readonly [containsNull: boolean, containsNan: boolean | null])[][] = [
        [[false, null], [false, false], [true, true], [false, false], [false, true]],
        [[false, null], [false, false], [false, false], [true, false], [true, false]],
        [[false, null], [false, true], [false, false], [false, false], [false, false]],
      ];
      for (const step of steps)
        await append(
          catalog,
          tableId,
          step.map(([containsNull, containsNan], k) => ({ ...numbers, columnId: k + 1, containsNull, containsNan })),
        );
      const { columns } = await catalog.readTableStats(tableId);
      equal(
        columns
          .toSorted((x, y) => x.column_id! - y.column_id!)
          .map((row) => [row.column_id, row.contains_null, row.contains_nan]),
        [
          [1, false, null],
          [2, false, true],
          [3, true, true],
          [4, true, false],
          [5, true, null],
        ],
        'the flags',
      );
      equal(
        columns.find((row) => row.column_id === 5),
        {
          table_id: tableId,
          column_id: 5,
          contains_null: true,
          contains_nan: null,
          min_value: '0.5',
          max_value: '10',
          extra_stats: '{}',
        },
        'the row that was there',
      );
    },
  },
  {
    name: 'files of NaN alone leave the bounds open',
    async run(target) {
      await using catalog = await openLake(target);
      const [tableId] = (await createTables(catalog, 't')) as [number];
      for (const bounds of [undefined, undefined, { min: '-1.5', max: '2.5' }])
        await commitOnHead(catalog, {
          fileIdCount: 1,
          changes: [{ kind: 'inserted_into_table', id: tableId }],
          ops: [
            insert('ducklake_data_file', fileRow(tableId, relativeId(0), relativeId(0))),
            insert(
              'ducklake_file_column_stats',
              statsRow(tableId, relativeId(0), 1, {
                min_value: bounds?.min ?? null,
                max_value: bounds?.max ?? null,
                contains_nan: bounds === undefined,
              }),
            ),
            {
              kind: 'addStats',
              stats: {
                tableId,
                recordCount: 10,
                rowIdCount: 10,
                byteLength: 1000,
                columns: [{ ...numbers, containsNan: bounds === undefined, bounds: bounds ?? 'unknown' }],
              },
            },
          ],
        });
      const [row] = (await catalog.readTableStats(tableId)).columns;
      equal([row?.min_value, row?.max_value, row?.contains_nan], ['-1.5', '2.5', true], 'the bounds and contains_nan');
    },
  },
  {
    name: 'of a column that a table got after its first rows nothing is known',
    async run(target) {
      await using catalog = await openLake(target);
      const [tableId] = (await createTables(catalog, 't')) as [number];
      await append(catalog, tableId, [numbers]);
      await append(catalog, tableId, [numbers, { ...numbers, columnId: 2 }]);
      const { columns } = await catalog.readTableStats(tableId);
      equal(
        columns.map((row) => row.column_id),
        [1],
        'the columns with statistics',
      );
    },
  },
  {
    name: 'totals add up, with row ids that run ahead of the rows',
    async run(target) {
      await using catalog = await openLake(target);
      const [tableId] = (await createTables(catalog, 't')) as [number];
      for (const [recordCount, rowIdCount] of [[10, 10], [0, 5], [7, 7]] as const) // biome-ignore format: pairs
        await commitOnHead(catalog, {
          changes: [{ kind: 'inserted_into_table', id: tableId }],
          ops: [{ kind: 'addStats', stats: { tableId, recordCount, rowIdCount, byteLength: 100, columns: [] } }],
        });
      equal(
        await catalog.readTableStats(tableId),
        { table: { table_id: tableId, record_count: 17, next_row_id: 22, file_size_bytes: 300 }, columns: [] },
        'the totals',
      );
    },
  },
];
