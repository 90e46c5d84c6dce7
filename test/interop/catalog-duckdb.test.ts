import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { CatalogOp, CatalogStore, CommitBatch, Snapshot } from '../../src/catalog/store.ts';
import { collect } from '../../src/conformance/case.ts';
import { batchOn, committed, insert } from '../../src/conformance/catalog/batches.ts';
import { type CatalogRow, type CatalogTable, cellsOf, NEXT, relativeId } from '../../src/spec/rows.ts';
import { type LakeHost, postgresHost, type RawRow, sqliteHost } from '../support/lake-places.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';

setDefaultTimeout(300_000);

const hosts = { sqlite: sqliteHost, postgres: postgresHost };

async function hasInlined(catalog: CatalogStore, snapshotId: number, tableId: number): Promise<boolean> {
  const { files, inlined } = await catalog.readFiles({ snapshotId, tableId, stats: 'none' });
  return inlined.length > 0 || files.some(({ inlinedDeletes }) => inlinedDeletes.length > 0);
}

for (const [name, open] of Object.entries(hosts)) {
  describe(name, () => {
    let host: LakeHost;
    let duck: Oracle;
    beforeAll(async () => {
      host = await open();
      duck = await openOracle();
    });
    // What a failed test left attached.
    afterEach(() => duck.run('DETACH DATABASE IF EXISTS lake'));
    afterAll(async () => {
      await duck?.close();
      await host?.[Symbol.asyncDispose]();
    });

    test('what DuckDB wrote is read as DuckDB reads it', async () => {
      const place = host.place();
      // Another zone than the server's and ours.
      await duck.run("SET TimeZone = 'Asia/Kolkata'");
      await place.attach(duck, { create: true });
      await duck.run(`CREATE SCHEMA lake."s,1"`);
      await duck.run(`CREATE TABLE lake."s,1".t(id INTEGER NOT NULL, name VARCHAR DEFAULT 'x', l STRUCT(a DOUBLE)[])`);
      await duck.run(`INSERT INTO lake."s,1".t SELECT i, 'n' || i, NULL FROM range(20) r(i)`);
      await duck.run(`INSERT INTO lake."s,1".t SELECT i, 'n' || i, [{a: i}] FROM range(100, 120) r(i)`);
      await duck.run(`DELETE FROM lake."s,1".t WHERE id BETWEEN 5 AND 7`);
      await duck.run(`CREATE VIEW lake.v AS SELECT 1`);
      await duck.run(
        `BEGIN; DELETE FROM lake."s,1".t WHERE id = 9; CALL lake.set_commit_message('me', 'it''s', extra_info => '{}'); COMMIT`,
      );
      await duck.run(`DROP VIEW lake.v`);
      const snapshots = await duck.rows(
        'SELECT s.*, epoch_us(snapshot_time) AS micros FROM lake.snapshots() s ORDER BY snapshot_id',
      );
      await duck.run("SET TimeZone = 'UTC'");

      await using catalog = place.open();
      const records = await collect(catalog.readSnapshots());
      expect(
        records.map(({ id, time, schemaVersion, author, message, extraInfo }) => [
          String(id),
          micros(time),
          String(schemaVersion),
          author,
          message,
          extraInfo,
        ]),
      ).toEqual(
        snapshots.map((row) => [
          row['snapshot_id'],
          row['micros'],
          row['schema_version'],
          row['author'],
          row['commit_message'],
          row['commit_extra_info'],
        ]) as never,
      );
      expect(records.map(({ changes }) => changes)).toEqual([
        'created_schema:"main"',
        'created_schema:"s,1"',
        'created_table:"s,1"."t"',
        'inserted_into_table:2',
        'inserted_into_table:2',
        'deleted_from_table:2',
        'created_view:"main"."v"',
        'deleted_from_table:2',
        'dropped_view:3',
      ]);

      for (const record of records) {
        const { id, time } = record;
        const rows = await catalog.readCatalog({ snapshot: id });
        expect(rows?.snapshot).toEqual((await catalog.readHead(id - 1)).since[0] && snapshotOf(record));
        expect(
          (await catalog.readCatalog({ time: new Date(Math.ceil(Number(micros(time)) / 1000)) }))?.snapshot.id,
        ).toBe(id);
        expect(rows?.tables.map((row) => row.table_name)).toEqual(id < 2 ? [] : ['t']);
        expect(rows?.views.map((row) => row.view_name)).toEqual(id === 6 || id === 7 ? ['v'] : []);
        if (id < 2) continue;
        const listed = await duck.rows(
          `FROM ducklake_list_files('lake', 't', schema => 's,1', snapshot_version => ${id}) ORDER BY data_file`,
        );
        const files = (await catalog.readFiles({ snapshotId: id, tableId: 2, stats: 'all' })).files;
        const folder = `${place.dataPath}${(await catalog.readCatalog())?.schemas.find((row) => row.schema_id === 1)?.path}t/`;
        expect(
          files
            .map(({ file, deletes }) => ({
              data_file: folder + file.path,
              data_file_size_bytes: String(file.file_size_bytes),
              data_file_footer_size: String(file.footer_size),
              data_file_encryption_key: null,
              delete_file: deletes[0] ? folder + deletes[0].path : null,
              delete_file_size_bytes: deletes[0] ? String(deletes[0].file_size_bytes) : null,
              delete_file_footer_size: deletes[0] ? String(deletes[0].footer_size) : null,
              delete_file_encryption_key: null,
            }))
            .sort((a, b) => (a.data_file < b.data_file ? -1 : 1)),
        ).toEqual(listed as never);
        expect(files.map(({ stats }) => stats.map((row) => row.column_id).sort())).toEqual(files.map(() => [1, 2, 5]));
      }
      expect(
        (await catalog.readCatalog())?.columns.map((row) => [row.column_name, row.column_type, row.parent_column]),
      ).toEqual([
        ['id', 'int32', null],
        ['name', 'varchar', null],
        ['l', 'list', null],
        ['element', 'struct', 3],
        ['a', 'float64', 4],
      ]);
      const dump = await place.dump();
      const stats = await catalog.readTableStats(2);
      expect(stats as unknown).toEqual({
        table: dump.ducklake_table_stats[0],
        columns: dump.ducklake_table_column_stats,
      });
      expect(await hasInlined(catalog, 8, 2)).toBe(false);
      await duck.detach();
    });

    test('a new lake has the tables, columns and keys that DuckDB makes', async () => {
      const [theirs, ours] = [host.place(), host.place()];
      await theirs.attach(duck, { create: true });
      await duck.detach();
      await using catalog = ours.open();
      await catalog.initialize({ dataPath: ours.dataPath, createdBy: 'x', schemaUuid: crypto.randomUUID() });
      const expected = await theirs.structure();
      expect(expected.flat().length).toBeGreaterThan(150);
      expect(await ours.structure()).toEqual(expected);
    });

    test('inlined rows and inlined deletes are noticed at the snapshots where they are live', async () => {
      const place = host.place();
      await place.attach(duck, { create: true, inliningRowLimit: 10 });
      await using catalog = place.open();
      const inlined = async (table: string): Promise<boolean> => {
        const rows = (await catalog.readCatalog())!;
        const tableId = rows.tables.find((row) => row.table_name === table)!.table_id!;
        return hasInlined(catalog, rows.snapshot.id, tableId);
      };
      await duck.run('CREATE TABLE lake.t(id INTEGER)');
      await duck.run('CREATE TABLE lake.u(id INTEGER)');
      expect(await inlined('t')).toBe(false);
      await duck.run('INSERT INTO lake.t SELECT i FROM range(50) r(i)');
      expect(await inlined('t')).toBe(false);
      await duck.run('INSERT INTO lake.t VALUES (100)');
      expect([await inlined('t'), await inlined('u')]).toEqual([true, false]);
      await duck.run('DELETE FROM lake.t WHERE id = 100');
      expect(await inlined('t')).toBe(false);
      await duck.run('DELETE FROM lake.t WHERE id = 3');
      expect([await inlined('t'), await inlined('u')]).toEqual([true, false]);
      await duck.run('ALTER TABLE lake.u ADD COLUMN more VARCHAR');
      await duck.run("INSERT INTO lake.u VALUES (1, 'x')");
      expect(await inlined('u')).toBe(true);
      const { snapshot } = (await catalog.readCatalog())!;
      const at = (tableId: number): Promise<boolean[]> =>
        Promise.all(Array.from({ length: snapshot.id + 1 }, (_, id) => hasInlined(catalog, id, tableId)));
      // 1, 2 create, 3 file, 4 inlined row, 5 gone, 6 inlined delete, 7 alter, 8 inlined row
      const before = [
        [false, false, false, false, true, false, true, true, true],
        [false, false, false, false, false, false, false, false, true],
      ];
      expect([await at(1), await at(2)]).toEqual(before);
      await duck.run("CALL ducklake_flush_inlined_data('lake')");
      expect([await inlined('t'), await inlined('u')]).toEqual([false, false]);
      await duck.detach();
    });

    test('the same statements leave the same rows', async () => {
      const [theirs, ours] = [host.place(), host.place()];
      await theirs.attach(duck, { create: true });
      await duck.run(`CREATE SCHEMA lake."s 1"`);
      await duck.run(
        `CREATE TABLE lake."s 1".t(id INTEGER NOT NULL, name VARCHAR, x DOUBLE DEFAULT 1.5, ok BOOLEAN, seen TIMESTAMPTZ, d DECIMAL(9, 2), n DATE)`,
      );
      await duck.run(
        `INSERT INTO lake."s 1".t SELECT i, 'n' || i, i / 2, i % 2 = 0, '2024-01-15 12:30:00+00'::TIMESTAMPTZ + to_minutes(i), i, NULL FROM range(5, 20) r(i)`,
      );
      await duck.run(
        `INSERT INTO lake."s 1".t SELECT i, NULL, CASE WHEN i = 0 THEN 'nan'::DOUBLE ELSE '-inf'::DOUBLE END, NULL, '12024-01-15 12:30:00.5+00', -i, '0044-03-15 (BC)' FROM range(3) r(i)`,
      );
      await duck.run(
        `BEGIN; CREATE SCHEMA lake.z; CREATE TABLE lake.z.u(a BIGINT); INSERT INTO lake.z.u SELECT i FROM range(20) r(i);
         INSERT INTO lake."s 1".t VALUES (7, 'é', 'inf', true, '0044-03-15 (BC) 12:00:00+00', '10000.00', '9999-12-31');
         CALL lake.set_commit_message('me', 'it''s "so"', extra_info => '{"a":1}'); COMMIT`,
      );
      await duck.run('DROP TABLE lake.z.u');
      await duck.run('DROP SCHEMA lake.z');
      await duck.run('ALTER TABLE lake."s 1".t ADD COLUMN more INTEGER DEFAULT 7');
      await duck.run(`INSERT INTO lake."s 1".t SELECT 1, 'z', 0, true, NULL, 0, NULL, 3`);
      await duck.run('BEGIN; DROP TABLE lake."s 1".t; CREATE TABLE lake."s 1".t(a INTEGER); COMMIT');
      await duck.detach();
      const expected = await theirs.dump();

      await using catalog = ours.open();
      expect(
        await catalog.initialize({ dataPath: ours.dataPath, createdBy: 'x', schemaUuid: crypto.randomUUID() }),
      ).toBe(true);
      let base = (await catalog.readHead()).snapshot;
      const put = async (parts: Partial<CommitBatch>): Promise<void> => {
        base = committed(await catalog.commit(batchOn(base, parts)));
      };
      /** Their rows of a table at a snapshot, with ids made relative where they were taken by that snapshot. */
      const relative = (table: CatalogTable, where: (row: RawRow) => boolean, before: Snapshot): CatalogRow[] =>
        expected[table].filter(where).map((row) => {
          const next = { catalog: before.nextCatalogId, file: before.nextFileId, snapshot: before.id + 1 };
          return Object.fromEntries(
            cellsOf(table).map(([column, { counter }]) => {
              const cell = row[column] as CatalogRow[string];
              if (column === 'end_snapshot') return [column, null];
              if (counter === 'snapshot') return [column, cell === next.snapshot ? NEXT : cell];
              if (counter === 'schemaVersion') return [column, NEXT];
              if ((counter === 'catalog' || counter === 'file') && Number(cell) >= next[counter])
                return [column, relativeId(Number(cell) - next[counter])];
              return [column, cell];
            }),
          );
        });
      const begun =
        (id: number) =>
        (row: RawRow): boolean =>
          row['begin_snapshot'] === id;
      const create = (table: CatalogTable, id: number): CatalogOp => insert(table, ...relative(table, begun(id), base));
      const files = (id: number, rowStarts: Record<number, number>): CatalogOp[] => {
        const ids = new Set(expected.ducklake_data_file.filter(begun(id)).map((row) => row['data_file_id']));
        const rows = relative('ducklake_data_file', begun(id), base);
        return [
          insert(
            'ducklake_data_file',
            ...rows.map((row) => ({ ...row, row_id_start: relativeId(rowStarts[Number(row['table_id'])] ?? 0) })),
          ),
          insert(
            'ducklake_file_column_stats',
            ...relative('ducklake_file_column_stats', (row) => ids.has(row['data_file_id']), base),
          ),
          ...[...new Set(rows.map((row) => row['table_id']))].map((tableId) => statsOf(rows, tableId as number, id)),
        ];
      };
      const statsOf = (rows: CatalogRow[], tableId: number, id: number): CatalogOp => {
        const of = rows.filter((row) => row['table_id'] === tableId);
        const sum = (column: string): number => of.reduce((total, row) => total + Number(row[column]), 0);
        const fileIds = expected.ducklake_data_file
          .filter((row) => begun(id)(row) && of.some((one) => one['path'] === row['path']))
          .map((row) => row['data_file_id']);
        const stats = expected.ducklake_file_column_stats.filter((row) => fileIds.includes(row['data_file_id']));
        return {
          kind: 'addStats',
          stats: {
            tableId,
            recordCount: sum('record_count'),
            rowIdCount: sum('record_count'),
            byteLength: sum('file_size_bytes'),
            columns: stats.map((row) => ({
              columnId: Number(row['column_id']),
              containsNull: Number(row['null_count']) > 0,
              containsNan: row['contains_nan'] as boolean | null,
              bounds:
                row['value_count'] === 0
                  ? 'none'
                  : row['min_value'] === null
                    ? 'unknown'
                    : { min: String(row['min_value']), max: String(row['max_value']) },
              order:
                row['column_id'] === 2 ? 'bytes' : [5, 7].includes(Number(row['column_id'])) ? 'temporal' : 'number',
            })),
          },
        };
      };

      await put({
        changesSchema: true,
        catalogIdCount: 1,
        changes: [{ kind: 'created_schema', name: 's 1' }],
        ops: [create('ducklake_schema', 1)],
      });
      const table = (id: number): CatalogOp[] =>
        (['ducklake_table', 'ducklake_column', 'ducklake_schema_versions'] as const).map((name) => create(name, id));
      await put({
        changesSchema: true,
        catalogIdCount: 1,
        changes: [{ kind: 'created_table', schema: 's 1', name: 't' }],
        ops: table(2),
      });
      for (const id of [3, 4])
        await put({ fileIdCount: 1, changes: [{ kind: 'inserted_into_table', id: 2 }], ops: files(id, {}) });
      await put({
        changesSchema: true,
        catalogIdCount: 2,
        fileIdCount: 2,
        changes: [
          { kind: 'created_schema', name: 'z' },
          { kind: 'created_table', schema: 'z', name: 'u' },
          { kind: 'inserted_into_table', id: 2 },
          { kind: 'inserted_into_table', id: relativeId(1) },
        ],
        author: 'me',
        message: 'it\'s "so"',
        extraInfo: '{"a":1}',
        ops: [create('ducklake_schema', 5), ...table(5), ...files(5, {})],
      });
      const dropped = (id: number): CatalogOp[] => [
        ...(['ducklake_table', 'ducklake_column', 'ducklake_data_file'] as const).map(
          (name): CatalogOp => ({ kind: 'end', table: name, match: { table_id: id } }),
        ),
        { kind: 'end', table: 'ducklake_tag', match: { object_id: id } },
      ];
      await put({ changesSchema: true, changes: [{ kind: 'dropped_table', id: 4 }], ops: dropped(4) });
      await put({
        changesSchema: true,
        changes: [{ kind: 'dropped_schema', id: 3 }],
        ops: [{ kind: 'end', table: 'ducklake_schema', match: { schema_id: 3 } }],
      });

      // DuckDB takes over the lake that we made, and gives it back.
      await ours.attach(duck);
      await duck.run('ALTER TABLE lake."s 1".t ADD COLUMN more INTEGER DEFAULT 7');
      await duck.detach();
      base = (await catalog.readHead(base.id)).snapshot;
      await put({ fileIdCount: 1, changes: [{ kind: 'inserted_into_table', id: 2 }], ops: files(9, {}) });
      await put({
        changesSchema: true,
        catalogIdCount: 1,
        changes: [
          { kind: 'dropped_table', id: 2 },
          { kind: 'created_table', schema: 's 1', name: 't' },
        ],
        ops: [...dropped(2), ...table(10)],
      });

      const got = await ours.dump();
      for (const name of Object.keys(expected) as CatalogTable[])
        expect([name, comparable(name, got[name])]).toEqual([name, comparable(name, expected[name])]);

      // And goes on.
      await ours.attach(duck);
      await duck.run('INSERT INTO lake."s 1".t SELECT i FROM range(30) r(i)');
      expect(await duck.rowsAgreed('SELECT count(*) AS n, min(a) AS low, max(a) AS high FROM lake."s 1".t')).toEqual([
        { n: '30', low: '0', high: '29' },
      ]);
      expect((await duck.rows('FROM lake.snapshots()')).length).toBe(12);
      await duck.detach();
    });

    test('a table that DuckDB made with room for inlined rows gets its bounds from the first append', async () => {
      const place = host.place();
      await place.attach(duck, { create: true, inliningRowLimit: 10 });
      await duck.run('CREATE TABLE lake.t(id INTEGER, m INTEGER)');
      await using catalog = place.open();
      const append = async (id: [string, string] | undefined): Promise<void> => {
        const { snapshot: base } = await catalog.readHead();
        const bounds = id ? { min: id[0], max: id[1] } : 'none';
        const delta = { columnId: 1, containsNull: false, containsNan: null, bounds, order: 'number' } as const;
        const stats = { tableId: 1, recordCount: 1, rowIdCount: 1, byteLength: 1, columns: [delta] } as const;
        committed(
          await catalog.commit(
            batchOn(base, {
              changes: [{ kind: 'inserted_into_table', id: 1 }],
              ops: [{ kind: 'addStats', stats }],
            }),
          ),
        );
      };
      await append(['3', '5']);
      expect((await catalog.readTableStats(1)).columns).toMatchObject([{ min_value: '3', max_value: '5' }]);
      await duck.detach();
    });
  });
}

/** As text: the same instant, however it is written. */
function micros(time: string): string {
  const [, seconds, fraction = ''] = /^(.{19})(?:\.(\d+))?\+00$/.exec(time)!;
  return String(BigInt(Date.parse(`${seconds!.replace(' ', 'T')}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0')));
}

function snapshotOf({ id, time, schemaVersion, nextCatalogId, nextFileId }: Snapshot): Snapshot {
  return { id, time, schemaVersion, nextCatalogId, nextFileId };
}

/** Rows without what is different by nature, in an order. */
function comparable(table: CatalogTable, rows: readonly RawRow[]): string[] {
  const different = (column: string): boolean =>
    /_uuid$|_time$/.test(column) || (table === 'ducklake_metadata' && column === 'value');
  return rows
    .map((row) =>
      JSON.stringify(
        Object.fromEntries(
          Object.entries(row).map(([column, cell]) => [column, different(column) && cell !== null ? '…' : cell]),
        ),
      ),
    )
    .sort();
}
