import { expect, setDefaultTimeout, test } from 'bun:test';
import { localStore } from '../../adapters/local.ts';
import type { Lake, ObjectStore } from '../../src/index.ts';
import { testLake } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';

setDefaultTimeout(300_000);

/** Counts what is read. */
function meteredStore(): { store: ObjectStore; seen: { requestCount: number; byteLength: number } } {
  const inner = localStore();
  const seen = { requestCount: 0, byteLength: 0 };
  const store: ObjectStore = {
    name: inner.name,
    create: (...args) => inner.create(...args),
    delete: (...args) => inner.delete(...args),
    list: (...args) => inner.list(...args),
    async open(...args) {
      const object = await inner.open(...args);
      return {
        byteLength: object.byteLength,
        async slice(start, end) {
          const bytes = await object.slice(start, end);
          seen.requestCount++;
          seen.byteLength += bytes.byteLength;
          return bytes;
        },
      };
    },
  };
  return { store, seen };
}

const cases: readonly { readonly columns?: readonly string[]; readonly where?: Record<string, unknown> }[] = [
  {},
  { columns: [] },
  { columns: ['id'] },
  { columns: ['note', 'rowid', 'snapshot_id'] },
  { columns: ['id'], where: { id: { gte: 150_000, lt: 160_000 } } },
  { columns: ['x'], where: { id: { in: [5, 390_000] }, note: { isNull: false } } },
  { columns: ['x'], where: { id: -5 } },
  { where: { or: [{ x: { lt: 0.001 } }, { id: 7 }] } },
];

for (const vectors of [false, true])
  test(`what is told of a scan is what it does, deletion ${vectors ? 'vectors' : 'files'}`, async () => {
    await using place = await testLake('sqlite');
    {
      await using duck = await openOracle();
      await place.attach(duck, { inliningRowLimit: 3, more: `WRITE_DELETION_VECTORS ${vectors}` });
      await duck.run(`
        CREATE TABLE lake.t (id BIGINT, x DOUBLE, note VARCHAR);
        CALL lake.set_option('parquet_row_group_size', 20480);
        INSERT INTO lake.t SELECT i, random(), 'note ' || hash(i) FROM range(200000) r(i);
        INSERT INTO lake.t SELECT i, random(), NULL FROM range(200000, 400000) r(i);
        INSERT INTO lake.t SELECT i, i, 'few' FROM range(1000) r(i);
        DELETE FROM lake.t WHERE id % 3 = 0;
        INSERT INTO lake.t VALUES (-1, NULL, 'in the catalog')`);
    }
    const { store, seen } = meteredStore();
    const lake: Lake = await place.open({ store });
    const table = lake.table('t');
    const fileCount = (await table.files()).length;
    for (const options of cases) {
      const explanation = await table.scan(options).explain();
      Object.assign(seen, { requestCount: 0, byteLength: 0 });
      for await (const _ of table.scan(options).batches());
      expect([options, explanation.requestCount, explanation.readByteLength]).toEqual([
        options,
        seen.requestCount,
        seen.byteLength,
      ]);
      expect(explanation.files.length + explanation.pruned.reduce((sum, part) => sum + part.fileCount, 0)).toBe(
        fileCount,
      );
      expect(explanation.inlinedRowCount).toBe(1);
    }

    const some = await table.scan({ columns: ['id'], where: { id: { gte: 150_000, lt: 160_000 } } }).explain();
    expect(some.where).toBe('"id" >= 150000 AND "id" < 160000');
    expect(some.files.map((file) => [file.rowGroupCount, file.readRowGroupCount, file.deleteFileCount])).toEqual([
      [10, 1, 1],
    ]);
    expect(some.pruned).toMatchObject([
      { by: 'statistics', filter: '"id" < 160000', fileCount: 1, rowCount: 200_000 },
      { by: 'statistics', filter: '"id" >= 150000', fileCount: 1, rowCount: 1000 },
    ]);
    const lines = String(some).split('\n');
    expect(lines.slice(0, 3)).toEqual([
      `main.t at snapshot ${some.snapshotId}`,
      '  columns: id',
      '  where: "id" >= 150000 AND "id" < 160000',
    ]);
    expect(lines).toContain('1 of 10 row groups in them, with 20480 rows');
    // All of it is plain data.
    expect(JSON.parse(JSON.stringify(some))).toMatchObject({ columns: ['id'], requestCount: some.requestCount });
  });
