import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Change, type Column, t } from '../../src/index.ts';
import { CATALOG_KINDS, testLake } from '../support/lakes.ts';
import { identifier, openOracle } from '../support/oracle.ts';
import { shown, typeCases } from '../support/type-cases.ts';

setDefaultTimeout(300_000);

for (const kind of CATALOG_KINDS)
  describe(`history, ${kind}`, () => {
    test('every version is read as DuckDB reads it, by id and by time, and snapshots say the same', async () => {
      await using place = await testLake(kind);
      await using duck = await openOracle();
      const lake = await place.open();
      await place.attach(duck);
      await lake.createSchema('s', { author: 'ann', message: 'a "schema"', extraInfo: '{"n": 1}' });
      const table = await lake.createTable('t', { i: t.int32(), v: t.varchar() });
      await table.insert([{ i: 1, v: 'a' }], { author: 'bob' });
      await duck.run("INSERT INTO lake.t VALUES (2, 'b')");
      await table.insert([{ i: 3 }]);
      await lake.transaction(async (tx) => {
        await tx.createTable({ schema: 's', name: 'u' }, { i: t.int32() });
        await tx.table('t').insert([{ i: 4 }]);
      });
      await duck.run("BEGIN; INSERT INTO lake.t VALUES (5, 'e'); CALL lake.set_commit_message('duck', 'five'); COMMIT");
      await lake.dropTable({ schema: 's', name: 'u' });
      await table.insert([{ i: 6 }]);

      const snapshots = await Array.fromAsync(lake.snapshots());
      const theirs = await duck.rows(
        'SELECT snapshot_id AS id, snapshot_time AS time, schema_version AS version, author, commit_message AS message, commit_extra_info AS info, CAST(changes AS JSON) AS changes FROM lake.snapshots() ORDER BY id',
      );
      expect(
        snapshots.map(({ id, time, schemaVersion, author, message, extraInfo }) => ({
          id: `${id}`,
          micros: time.micros,
          version: `${schemaVersion}`,
          author,
          message,
          info: extraInfo,
        })),
      ).toEqual(
        theirs.map(({ id, time, version, author, message, info }) => ({
          id: id!,
          micros: micros(time!),
          version: version!,
          author: author!,
          message: message!,
          info: info!,
        })),
      );
      expect(snapshots.map(({ changes }) => changes)).toEqual(theirs.map(({ changes }) => parsed(changes!)));

      for (const { id, time } of snapshots.filter(({ schemaVersion }) => schemaVersion >= 2)) {
        const wanted = await duck.rows(`SELECT i FROM lake.t AT (VERSION => ${id}) ORDER BY i`);
        const rows = await table.scan({ asOf: { snapshot: id }, columns: ['i'] }).toArray();
        expect([id, rows.map(({ i }) => ({ i: `${i}` })).sort()]).toEqual([id, wanted as { i: string }[]]);
        const listed = (await lake.tables({ asOf: { snapshot: id } })).map(({ name }) => name);
        expect(listed).toEqual(id === 6 || id === 7 ? ['t', 'u'] : ['t']);
        // A Date is of whole milliseconds: the next one is not before the snapshot.
        const later = new Date(time.getTime() + 1);
        const byTime = await duck.rows(
          `SELECT i FROM lake.t AT (TIMESTAMP => TIMESTAMPTZ '${later.toISOString()}') ORDER BY i`,
        );
        const ours = await table.scan({ asOf: { time: later }, columns: ['i'] }).toArray();
        expect([id, ours.map(({ i }) => ({ i: `${i}` })).sort()]).toEqual([id, byTime as { i: string }[]]);
      }
      await expect(table.scan({ asOf: { snapshot: 1 } }).toArray()).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await expect(table.scan({ asOf: { time: new Date(0) } }).toArray()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    });

    test('defaults of every type fill in what either of us leaves out', async () => {
      await using place = await testLake(kind);
      await using duck = await openOracle();
      const lake = await place.open();
      await place.attach(duck);
      const cases = typeCases.flatMap(({ name, sqlType, column, values }) =>
        values
          // The text NULL means no default in the catalog.
          .filter(({ given }) => given !== 'NULL')
          .map(({ given, sql, back }, i) => ({
            name: `${name} ${i}`,
            sqlType,
            column: (column as Column<unknown>).default(given),
            sql,
            back,
          })),
      );
      const table = await lake.createTable('t', {
        id: t.int32(),
        ...Object.fromEntries(cases.map(({ name, column }) => [name, column])),
      });
      await table.insert([{ id: 1 }]);
      await duck.run('INSERT INTO lake.t (id) VALUES (2)');
      const [wanted] = await duck.rows(
        `SELECT ${cases.map(({ name, sql, sqlType }) => `CAST(${sql} AS ${sqlType}) AS ${identifier(name)}`).join(', ')}`,
      );
      expect(await duck.rowsAgreed('SELECT * FROM lake.t ORDER BY id')).toEqual([
        { id: '1', ...wanted },
        { id: '2', ...wanted },
      ]);
      for (const row of await table.scan().toArray())
        for (const { name, back } of cases)
          expect([name, shown((row as Record<string, unknown>)[name])]).toEqual([name, back]);
    });

    test('defaults that DuckDB was given', async () => {
      await using place = await testLake(kind);
      await using duck = await openOracle();
      await place.attach(duck);
      await duck.run(`CREATE TABLE lake.t (id INTEGER, a INTEGER DEFAULT 42, b VARCHAR DEFAULT 'it''s', c DECIMAL(5, 2) DEFAULT 1.5,
        d DATE DEFAULT '2024-01-15', e BOOLEAN DEFAULT 'true', f VARCHAR DEFAULT '', g DOUBLE DEFAULT 1e3, h BLOB DEFAULT 'a\\x00', i VARCHAR DEFAULT NULL,
        j TIMESTAMPTZ DEFAULT '2024-01-15 12:00:00+02', k UUID DEFAULT '0f8fad5b-d9cb-469f-a165-70867728950E', l INTERVAL DEFAULT '1 day', m BIGINT DEFAULT -5)`);
      const lake = await place.open();
      await lake.table('t').insert([{ id: 1 }]);
      await duck.run('INSERT INTO lake.t (id) VALUES (1)');
      const rows = await duck.rowsAgreed('SELECT * FROM lake.t ORDER BY rowid');
      expect(rows.length).toBe(2);
      expect(rows[0]).toEqual(rows[1]!);
      expect(rows[0]).toMatchObject({ a: '42', b: "it's", c: '1.50', e: 'true', f: '', g: '1000.0', i: null, m: '-5' });
    });
  });

function micros(text: string): bigint {
  const [, day, clock, fraction = ''] = /^(\S+) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00$/.exec(text)!;
  return BigInt(Date.parse(`${day}T${clock}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0'));
}

/** DuckDB's map of changes: `{"tables_created":["main.t"],"tables_inserted_into":["2"]}`. */
function parsed(json: string): Change[] {
  const map = JSON.parse(json) as Record<string, string[]>;
  const of = (key: string): string[] => map[key] ?? [];
  return [
    ...of('tables_dropped').map((id): Change => ({ kind: 'dropped_table', id: Number(id) })),
    ...of('schemas_created').map((name): Change => ({ kind: 'created_schema', name })),
    ...of('tables_created').map((name): Change => {
      const [schema, table] = name.split('.') as [string, string];
      return { kind: 'created_table', schema, name: table };
    }),
    ...of('tables_inserted_into').map((id): Change => ({ kind: 'inserted_into_table', id: Number(id) })),
  ];
}
