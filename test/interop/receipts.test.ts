import { describe, expect, test } from 'bun:test';
import { rm, truncate, writeFile } from 'node:fs/promises';
import { collect, rejects } from '../../src/conformance/case.ts';
import { type FileReceipt, type Lake, t } from '../../src/index.ts';
import { CATALOG_KINDS, type TestLake, testLake } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';

const columns = {
  id: t.int32(),
  price: t.decimal(9, 2),
  ratio: t.float64(),
  tags: t.list(t.varchar()),
  place: t.struct({ city: t.varchar(), zip: t.int32() }),
};

const row = (id: number): Record<string, unknown> => ({
  id,
  price: id % 3 === 0 ? null : `${id}.50`,
  ratio: id % 5 === 0 ? Number.NaN : id / 7,
  tags: id % 2 === 0 ? ['a', null, `t${id}`] : [],
  place: { city: `c"${id}`, zip: id },
});
const rows = (from: number, to: number): Record<string, unknown>[] =>
  Array.from({ length: to - from }, (_, k) => row(from + k));

/** As a message queue or a database that keeps JSON in an order of its own may deliver it. */
function sent(receipt: FileReceipt): FileReceipt {
  const turned = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(turned);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, part]) => [key, turned(part)]),
    );
  };
  return JSON.parse(JSON.stringify(turned(receipt)));
}

async function localFiles(place: TestLake): Promise<string[]> {
  return (await collect(new Bun.Glob('**/*.parquet').scan({ cwd: place.folder, absolute: true }))).sort();
}

for (const kind of CATALOG_KINDS)
  describe(`files by receipt on ${kind}`, () => {
    test('of several machines and tables become one snapshot, which DuckDB reads as if they were inserted', async () => {
      await using place = await testLake(kind);
      await using duck = await openOracle();
      const lakes = await Promise.all(Array.from({ length: 3 }, () => place.open()));
      const [coordinator] = lakes as [Lake, ...Lake[]];
      await coordinator.createTable('a', columns);
      await coordinator.createTable({ schema: 'main', name: 'b' }, columns);
      await coordinator.table('a').insert(rows(1000, 1010));
      const receipts: FileReceipt[] = [];
      await Promise.all(
        lakes.map(async (lake, k) => {
          receipts.push(sent(await lake.table('a').writeFiles(rows(k * 100, k * 100 + 50))));
          receipts.push(sent(await lake.table('b').writeFiles(rows(k * 10, k * 10 + 5))));
        }),
      );
      expect((await coordinator.table('a').files()).length).toBe(1);
      const snapshots = (await collect(coordinator.snapshots())).length;
      const result = await coordinator.register(receipts, { author: 'me', message: 'all', check: 'footer' });
      expect([result.rowCount, result.snapshotId]).toEqual([165, snapshots]);
      expect(result.receipts).toEqual(receipts.map(({ id }) => ({ id, snapshotId: snapshots })));
      const twin = await lakes[1]!.createTable('twin_a', columns);
      await twin.insert(rows(1000, 1010));
      for (const { table, files } of receipts) {
        const first = Number(files[0]!.columns[0]!.min);
        if (table.name === 'a') await twin.insert(rows(first, first + 50));
      }
      for (const lake of lakes) await lake.close();

      await place.attach(duck);
      const every = (name: string): Promise<unknown> =>
        duck.rowsAgreed(`SELECT rowid, * FROM lake.${name} ORDER BY rowid`);
      expect(await every('a')).toEqual((await every('twin_a')) as never);
      for (const sql of [
        'min(id), max(id), min(price), max(price), count(*), count(price)',
        'min(ratio), max(ratio)',
        'max(place.zip)',
      ])
        expect(await duck.rowsAgreed(`SELECT ${sql} FROM lake.a`)).toEqual(
          (await duck.rowsAgreed(`SELECT ${sql} FROM lake.twin_a`)) as never,
        );
      expect(await duck.rowsAgreed('SELECT count(*) AS n, max(id) AS m FROM lake.b')).toEqual([{ n: '15', m: '24' }]);
      expect(
        await duck.rows(`SELECT author, commit_message FROM lake.snapshots() WHERE snapshot_id = ${snapshots}`),
      ).toEqual([{ author: 'me', commit_message: 'all' }]);
      await duck.run(`INSERT INTO lake.a (id) VALUES (77777)`);
      expect(await duck.rowsAgreed('SELECT count(DISTINCT rowid) AS n, count(*) AS m FROM lake.a')).toEqual([
        { n: '161', m: '161' },
      ]);
      const stats = (await place.dump()).ducklake_table_stats;
      const nextOf = (id: number): unknown => stats.find((one) => one['table_id'] === `${id}`)?.['next_row_id'];
      expect([nextOf(1), nextOf(2)]).toEqual(['161', '15']);
    });

    test('are registered once, however often and by however many they are delivered', async () => {
      await using place = await testLake(kind);
      const lakes = await Promise.all(Array.from({ length: 3 }, () => place.open()));
      const [lake, other] = lakes as [Lake, Lake, Lake];
      const a = await lake.createTable('a', { id: t.int32() });
      const receipts = await Promise.all([1, 2, 3, 4].map((id) => a.writeFiles([{ id }])));
      const first = await lake.register([receipts[0]!, receipts[1]!, receipts[0]!]);
      expect([first.rowCount, first.snapshotId, first.receipts.length]).toEqual([2, 2, 3]);
      const second = await other.register(receipts);
      expect([second.rowCount, second.snapshotId]).toEqual([2, 3]);
      expect(second.receipts).toEqual([
        { id: receipts[0]!.id, snapshotId: 2, isRepeat: true },
        { id: receipts[1]!.id, snapshotId: 2, isRepeat: true },
        { id: receipts[2]!.id, snapshotId: 3 },
        { id: receipts[3]!.id, snapshotId: 3 },
      ]);
      const third = await lake.register(receipts.map(sent));
      expect([third.rowCount, third.snapshotId]).toEqual([0, undefined]);
      const racing = await Promise.all([5, 6, 7].map((id) => a.writeFiles([{ id }])));
      const all = await Promise.all(
        lakes.flatMap((one) => [one.register(racing), one.register([racing[1]!, racing[2]!])]),
      );
      expect(all.reduce((sum, { rowCount }) => sum + rowCount, 0)).toBe(3);
      for (const { receipts: told } of all)
        for (const { id, snapshotId } of told)
          expect(snapshotId).toBe(
            all.flatMap((one) => one.receipts).find((one) => one.id === id && !one.isRepeat)!.snapshotId!,
          );
      const found = await other
        .table('a')
        .scan({ columns: ['id'] })
        .toArray();
      expect(found.map(({ id }) => id).sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
    });

    test('stay registered when DuckDB has compacted them away, and keys were forgotten', async () => {
      await using place = await testLake(kind);
      await using duck = await openOracle();
      let lake = await place.open();
      const a = await lake.createTable('a', { id: t.int32() });
      const receipts = await Promise.all([1, 2, 3].map((id) => a.writeFiles([{ id }])));
      const { snapshotId } = await lake.register(receipts);
      await lake.close();
      await place.attach(duck);
      await duck.run(`CALL ducklake_merge_adjacent_files('lake')`);
      await duck.run(`CALL ducklake_cleanup_old_files('lake', cleanup_all => true)`);
      await duck.detach();
      lake = await place.open();
      expect(await lake.forgetKeys({ usedBefore: new Date(Date.now() + 3_600_000) })).toBe(0);
      const again = await lake.register(receipts);
      expect(again.receipts).toEqual(receipts.map(({ id }) => ({ id, snapshotId, isRepeat: true as const })));
      await lake.close();
      await place.attach(duck);
      expect(await duck.rowsAgreed('SELECT id FROM lake.a ORDER BY id')).toEqual([
        { id: '1' },
        { id: '2' },
        { id: '3' },
      ]);
    });

    test('fit a table whose names and defaults changed, and no other that was altered', async () => {
      const alterations: Readonly<Record<string, 'fits' | 'CONFLICT' | 'NOT_FOUND'>> = {
        'ALTER TABLE lake.a RENAME COLUMN id TO ident': 'fits',
        'ALTER TABLE lake.a RENAME TO c': 'fits',
        'ALTER TABLE lake.a ALTER COLUMN id SET DEFAULT 7': 'fits',
        'ALTER TABLE lake.a ALTER COLUMN must DROP NOT NULL': 'fits',
        'ALTER TABLE lake.a ALTER COLUMN id SET NOT NULL': 'CONFLICT',
        'ALTER TABLE lake.a ADD COLUMN x INTEGER': 'CONFLICT',
        'ALTER TABLE lake.a DROP COLUMN s': 'CONFLICT',
        'ALTER TABLE lake.a ALTER COLUMN id SET DATA TYPE BIGINT': 'CONFLICT',
        'ALTER TABLE lake.a ADD COLUMN s.y INTEGER': 'CONFLICT',
        'ALTER TABLE lake.a SET PARTITIONED BY (id)': 'CONFLICT',
        'DROP TABLE lake.a': 'NOT_FOUND',
        'DROP TABLE lake.a; CREATE TABLE lake.a (id INTEGER, s STRUCT(x INTEGER), must INTEGER)': 'NOT_FOUND',
      };
      for (const [sql, outcome] of Object.entries(alterations)) {
        await using place = await testLake(kind);
        await using duck = await openOracle();
        let lake = await place.open();
        const a = await lake.createTable('a', {
          id: t.int32(),
          s: t.struct({ x: t.int32() }),
          must: t.int32().notNull(),
        });
        await a.insert([{ id: 1, s: { x: 1 }, must: 1 }]);
        const receipt = await a.writeFiles([{ id: 2, s: { x: 2 }, must: 2 }]);
        await lake.close();
        await place.attach(duck);
        await duck.run(sql);
        await duck.detach();
        lake = await place.open();
        if (outcome === 'fits') {
          expect((await lake.register([receipt])).rowCount).toBe(1);
          await lake.close();
          await place.attach(duck);
          const [table] = await duck.rows(`SELECT table_name FROM duckdb_tables() WHERE database_name = 'lake'`);
          const read = await duck.rowsAgreed(`SELECT * FROM lake.${table!['table_name']} ORDER BY must`);
          expect(
            read.map((one) => Object.values(one)),
            sql,
          ).toEqual([
            ['1', "{'x': 1}", '1'],
            ['2', "{'x': 2}", '2'],
          ]);
        } else {
          const before = await place.dump();
          await rejects(() => lake.register([receipt]), outcome, sql);
          expect(await place.dump()).toEqual(before);
          expect((await localFiles(place)).length).toBe(2);
        }
      }
    });
  });

describe('receipts', () => {
  test('are refused when they were changed, whatever of them', async () => {
    await using place = await testLake('sqlite');
    const lake = await place.open();
    const a = await lake.createTable('a', columns);
    const receipt = await a.writeFiles(rows(0, 5));
    const paths = (value: unknown, path: readonly string[] = []): string[][] =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).flatMap(([key, part]) => paths(part, [...path, key]))
        : [[...path]];
    const all = paths(receipt);
    expect(all.length).toBeGreaterThan(60);
    for (const path of all) {
      for (const change of ['replace', 'remove'] as const) {
        const copy = JSON.parse(JSON.stringify(receipt));
        const parent = path.slice(0, -1).reduce((value, key) => value[key], copy);
        const key = path.at(-1)!;
        if (change === 'remove') delete parent[key];
        else parent[key] = typeof parent[key] === 'number' ? parent[key] + 1 : `${parent[key]}x`;
        const error = await rejects(() => lake.register([receipt, copy]), 'INVALID_ARGUMENT', `${change} ${path}`);
        expect(error.context['receipt']).toBe(1);
      }
    }
    for (const value of [undefined, null, 7, 'x', [], {}, { ...receipt, more: 1 }])
      await rejects(() => lake.register([value as never]), 'INVALID_ARGUMENT');
    await rejects(() => lake.register(receipt as never), 'INVALID_ARGUMENT');
    await rejects(() => lake.register([receipt], { check: 'all' as never }), 'INVALID_ARGUMENT');
    expect((await a.files()).length).toBe(0);
    expect((await lake.register([receipt])).rowCount).toBe(5);
  });

  test('of missing, short and other files are refused before anything is committed', async () => {
    await using place = await testLake('sqlite');
    const lake = await place.open();
    const a = await lake.createTable('a', { id: t.int32() });
    const good = await a.writeFiles([{ id: 1 }]);
    const [goodFile] = await localFiles(place);
    const bad = await a.writeFiles([{ id: 2 }, { id: 3 }]);
    const file = (await localFiles(place)).find((name) => name !== goodFile)!;
    const bytes = await Bun.file(file).bytes();
    const refused = async (code: 'NOT_FOUND' | 'CORRUPT', check?: 'footer'): Promise<void> => {
      const error = await rejects(() => lake.register([good, bad], check ? { check } : {}), code);
      expect(error.context.location).toEndWith(bad.files[0]!.path);
      expect((await a.files()).length).toBe(0);
    };
    await truncate(file, bytes.length - 1);
    await refused('CORRUPT');
    await rm(file);
    await refused('NOT_FOUND');
    await writeFile(file, new Uint8Array(bytes.length));
    await refused('CORRUPT', 'footer');
    await writeFile(file, bytes);
    expect((await lake.register([good, bad], { check: 'footer' })).rowCount).toBe(3);
  });

  test('of no rows are taken, and make no snapshot', async () => {
    await using place = await testLake('sqlite');
    const lake = await place.open();
    const a = await lake.createTable('a', { id: t.int32() });
    const empty = await a.writeFiles([]);
    expect(await lake.register([empty])).toEqual({
      snapshotId: undefined,
      rowCount: 0,
      receipts: [{ id: empty.id, snapshotId: undefined }],
    });
    expect((await lake.register([])).snapshotId).toBeUndefined();
    expect((await collect(lake.snapshots())).length).toBe(2);
  });

  test('that were discarded have no files, and can not be registered; registered ones can not be discarded', async () => {
    for (const kind of CATALOG_KINDS) {
      await using place = await testLake(kind);
      const lake = await place.open();
      const a = await lake.createTable('a', { id: t.int32() });
      const [one, two, three] = await Promise.all([1, 2, 3].map((id) => a.writeFiles([{ id }])));
      await lake.register([one!]);
      await rejects(() => lake.discard([two!, one!]), 'INVALID_ARGUMENT');
      expect((await localFiles(place)).length).toBe(3);
      await lake.discard([sent(two!)]);
      await lake.discard([two!, two!]);
      expect((await localFiles(place)).length).toBe(2);
      for (const check of ['none', 'size'] as const)
        await rejects(() => lake.register([three!, two!], { check }), 'INVALID_ARGUMENT');
      expect((await lake.register([three!])).rowCount).toBe(1);
      await lake.discard([]);
      // Whoever is first has it; the other is refused.
      for (let round = 0; round < 6; round++) {
        const receipt = await a.writeFiles([{ id: 100 + round }]);
        const other = await place.open();
        const ends = await Promise.allSettled([lake.register([receipt]), other.discard([receipt])]);
        expect(ends.filter(({ status }) => status === 'fulfilled').length).toBe(1);
        const isThere = (await localFiles(place)).some((file) => file.endsWith(receipt.files[0]!.path));
        expect(isThere).toBe(ends[0].status === 'fulfilled');
        await other.close();
      }
      const registered = new Set((await a.files()).map(({ path }) => path));
      const files = (await localFiles(place)).map((file) => file.split('/').at(-1)!);
      expect(files.sort()).toEqual([...registered].sort());
    }
  });

  test('stay good when registering them fails, also without anybody knowing whether it did', async () => {
    await using place = await testLake('sqlite');
    const lake = await place.open({ maxRetries: 0 });
    const a = await lake.createTable('a', { id: t.int32() });
    await place.sql(`INSERT INTO ducklake_metadata VALUES ('require_commit_message', 'true', NULL, NULL)`);
    const strict = await place.open();
    const receipt = await a.writeFiles([{ id: 1 }]);
    await rejects(() => strict.register([receipt]), 'INVALID_ARGUMENT');
    expect((await localFiles(place)).length).toBe(1);
    expect((await strict.register([receipt], { message: 'now' })).rowCount).toBe(1);
    const reason = new Error('mine');
    const aborted = await strict
      .register([receipt], { message: 'x', signal: AbortSignal.abort(reason) })
      .catch((error) => error);
    expect(aborted).toBe(reason);
  });
});
