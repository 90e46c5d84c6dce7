import { expect, setDefaultTimeout, test } from 'bun:test';
import type { TableSchema } from '../../src/index.ts';
import { t } from '../../src/index.ts';
import { CATALOG_KINDS, testLake } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';
import { randomColumn, randomFrom } from '../support/random-rows.ts';
import { shown } from '../support/type-cases.ts';

setDefaultTimeout(120_000);

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
