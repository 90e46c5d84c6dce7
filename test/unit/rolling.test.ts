import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFile } from 'node:fs/promises';
import { parquetMetadata } from 'hyparquet';
import { localStore } from '../../adapters/local.ts';
import { memoryStore } from '../../adapters/memory.ts';
import { isLakeError, t } from '../../src/index.ts';
import { type TestLake, testLake } from '../support/lakes.ts';
import { slowStore } from '../support/slow-store.ts';

setDefaultTimeout(300_000);

/** A lake that isn't open yet, with options of its own. */
async function lakeWith(options: Readonly<Record<string, string | number>>): Promise<TestLake> {
  const place = await testLake('sqlite');
  {
    await using _made = await place.open();
  }
  for (const [key, value] of Object.entries(options))
    await place.sql(`INSERT INTO ducklake_metadata (key, value) VALUES ('${key}', '${value}')`);
  return place;
}

/** Text that doesn't compress, so that files grow as rows do. */
function noise(seed: number): string {
  let state = seed + 1;
  let text = '';
  for (let i = 0; i < 12; i++) {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    text += (state >>> 0).toString(36);
  }
  return text;
}

const schema = { id: t.int32().notNull(), text: t.varchar() };

const rowsOf = (count: number, first = 0): { id: number; text: string }[] =>
  Array.from({ length: count }, (_, i) => ({ id: first + i, text: noise(first + i) }));

async function* stream<T>(rows: readonly T[]): AsyncGenerator<T> {
  yield* rows;
}

async function footerOf(location: string): Promise<ReturnType<typeof parquetMetadata>> {
  const bytes = await readFile(location);
  return parquetMetadata(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

describe('rolling', () => {
  for (const [form, make] of [
    ['an array', rowsOf],
    ['a stream', (count: number) => stream(rowsOf(count))],
  ] as const)
    test(`one insert of ${form} becomes several files of one snapshot`, async () => {
      await using place = await lakeWith({ target_file_size: 200_000 });
      await using lake = await place.open();
      const table = await lake.createTable('t', schema);
      await table.insert(rowsOf(10, -10));
      const counts: number[] = [];
      const { snapshotId, rowCount, files } = await table.insert(make(20_000), {
        onProgress: (progress) => counts.push(progress.fileCount),
      });
      expect(rowCount).toBe(20_000);
      expect(files.length).toBeGreaterThan(4);
      expect(counts.at(-1)).toBe(files.length);
      for (const { byteLength } of files.slice(0, -1)) {
        // A batch of 1024 rows may go beyond; here that is less than 100 KB.
        expect(byteLength).toBeGreaterThan(190_000);
        expect(byteLength).toBeLessThan(300_000);
      }
      const listed = await table.files();
      expect(listed.map(({ beginSnapshot }) => beginSnapshot)).toEqual([2, ...files.map(() => snapshotId!)]);
      expect(snapshotId).toBe(3);
      expect((await Array.fromAsync(lake.snapshots())).length).toBe(4);
      let next = 0;
      for (const { rowIdStart, rowCount: count, byteLength, location } of listed) {
        expect(rowIdStart).toBe(next);
        next += count;
        expect((await readFile(location)).length).toBe(byteLength);
      }
      expect(next).toBe(20_010);
      expect((await table.scan({ columns: ['id'] }).toArray()).map(({ id }) => id)).toEqual(
        Array.from({ length: 20_010 }, (_, i) => i - 10),
      );
      // Bounds of each file are its own.
      const bounds = await place.sql(
        'SELECT min_value, max_value FROM ducklake_file_column_stats WHERE column_id = 1 ORDER BY data_file_id',
      );
      let first = -10;
      for (const [i, { rowCount: count }] of listed.entries()) {
        expect({ ...bounds[i] }).toEqual({ min_value: String(first), max_value: String(first + count - 1) });
        first += count;
      }
      const [{ next_file_id }] = (await place.sql(
        'SELECT next_file_id FROM ducklake_snapshot ORDER BY snapshot_id DESC LIMIT 1',
      )) as [{ next_file_id: number }];
      expect(next_file_id).toBe(listed.length);
    });

  test('no empty file follows one that ends with the rows, and a tiny target makes a file of each batch', async () => {
    await using place = await lakeWith({ target_file_size: 1 });
    await using lake = await place.open();
    const table = await lake.createTable('t', schema);
    const { files } = await table.insert(rowsOf(3072));
    expect(files.map(({ rowCount }) => rowCount)).toEqual([1024, 1024, 1024]);
  });

  test('the default keeps few rows in one file', async () => {
    await using place = await lakeWith({});
    await using lake = await place.open();
    const table = await lake.createTable('t', schema);
    expect((await table.insert(rowsOf(20_000))).files.length).toBe(1);
  });

  test('an option of the table goes before those of its schema and the lake', async () => {
    await using place = await lakeWith({ target_file_size: 1 });
    {
      await using lake = await place.open();
      await lake.createTable('a', schema);
      await lake.createTable('b', schema);
    }
    const [{ table_id }] = (await place.sql("SELECT table_id FROM ducklake_table WHERE table_name = 'a'")) as [
      { table_id: number },
    ];
    await place.sql(
      `INSERT INTO ducklake_metadata (key, value, scope, scope_id) VALUES ('target_file_size', '1000000000', 'table', ${table_id})`,
    );
    await using lake = await place.open();
    expect((await lake.table('a').insert(rowsOf(4096))).files.length).toBe(1);
    expect((await lake.table('b').insert(rowsOf(4096))).files.length).toBe(4);
  });

  test.each(['0', '-1', '1.5', 'large', ''])('a target of %p is refused', async (target_file_size) => {
    await using place = await lakeWith({ target_file_size });
    await using lake = await place.open();
    const table = await lake.createTable('t', schema);
    const error = await table.insert(rowsOf(1)).catch((reason) => reason);
    expect(isLakeError(error, 'CORRUPT')).toBe(true);
    expect(error.message).toContain('target_file_size');
  });
});

describe('row groups and compression', () => {
  test('parquet_row_group_size', async () => {
    await using place = await lakeWith({ parquet_row_group_size: 1500 });
    await using lake = await place.open();
    const table = await lake.createTable('t', schema);
    const { files } = await table.insert(rowsOf(4000));
    const { row_groups } = await footerOf(files[0]!.location);
    expect(row_groups.map(({ num_rows }) => Number(num_rows))).toEqual([1500, 1500, 1000]);
    expect((await table.scan().toArray()).map(({ id }) => id)).toEqual(rowsOf(4000).map(({ id }) => id));
  });

  test('parquet_row_group_size_bytes', async () => {
    await using place = await lakeWith({ parquet_row_group_size_bytes: 100_000 });
    await using lake = await place.open();
    const table = await lake.createTable('t', schema);
    const { files } = await table.insert(rowsOf(10_000));
    const { row_groups } = await footerOf(files[0]!.location);
    expect(row_groups.length).toBeGreaterThan(4);
    for (const group of row_groups.slice(0, -1)) {
      expect(Number(group.total_byte_size)).toBeGreaterThan(80_000);
      expect(Number(group.total_byte_size)).toBeLessThan(250_000);
    }
  });

  test.each(['snappy', 'uncompressed', 'gzip'])('parquet_compression %s', async (parquet_compression) => {
    await using place = await lakeWith({ parquet_compression });
    await using lake = await place.open();
    const table = await lake.createTable('t', schema);
    const rows = Array.from({ length: 3000 }, (_, id) => ({ id, text: `the same again and again ${id}` }));
    const { files } = await table.insert(rows);
    const { row_groups } = await footerOf(files[0]!.location);
    const codecs = row_groups.flatMap(({ columns }) => columns.map(({ meta_data }) => meta_data!.codec));
    expect(new Set<string>(codecs)).toEqual(new Set([parquet_compression.toUpperCase()]));
    expect(await table.scan().toArray()).toEqual(rows);
  });
});

test.each(['V1', 'V2'])('parquet_version %s, as DuckDB sets it', async (parquet_version) => {
  await using place = await lakeWith({ parquet_version });
  await using lake = await place.open();
  const table = await lake.createTable('t', schema);
  const rows = Array.from({ length: 3000 }, (_, id) => ({ id: id * id, text: `row ${id}` }));
  const { files } = await table.insert(rows);
  const { row_groups } = await footerOf(files[0]!.location);
  const encodings = row_groups.flatMap(({ columns }) => columns.flatMap(({ meta_data }) => meta_data!.encodings));
  expect(encodings.some((encoding) => encoding.startsWith('DELTA'))).toBe(parquet_version === 'V2');
  expect(await table.scan().toArray()).toEqual(rows);
});

describe('back-pressure', () => {
  test('a stream is asked for no more than a row group while the store is at work', async () => {
    const rowGroup = 2048;
    await using place = await lakeWith({ parquet_row_group_size: rowGroup, parquet_compression: 'uncompressed' });
    const store = slowStore(localStore(), 15);
    await using lake = await place.open({ store });
    const table = await lake.createTable('t', schema);
    let pulled = 0;
    let whenBegun: number | undefined;
    const perRow = noise(0).length;
    const ahead: number[] = [];
    const source = async function* () {
      for (const row of rowsOf(20_000)) {
        pulled++;
        if (store.writtenByteLength + store.pendingByteLength > 0) whenBegun ??= pulled;
        ahead.push(pulled * perRow - store.writtenByteLength);
        yield row;
      }
    };
    const { files } = await table.insert(source());
    expect(files.length).toBe(1);
    expect(whenBegun).toBeLessThanOrEqual(rowGroup + 1);
    // What has been pulled and not been stored: the open row group, and less than a write's 64 KiB that wait for more.
    expect(Math.max(...ahead)).toBeLessThan(2 * rowGroup * (perRow + 8) + 65_536);
    expect(store.mostPendingByteLength).toBeLessThan(rowGroup * (perRow + 16));
  });

  test('nothing is pulled while a write hangs', async () => {
    await using place = await lakeWith({ parquet_row_group_size: 1024 });
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const inner = memoryStore();
    await using lake = await place.open({
      store: {
        name: inner.name,
        open: (location, options) => inner.open(location, options),
        delete: (locations, options) => inner.delete(locations, options),
        list: (prefix, options) => inner.list(prefix, options),
        async create(location, options) {
          const writer = await inner.create(location, options);
          return {
            async write(bytes) {
              reached.resolve();
              await gate.promise;
              await writer.write(bytes);
            },
            close: () => writer.close(),
            abort: () => writer.abort(),
          };
        },
      },
    });
    const table = await lake.createTable('t', schema);
    let pulled = 0;
    const source = async function* () {
      for (const row of rowsOf(10_000)) {
        pulled++;
        yield row;
      }
    };
    const insert = table.insert(source());
    await reached.promise;
    const then = pulled;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(pulled).toBe(then);
    // Pieces of less than 64 KiB wait to be written together.
    expect(then).toBeLessThanOrEqual(2 * 1024);
    gate.resolve();
    expect((await insert).rowCount).toBe(10_000);
    expect(pulled).toBe(10_000);
  });
});
