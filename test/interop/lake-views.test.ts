import { expect, setDefaultTimeout, test } from 'bun:test';
import { CATALOG_KINDS, testLake } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';

setDefaultTimeout(300_000);

for (const kind of CATALOG_KINDS)
  test(`views and macros are listed as DuckDB keeps them, at every version, ${kind}`, async () => {
    await using place = await testLake(kind);
    await using duck = await openOracle();
    const lake = await place.open();
    await place.attach(duck);
    await lake.createSchema('s "x"');
    await duck.run('CREATE VIEW lake.v AS SELECT 1 AS a, 2 AS b');
    await duck.run('CREATE VIEW lake."s ""x"""."é.v" ("a ""quoted""", "b,c") AS SELECT 1, 2, 3 AS third');
    await duck.run('CREATE MACRO lake.plus(x, y) AS x + y');
    await duck.run('CREATE MACRO lake."s ""x""".pair(x) AS TABLE SELECT x, x AS again');
    await duck.run('DROP VIEW lake.v');
    await duck.run('DROP MACRO lake.plus');

    const head = (await Array.fromAsync(lake.snapshots())).at(-1)!.id;
    const seen: unknown[] = [];
    for (let snapshot = 0; snapshot <= head; snapshot++) {
      const views = await lake.views({ asOf: { snapshot } });
      const macros = await lake.macros({ asOf: { snapshot } });
      seen.push([views.map(({ name }) => name).sort(), macros.map(({ name }) => name).sort()]);
    }
    expect(seen).toEqual([
      [[], []],
      [[], []],
      [['v'], []],
      [['v', 'é.v'], []],
      [['v', 'é.v'], ['plus']],
      [
        ['v', 'é.v'],
        ['pair', 'plus'],
      ],
      [['é.v'], ['pair', 'plus']],
      [['é.v'], ['pair']],
    ]);
    const [view] = await lake.views();
    const [theirs] = await duck.rows(
      "SELECT view_oid AS id, schema_name AS schema, view_name AS name FROM duckdb_views() WHERE database_name = 'lake'",
    );
    expect(view).toMatchObject({ schema: theirs!['schema']!, name: theirs!['name']!, dialect: 'duckdb' });
    expect(view!.columnAliases).toEqual(['a "quoted"', 'b,c']);
    // What is listed is what DuckDB runs.
    expect(await duck.rows(`SELECT * FROM (${view!.sql})`)).toHaveLength(1);
    expect(await lake.macros()).toMatchObject([{ schema: 's "x"', name: 'pair' }]);
  });
