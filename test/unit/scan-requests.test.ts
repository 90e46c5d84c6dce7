import { describe, expect, test } from 'bun:test';
import { memoryCatalog } from '../../adapters/memory.ts';
import { s3Store } from '../../adapters/s3.ts';
import { type Lake, openLake, t } from '../../src/index.ts';
import { FakeS3 } from '../support/fake-s3.ts';

interface Place extends AsyncDisposable {
  readonly lake: Lake;
  readonly s3: FakeS3;
  /** Requests that a call makes. */
  requests(run: () => Promise<unknown>): Promise<string[]>;
}

async function place(): Promise<Place> {
  const s3 = new FakeS3();
  const lake = await openLake({
    catalog: memoryCatalog(),
    store: s3Store({ client: s3.client, sdk: s3.sdk }),
    dataPath: 's3://bucket/lake/',
    dataInliningRowLimit: 0,
  });
  await lake.createTable('t', { id: t.int64(), name: t.varchar(), noise: t.varchar() });
  return {
    lake,
    s3,
    async requests(run) {
      const before = s3.requests.length;
      await run();
      return s3.requests.slice(before);
    },
    [Symbol.asyncDispose]: () => lake.close(),
  };
}

const rows = (from: number, to: number, noise = 0): Record<string, unknown>[] =>
  Array.from({ length: to - from }, (_, i) => ({
    id: BigInt(from + i),
    name: `n${String(from + i).padStart(8, '0')}`,
    noise: Array.from({ length: noise }, (_, k) => ((i * 7919 + k * 104729) % 99991).toString(36)).join(''),
  }));

describe('requests to S3', () => {
  test('one for a small file, whatever of it is read', async () => {
    await using at = await place();
    const table = at.lake.table('t');
    await table.insert(rows(0, 100));
    expect(await at.requests(() => table.scan().toArray())).toEqual(['GetObject']);
    expect(await at.requests(() => table.scan({ columns: ['id'], where: { id: 5 } }).toArray())).toEqual(['GetObject']);
  });

  test('none for files that the filter rules out, by numbers, by text, and by values between', async () => {
    await using at = await place();
    const table = at.lake.table('t');
    for (const from of [0, 100, 200]) await table.insert(rows(from, from + 100));
    const read = (where: object): Promise<string[]> => at.requests(() => table.scan({ where }).toArray());
    expect(await read({ id: 150 })).toEqual(['GetObject']);
    expect(await read({ id: { in: [5, 250] } })).toEqual(['GetObject', 'GetObject']);
    expect(await read({ name: 'n00000150' })).toEqual(['GetObject']);
    expect(await read({ name: { startsWith: 'n000002' } })).toEqual(['GetObject']);
    expect(await read({ id: 1000 })).toEqual([]);
    expect(await read({ name: 'zzz' })).toEqual([]);
    expect(await read({ name: { isNull: true } })).toEqual([]);
    expect(await at.requests(() => table.scan({ limit: 0 }).toArray())).toEqual([]);
    expect(await at.requests(() => table.scan({ limit: 3 }).toArray())).toEqual(['GetObject']);
  });

  test('of a large file its footer, then the columns that are asked for', async () => {
    await using at = await place();
    const table = at.lake.table('t');
    await table.insert(rows(0, 20_000, 12));
    const [bytes] = at.s3.objects.values();
    expect(bytes!.length).toBeGreaterThan(600_000);
    expect(await at.requests(() => table.scan({ columns: ['id'] }).toArray())).toEqual(['GetObject', 'GetObject']);
  });

  test('a signal that fires stops them, and rejects with its reason', async () => {
    await using at = await place();
    const table = at.lake.table('t');
    for (let k = 0; k < 20; k++) await table.insert(rows(k, k + 1));
    const controller = new AbortController();
    const reason = new Error('enough');
    let seen = 0;
    at.s3.before = () => {
      if (++seen === 3) controller.abort(reason);
    };
    await expect(table.scan({ signal: controller.signal }).toArray()).rejects.toBe(reason);
    expect(seen).toBeLessThan(8);
  });
});

describe('files that are not what the catalog says', () => {
  const damages: readonly (readonly [string, (bytes: Uint8Array) => Uint8Array | undefined, string])[] = [
    ['gone', () => undefined, 'NOT_FOUND'],
    ['empty', () => new Uint8Array(0), 'CORRUPT'],
    ['cut in half', (bytes) => bytes.slice(0, bytes.length / 2), 'CORRUPT'],
    ['a byte shorter', (bytes) => bytes.slice(0, -1), 'CORRUPT'],
    ['no Parquet file', (bytes) => new Uint8Array(bytes.length), 'CORRUPT'],
  ];
  for (const [size, rowCount, noise] of [
    ['small', 50, 0],
    ['large', 20_000, 12],
  ] as const)
    test.each(damages)(`${size}, %s`, async (_, damage, code) => {
      await using at = await place();
      const table = at.lake.table('t');
      await table.insert(rows(0, 10));
      await table.insert(rows(10, 10 + rowCount, noise));
      const [, [key, bytes]] = [...at.s3.objects].sort(([, a], [, b]) => a.length - b.length) as [
        unknown,
        [string, Uint8Array],
      ];
      const damaged = damage(bytes);
      if (damaged) at.s3.objects.set(key, damaged);
      else at.s3.objects.delete(key);
      for (const options of [{}, { columns: ['id'] as const }, { limit: 1_000_000 }, { where: { id: 12 } }]) {
        const found: unknown[] = [];
        const error = await (async () => {
          for await (const row of table.scan(options as object)) found.push(row);
        })().catch((reason) => reason);
        expect([found.length <= 10 + rowCount, error]).toMatchObject([true, { code }]);
        expect(error.message).toContain(key.slice(key.lastIndexOf('/') + 1));
      }
    });

  test('longer: what the catalog says is read, all of it', async () => {
    await using at = await place();
    const table = at.lake.table('t');
    for (const [from, to, noise] of [
      [0, 50, 0],
      [50, 20_050, 12],
    ] as const)
      await table.insert(rows(from, to, noise));
    for (const [key, bytes] of at.s3.objects)
      at.s3.objects.set(key, new Uint8Array([...bytes, ...bytes.slice(0, 100)]));
    const found = await table.scan({ columns: ['id'] }).toArray();
    expect(found.map(({ id }) => id)).toEqual(Array.from({ length: 20_050 }, (_, i) => BigInt(i)));
  });
});
