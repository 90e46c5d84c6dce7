import type { CatalogStore, Snapshot } from '../../catalog/store.ts';
import type { BoundsComparison, ColumnRange, TableFiles } from '../../catalog/table-files.ts';
import { type CatalogRow, relativeId } from '../../spec/rows.ts';
import { type ConformanceCase, check, equal } from '../case.ts';
import {
  appendParts,
  type CatalogTarget,
  commitOnHead,
  createTables,
  fileRow,
  insert,
  openLake,
  statsRow,
} from './batches.ts';

/** Bounds of a file, with what else its statistics say; `undefined` for a file that has none. */
type Bounds = readonly [min: string | null, max: string | null, more?: CatalogRow] | undefined;

interface PruneCase {
  readonly comparison: BoundsComparison;
  /** One file each. */
  readonly bounds: readonly Bounds[];
  /** Ranges, and which files may hold a value in them: by their places in `bounds`. */
  readonly ranges: readonly (readonly [range: Partial<ColumnRange>, kept: readonly number[]])[];
}

export const pruneCases: readonly PruneCase[] = [
  {
    comparison: 'number',
    bounds: [
      ['1', '9'],
      ['10', '99'],
      ['-5.50', '-0.25'],
      ['1e+16', '1.7976931348623157e+308'],
      ['-inf', 'inf'],
      [null, null],
      ['x', ''],
      [null, null, { value_count: 0 }],
      ['1', '2', { contains_nan: true }],
      ['1', '2', { contains_nan: false }],
      undefined,
      ['9223372036854775806', '9223372036854775807'],
    ],
    ranges: [
      [{}, [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11]],
      [{ min: '10', max: '10' }, [1, 4, 5, 6, 10]],
      [{ min: '2', max: '2.0' }, [0, 4, 5, 6, 8, 9, 10]],
      [{ min: '-0.25', max: '-0.1' }, [2, 4, 5, 6, 10]],
      [{ max: '-6' }, [4, 5, 6, 10]],
      [{ min: '99.5' }, [3, 4, 5, 6, 10, 11]],
      [{ min: '1e+300' }, [3, 4, 5, 6, 10]],
      [{ min: 'inf' }, [4, 5, 6, 10]],
      [{ max: '-inf' }, [4, 5, 6, 10]],
      [{ min: '-inf', max: 'inf' }, [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11]],
      [{ min: 'nonsense' }, [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11]],
      // Where it isn't known whether there are NaNs, there may be.
      [{ min: '1000', includesNan: true }, [0, 1, 2, 3, 4, 5, 6, 8, 10, 11]],
      [{ min: '9223372036854775807', max: '9223372036854775807' }, [3, 4, 5, 6, 10, 11]],
    ],
  },
  {
    comparison: 'bytes',
    bounds: [
      ['', 'B'],
      ['a', "it's"],
      ['é', 'ｆ'],
      ['🦆', '🦆🦆'],
      ['\\', '\\n'],
      [null, 'a'],
    ],
    ranges: [
      [{ min: 'A', max: 'A' }, [0, 5]],
      [{ min: 'Z', max: 'Z' }, [5]],
      [{ min: "it's", max: "it's" }, [1]],
      [{ min: "it's ", max: "it's " }, []],
      [{ min: '\\', max: '\\' }, [4, 5]],
      // Bytes put what UTF-16 has as surrogates last.
      [{ min: '\u{10000}' }, [3]],
      [{ max: 'é' }, [0, 1, 2, 4, 5]],
      [{ min: '', max: '' }, [0, 5]],
      [{ min: 'z\0' }, [0, 1, 2, 3, 4, 5]],
    ],
  },
  {
    comparison: 'iso',
    bounds: [
      ['2024-01-15', '2024-02-01'],
      ['0044-03-15 (BC)', '2020-01-01'],
      ['2024-03-01', '12024-01-15'],
      ['-infinity', 'infinity'],
      ['2024-01-15 12:30:00', '2024-01-15 12:30:00.5'],
      ['2024-01-15 12:30:00+00', '2024-01-15 12:30:00.5+00'],
      ['2024-01-15 12:30:00-05', '2024-01-15 12:30:00-05'],
    ],
    ranges: [
      [{ min: '2024-01-16', max: '2024-01-16' }, [0, 3, 4, 5, 6]],
      [{ max: '2023-01-01' }, [1, 3, 4, 5, 6]],
      [{ min: '2024-02-02' }, [2, 3, 4, 5, 6]],
      [{ min: '2024-01-15 12:30:00.50001' }, [0, 1, 2, 3, 5, 6]],
      [{ max: '2024-01-15 12:29:59.999' }, [0, 1, 2, 3, 5, 6]],
      [{ min: '2024-01-15 12:30:00.6+00' }, [0, 1, 2, 3, 4, 6]],
      [{ min: '2024-01-15 12:30:00.5+00' }, [0, 1, 2, 3, 4, 5, 6]],
      [{ min: '12024-01-15' }, [0, 1, 2, 3, 4, 5, 6]],
    ],
  },
];

/** A table with a file for each of the bounds, and the places of the files that the catalog gives for a range. */
export async function boundedTable(
  catalog: CatalogStore,
  { comparison, bounds }: PruneCase,
): Promise<(range: Partial<ColumnRange>) => Promise<number[]>> {
  const [tableId, other] = (await createTables(catalog, `t ${comparison}`, `other ${comparison}`)) as [number, number];
  const first = (await catalog.readHead()).snapshot.nextFileId;
  const snapshot = await commitOnHead(catalog, {
    fileIdCount: bounds.length,
    changes: [{ kind: 'inserted_into_table', id: tableId }],
    ops: [
      insert('ducklake_data_file', ...bounds.map((_, k) => fileRow(tableId, relativeId(k), relativeId(k * 10)))),
      insert(
        'ducklake_file_column_stats',
        ...bounds.flatMap((one, k) => {
          if (one === undefined) return [];
          const [min_value, max_value, more] = one;
          return [
            statsRow(tableId, relativeId(k), 1, { min_value, max_value, contains_nan: null, ...more }),
            // What is said of other columns and other tables says nothing.
            statsRow(tableId, relativeId(k), 2, { value_count: 0 }),
            statsRow(other, relativeId(k), 1, { value_count: 0 }),
          ];
        }),
      ),
    ],
  });
  return async (range) => {
    const within: ColumnRange[] = [{ columnId: 1, comparison, includesNan: false, ...range }];
    const { files } = await catalog.readFiles({ snapshotId: snapshot.id, tableId, stats: 'none', within });
    return files.map(({ file }) => file.data_file_id - first);
  };
}

export const pruningCases: readonly ConformanceCase<CatalogTarget>[] = [
  {
    name: 'readFiles leaves out no file that may hold a value within the ranges',
    async run(target) {
      await using catalog = await openLake(target);
      for (const one of pruneCases) {
        const read = await boundedTable(catalog, one);
        for (const [range, kept] of one.ranges) {
          const found = await read(range);
          const missing = kept.filter((place) => !found.includes(place));
          equal(missing, [], `files left out of ${JSON.stringify(range)} by ${one.comparison}`);
        }
      }
    },
  },
  {
    name: 'readFiles gives files from an id on, and statistics of the columns asked for',
    async run(target) {
      await using catalog = await openLake(target);
      const [id] = (await createTables(catalog, 't')) as [number];
      for (let k = 0; k < 3; k++)
        await commitOnHead(catalog, {
          fileIdCount: 1,
          changes: [{ kind: 'inserted_into_table', id }],
          ops: [
            insert('ducklake_data_file', fileRow(id, relativeId(0), relativeId(0))),
            insert('ducklake_file_column_stats', ...[1, 2, 3].map((column) => statsRow(id, relativeId(0), column))),
            insert('ducklake_file_partition_value', {
              data_file_id: relativeId(0),
              table_id: id,
              partition_key_index: 0,
              partition_value: `value ${k}`,
            }),
          ],
        });
      const { files } = await catalog.readFiles({ snapshotId: 3, tableId: id, stats: [1, 3], fromFileId: 1 });
      check(files.length === 1, `${files.length} files from the second to snapshot 3`);
      equal(
        [files[0]?.file.data_file_id, files[0]?.stats.map((row) => row.column_id).sort()],
        [1, [1, 3]],
        'the file and its statistics',
      );
      equal(
        files[0]?.partitionValues,
        [{ data_file_id: 1, table_id: id, partition_key_index: 0, partition_value: 'value 1' }],
        'its partition values',
      );
      const rest = await catalog.readFiles({ snapshotId: 4, tableId: id, stats: [], fromFileId: 3 });
      equal(rest.files, [], 'files from the end on');
    },
  },
  {
    name: 'readFiles trusts no bounds from before the snapshot that a range names, nor those of mapped files',
    async run(target) {
      await using catalog = await openLake(target);
      const [id] = (await createTables(catalog, 't')) as [number];
      const addFile = (bounds: CatalogRow, file: CatalogRow = {}): Promise<Snapshot> =>
        commitOnHead(catalog, {
          fileIdCount: 1,
          changes: [{ kind: 'inserted_into_table', id }],
          ops: [
            insert('ducklake_data_file', fileRow(id, relativeId(0), relativeId(0), file)),
            insert('ducklake_file_column_stats', statsRow(id, relativeId(0), 1, bounds)),
          ],
        });
      await addFile({ min_value: '9', max_value: '10' });
      const { id: fromSnapshot } = await addFile({ min_value: '9', max_value: '91' });
      const { id: snapshotId } = await addFile({ min_value: '9', max_value: '91' }, { mapping_id: 7 });
      await addFile({ min_value: '9', max_value: '91' });
      const range = { columnId: 1, comparison: 'bytes', min: 'x', max: 'x', includesNan: false } as const;
      const read = async (one: ColumnRange): Promise<number[]> =>
        (await catalog.readFiles({ snapshotId, tableId: id, stats: 'none', within: [one] })).files.map(
          ({ file }) => file.data_file_id,
        );
      const found = await read({ ...range, fromSnapshot });
      check(
        [0, 2].every((fileId) => found.includes(fileId)),
        `files ${found.join(', ')} were given, not 0 and 2`,
      );
      check(!found.includes(3), 'a file of a later snapshot was given');
    },
  },
  {
    name: 'readFiles gives what its files are partitioned by, each in its way',
    async run(target) {
      await using catalog = await openLake(target);
      const [id, other] = (await createTables(catalog, 't', 'u')) as [number, number];
      const first = (await catalog.readHead()).snapshot.nextCatalogId;
      const column = (tableId: number, partitionId: number, columnId: number, transform: string): CatalogRow => ({
        partition_id: partitionId,
        table_id: tableId,
        partition_key_index: 0,
        column_id: columnId,
        transform,
      });
      const file = (tableId: number, at: number, partitionId: number | null): CatalogRow =>
        fileRow(tableId, relativeId(at), relativeId(0), { partition_id: partitionId });
      const { id: snapshotId } = await commitOnHead(catalog, {
        catalogIdCount: 4,
        fileIdCount: 5,
        changes: [
          { kind: 'inserted_into_table', id },
          { kind: 'inserted_into_table', id: other },
        ],
        ops: [
          insert(
            'ducklake_partition_column',
            column(id, first, 1, 'bucket(8)'),
            column(id, first + 1, 2, 'identity'),
            column(id, first + 2, 3, 'year'),
            column(other, first + 3, 1, 'bucket(4)'),
          ),
          insert(
            'ducklake_data_file',
            file(id, 0, first),
            file(id, 1, first + 1),
            file(id, 2, first + 1),
            file(id, 3, null),
            file(other, 4, first + 3),
          ),
        ],
      });
      const { files, partitionColumns } = await catalog.readFiles({ snapshotId, tableId: id, stats: 'none' });
      equal(
        files.map((one) => one.file.partition_id),
        [first, first + 1, first + 1, null],
        'by what each file is partitioned',
      );
      equal(
        partitionColumns
          .map((row) => [row.partition_id, row.column_id, row.transform])
          .sort(([a], [b]) => Number(a) - Number(b)),
        [
          [first, 1, 'bucket(8)'],
          [first + 1, 2, 'identity'],
        ],
        'what that is',
      );
    },
  },
  {
    name: 'readFiles tells what was committed since, as of the same moment',
    async run(target) {
      await using catalog = await openLake(target);
      const [id] = (await createTables(catalog, 't')) as [number];
      const first = await commitOnHead(catalog, appendParts(id));
      const second = await commitOnHead(catalog, appendParts(id));
      const read = async (since?: number): Promise<TableFiles> =>
        catalog.readFiles({ snapshotId: first.id, tableId: id, stats: 'none', since });
      const seen = ({ id: snapshotId, time, nextFileId }: Snapshot): unknown => ({
        id: snapshotId,
        time,
        nextFileId,
        changes: `inserted_into_table:${id}`,
      });
      equal((await read(first.id)).since, [seen(first), seen(second)], 'snapshots from the first on');
      equal((await read(second.id)).since, [seen(second)], 'snapshots from the second on');
      equal((await read(second.id + 1)).since, [], 'snapshots after the newest');
      equal((await read()).since, undefined, 'snapshots that nobody asked for');
    },
  },
];
