import { expect, setDefaultTimeout, test } from 'bun:test';
import { memoryCatalog } from '../../src/catalog/memory.ts';
import type { CatalogStore } from '../../src/catalog/store.ts';
import { newLake } from '../../src/conformance/catalog/batches.ts';
import { boundedTable, pruneCases } from '../../src/conformance/catalog/prune.ts';
import { postgresHost, sqliteHost } from '../support/lake-places.ts';

setDefaultTimeout(60_000);

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
