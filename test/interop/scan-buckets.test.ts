import { expect, setDefaultTimeout, test } from 'bun:test';
import { localStore } from '../../adapters/local.ts';
import { readTask } from '../../src/index.ts';
import { bucketHash } from '../../src/spec/bucket.ts';
import { parseType } from '../../src/spec/types.ts';
import { codecFor, type Physical } from '../../src/spec/values/codec.ts';
import { CATALOG_KINDS, testLake } from '../support/lakes.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';
import { randomFrom } from '../support/random-rows.ts';

setDefaultTimeout(300_000);

/** DuckDB's names of types, and SQL of a random value, in which `r` is a random number from 0 to 1. */
const types: readonly (readonly [name: string, type: string, value: string])[] = [
  ['boolean', 'BOOLEAN', 'r < 0.5'],
  ['int8', 'TINYINT', 'floor(r * 256) - 128'],
  ['int16', 'SMALLINT', 'floor(r * 65536) - 32768'],
  ['int32', 'INTEGER', 'floor((r - 0.5) * 4294967294)'],
  ['int64', 'BIGINT', 'CASE WHEN r < 0.3 THEN floor((r - 0.15) * 1000) ELSE hash(r)::HUGEINT - (1::HUGEINT << 63) END'],
  ['uint8', 'UTINYINT', 'floor(r * 256)'],
  ['uint16', 'USMALLINT', 'floor(r * 65536)'],
  ['uint32', 'UINTEGER', 'floor(r * 4294967296)'],
  ['uint64', 'UBIGINT', 'hash(r)'],
  ['float32', 'FLOAT', 'CASE WHEN r < 0.1 THEN -0.0 WHEN r < 0.2 THEN 0.0 ELSE tan(r * 3) END'],
  ['float64', 'DOUBLE', "CASE WHEN r < 0.1 THEN -0.0 WHEN r < 0.12 THEN '-inf'::DOUBLE ELSE exp((r - 0.5) * 1000) END"],
  ['decimal(4,1)', 'DECIMAL(4, 1)', '(r - 0.5) * 1000'],
  ['decimal(9,2)', 'DECIMAL(9, 2)', '(r - 0.5) * 10000000'],
  ['decimal(18,3)', 'DECIMAL(18, 3)', '(r - 0.5) * 100000000000000'],
  ['decimal(38,10)', 'DECIMAL(38, 10)', '(r - 0.5) * 1e20'],
  ['varchar', 'VARCHAR', "CASE WHEN r < 0.1 THEN '' ELSE left('aé🦆' || md5(r::VARCHAR), (r * 37)::INTEGER) END"],
  ['json', 'JSON', `'{"k":' || r || '}'`],
  ['blob', 'BLOB', 'from_hex(left(md5(r::VARCHAR), 2 * (r * 16)::INTEGER))'],
  ['uuid', 'UUID', 'md5(r::VARCHAR)::UUID'],
  [
    'date',
    'DATE',
    "CASE WHEN r < 0.05 THEN 'infinity'::DATE ELSE DATE '1970-01-01' + ((r - 0.5) * 100000)::INTEGER END",
  ],
  ['time', 'TIME', "TIME '00:00:00' + to_microseconds((r * 86399999999)::BIGINT)"],
  ['timestamp', 'TIMESTAMP', "TIMESTAMP '1970-01-01' + to_microseconds(((r - 0.5) * 1e16)::BIGINT)"],
  ['timestamptz', 'TIMESTAMPTZ', "TIMESTAMPTZ '1970-01-01 00:00:00+00' + to_microseconds(((r - 0.5) * 1e16)::BIGINT)"],
  ['timestamp_s', 'TIMESTAMP_S', "TIMESTAMP '1970-01-01' + to_seconds(((r - 0.5) * 1e10)::BIGINT)"],
  ['timestamp_ms', 'TIMESTAMP_MS', "TIMESTAMP '1970-01-01' + to_milliseconds(((r - 0.5) * 1e13)::BIGINT)"],
  ['timestamp_ns', 'TIMESTAMP_NS', 'make_timestamp_ns(((r - 0.5) * 1e18)::BIGINT)'],
];

/** A table of random numbers `r`, by `i`. */
async function randomNumbers(duck: Oracle, count: number, seed: number): Promise<void> {
  const random = randomFrom(seed);
  const numbers = Array.from({ length: count }, random);
  await duck.run(`CREATE OR REPLACE TEMP TABLE numbers AS SELECT unnest([${numbers.join(', ')}]::DOUBLE[]) AS r`);
}

test('the hash of thousands of values of every type is that of DuckDB', async () => {
  await using place = await testLake('sqlite');
  await using duck = await openOracle();
  await place.attach(duck);
  await randomNumbers(duck, 3000, 1);
  for (const [name, type, value] of types) {
    const column = parseType(name);
    const codec = codecFor(column);
    const shown = name === 'blob' ? 'hex(v)' : 'v::VARCHAR';
    const rows = await duck.rows(
      `SELECT ${shown} AS text, murmur3_32(v) & 2147483647 AS hash FROM (SELECT (${value})::${type} AS v FROM numbers)`,
    );
    const wrong = rows.filter(({ text, hash }) => {
      const physical: Physical = name === 'blob' ? new Uint8Array(Buffer.from(text!, 'hex')) : codec.fromText(text!);
      return bucketHash(column, physical) !== Number(hash);
    });
    expect([name, rows.length, wrong.slice(0, 3)]).toEqual([name, 3000, []]);
  }
});

for (const kind of CATALOG_KINDS)
  test(`the bucket of every value is the partition that DuckDB put it in, and the only one that is read, ${kind}`, async () => {
    await using place = await testLake(kind);
    await using duck = await openOracle();
    await place.attach(duck, { inliningRowLimit: 0 });
    await randomNumbers(duck, 60, 11);
    const count = 7;
    // The catalog makes no difference to hashes.
    const tables = types.flatMap(([typeName, type, value], n) =>
      kind === 'sqlite' || n % 5 === 0 ? [{ name: `t${n}`, typeName, type, value }] : [],
    );
    for (const { name, type, value } of tables)
      await duck.run(`
        CREATE TABLE lake.${name} (i INT, v ${type});
        ALTER TABLE lake.${name} SET PARTITIONED BY (bucket(${count}, v));
        INSERT INTO lake.${name} SELECT row_number() OVER () % 20, CASE WHEN random() > 0.05 THEN ${value} END FROM numbers`);
    const lake = await place.open();
    const partitions = await place.sql('SELECT data_file_id, partition_value FROM ducklake_file_partition_value');
    const bucketOf = new Map(partitions.map((row) => [Number(row['data_file_id']), row['partition_value']]));
    let prunedCount = 0;
    for (const { name, typeName } of tables) {
      const type = parseType(typeName);
      const table = lake.table(name);
      const files = await table.files();
      const rows = await table.scan({ columns: ['v', 'filename'] }).toArray();
      expect(rows.length).toBe(60);
      const codec = codecFor(type);
      for (const { v, filename } of rows) {
        const { id } = files.find(({ location }) => location === filename)!;
        if (v === null) {
          expect(bucketOf.get(id)).toBeNull();
          continue;
        }
        const hash = bucketHash(type, codec.encode(v));
        if (hash === undefined) throw new Error(`${name} has no hash of ${v}`);
        expect([typeName, v, bucketOf.get(id)]).toEqual([typeName, v, String(hash % count)]);
      }
      const value = (n: number): unknown => rows.filter(({ v }) => v !== null)[n]!['v'];
      const wheres = [
        { v: { eq: value(0) } },
        { v: { in: [value(1), value(2)] } },
        { v: { not: { in: [value(3)] } } },
        { or: [{ v: { eq: value(4) } }, { i: 3 }] },
        { v: { eq: value(5) }, i: { gte: 2 } },
      ];
      const { tasks } = await table.scan({ columns: ['i', 'v'] }).plan();
      expect(tasks.length).toBe(files.length);
      for (const where of wheres) {
        const scan = table.scan({ where: where as never, columns: ['i', 'v'] });
        const found = (await scan.toArray()).map(shown).sort();
        // Every file by itself, as if nothing were known of any.
        const [{ where: filter, whereFields }] = (await scan.plan()).tasks as never as [(typeof tasks)[number]];
        const unpruned = [];
        for (const task of tasks)
          unpruned.push(
            ...(await readTask({ ...task, where: filter, whereFields }, { store: localStore() }).toArray()),
          );
        expect([typeName, where, found]).toEqual([typeName, where, unpruned.map(shown).sort()]);
        const explanation = await scan.explain();
        const byBucket = explanation.pruned.filter(({ by }) => by === 'partition');
        prunedCount += byBucket.reduce((sum, { fileCount }) => sum + fileCount, 0);
        expect(explanation.files.length + explanation.pruned.reduce((sum, { fileCount }) => sum + fileCount, 0)).toBe(
          files.length,
        );
      }
    }
    // Of the files that bounds leave.
    expect(prunedCount).toBeGreaterThan(tables.length * 5);
  });

test('files of other buckets, of changed columns and of others are not ruled out', async () => {
  await using place = await testLake('sqlite');
  await using duck = await openOracle();
  await place.attach(duck, { inliningRowLimit: 0 });
  const foreign = `${place.folder}/foreign.parquet`;
  await duck.run(`
    CREATE TABLE lake.t (i INT, u UINTEGER, name VARCHAR);
    ALTER TABLE lake.t SET PARTITIONED BY (bucket(4, u));
    INSERT INTO lake.t SELECT i, i, 'n' || i FROM range(20) r(i);
    ALTER TABLE lake.t ALTER u SET DATA TYPE BIGINT;
    INSERT INTO lake.t SELECT i, i, 'n' || i FROM range(20) r(i);
    ALTER TABLE lake.t SET PARTITIONED BY (bucket(3, name), bucket(2, u));
    INSERT INTO lake.t SELECT i, i, 'n' || i FROM range(200) r(i);
    ALTER TABLE lake.t RENAME u TO v;
    INSERT INTO lake.t SELECT i, i, 'n' || i FROM range(20) r(i);
    ALTER TABLE lake.t RESET PARTITIONED BY;
    INSERT INTO lake.t SELECT i, i, 'n' || i FROM range(20) r(i);
    BEGIN;
    CREATE TABLE lake.u (i INT, u UINTEGER);
    ALTER TABLE lake.u SET PARTITIONED BY (bucket(4, u));
    INSERT INTO lake.u SELECT i, i FROM range(20) r(i);
    COMMIT;
    ALTER TABLE lake.u ALTER u SET DATA TYPE BIGINT;
    COPY (SELECT i::INT AS i, i AS v, 'n' || i AS name FROM range(20) r(i)) TO '${foreign}';
    CALL ducklake_add_data_files('lake', 't', '${foreign}')`);
  const lake = await place.open();
  const table = lake.table('t');
  let readCount = 0;
  for (let i = 0; i < 20; i++) {
    for (const where of [{ v: i }, { name: `n${i}` }, { v: { in: [i, 100] }, name: `n${i}` }]) {
      const found = await table.scan({ where, columns: ['i'] }).toArray();
      expect([where, found.map((row) => row['i'])]).toEqual([where, Array(6).fill(i)]);
    }
    expect(
      await lake
        .table('u')
        .scan({ where: { u: i }, columns: ['i'] })
        .toArray(),
    ).toEqual([{ i }]);
    readCount += (await table.scan({ where: { v: i, name: `n${i}` } }).explain()).files.length;
  }
  expect(readCount).toBeLessThan((20 * (await table.files()).length) / 2);
  const explanation = await table.scan({ where: { name: 'n3', i: { gte: 0 } } }).explain();
  expect(explanation.pruned.map(({ by, filter }) => [by, filter])).toContainEqual(['partition', '"name" = \'n3\'']);
  expect(String(explanation)).toContain('ruled out by their buckets: "name" = \'n3\'');
});

const shown = (row: unknown): string =>
  JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
