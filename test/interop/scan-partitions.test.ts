import { expect, setDefaultTimeout, test } from 'bun:test';
import { CATALOG_KINDS, testLake } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';

setDefaultTimeout(300_000);

/** Filters on partitioned columns, and how many of the table's files they leave. */
const cases: readonly (readonly [table: string, where: Record<string, unknown>, sql: string, files: number])[] = [
  ['named', { name: 'p3' }, "name = 'p3'", 1],
  ['named', { name: { gte: 'p7', lt: 'p9' } }, "name >= 'p7' AND name < 'p9'", 2],
  ['named', { name: { isNull: true } }, 'name IS NULL', 1],
  ['yearly', { ts: { gte: '2021-01-01', lt: '2022-01-01' } }, "ts >= '2021-01-01' AND ts < '2022-01-01'", 1],
  ['yearly', { ts: '2023-03-04T05:03:00Z' }, "ts = '2023-03-04 05:03:00'", 1],
  ['monthly', { day: { gte: '2020-03-01' } }, "day >= '2020-03-01'", 2],
  ['hive', { part: 2 }, 'part = 2', 1],
  ['hive', { part: { in: [1, 3] } }, 'part IN (1, 3)', 2],
];

for (const kind of CATALOG_KINDS)
  test(`of a partitioned table only the partitions that a filter leaves are read, ${kind}`, async () => {
    await using place = await testLake(kind);
    await using duck = await openOracle();
    await place.attach(duck, { inliningRowLimit: 0 });
    const foreign = `${place.folder}/foreign`;
    await duck.run(`
      CREATE TABLE lake.named (id INT, name VARCHAR);
      ALTER TABLE lake.named SET PARTITIONED BY (name);
      INSERT INTO lake.named SELECT i, CASE WHEN i % 11 = 10 THEN NULL ELSE 'p' || i % 11 END FROM range(110) r(i);
      CREATE TABLE lake.yearly (id INT, ts TIMESTAMP);
      ALTER TABLE lake.yearly SET PARTITIONED BY (year(ts));
      INSERT INTO lake.yearly SELECT i, make_timestamp(2020 + i % 5, 3, 4, 5, i % 60, 0) FROM range(100) r(i);
      CREATE TABLE lake.monthly (id INT, day DATE);
      ALTER TABLE lake.monthly SET PARTITIONED BY (year(day), month(day));
      INSERT INTO lake.monthly SELECT i, make_date(2020, 1 + i % 4, 5) FROM range(100) r(i);
      COPY (SELECT i AS id, i % 4 AS part FROM range(100) r(i)) TO '${foreign}' (FORMAT parquet, PARTITION_BY part);
      CREATE TABLE lake.hive (id BIGINT, part INT);
      CALL ducklake_add_data_files('lake', 'hive', '${foreign}/**/*.parquet', hive_partitioning => true)`);
    const lake = await place.open();
    for (const [name, where, sql, files] of cases) {
      const table = lake.table(name);
      const ids = (await table.scan({ where: where as never, columns: ['id'] }).toArray()).map(({ id }) => Number(id));
      const theirs = await duck.rows(`SELECT id FROM lake.${name} WHERE ${sql}`);
      expect([name, sql, ids.sort((a, b) => a - b)]).toEqual([
        name,
        sql,
        theirs.map(({ id }) => Number(id)).sort((a, b) => a - b),
      ]);
      const explanation = await table.scan({ where: where as never }).explain();
      expect([name, sql, explanation.files.length]).toEqual([name, sql, files]);
    }
  });
