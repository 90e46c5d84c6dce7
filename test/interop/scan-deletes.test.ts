import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localStore } from '../../adapters/local.ts';
import type { TableInfo } from '../../src/catalog/view.ts';
import { parquetFormat } from '../../src/file/parquet/index.ts';
import type { DeletedPositions } from '../../src/scan/deleted-positions.ts';
import { loadDeletes as load, loadDeleteTimes } from '../../src/scan/deletes.ts';
import { deleteFileOf } from '../../src/scan/table-parts.ts';
import type { RowOf } from '../../src/spec/rows.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';

setDefaultTimeout(300_000);

type DeleteRow = RowOf<'ducklake_delete_file'>;

let duck: Oracle;
let dir: string;
beforeAll(async () => {
  duck = await openOracle();
  dir = await mkdtemp(join(tmpdir(), 'edgemere-deletes-'));
});
afterAll(async () => {
  await duck.close();
  await rm(dir, { recursive: true, force: true });
});

const session = { store: localStore({ root: '/' }), format: parquetFormat() };
const table = (name: string): TableInfo =>
  ({ name: 't', schema: { name: 'main' }, location: `${dir}/${name}/main/t/` }) as TableInfo;

/** As a scan does: of the rows that the catalog has of a data file. */
async function loadDeletes(request: {
  table: TableInfo;
  snapshotId: number;
  file: { deletes: readonly DeleteRow[]; inlinedDeletes: readonly number[] };
}): Promise<DeletedPositions> {
  const { table, snapshotId, file } = request;
  const name = { schema: table.schema.name, name: table.name };
  const files = file.deletes.map((row) => deleteFileOf(name, table.location, row));
  return load({ ...session, table: name, snapshotId }, { files, positions: file.inlinedDeletes });
}

const number = (text: string | null | undefined): number | null =>
  text === null || text === undefined ? null : Number(text);

async function deleteRows(): Promise<(DeleteRow & { data_file_id: number })[]> {
  const rows = await duck.rows('SELECT * FROM __ducklake_metadata_lake.ducklake_delete_file');
  return rows.map((row) => ({
    delete_file_id: Number(row['delete_file_id']),
    table_id: number(row['table_id'])!,
    begin_snapshot: number(row['begin_snapshot'])!,
    end_snapshot: number(row['end_snapshot']),
    data_file_id: Number(row['data_file_id']),
    path: row['path']!,
    path_is_relative: row['path_is_relative'] !== 'false',
    format: row['format']!,
    delete_count: number(row['delete_count']),
    file_size_bytes: number(row['file_size_bytes']),
    footer_size: number(row['footer_size']),
    encryption_key: row['encryption_key']!,
    partial_max: number(row['partial_max']),
  }));
}

const isLive = (row: { begin_snapshot: number | null; end_snapshot: number | null }, snapshot: number): boolean =>
  row.begin_snapshot! <= snapshot && (row.end_snapshot === null || row.end_snapshot > snapshot);

async function attach(name: string, options: { more?: string; inliningRowLimit?: number } = {}): Promise<void> {
  await duck.attachSqlite(join(dir, `${name}.sqlite`), `${dir}/${name}/`, options);
}

/** Rows that DuckDB shows of each data file at each snapshot are those that aren't deleted, and only those. */
async function agreesEverywhere(name: string): Promise<number> {
  let deletedCount = 0;
  const snapshots = await duck.rows("SELECT snapshot_id AS id FROM ducklake_snapshots('lake')");
  const files = await duck.rows('SELECT * FROM __ducklake_metadata_lake.ducklake_data_file');
  const deletes = await deleteRows();
  const inlined = await duck
    .rows('SELECT * FROM __ducklake_metadata_lake.ducklake_inlined_delete_1')
    .catch(() => [] as Record<string, string | null>[]);
  for (const { id } of snapshots) {
    const snapshotId = Number(id);
    if (snapshotId < 2) continue;
    const shown = await duck.rows(`SELECT filename, file_row_number AS n FROM lake.t AT (VERSION => ${id})`);
    for (const file of files) {
      if (
        !isLive(
          { begin_snapshot: number(file['begin_snapshot']!), end_snapshot: number(file['end_snapshot']!) },
          snapshotId,
        )
      )
        continue;
      const rows = shown.filter(({ filename }) => filename!.endsWith(file['path']!)).map(({ n }) => Number(n));
      const dataFileId = Number(file['data_file_id']);
      const deleted = await loadDeletes({
        table: table(name),
        snapshotId,
        file: {
          deletes: deletes.filter((row) => row.data_file_id === dataFileId && isLive(row, snapshotId)),
          inlinedDeletes: inlined
            .filter((row) => Number(row['file_id']) === dataFileId && Number(row['begin_snapshot']) <= snapshotId)
            .map((row) => Number(row['row_id'])),
        },
      });
      const rowCount = Number(file['record_count']);
      const all = Array.from({ length: rowCount }, (_, i) => i);
      const kept = all.filter((position) => !deleted.has(position));
      expect(kept).toEqual(rows.toSorted((a, b) => a - b));
      // Batch by batch, the batches cut anywhere.
      const batched: number[] = [];
      for (let first = 0; first < rowCount; first += 777) {
        const count = Math.min(777, rowCount - first);
        const left = deleted.keptRows(first, count);
        for (const row of left ?? all.slice(0, count)) batched.push(first + row);
      }
      expect(batched).toEqual(kept);
      deletedCount += deleted.count;
    }
  }
  return deletedCount;
}

describe('rows that DuckDB deleted', () => {
  for (const [name, more] of [
    ['parquet', ''],
    ['puffin', 'WRITE_DELETION_VECTORS true'],
  ] as const) {
    test(`${name}: several deletes of several files`, async () => {
      await attach(name, more ? { more } : {});
      await duck.run(`
        CREATE TABLE lake.t (id INTEGER, v VARCHAR);
        INSERT INTO lake.t SELECT range, 'v' || range FROM range(3000);
        INSERT INTO lake.t SELECT range, 'v' || range FROM range(3000, 4000);
        DELETE FROM lake.t WHERE id % 7 = 0;
        DELETE FROM lake.t WHERE id BETWEEN 100 AND 1500;
        UPDATE lake.t SET v = 'new' WHERE id > 3900;
        DELETE FROM lake.t WHERE id = 2999`);
      expect(await agreesEverywhere(name)).toBeGreaterThan(2000);
      await duck.detach();
    });
  }

  test('puffin: containers of every kind', async () => {
    await attach('containers', { more: 'WRITE_DELETION_VECTORS true' });
    await duck.run(`
      CREATE TABLE lake.t (id INTEGER);
      INSERT INTO lake.t SELECT range FROM range(400000);
      DELETE FROM lake.t WHERE id < 65536 OR (id BETWEEN 65536 AND 131071 AND id % 2 = 0)
        OR (id BETWEEN 131072 AND 196607 AND id % 1000 = 0) OR id BETWEEN 200000 AND 202000 OR id = 399999`);
    const [row] = await deleteRows();
    const deleted = await loadDeletes({
      table: table('containers'),
      snapshotId: 99,
      file: { deletes: [row!], inlinedDeletes: [] },
    });
    const expected = (
      await duck.rows('SELECT range AS n FROM range(400000) WHERE range NOT IN (FROM lake.t) ORDER BY 1')
    ).map(({ n }) => Number(n));
    expect(row!.format).toBe('puffin');
    expect([...deleted.positions]).toEqual(expected);
    expect(deleted.count).toBeGreaterThan(65_536 + 32_768);
    await duck.detach();
  });

  test('inlined deletes, and the partial files they are flushed to', async () => {
    await attach('inlined', { inliningRowLimit: 20 });
    await duck.run(`
      CREATE TABLE lake.t (id INTEGER);
      INSERT INTO lake.t SELECT range FROM range(100);
      DELETE FROM lake.t WHERE id = 3;
      DELETE FROM lake.t WHERE id IN (50, 7);
      DELETE FROM lake.t WHERE id = 99`);
    expect(await duck.rows('FROM __ducklake_metadata_lake.ducklake_inlined_delete_1')).toHaveLength(4);
    expect(await agreesEverywhere('inlined')).toBeGreaterThan(0);
    await duck.run(`
      CALL ducklake_flush_inlined_data('lake');
      DELETE FROM lake.t WHERE id = 20`);
    const [flushed] = await deleteRows();
    expect(flushed!.partial_max).not.toBeNull();
    expect(await agreesEverywhere('inlined')).toBeGreaterThan(4);
    const times = await loadDeleteTimes({
      session,
      table: table('inlined'),
      deletes: await deleteRows(),
      inlined: [{ position: 20, beginSnapshot: 7 }],
    });
    const pairs = Array.from(times.positions, (position, i) => [position, times.snapshots[i]]);
    const expected = await duck.rows(
      "SELECT id, snapshot_id AS s FROM lake.table_changes('t', 0, 6) WHERE change_type = 'delete' ORDER BY id",
    );
    expect(pairs).toEqual(
      [...expected.map(({ id, s }) => [Number(id), Number(s)]), [20, 7]].toSorted((a, b) => a[0]! - b[0]!),
    );
    await duck.detach();
  });

  test('when rows were deleted, by files that replace each other', async () => {
    await attach('times');
    await duck.run(`
      CREATE TABLE lake.t (id INTEGER);
      INSERT INTO lake.t SELECT range FROM range(100);
      DELETE FROM lake.t WHERE id % 10 = 0;
      DELETE FROM lake.t WHERE id % 15 = 0;
      DELETE FROM lake.t WHERE id = 1`);
    const times = await loadDeleteTimes({ session, table: table('times'), deletes: await deleteRows(), inlined: [] });
    const expected = await duck.rows(
      "SELECT id, snapshot_id AS s FROM lake.table_changes('t', 0, 5) WHERE change_type = 'delete' ORDER BY id",
    );
    expect(Array.from(times.positions, (position, i) => [position, times.snapshots[i]])).toEqual(
      expected.map(({ id, s }) => [Number(id), Number(s)]),
    );
    await duck.detach();
  });
});

describe('delete files that are no good', () => {
  test('are errors that name them', async () => {
    await attach('broken', { more: 'WRITE_DELETION_VECTORS true' });
    await duck.run(`
      CREATE TABLE lake.t (id INTEGER);
      INSERT INTO lake.t SELECT range FROM range(1000);
      DELETE FROM lake.t WHERE id % 3 = 0`);
    const [row] = await deleteRows();
    await duck.detach();
    const load = (change: Partial<DeleteRow>) =>
      loadDeletes({
        table: table('broken'),
        snapshotId: 9,
        file: { deletes: [{ ...row!, ...change }], inlinedDeletes: [] },
      });
    const path = table('broken').location + row!.path;
    const bytes = await readFile(path);
    expect((await load({})).count).toBe(334);
    expect((await load({ encryption_key: 'a2V5' })).count).toBe(334);

    const located = { table: 't', location: path };
    for (const at of [0, 3, 4, 8, 12, 20, 30, bytes.length >> 1, bytes.length - 1]) {
      const damaged = new Uint8Array(bytes);
      damaged[at]! ^= 0x10;
      await writeFile(path, damaged);
      await expect(load({})).rejects.toMatchObject({ code: 'CORRUPT', context: located });
    }
    for (const length of [0, 8, 19, bytes.length - 1]) {
      await writeFile(path, bytes.subarray(0, length));
      await expect(load({ file_size_bytes: null })).rejects.toMatchObject({ code: 'CORRUPT', context: located });
    }
    await rm(path);
    await expect(load({})).rejects.toMatchObject({ code: 'NOT_FOUND', context: located });
    await expect(load({ format: 'parquet', encryption_key: 'a2V5' })).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      context: located,
    });
    await expect(load({ format: 'orc' })).rejects.toMatchObject({ code: 'UNSUPPORTED', context: located });
    await writeFile(path, bytes);
    await expect(load({ format: 'parquet' })).rejects.toMatchObject({ code: 'CORRUPT', context: located });
  });

  for (const [what, query] of [
    ['positions that do not ascend', "SELECT 'f' AS file_path, x::BIGINT AS pos FROM (VALUES (3), (1)) v(x)"],
    ['the same position twice', "SELECT 'f' AS file_path, x::BIGINT AS pos FROM (VALUES (3), (3)) v(x)"],
    ['no position', "SELECT 'f' AS file_path, NULL::BIGINT AS pos"],
    ['no column of positions', "SELECT 'f' AS file_path, 1::BIGINT AS row_number"],
  ] as const)
    test(what, async () => {
      const path = join(dir, 'bad.parquet');
      await duck.run(`COPY (${query}) TO '${path}' (FORMAT parquet)`);
      const row = { path, path_is_relative: false, format: 'parquet', encryption_key: null } as DeleteRow;
      await expect(
        loadDeletes({ table: table('x'), snapshotId: 1, file: { deletes: [row], inlinedDeletes: [] } }),
      ).rejects.toMatchObject({ code: 'CORRUPT', context: { location: path } });
    });

  test('a third column is a snapshot only by its name', async () => {
    const path = join(dir, 'iceberg.parquet');
    await duck.run(
      `COPY (SELECT 'f' AS file_path, range AS pos, 77::BIGINT AS "row" FROM range(3)) TO '${path}' (FORMAT parquet)`,
    );
    const row = { path, path_is_relative: false, format: 'parquet', encryption_key: null } as DeleteRow;
    const deleted = await loadDeletes({
      table: table('x'),
      snapshotId: 1,
      file: { deletes: [row], inlinedDeletes: [9, 1] },
    });
    expect([...deleted.positions]).toEqual([0, 1, 2, 9]);
  });
});
