import { expect, setDefaultTimeout, test } from 'bun:test';
import { CATALOG_KINDS, testLake } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';

setDefaultTimeout(300_000);

for (const kind of CATALOG_KINDS)
  test(`rows that are the first to be inlined after an alteration keep their columns in DuckDB, ${kind}`, async () => {
    await using place = await testLake(kind);
    {
      await using duck = await openOracle();
      await place.attach(duck);
      await duck.run(
        'CREATE TABLE lake.t (x INTEGER); INSERT INTO lake.t VALUES (1); ALTER TABLE lake.t ADD COLUMN y INTEGER DEFAULT 7',
      );
      await duck.detach();
    }
    const lake = await place.open({ dataInliningRowLimit: 10 });
    expect(await lake.table('t').insert([{ x: 2, y: 22 }])).toMatchObject({ inlinedRowCount: 1 });
    // A later schema version, of which DuckDB knows the columns before it looks for those of the rows.
    await lake.createSchema('other');
    expect(await lake.table('t').scan().toArray()).toEqual([
      { x: 1, y: 7 },
      { x: 2, y: 22 },
    ]);
    await lake.close();
    await using duck = await openOracle();
    await place.attach(duck);
    expect(await duck.rows('FROM lake.t ORDER BY x')).toEqual([
      { x: '1', y: '7' },
      { x: '2', y: '22' },
    ]);
    await duck.detach();
  });
