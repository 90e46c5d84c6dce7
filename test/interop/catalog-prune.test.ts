import { expect, setDefaultTimeout, test } from 'bun:test';
import { DatabaseSync } from 'node:sqlite';
import { sqliteCatalog } from '../../adapters/sqlite.ts';
import { memoryCatalog } from '../../src/catalog/memory.ts';
import type { CatalogStore } from '../../src/catalog/store.ts';
import { newLake } from '../../src/conformance/catalog/batches.ts';
import { boundedTable, pruneCases } from '../../src/conformance/catalog/prune.ts';
import { postgresHost, sqliteHost } from '../support/lake-places.ts';

setDefaultTimeout(300_000);

async function prunesAll(catalog: CatalogStore): Promise<void> {
  await catalog.initialize(newLake());
  for (const one of pruneCases) {
    const read = await boundedTable(catalog, one);
    const found: unknown[] = [];
    for (const [range] of one.ranges) found.push([one.comparison, range, await read(range)]);
    expect(found).toEqual(one.ranges.map(([range, kept]) => [one.comparison, range, kept]));
  }
}

test('the memory leaves out what it can', async () => {
  await using catalog = memoryCatalog();
  await prunesAll(catalog);
});

for (const [name, open] of Object.entries({ sqlite: sqliteHost, postgres: postgresHost }))
  test(`${name} leaves out what it can`, async () => {
    await using host = await open();
    await using catalog = host.place().open();
    await prunesAll(catalog);
  });

test('of 5,000 files only the rows of the one that matches leave the database', async () => {
  const database = new DatabaseSync(':memory:');
  const answers: number[] = [];
  await using catalog = sqliteCatalog({
    database: {
      exec: (text) => database.exec(text),
      close: () => database.close(),
      prepare(text) {
        const statement = database.prepare(text);
        return {
          run: (...parameters) => statement.run(...parameters),
          all(...parameters) {
            const rows = statement.all(...parameters);
            answers.push(rows.length);
            return rows;
          },
        };
      },
    },
  });
  await catalog.initialize(newLake());
  const bounds = Array.from({ length: 5000 }, (_, k) => [`${k * 10}`, `${k * 10 + 9}`] as const);
  const read = await boundedTable(catalog, { comparison: 'number', bounds, ranges: [] });
  answers.length = 0;
  expect(await read({ min: '1234', max: '1234' })).toEqual([123]);
  expect(answers).toEqual([1]);
});
