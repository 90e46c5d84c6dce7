import { expect, test } from 'bun:test';
import { DatabaseSync } from 'node:sqlite';
import { testLake } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';

/** More than SQLite takes SELECTs side by side. */
const versionCount = 600;

test(`rows inlined at ${versionCount} schema versions`, async () => {
  await using duck = await openOracle();
  await using place = await testLake('sqlite');
  await place.attach(duck, { inliningRowLimit: 10 });
  await duck.run('CREATE TABLE lake.t (id INTEGER); INSERT INTO lake.t VALUES (0)');
  await duck.detach();
  const [first] = await place.sql('SELECT * FROM ducklake_inlined_data_tables');
  const version = Number(first!['schema_version']);
  const database = new DatabaseSync(`${place.folder}/catalog.sqlite`);
  database.exec('BEGIN');
  for (let k = 1; k < versionCount; k++) {
    const name = `ducklake_inlined_data_1_${version + k}`;
    database.exec(`CREATE TABLE ${name} (row_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, id BIGINT)`);
    database.exec(`INSERT INTO ${name} VALUES (${k}, 2, NULL, ${k})`);
    database.exec(`INSERT INTO ducklake_inlined_data_tables VALUES (1, '${name}', ${version + k})`);
  }
  database.exec('COMMIT');
  database.close();
  const lake = await place.open();
  const rows = await lake.table('t').scan().toArray();
  expect(rows.map((row) => row['id'])).toEqual(Array.from({ length: versionCount }, (_, k) => k));
}, 300_000);
