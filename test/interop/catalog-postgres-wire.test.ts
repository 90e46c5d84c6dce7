import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import postgres from 'postgres';
import { postgresCatalog } from '../../adapters/postgres.ts';
import type { CatalogStore, ColumnStatsDelta, CommitBatch, Snapshot } from '../../src/catalog/store.ts';
import {
  appendParts,
  appendUnless,
  batchOn,
  committed,
  createTables,
  fileRow,
  insert,
  newLake,
  statsRow,
} from '../../src/conformance/catalog/batches.ts';
import { isLakeError } from '../../src/errors.ts';
import { relativeId } from '../../src/spec/rows.ts';
import { type PostgresWire, postgresWire } from '../support/postgres-wire.ts';
import { freshDatabase } from '../support/services.ts';

setDefaultTimeout(300_000);

let database: Awaited<ReturnType<typeof freshDatabase>>;
let wire: PostgresWire;
beforeAll(async () => {
  database = await freshDatabase();
  wire = await postgresWire(database.url);
});
afterAll(async () => {
  await wire?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
});

interface Opened {
  readonly sql: postgres.Sql;
  readonly catalog: CatalogStore;
  readonly tableId: number;
  readonly base: Snapshot;
}

/** A lake with one table, on one connection that is logged in. */
async function open(prepare: boolean | undefined, clientPrepares = true): Promise<Opened & AsyncDisposable> {
  const sql = postgres(wire.url, { prepare: clientPrepares, max: 1, onnotice: () => {}, backoff: () => 0.01 });
  const schema = `wire_${crypto.randomUUID()}`;
  const catalog = postgresCatalog({ sql, schema, end: true, ...(prepare === undefined ? {} : { prepare }) });
  await catalog.initialize(newLake());
  const [tableId] = (await createTables(catalog, 't')) as [number];
  const { snapshot: base } = await catalog.readHead();
  return { sql, catalog, tableId, base, [Symbol.asyncDispose]: () => catalog[Symbol.asyncDispose]() as Promise<void> };
}

function append(base: Snapshot, tableId: number, fileCount: number, columnCount: number): CommitBatch {
  const files = Array.from({ length: fileCount }, (_, k) => fileRow(tableId, relativeId(k), relativeId(k * 10)));
  const columns = Array.from({ length: columnCount }, (_, k) => k + 1);
  return batchOn(base, {
    ...appendParts(tableId),
    fileIdCount: fileCount,
    witness: { table: 'ducklake_data_file', column: 'path', value: String(files[0]?.['path']) },
    ops: [
      insert('ducklake_data_file', ...files),
      insert(
        'ducklake_file_column_stats',
        ...files.flatMap((_, k) => columns.map((id) => statsRow(tableId, relativeId(k), id))),
      ),
      {
        kind: 'addStats',
        stats: {
          tableId,
          recordCount: fileCount * 10,
          rowIdCount: fileCount * 10,
          byteLength: fileCount * 1000,
          columns: columns.map(
            (columnId): ColumnStatsDelta => ({
              columnId,
              containsNull: false,
              containsNan: null,
              bounds: { min: '1', max: `it's \\ ${'9'.repeat(30)}` },
              order: 'bytes',
            }),
          ),
        },
      },
    ],
  });
}

const sizes = [
  [1, 1],
  [1, 8],
  [1, 300],
  [40, 8],
] as const;

describe('what a commit puts on the wire', () => {
  test.each(sizes)('%p files of %p columns: one message to a client that prepares nothing', async (files, columns) => {
    await using lake = await open(undefined, false);
    let base = lake.base;
    for (let round = 0; round < 6; round++) {
      const batch = append(base, lake.tableId, files, columns);
      wire.reset();
      base = committed(await lake.catalog.commit(batch));
      expect({ counts: wire.counts(), roundTrips: wire.roundTrips() }).toEqual({ counts: { Q: 1 }, roundTrips: 1 });
    }
  });

  test.each(sizes)(
    '%p files of %p columns: one message each, whose statement is prepared once',
    async (files, columns) => {
      await using lake = await open(true);
      let base = lake.base;
      for (let round = 0; round < 12; round++) {
        const batch = append(base, lake.tableId, files, columns);
        wire.reset();
        wire.statements = [];
        base = committed(await lake.catalog.commit(batch));
        expect({ counts: wire.counts(), roundTrips: wire.roundTrips() }).toEqual({ counts: { Q: 1 }, roundTrips: 1 });
        const [text] = wire.statements;
        expect([
          text!.includes('PREPARE'),
          /^(DO .*;\n)?SELECT pg_advisory_xact_lock\([^;]*;\nEXECUTE edgemere_[0-9a-f]{32}\(/s.test(text!),
        ]).toEqual([round === 0, true]);
      }
      wire.statements = undefined;
    },
  );

  test('by default the first commit is planned by itself, and later ones are prepared', async () => {
    await using lake = await open(undefined);
    let base = lake.base;
    const seen: string[] = [];
    for (let round = 0; round < 4; round++) {
      const batch = append(base, lake.tableId, 1, 8);
      wire.reset();
      wire.statements = [];
      base = committed(await lake.catalog.commit(batch));
      expect({ counts: wire.counts(), roundTrips: wire.roundTrips() }).toEqual({ counts: { Q: 1 }, roundTrips: 1 });
      seen.push(wire.statements[0]!.slice(0, 4));
    }
    wire.statements = undefined;
    // Making the table was a commit.
    expect(seen).toEqual(['DO $', 'SELE', 'SELE', 'SELE']);
  });

  test('a connection of a pool that does not know the statement yet is told of it, and nothing happens twice', async () => {
    await using lake = await open(true);
    const { catalog, tableId } = lake;
    let base = committed(await catalog.commit(append(lake.base, tableId, 1, 2)));
    // As a pooler does that gives each transaction another connection, and cleans those.
    await lake.sql.unsafe('DEALLOCATE ALL');
    wire.reset();
    base = committed(await catalog.commit(append(base, tableId, 1, 2)));
    expect(base.id).toBe(lake.base.id + 2);
    expect({ counts: wire.counts(), roundTrips: wire.roundTrips() }).toEqual({ counts: { Q: 2 }, roundTrips: 2 });
    expect((await catalog.readHead()).snapshot).toEqual(base);
    wire.reset();
    committed(await catalog.commit(append(base, tableId, 1, 2)));
    expect(wire.roundTrips()).toBe(1);
  });

  test('a prepared statement goes by the index whatever the lake was like when it was planned', async () => {
    await using lake = await open(true);
    const { catalog, sql, tableId } = lake;
    const schema = catalog.name.slice('postgres:'.length);
    let base = lake.base;
    for (let round = 0; round < 70; round++) base = committed(await catalog.commit(append(base, tableId, 1, 1)));
    await sql.unsafe('ANALYZE');
    base = committed(await catalog.commit(append(base, tableId, 1, 1)));
    const scanned = async (): Promise<number> => {
      await sql.unsafe('SELECT pg_stat_force_next_flush()');
      const [row] =
        await sql`SELECT sum(seq_scan)::int AS scans FROM pg_stat_user_tables WHERE schemaname = ${schema} AND relname LIKE 'ducklake_snapshot%'`;
      return row!['scans'] as number;
    };
    const before = await scanned();
    for (let round = 0; round < 10; round++) committed(await catalog.commit(appendUnless(base, tableId)));
    expect(await scanned()).toBe(before);
  });

  test('creating and dropping is one message as well', async () => {
    await using lake = await open(undefined, false);
    wire.reset();
    const { snapshot } = await lake.catalog.readHead();
    expect(wire.roundTrips()).toBe(1);
    wire.reset();
    committed(
      await lake.catalog.commit(
        batchOn(snapshot, {
          changesSchema: true,
          changes: [{ kind: 'dropped_table', id: lake.tableId }],
          ops: [
            { kind: 'end', table: 'ducklake_table', match: { table_id: lake.tableId } },
            { kind: 'end', table: 'ducklake_column', match: { table_id: lake.tableId } },
          ],
        }),
      ),
    );
    expect({ counts: wire.counts(), roundTrips: wire.roundTrips() }).toEqual({ counts: { Q: 1 }, roundTrips: 1 });
  });

  test('each read is one message', async () => {
    await using lake = await open(undefined);
    committed(await lake.catalog.commit(append(lake.base, lake.tableId, 2, 2)));
    const { catalog, tableId, base } = lake;
    const reads: [string, () => Promise<unknown>][] = [
      ['readCatalog', () => catalog.readCatalog()],
      ['readCatalog of a snapshot', () => catalog.readCatalog({ snapshot: base.id })],
      ['readCatalog at a time', () => catalog.readCatalog({ time: new Date(Date.now() + 3_600_000) })],
      ['readHead', () => catalog.readHead()],
      ['readHead since', () => catalog.readHead(base.id)],
      ['readFiles', () => catalog.readFiles({ snapshotId: base.id + 1, tableId, stats: 'all' })],
      ['readTableStats', () => catalog.readTableStats(tableId)],
    ];
    for (const [what, read] of reads) {
      wire.reset();
      await read();
      expect([what, wire.counts(), wire.roundTrips()]).toEqual([what, { Q: 1 }, 1]);
    }
  });

  test('an append that lost a race against somebody who does not queue is sent again at once', async () => {
    await using lake = await open(undefined, false);
    const { catalog, tableId, base } = lake;
    const other = postgres(database.url, { max: 1, onnotice: () => {} });
    try {
      const schema = catalog.name.slice('postgres:'.length);
      let racing: ReturnType<typeof catalog.commit> | undefined;
      wire.reset();
      await other.begin(async (transaction) => {
        await transaction`
          insert into ${transaction(schema)}.ducklake_snapshot
          select snapshot_id + 1, now(), schema_version, next_catalog_id, next_file_id
          from ${transaction(schema)}.ducklake_snapshot where snapshot_id = ${base.id}`;
        await transaction`insert into ${transaction(schema)}.ducklake_snapshot_changes values (${base.id + 1}, 'created_schema:"x"')`;
        racing = catalog.commit(appendUnless(base, tableId));
        // Until it waits for the row that isn't committed yet. Other tests' databases are on the same server.
        for (let waiting = 0; waiting === 0; )
          [{ waiting } = { waiting: 0 }] = await transaction<{ waiting: number }[]>`
            select count(*)::int as waiting from pg_locks l join pg_stat_activity a on a.pid = l.pid
            where not granted and locktype = 'transactionid' and datname = current_database()`;
      });
      expect(committed(await racing!).id).toBe(base.id + 2);
      expect({ counts: wire.counts(), roundTrips: wire.roundTrips() }).toEqual({ counts: { Q: 2 }, roundTrips: 2 });
      wire.reset();
      expect(committed(await catalog.commit(appendUnless(base, tableId))).id).toBe(base.id + 3);
      expect({ counts: wire.counts(), roundTrips: wire.roundTrips() }).toEqual({ counts: { Q: 1 }, roundTrips: 1 });
    } finally {
      await other.end();
    }
  });

  test('an exact batch that lost a race is superseded without another try', async () => {
    await using lake = await open(undefined, false);
    const { catalog, tableId, base } = lake;
    committed(await catalog.commit(appendUnless(base, tableId)));
    wire.reset();
    expect(await catalog.commit(append(base, tableId, 1, 1))).toEqual({ status: 'superseded' });
    expect(wire.roundTrips()).toBe(1);
  });
});

describe('a connection that breaks', () => {
  test('after the commit, before its answer: the commit is found', async () => {
    await using lake = await open(undefined, false);
    const batch = append(lake.base, lake.tableId, 1, 2);
    wire.cutNext = 'response';
    const snapshot = committed(await lake.catalog.commit(batch));
    expect(wire.cutNext).toBeUndefined();
    expect(snapshot.id).toBe(lake.base.id + 1);
    expect((await lake.catalog.readHead()).snapshot).toEqual(snapshot);
  });

  test('before the commit reached the server: COMMIT_UNKNOWN, and nothing is there', async () => {
    await using lake = await open(undefined, false);
    const batch = append(lake.base, lake.tableId, 1, 2);
    wire.cutNext = 'request';
    const error = await lake.catalog.commit(batch).catch((reason: unknown) => reason);
    expect(isLakeError(error, 'COMMIT_UNKNOWN')).toBe(true);
    expect((await lake.catalog.readHead()).snapshot).toEqual(lake.base);
    expect(await lake.catalog.findCommit(batch)).toBeUndefined();
    committed(await lake.catalog.commit(batch));
  });

  test('and stays away: COMMIT_UNKNOWN for a commit, CATALOG_UNAVAILABLE for a read', async () => {
    const lake = await open(undefined, false);
    wire.cutNext = 'response';
    await wire.down();
    try {
      const batch = append(lake.base, lake.tableId, 1, 2);
      const error = await lake.catalog.commit(batch).catch((reason: unknown) => reason);
      expect(isLakeError(error, 'COMMIT_UNKNOWN')).toBe(true);
      const read = await lake.catalog.readHead().catch((reason: unknown) => reason);
      expect(isLakeError(read, 'CATALOG_UNAVAILABLE') && read.retryable).toBe(true);
      await wire.up();
      expect((await lake.catalog.findCommit(batch))?.id).toBe(lake.base.id + 1);
    } finally {
      await lake[Symbol.asyncDispose]();
    }
  });
});
