import { expect, test } from 'bun:test';
import { KnownFiles } from '../../src/catalog/known-files.ts';
import type { CatalogStore } from '../../src/catalog/store.ts';
import type { FilesRequest, LiveFile, SeenSnapshot, TableFiles } from '../../src/catalog/table-files.ts';

/** Snapshot n holds the files 0 to n - 1, unless `files` says otherwise. */
class FakeCatalog implements Pick<CatalogStore, 'readFiles'> {
  readonly requests: FilesRequest[] = [];
  snapshots: SeenSnapshot[];
  files: (snapshotId: number) => number[] = (id) => Array.from({ length: id }, (_, file) => file);
  pathLength = 10;

  constructor(...changes: (string | undefined)[]) {
    this.snapshots = changes.map((one, id) => ({ id, time: `time ${id}`, nextFileId: id, changes: one }));
  }

  async readFiles(request: FilesRequest): Promise<TableFiles> {
    this.requests.push(request);
    const { snapshotId, fromFileId = 0, since = Number.POSITIVE_INFINITY } = request;
    const files = this.files(snapshotId).filter((id) => id >= fromFileId);
    return {
      files: files.map((id) => ({
        ...nothing,
        file: { data_file_id: id, path: 'x'.repeat(this.pathLength) } as LiveFile['file'],
      })),
      inlined: [],
      inlinedFields: new Map(),
      mappings: [],
      nameMappings: [],
      partitionColumns: [],
      since: this.snapshots.filter(({ id }) => id >= since),
    };
  }
}

const nothing = { deletes: [], inlinedDeletes: [], partitionValues: [], stats: [] };
const at = (snapshotId: number, tableId = 1): FilesRequest => ({ snapshotId, tableId, stats: 'none' });
const ids = ({ files }: TableFiles): number[] => files.map(({ file }) => file.data_file_id);
const insert = 'inserted_into_table:1';

async function twice(
  catalog: FakeCatalog,
  first: number,
  second: number,
): Promise<{ found: number[]; askedFrom: unknown[] }> {
  const known = new KnownFiles(catalog);
  await known.readFiles(at(first));
  const found = ids(await known.readFiles(at(second)));
  return { found, askedFrom: catalog.requests.map(({ fromFileId }) => fromFileId) };
}

test('only newer files are asked for as long as nothing but inserts happened', async () => {
  const later = [insert, 'inlined_insert:1', 'deleted_from_table:2', 'created_table:"main"."x",inserted_into_table:1'];
  const catalog = new FakeCatalog('created_schema:"main"', insert, ...later);
  expect(await twice(catalog, 1, 5)).toEqual({ found: [0, 1, 2, 3, 4], askedFrom: [undefined, 1] });
});

test.each([
  'deleted_from_table:1',
  'inlined_delete:1',
  'altered_table:1',
  'dropped_table:1',
  'inline_flush:1',
  'merge_adjacent:1',
  'rewrite_delete:1',
  'compacted_table:1',
  'deleted_from_table:2,deleted_from_table:1',
  'something_new:1',
  undefined,
])('all files are asked for after %s', async (change) => {
  const all = { found: [0, 1, 2], askedFrom: [undefined, 1, undefined] };
  expect(await twice(new FakeCatalog('', insert, change, insert), 1, 3)).toEqual(all);
  // After the snapshot that is read, before it is: what takes the place of older files may show in it.
  expect(await twice(new FakeCatalog('', insert, insert, insert, change), 1, 3)).toEqual(all);
});

test('all files are asked for when a snapshot between was expired, or it is another lake', async () => {
  const expired = new FakeCatalog('', insert, insert, insert);
  expired.snapshots = expired.snapshots.filter(({ id }) => id !== 2);
  expect((await twice(expired, 1, 3)).askedFrom).toEqual([undefined, 1, undefined]);

  const other = new FakeCatalog('', insert, insert);
  const known = new KnownFiles(other);
  await known.readFiles(at(1));
  other.snapshots = other.snapshots.map((snapshot) => ({ ...snapshot, time: `another ${snapshot.id}` }));
  await known.readFiles(at(2));
  expect(other.requests.map(({ fromFileId }) => fromFileId)).toEqual([undefined, 1, undefined]);
});

test('a snapshot that was expired meanwhile is an error, not fewer files', async () => {
  const catalog = new FakeCatalog('', insert, insert);
  const known = new KnownFiles(catalog);
  catalog.snapshots = catalog.snapshots.slice(2);
  await expect(known.readFiles(at(1))).rejects.toMatchObject({ code: 'NOT_FOUND', retryable: true });
  // With what it knew of before, too.
  const again = new FakeCatalog('', insert, insert, insert);
  const knowing = new KnownFiles(again);
  await knowing.readFiles(at(1));
  again.snapshots = again.snapshots.slice(3);
  await expect(knowing.readFiles(at(2))).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('an older snapshot is read whole, and does not take the place of a newer one', async () => {
  const catalog = new FakeCatalog('', insert, insert, insert);
  const known = new KnownFiles(catalog);
  await known.readFiles(at(2));
  expect(ids(await known.readFiles(at(1)))).toEqual([0]);
  expect(ids(await known.readFiles(at(3)))).toEqual([0, 1, 2]);
  expect(catalog.requests.map(({ fromFileId }) => fromFileId)).toEqual([undefined, undefined, 2]);
});

test('what is kept is bounded, the longest unused goes first', async () => {
  const catalog = new FakeCatalog('', insert, insert);
  catalog.pathLength = 10_000;
  const known = new KnownFiles(catalog, 50_000);
  for (const tableId of [1, 2, 1, 3]) await known.readFiles(at(2, tableId));
  catalog.requests.length = 0;
  for (const tableId of [1, 3, 2]) await known.readFiles(at(2, tableId));
  expect(catalog.requests.map(({ tableId, fromFileId }) => [tableId, fromFileId])).toEqual([
    [1, 2],
    [3, 2],
    [2, undefined],
  ]);
});

test('requests for other columns or within other ranges are not mixed up', async () => {
  const catalog = new FakeCatalog('', insert);
  const known = new KnownFiles(catalog);
  const range = { columnId: 1, comparison: 'number', min: '1', max: '2', includesNan: false } as const;
  const requests: FilesRequest[] = [
    at(1),
    { ...at(1), stats: [1] },
    { ...at(1), stats: [1], within: [range] },
    { ...at(1), stats: [1], within: [{ ...range, max: '3' }] },
  ];
  for (const request of requests) await known.readFiles(request);
  expect(catalog.requests.map(({ fromFileId }) => fromFileId)).toEqual([undefined, undefined, undefined, undefined]);
});
