import { type ConformanceCase, check, collect, equal, rejects } from '../case.ts';
import { batchOn, type CatalogTarget, columnRow, createTables, insert, millis, newLake, openLake } from './batches.ts';

export const initializeCases: readonly ConformanceCase<CatalogTarget>[] = [
  {
    name: 'a place without a lake reads as undefined',
    async run(target) {
      await using catalog = await target.open();
      equal(await catalog.readCatalog(), undefined, 'the catalog');
    },
  },
  {
    name: 'initialize makes snapshot 0 with the schema main, as DuckDB does',
    async run(target) {
      await using catalog = await target.open();
      const before = Date.now();
      const init = newLake();
      equal(await catalog.initialize(init), true, 'initialize');
      const rows = await catalog.readCatalog();
      check(rows !== undefined, 'there is no lake after initialize');
      equal(
        { ...rows.snapshot, time: '' },
        { id: 0, time: '', schemaVersion: 0, nextCatalogId: 1, nextFileId: 0 },
        'the snapshot',
      );
      check(
        /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?\+00$/.test(rows.snapshot.time),
        `the time is written ${rows.snapshot.time}`,
      );
      check(Math.abs(millis(rows.snapshot) - before) < 3_600_000, `the time is ${rows.snapshot.time}`);
      equal(
        new Map(rows.metadata.map(({ key, ...row }) => [key, row] as const).sort(([a], [b]) => (a < b ? -1 : 1))),
        new Map(
          Object.entries({
            created_by: init.createdBy,
            data_path: init.dataPath,
            encrypted: 'false',
            version: '1.0',
          }).map(([key, value]) => [key, { value, scope: null, scope_id: null }] as const),
        ),
        'the metadata',
      );
      equal(
        rows.schemas,
        [
          {
            schema_id: 0,
            schema_uuid: init.schemaUuid,
            begin_snapshot: 0,
            end_snapshot: null,
            schema_name: 'main',
            path: 'main/',
            path_is_relative: true,
          },
        ],
        'the schemas',
      );
      const { tables, views, columns, inlinedTables, partitions, macros } = rows;
      equal(
        { tables, views, columns, inlinedTables, partitions, macros },
        {
          tables: [],
          views: [],
          columns: [],
          inlinedTables: [],
          partitions: [],
          macros: [],
        },
      );
      equal(
        await collect(catalog.readSnapshots()),
        [{ ...rows.snapshot, changes: 'created_schema:"main"', author: null, message: null, extraInfo: null }],
        'the snapshots',
      );
    },
  },
  {
    name: 'a second initialize says false and changes nothing',
    async run(target) {
      await using catalog = await target.open();
      await catalog.initialize(newLake('memory://first/'));
      await createTables(catalog, 't');
      const before = await catalog.readCatalog();
      await using other = await target.open();
      equal(await other.initialize(newLake('memory://second/')), false, 'initialize');
      equal(await catalog.readCatalog(), before, 'the catalog');
      equal(await other.readCatalog(), before, 'the catalog of the other client');
    },
  },
  {
    name: 'of several clients that initialize at once, one makes the lake and all find it',
    async run(target) {
      const catalogs = await Promise.all(Array.from({ length: 4 }, () => target.open()));
      try {
        const inits = catalogs.map((_, k) => newLake(`memory://lake${k}/`));
        const made = await Promise.all(catalogs.map((catalog, k) => catalog.initialize(inits[k]!)));
        equal(made.filter(Boolean).length, 1, 'the number of clients that made the lake');
        const winner = inits[made.indexOf(true)]!;
        for (const catalog of catalogs) {
          const rows = await catalog.readCatalog();
          equal(
            rows?.schemas.map((row) => row.schema_uuid),
            [winner.schemaUuid],
            'the schemas',
          );
          equal(rows?.metadata.find((row) => row.key === 'data_path')?.value, winner.dataPath, 'the data path');
          equal(rows?.metadata.length, 4, 'the number of metadata rows');
        }
      } finally {
        for (const catalog of catalogs) await catalog[Symbol.asyncDispose]();
      }
    },
  },
  {
    name: 'a data path is kept byte for byte',
    async run(target) {
      await using catalog = await target.open();
      const dataPath = `s3://bucket/a b+%25=?&#é🦆/'"\\$1/`;
      await catalog.initialize(newLake(dataPath));
      const rows = await catalog.readCatalog();
      equal(rows?.metadata.find((row) => row.key === 'data_path')?.value, dataPath, 'the data path');
    },
  },
  {
    name: 'a lake is there for a client that opens it later',
    async run(target) {
      {
        await using catalog = await openLake(target);
        await createTables(catalog, 'first');
      }
      await using catalog = await target.open();
      equal(await catalog.initialize(newLake()), false, 'initialize');
      equal(
        (await catalog.readCatalog())?.tables.map((row) => row.table_name),
        ['first'],
        'the tables',
      );
    },
  },
  {
    name: 'after disposal every call rejects with CLOSED, and other clients go on',
    async run(target) {
      const catalog = await openLake(target);
      const { snapshot } = await catalog.readHead();
      await using other = await target.open();
      await catalog[Symbol.asyncDispose]();
      await catalog[Symbol.asyncDispose]();
      const batch = batchOn(snapshot, { ops: [insert('ducklake_column', columnRow(1, 1))] });
      await rejects(() => catalog.initialize(newLake()), 'CLOSED', 'initialize');
      await rejects(() => catalog.readCatalog(), 'CLOSED', 'readCatalog');
      await rejects(() => catalog.readHead(), 'CLOSED', 'readHead');
      await rejects(() => collect(catalog.readSnapshots()), 'CLOSED', 'readSnapshots');
      await rejects(() => catalog.readFiles({ snapshotId: 0, tableId: 1, stats: 'none' }), 'CLOSED', 'readFiles');
      await rejects(() => catalog.readTableStats(1), 'CLOSED', 'readTableStats');
      await rejects(() => catalog.commit(batch), 'CLOSED', 'commit');
      await rejects(() => catalog.findCommit(batch), 'CLOSED', 'findCommit');
      equal((await other.readHead()).snapshot, snapshot, 'the head of another client');
    },
  },
];
