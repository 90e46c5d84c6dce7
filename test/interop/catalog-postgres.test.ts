import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import postgres from 'postgres';
import { postgresCatalog } from '../../adapters/postgres.ts';
import { collect, rejects } from '../../src/conformance/case.ts';
import {
  appendParts,
  appendUnless,
  batchOn,
  commitOnHead,
  committed,
  createTables,
  everything,
  newLake,
} from '../../src/conformance/catalog/batches.ts';
import { freshDatabase } from '../support/services.ts';

setDefaultTimeout(300_000);

let database: Awaited<ReturnType<typeof freshDatabase>>;
let admin: postgres.Sql;
beforeAll(async () => {
  database = await freshDatabase();
  admin = postgres(database.url, { max: 2, onnotice: () => {} });
});
afterAll(async () => {
  await admin?.end();
  await database?.[Symbol.asyncDispose]();
});

const freshSchema = (): string => `it's "a" \\ lake ${crypto.randomUUID().slice(0, 8)}`;

describe('any client will do', () => {
  const clients: Record<string, postgres.Options<Record<string, postgres.PostgresType>>> = {
    'as it comes': {},
    'without prepared statements': { prepare: false },
    'that renames columns and turns NULL to undefined': { transform: { ...postgres.camel, undefined: null } },
    'that reads bigint as bigint': { types: { bigint: postgres.BigInt } },
    'of another time zone, date style and string syntax': {
      connection: {
        TimeZone: 'Asia/Kolkata',
        DateStyle: 'German, DMY',
        IntervalStyle: 'sql_standard',
        standard_conforming_strings: 'off',
        escape_string_warning: 'off',
        extra_float_digits: -15,
        search_path: 'pg_temp',
      } as never,
    },
  };
  for (const [what, options] of Object.entries(clients))
    test(what, async () => {
      const sql = postgres(database.url, { max: 2, onnotice: () => {}, ...options }) as unknown as postgres.Sql;
      for (const prepare of [undefined, true]) {
        if (prepare && options.prepare === false) continue;
        const schema = freshSchema();
        await using catalog = postgresCatalog({ sql, schema, ...(prepare ? { prepare } : {}) });
        expect(await catalog.readCatalog()).toBeUndefined();
        const dataPath = `s3://it's/a \\ "path"$lake$/é/`;
        expect(await catalog.initialize({ ...newLake(), dataPath })).toBe(true);
        expect(await catalog.initialize(newLake())).toBe(false);
        const [id] = (await createTables(catalog, `it's \\ "t"`)) as [number];
        const author = `it's \\ $1 "me" é 🦆`;
        for (let round = 0; round < 6; round++) await commitOnHead(catalog, { ...appendParts(id), author });
        const seen = await everything(catalog);
        // The same through a client that has nothing set.
        await using plain = postgresCatalog({ sql: admin, schema });
        expect(seen).toEqual(await everything(plain));
        const rows = await plain.readCatalog();
        expect(rows?.metadata.find((row) => row.key === 'data_path')?.value).toBe(dataPath);
        expect(rows?.tables[0]?.table_name).toBe(`it's \\ "t"`);
        expect((await collect(plain.readSnapshots())).at(-1)?.author).toBe(author);
        const clock = await admin`SELECT extract(epoch FROM clock_timestamp())::float8 AS now`;
        const time = Date.parse(rows!.snapshot.time.replace(' ', 'T').replace('+00', 'Z'));
        expect(Math.abs(clock[0]!['now'] * 1000 - time)).toBeLessThan(3_600_000);
        expect(
          (await catalog.readCatalog({ time: new Date(time - 3_600_000 * 3) }).catch(() => undefined))?.snapshot,
        ).toBeUndefined();
        expect((await catalog.readCatalog({ time: new Date(time + 1) }))?.snapshot.id).toBe(7);
        expect((await catalog.readCatalog({ time: new Date(8.64e15) }))?.snapshot.id).toBe(7);
        await rejects(catalog.readCatalog({ time: new Date(-6e13) }), 'NOT_FOUND');
        await rejects(catalog.readCatalog({ snapshot: 99 }), 'NOT_FOUND');
        await rejects(catalog.readCatalog({ snapshot: 1.5 }), 'INVALID_ARGUMENT');
        await rejects(catalog.readCatalog({ time: new Date('?') }), 'INVALID_ARGUMENT');
      }
      await sql.end();
    });

  test('and is left open, unless it is to be ended', async () => {
    const sql = postgres(database.url, { max: 1, onnotice: () => {} });
    const schema = freshSchema();
    const kept = postgresCatalog({ sql, schema });
    await kept.initialize(newLake());
    await kept[Symbol.asyncDispose]();
    const ended = postgresCatalog({ sql, schema, end: true });
    expect((await ended.readHead()).snapshot.id).toBe(0);
    await ended[Symbol.asyncDispose]();
    expect(await sql`SELECT 1`.catch((error: { code?: string }) => error.code)).toBe('CONNECTION_ENDED');
  });
});

test('a query that failed after its first rows does no harm to what comes next on its connection', async () => {
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  await using catalog = postgresCatalog({ sql, schema: freshSchema(), end: true });
  await catalog.initialize(newLake());
  const failing = (): Promise<unknown> =>
    sql.unsafe('SELECT 1 / (4 - n) FROM generate_series(1, 9) AS n').then(
      () => 'did not fail',
      () => undefined,
    );
  const keys = [{ key: 'k', scope: 's', result: '{}' }];
  for (const read of [
    async () => expect((await catalog.readHead()).snapshot.id).toBe(0),
    async () => expect((await catalog.readCatalog())!.snapshot.id).toBe(0),
    async () => expect((await collect(catalog.readSnapshots())).length).toBe(1),
    async () => {
      const { snapshot } = await catalog.readHead();
      await failing();
      expect(await catalog.commit({ ...batchOn(snapshot, {}), keys })).toMatchObject({ status: 'committed' });
      await failing();
      expect((await catalog.findKeys(['k'])).map(({ key }) => key)).toEqual(['k']);
    },
  ]) {
    expect(await failing()).toBeUndefined();
    await read();
  }
});

describe('several lakes in one database', () => {
  test('know nothing of each other', async () => {
    const [a, b] = [freshSchema(), freshSchema()];
    await using first = postgresCatalog({ sql: admin, schema: a });
    await using second = postgresCatalog({ sql: admin, schema: b });
    await first.initialize(newLake('memory://a/'));
    await createTables(first, 't');
    expect(await second.readCatalog()).toBeUndefined();
    await rejects(second.readHead(), 'NOT_FOUND');
    await rejects(second.commit(batchOn((await first.readHead()).snapshot, {})), 'NOT_FOUND');
    await second.initialize(newLake('memory://b/'));
    expect((await second.readCatalog())?.tables).toEqual([]);
    expect((await first.readCatalog())?.metadata.find((row) => row.key === 'data_path')?.value).toBe('memory://a/');
  });
});

describe('errors', () => {
  const connect = (change: (url: URL) => void, options: postgres.Options<Record<string, never>> = {}): postgres.Sql => {
    const url = new URL(database.url);
    change(url);
    return postgres(url.href, { max: 1, onnotice: () => {}, connect_timeout: 120, ...options });
  };
  const failing: Record<string, [change: (url: URL) => void, code: Parameters<typeof rejects>[1], retryable: boolean]> = {
    'a wrong password': [(url) => { url.password = 'secret-and-wrong'; }, 'ACCESS_DENIED', false],
    'a user that is not there': [(url) => { url.username = 'nobody-knows'; }, 'ACCESS_DENIED', false],
    'a database that is not there': [(url) => { url.pathname = '/nowhere'; }, 'NOT_FOUND', false],
    'a server that is not there': [(url) => { url.port = '1'; }, 'CATALOG_UNAVAILABLE', true],
  }; // biome-ignore format: a table
  for (const [what, [change, code, retryable]] of Object.entries(failing))
    test(`${what} is ${code}`, async () => {
      await using catalog = postgresCatalog({ sql: connect(change), end: true });
      const snapshot = { id: 0, time: '2024-01-01 00:00:00+00', schemaVersion: 0, nextCatalogId: 1, nextFileId: 0 };
      for (const call of [
        () => catalog.readCatalog(),
        () => catalog.readHead(),
        () => catalog.initialize(newLake()),
        () => catalog.commit(batchOn(snapshot, {})),
      ]) {
        const error = await rejects(call, code);
        expect(error.retryable).toBe(retryable);
        expect(JSON.stringify([error.message, error.context])).not.toContain('secret-and-wrong');
      }
    });

  test('a user without rights is ACCESS_DENIED, and one who may not create schemas can use those that are there', async () => {
    const role = `role_${crypto.randomUUID().slice(0, 8)}`;
    await admin.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'pw'`);
    try {
      const as = (): postgres.Sql =>
        connect((url) => {
          url.username = role;
          url.password = 'pw';
        });
      const [theirs, own, missing] = [freshSchema(), freshSchema(), freshSchema()];
      await using lake = postgresCatalog({ sql: admin, schema: theirs });
      await lake.initialize(newLake());
      await using denied = postgresCatalog({ sql: as(), end: true, schema: theirs });
      await rejects(denied.readCatalog(), 'ACCESS_DENIED');
      await rejects(denied.commit(batchOn((await lake.readHead()).snapshot, {})), 'ACCESS_DENIED');
      await using nowhere = postgresCatalog({ sql: as(), end: true, schema: missing });
      await rejects(nowhere.initialize(newLake()), 'ACCESS_DENIED');
      await admin`CREATE SCHEMA ${admin(own)} AUTHORIZATION ${admin(role)}`;
      await using allowed = postgresCatalog({ sql: as(), end: true, schema: own });
      expect(await allowed.initialize(newLake())).toBe(true);
      await createTables(allowed, 't');
    } finally {
      await admin.unsafe(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`);
    }
  });

  test('a read-only session is ACCESS_DENIED to commits', async () => {
    const schema = freshSchema();
    await using catalog = postgresCatalog({ sql: admin, schema });
    await catalog.initialize(newLake());
    const sql = connect(() => {}, { connection: { default_transaction_read_only: true } });
    await using reader = postgresCatalog({ sql, end: true, schema });
    const { snapshot } = await reader.readHead();
    await rejects(reader.commit(batchOn(snapshot, {})), 'ACCESS_DENIED');
  });

  test('a server that ends the connection has not committed, which only time can tell', async () => {
    const schema = freshSchema();
    await using catalog = postgresCatalog({ sql: admin, schema });
    await catalog.initialize(newLake());
    const [id] = (await createTables(catalog, 't')) as [number];
    const { snapshot: base } = await catalog.readHead();
    const sql = connect(() => {});
    await using victim = postgresCatalog({ sql, end: true, schema });
    const [{ pid }] = (await sql`SELECT pg_backend_pid() AS pid`) as unknown as [{ pid: number }];
    await admin.begin(async (transaction) => {
      // The commit has to wait for this lock.
      await transaction`LOCK TABLE ${transaction(schema)}.ducklake_snapshot IN EXCLUSIVE MODE`;
      const commit = victim.commit(appendUnless(base, id)).catch((error: unknown) => error);
      for (let isWaiting = false; !isWaiting; ) {
        const [row] = await transaction`SELECT count(*)::int AS n FROM pg_locks WHERE pid = ${pid} AND NOT granted`;
        isWaiting = row!['n'] > 0;
      }
      await transaction`SELECT pg_terminate_backend(${pid})`;
      // The client hears the server's reason, and passes on that the connection closed.
      expect(await commit).toMatchObject({ code: 'COMMIT_UNKNOWN' });
    });
    expect((await catalog.readHead()).snapshot).toEqual(base);
    expect(committed(await victim.commit(appendUnless(base, id))).id).toBe(base.id + 1);
  });

  test('a catalog of another version is refused by name', async () => {
    const schema = freshSchema();
    await admin`CREATE SCHEMA ${admin(schema)}`;
    await admin`CREATE TABLE ${admin(schema)}.ducklake_metadata (key varchar, value varchar)`;
    await admin`INSERT INTO ${admin(schema)}.ducklake_metadata VALUES ('version', '0.2')`;
    await using catalog = postgresCatalog({ sql: admin, schema });
    expect((await rejects(catalog.readCatalog(), 'VERSION')).message).toContain('0.2');
    expect(await catalog.initialize(newLake())).toBe(false);
  });
});
