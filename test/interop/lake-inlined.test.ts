import { expect, setDefaultTimeout, test } from 'bun:test';
import type { TableSchema } from '../../src/index.ts';
import { t } from '../../src/index.ts';
import { CATALOG_KINDS, testLake } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';
import { randomColumn, randomFrom } from '../support/random-rows.ts';
import { shown } from '../support/type-cases.ts';

setDefaultTimeout(300_000);

const show = (value: unknown): string =>
  value instanceof Map ? `Map {${[...value].map(([k, v]) => `${show(k)} => ${show(v)}`).join(', ')}}` : shown(value);

for (const kind of CATALOG_KINDS)
  test(`values of random types are the same in the catalog, in files, and flushed, ${kind}`, async () => {
    await using duck = await openOracle();
    await using place = await testLake(kind);
    const files = await place.open();
    const inlining = await place.open({ dataInliningRowLimit: 1000 });
    let inlinedCount = 0;
    const names: string[] = [];
    for (let seed = 0; seed < (kind === 'sqlite' ? 24 : 10); seed++) {
      const random = randomFrom(seed * 7919 + 4242);
      const columns = Array.from({ length: 5 }, (_, i) => [`c${i}`, randomColumn(random, 3)] as const);
      const schema: TableSchema = {
        id: t.int32(),
        ...Object.fromEntries(columns.map(([name, { column }]) => [name, column])),
      };
      const rows = Array.from({ length: 15 }, (_, id) => ({
        id,
        ...Object.fromEntries(columns.map(([name, { value }]) => [name, value()])),
      }));
      const name = `t${seed}`;
      await files.createTable({ schema: 'main', name: `${name}_file` }, schema);
      await inlining.createTable({ schema: 'main', name }, schema);
      expect(await files.table(`${name}_file`).insert(rows)).toMatchObject({ inlinedRowCount: 0 });
      const { inlinedRowCount } = await inlining.table(name).insert(rows);
      if (inlinedRowCount > 0) inlinedCount++;
      names.push(name);
      const ours = await inlining.table(name).scan().toArray();
      const filed = await inlining.table(`${name}_file`).scan().toArray();
      expect(ours.map(show)).toEqual(filed.map(show));
    }
    // Some maps have keys that are equal or might be, and some text a NUL: those rows go into files.
    expect(inlinedCount).toBeGreaterThan(names.length * 0.5);
    await place.attach(duck);
    const compare = async (): Promise<void> => {
      for (const name of names) {
        const [ours, filed] = [`lake.${name}`, `lake.${name}_file`];
        expect([name, await duck.rowsAgreed(`FROM ${ours} ORDER BY id`)]).toEqual([
          name,
          await duck.rows(`FROM ${filed} ORDER BY id`),
        ]);
      }
    };
    await compare();
    await duck.run("CALL ducklake_flush_inlined_data('lake')");
    await compare();
    await duck.detach();
  });

test('the limit is the one that DuckDB set for the table, the schema or the lake', async () => {
  await using duck = await openOracle();
  await using place = await testLake('sqlite');
  await place.attach(duck, { inliningRowLimit: 10 });
  await duck.run('CREATE SCHEMA lake.s; CREATE TABLE lake.s.a(i INTEGER); CREATE TABLE lake.s.b(i INTEGER)');
  await duck.run('CREATE TABLE lake.c(i INTEGER); CREATE TABLE lake.d(row_id INTEGER)').catch(() => undefined);
  await duck.run("CALL lake.set_option('data_inlining_row_limit', 2, schema => 's')");
  await duck.run("CALL lake.set_option('data_inlining_row_limit', 0, schema => 's', table_name => 'b')");
  await duck.run("CALL lake.set_option('data_inlining_row_limit', 5)");
  await duck.detach();
  const lake = await place.open({ dataInliningRowLimit: 100 });
  const most = async (schema: string, name: string): Promise<number> => {
    let limit = 0;
    for (let count = 1; count <= 12; count++) {
      const rows = Array.from({ length: count }, (_, i) => ({ i }));
      if ((await lake.table({ schema, name }).insert(rows)).inlinedRowCount > 0) limit = count;
    }
    return limit;
  };
  expect([await most('s', 'a'), await most('s', 'b'), await most('main', 'c')]).toEqual([2, 0, 5]);
  await lake.close();
  await place.attach(duck);
  expect(
    await duck.rowsAgreed('SELECT (SELECT count(*) FROM lake.s.a) AS a, (SELECT count(*) FROM lake.c) AS c'),
  ).toEqual([{ a: '78', c: '78' }]);
  await duck.detach();
});
