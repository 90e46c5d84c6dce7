import { expect, setDefaultTimeout, test } from 'bun:test';
import fc from 'fast-check';
import { t } from '../../src/index.ts';
import { CATALOG_KINDS, testLake } from '../support/lakes.ts';
import { weirdNames } from '../support/names.ts';
import { identifier, literal, openOracle } from '../support/oracle.ts';

setDefaultTimeout(900_000);

/** Any text that is no name to DuckDB or the catalog's database is left out. */
const anyName = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 30 })
  .filter((name) => name.isWellFormed() && !name.includes('\0'));

for (const kind of CATALOG_KINDS)
  test(`schemas, tables and columns of any name, read and written by both, ${kind}`, async () => {
    await using place = await testLake(kind);
    await using duck = await openOracle();
    const lake = await place.open();
    await place.attach(duck);
    const seed = fc.readConfigureGlobal()?.seed;
    const random = fc.sample(anyName, 6);
    // DuckDB takes much longer there.
    const known = kind === 'sqlite' ? weirdNames : weirdNames.slice(0, 6);
    const names = [...new Map([...known, ...random].map((name) => [name.toLowerCase(), name])).values()];
    for (const name of names) {
      const what = `name ${JSON.stringify(name)}, seed ${seed}`;
      const quoted = identifier(name);
      await lake.transaction(async (tx) => {
        await tx.createSchema(name);
        const table = await tx.createTable(
          { schema: name, name },
          Object.fromEntries([
            [name, t.varchar()],
            [`${name} 2`, t.int32()],
          ]),
        );
        await table.insert([Object.fromEntries([[name, name]])]);
      });
      expect([what, await duck.rowsAgreed(`SELECT ${quoted} AS v FROM lake.${quoted}.${quoted}`)]).toEqual([
        what,
        [{ v: name }],
      ]);
      await duck.run(`INSERT INTO lake.${quoted}.${quoted} VALUES (NULL, 7)`);
      const rows = await lake.table({ schema: name, name }).scan().toArray();
      expect([what, rows.map(Object.entries)]).toEqual([
        what,
        [
          [
            [name, name],
            [`${name} 2`, null],
          ],
          [
            [name, null],
            [`${name} 2`, 7],
          ],
        ],
      ]);
    }
    const listed = (await lake.tables()).map(({ schema, name }) => `${schema}/${name}`).sort();
    expect(listed).toEqual(names.map((name) => `${name}/${name}`).sort());

    // And the other way round: made by DuckDB.
    for (const name of names) {
      const quoted = identifier(name);
      await duck.run(`DROP TABLE lake.${quoted}.${quoted};
        CREATE TABLE lake.${quoted}.${quoted} (${quoted} VARCHAR);
        INSERT INTO lake.${quoted}.${quoted} VALUES (${literal(name)})`);
      const table = lake.table({ schema: name, name });
      await table.insert([Object.fromEntries([[name, `${name}!`]])]);
      expect((await table.scan().toArray()).map(Object.entries)).toEqual([[[name, name]], [[name, `${name}!`]]]);
      await lake.dropSchema(name, { cascade: true });
    }
    const left = await duck.rows("SELECT schema_name FROM duckdb_schemas() WHERE database_name = 'lake'");
    expect(left).toEqual([{ schema_name: 'main' }]);
  });

test('names that DuckDB takes for one are one', async () => {
  await using place = await testLake('sqlite');
  await using duck = await openOracle();
  const lake = await place.open();
  await place.attach(duck);
  await lake.createTable('Events', { Id: t.int32() });
  await lake.table('eVENTS').insert([{ Id: 1 }]);
  expect(await duck.rowsAgreed('SELECT iD FROM lake.EVENTS')).toEqual([{ Id: '1' }]);
  // Only ASCII letters have a case.
  for (const name of ['É', 'é', 'E\u0301', '\u212a', 'K', '\u017f', 'S', 'ß', '\u0130', '\u0131', 'I']) {
    await duck.run(`CREATE TABLE lake.${identifier(name)} (i INTEGER)`);
    await lake.dropTable(name);
    await lake.createTable(name, { i: t.int32() });
    await expect(duck.run(`CREATE TABLE lake.${identifier(name)} (i INTEGER)`)).rejects.toThrow(/already exists/);
  }
});
