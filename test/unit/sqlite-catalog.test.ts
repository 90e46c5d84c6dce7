import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type SqliteDatabase, sqliteCatalog } from '../../adapters/sqlite.ts';
import type { CatalogStore } from '../../src/catalog/store.ts';
import { collect, rejects } from '../../src/conformance/case.ts';
import {
  appendParts,
  batchOn,
  commitOnHead,
  committed,
  createTables,
  newLake,
} from '../../src/conformance/catalog/batches.ts';
import { catalogCases } from '../../src/conformance/catalog.ts';
import { telling, withExec } from '../support/sqlite-handle.ts';

setDefaultTimeout(300_000);

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edgemere-sqlite-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const freshPath = (): string => join(folder, `${crypto.randomUUID()}.sqlite`);

const openers: Record<string, (path: string) => CatalogStore> = {
  'a file': (path) => sqliteCatalog({ path }),
  'a file with write-ahead logging': (path) => sqliteCatalog({ path, wal: true }),
  'a handle of bun:sqlite': (path) =>
    sqliteCatalog({ database: new Database(path, { safeIntegers: true, strict: true }) }),
};

for (const [what, open] of Object.entries(openers)) {
  describe(`conformance of ${what}`, () => {
    for (const { name, run } of catalogCases)
      test(name, async () => {
        const path = freshPath();
        await run({ open: async () => open(path) });
      });
  });
}

describe('the file', () => {
  test('is not made by reading, nor when it must not be', async () => {
    const path = freshPath();
    await using catalog = sqliteCatalog({ path, create: false });
    expect(await catalog.readCatalog()).toBeUndefined();
    await rejects(catalog.readHead(), 'NOT_FOUND');
    await rejects(collect(catalog.readSnapshots()), 'NOT_FOUND');
    await rejects(
      catalog.commit(batchOn({ id: 0, time: '', schemaVersion: 0, nextCatalogId: 1, nextFileId: 0 }, {})),
      'NOT_FOUND',
    );
    await rejects(catalog.initialize(newLake()), 'NOT_FOUND');
    expect(existsSync(path)).toBe(false);
    // Somebody else made it meanwhile.
    await using other = sqliteCatalog({ path });
    await other.initialize(newLake());
    expect((await catalog.readHead()).snapshot.id).toBe(0);
    expect(await catalog.initialize(newLake())).toBe(false);
  });

  test('that is no database is CORRUPT', async () => {
    const path = freshPath();
    await writeFile(path, 'not a database, but long enough to look like one '.repeat(100));
    await using catalog = sqliteCatalog({ path });
    await rejects(catalog.readCatalog(), 'CORRUPT');
    await rejects(catalog.initialize(newLake()), 'CORRUPT');
  });

  test('in a folder that is not there is CATALOG_UNAVAILABLE', async () => {
    await using catalog = sqliteCatalog({ path: join(folder, 'nowhere', 'x.sqlite') });
    expect(await catalog.readCatalog()).toBeUndefined();
    await rejects(catalog.initialize(newLake()), 'CATALOG_UNAVAILABLE');
  });

  test('that may only be read is ACCESS_DENIED to writers', async () => {
    const path = freshPath();
    await using writer = sqliteCatalog({ path });
    await writer.initialize(newLake());
    const database = new DatabaseSync(path, { readOnly: true });
    await using catalog = sqliteCatalog({ database });
    const { snapshot } = await catalog.readHead();
    await rejects(
      catalog.commit(batchOn(snapshot, { changes: [{ kind: 'created_schema', name: 'x' }] })),
      'ACCESS_DENIED',
    );
    database.close();
  });

  test('gets write-ahead logging, and loses it again', async () => {
    const path = freshPath();
    const mode = (): unknown => {
      const database = new DatabaseSync(path);
      const { journal_mode } = database.prepare('PRAGMA journal_mode').get() as { journal_mode: string };
      database.close();
      return journal_mode;
    };
    for (const [wal, expected] of [
      [undefined, 'delete'],
      [true, 'wal'],
      [undefined, 'wal'],
      [false, 'delete'],
    ] as const) {
      // biome-ignore format: pairs
      const catalog = sqliteCatalog(wal === undefined ? { path } : { path, wal });
      await catalog.initialize(newLake());
      await catalog[Symbol.asyncDispose]();
      expect(mode()).toBe(expected);
    }
  });
});

describe('a catalog of another version', () => {
  test('is refused by name, and never taken for an empty place', async () => {
    const path = freshPath();
    const database = new DatabaseSync(path);
    database.exec(
      "CREATE TABLE ducklake_metadata (key VARCHAR, value VARCHAR); INSERT INTO ducklake_metadata VALUES ('version', '0.2')",
    );
    await using catalog = sqliteCatalog({ path });
    expect((await rejects(catalog.readCatalog(), 'VERSION')).message).toContain('0.2');
    await rejects(catalog.readHead(), 'VERSION');
    expect(await catalog.initialize(newLake())).toBe(false);
    database.close();
  });

  test('and one that lacks a table is CORRUPT', async () => {
    const path = freshPath();
    await using catalog = sqliteCatalog({ path });
    await catalog.initialize(newLake());
    const database = new DatabaseSync(path);
    database.exec('DROP TABLE ducklake_view');
    database.close();
    await rejects(catalog.readCatalog(), 'CORRUPT');
  });
});

describe('what others wrote', () => {
  test('instants with any offset are the same instants', async () => {
    const path = freshPath();
    await using catalog = sqliteCatalog({ path });
    await catalog.initialize(newLake());
    for (let id = 1; id <= 4; id++)
      await commitOnHead(catalog, { changes: [{ kind: 'created_schema', name: `s${id}` }] });
    const times = [
      ['2024-03-10 02:00:00-05', '2024-03-10 07:00:00+00'],
      ['2024-03-10 12:30:00.5+05:30', '2024-03-10 07:00:00.5+00'],
      ['2024-03-10 07:00:00.814799+00', '2024-03-10 07:00:00.814799+00'],
      ['2024-03-09 19:30:01.000001-11:30', '2024-03-10 07:00:01.000001+00'],
      ['2024-03-10 07:00:02+00', '2024-03-10 07:00:02+00'],
    ] as const;
    const database = new DatabaseSync(path);
    for (const [id, [text]] of times.entries())
      database.prepare('UPDATE ducklake_snapshot SET snapshot_time = ? WHERE snapshot_id = ?').run(text, id);
    database.close();
    expect((await collect(catalog.readSnapshots())).map(({ time }) => time)).toEqual(times.map(([, utc]) => utc));
    const at = async (time: string): Promise<number | undefined> =>
      (await catalog.readCatalog({ time: new Date(time) }))?.snapshot.id;
    expect(await at('2024-03-10T07:00:00Z')).toBe(0);
    expect(await at('2024-03-10T07:00:00.499Z')).toBe(0);
    expect(await at('2024-03-10T07:00:00.500Z')).toBe(1);
    expect(await at('2024-03-10T07:00:00.814Z')).toBe(1);
    expect(await at('2024-03-10T07:00:00.815Z')).toBe(2);
    expect(await at('2024-03-10T07:00:01.000Z')).toBe(2);
    expect(await at('2024-03-10T07:00:01.001Z')).toBe(3);
    expect(await at('2030-01-01T00:00:00Z')).toBe(4);
    await rejects(catalog.readCatalog({ time: new Date('2024-03-10T06:59:59.999Z') }), 'NOT_FOUND');
  });

  test('an id that a number can not hold is CORRUPT, not rounded', async () => {
    const path = freshPath();
    await using catalog = sqliteCatalog({ path });
    await catalog.initialize(newLake());
    const database = new DatabaseSync(path);
    database.exec('UPDATE ducklake_snapshot SET next_file_id = 9007199254740993');
    database.close();
    await rejects(catalog.readHead(), 'CORRUPT');
  });
});

describe('a locked database', () => {
  /** A catalog that waits as long as it takes, and what waits until its database was busy so many times. */
  function patientCatalog(path: string): { catalog: CatalogStore; refused(times: number): Promise<void> } {
    const database = new DatabaseSync(path);
    let busy = 0;
    const handle = telling(database, (error) => {
      if ((error as { errcode?: number }).errcode === 5) busy++;
    });
    const catalog = sqliteCatalog({ database: handle, busyTimeoutMs: 3_600_000 });
    return {
      catalog,
      async refused(times) {
        while (busy < times) await Bun.sleep(1);
      },
    };
  }

  test('is waited for, and given up after busyTimeoutMs', async () => {
    const path = freshPath();
    await using catalog = sqliteCatalog({ path, busyTimeoutMs: 200 });
    await catalog.initialize(newLake());
    const [id] = (await createTables(catalog, 't')) as [number];
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    const error = await rejects(commitOnHead(catalog, appendParts(id)), 'CATALOG_UNAVAILABLE');
    expect(error.retryable).toBe(true);
    const { catalog: patient, refused } = patientCatalog(path);
    const commit = commitOnHead(patient, appendParts(id));
    await refused(3);
    other.exec('COMMIT');
    expect((await commit).id).toBe(2);
    await patient[Symbol.asyncDispose]();
    other.close();
  });

  test('is waited for by one that was frozen meanwhile, however long', async () => {
    const path = freshPath();
    let freezes = 0;
    let now = 0;
    const clocks = [Date, performance].map((clock) => spyOn(clock, 'now').mockImplementation(() => now));
    try {
      const database = new DatabaseSync(path);
      const handle = withExec(database, (sql) => {
        if (sql !== 'BEGIN IMMEDIATE' || ++freezes > 3) return database.exec(sql);
        now += 3_600_000;
        throw Object.assign(new Error('database is locked'), { errcode: 5 });
      });
      await using catalog = sqliteCatalog({ database: handle });
      expect(await catalog.initialize(newLake())).toBe(true);
      expect(freezes).toBe(4);
      database.close();
    } finally {
      for (const clock of clocks) clock.mockRestore();
    }
  });

  test('is waited for no longer where the handle has a busy timeout of its own', async () => {
    let now = 0;
    const clock = spyOn(performance, 'now').mockImplementation(() => now);
    try {
      const handle: SqliteDatabase = {
        prepare: () => ({ all: () => [], run: () => undefined }),
        close: () => undefined,
        exec() {
          now += 5000;
          throw Object.assign(new Error('database is locked'), { errcode: 5 });
        },
      };
      await using catalog = sqliteCatalog({ database: handle, busyTimeoutMs: 30_000 });
      await rejects(() => catalog.initialize(newLake()), 'CATALOG_UNAVAILABLE');
      expect(now).toBe(30_000);
    } finally {
      clock.mockRestore();
    }
  });

  test('by readers only keeps a commit waiting until they are done', async () => {
    const path = freshPath();
    const { catalog, refused } = patientCatalog(path);
    await catalog.initialize(newLake());
    const reader = new DatabaseSync(path);
    reader.exec('BEGIN');
    reader.prepare('SELECT * FROM ducklake_snapshot').all();
    const commit = commitOnHead(catalog, { changes: [{ kind: 'created_schema', name: 's' }] });
    await refused(3);
    reader.exec('COMMIT');
    expect((await commit).id).toBe(1);
    reader.close();
    await catalog[Symbol.asyncDispose]();
  });
});

describe('a handle', () => {
  test('is used as it is and stays open', async () => {
    const database = new DatabaseSync(':memory:');
    const catalog = sqliteCatalog({ database });
    await catalog.initialize(newLake());
    await createTables(catalog, 't');
    await catalog[Symbol.asyncDispose]();
    expect(database.prepare('SELECT count(*) AS n FROM ducklake_table').get() as unknown).toEqual({ n: 1 });
    database.close();
  });

  /** A handle whose COMMIT fails as SQLite does on a broken disk: before or after it took effect. */
  const breaking = (
    database: DatabaseSync,
    when: 'before' | 'after',
    how = 10,
  ): SqliteDatabase & { armed: boolean } => {
    const handle = {
      armed: false,
      ...withExec(database, (sql) => {
        const fails = handle.armed && sql === 'COMMIT';
        if (!fails || when === 'after') database.exec(sql);
        if (!fails) return;
        handle.armed = false;
        throw Object.assign(new Error('disk I/O error'), { errcode: how });
      }),
    };
    return handle;
  };

  test('whose COMMIT failed is looked at for what happened', async () => {
    for (const when of ['before', 'after'] as const) {
      const handle = breaking(new DatabaseSync(':memory:'), when);
      await using catalog = sqliteCatalog({ database: handle });
      await catalog.initialize(newLake());
      const [id] = (await createTables(catalog, 't')) as [number];
      const { snapshot } = await catalog.readHead();
      handle.armed = true;
      const batch = batchOn(snapshot, appendParts(id));
      if (when === 'after') expect(committed(await catalog.commit(batch)).id).toBe(2);
      else {
        expect((await rejects(catalog.commit(batch), 'CATALOG_UNAVAILABLE')).retryable).toBe(true);
        expect((await catalog.readHead()).snapshot).toEqual(snapshot);
        expect(committed(await catalog.commit(batch)).id).toBe(2);
      }
      handle.close();
    }
  });

  test('whose COMMIT finds readers is tried again as a whole', async () => {
    const handle = breaking(new DatabaseSync(':memory:'), 'before', 5);
    await using catalog = sqliteCatalog({ database: handle });
    await catalog.initialize(newLake());
    const [id] = (await createTables(catalog, 't')) as [number];
    handle.armed = true;
    expect((await commitOnHead(catalog, appendParts(id))).id).toBe(2);
    expect((await catalog.readTableStats(id)).table?.record_count).toBe(10);
    handle.close();
  });
});
