import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { InlinedRows, TableFiles } from '../../src/catalog/table-files.ts';
import { parseType } from '../../src/spec/types.ts';
import { codecFor } from '../../src/spec/values/codec.ts';
import { type LakeHost, postgresHost, sqliteHost } from '../support/lake-places.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';
import { shown, typeCases } from '../support/type-cases.ts';

setDefaultTimeout(300_000);

const hosts = { sqlite: sqliteHost, postgres: postgresHost };

/** Column by column, what one inlined table holds, in the order of row ids. */
function columnsOf({ columns, rows }: InlinedRows): Record<string, (string | null)[]> {
  return Object.fromEntries(columns.map((name, c) => [name, rows.map(({ cells }) => cells[c]!)]));
}

const idsOf = ({ inlined }: TableFiles): number[] => inlined.flatMap(({ rows }) => rows.map(({ rowId }) => rowId));

for (const [name, open] of Object.entries(hosts)) {
  describe(name, () => {
    let host: LakeHost;
    let duck: Oracle;
    beforeAll(async () => {
      host = await open();
      duck = await openOracle();
    });
    // What a failed test left attached.
    afterEach(() => duck.run('DETACH DATABASE IF EXISTS lake'));
    afterAll(async () => {
      await duck?.close();
      await host?.[Symbol.asyncDispose]();
    });

    test('inlined values of every type are what DuckDB shows', async () => {
      const place = host.place();
      await place.attach(duck, { create: true, inliningRowLimit: 1000 });
      const cases = typeCases.map((one, i) => ({
        ...one,
        column: `c${i}`,
        // DuckDB shows the last instant of all a millisecond too late.
        values: one.values.filter(({ given }) => one.name !== 'timestamptz' || given !== 9_223_372_036_854_775_806n),
      }));
      await duck.run(
        `CREATE TABLE lake.t(id INTEGER, ${cases.map((one) => `${one.column} ${one.sqlType}`).join(', ')})`,
      );
      const rowCount = Math.max(...cases.map(({ values }) => values.length)) + 1;
      const rows = Array.from({ length: rowCount }, (_, i) =>
        [i, ...cases.map(({ values, sqlType }) => (values[i] ? `(${values[i].sql})::${sqlType}` : 'NULL'))].join(', '),
      );
      await duck.run(`INSERT INTO lake.t VALUES ${rows.map((row) => `(${row})`).join(', ')}`);
      const expected = await duck.rows(
        `SELECT ${cases.map(({ column, name }) => (name === 'blob' ? `hex(${column}) AS ${column}` : column)).join(', ')} FROM lake.t ORDER BY id`,
      );
      await duck.detach();

      await using catalog = place.open();
      const { files, inlined, inlinedFields } = await catalog.readFiles({ snapshotId: 2, tableId: 1, stats: 'none' });
      expect([files.length, inlined.length]).toEqual([0, 1]);
      const found = columnsOf(inlined[0]!);
      expect(Object.keys(found)).toEqual(['id', ...cases.map(({ column }) => column)]);
      expect(inlinedFields.get(inlined[0]!.schemaVersion)?.map((row) => row.column_name)).toEqual(Object.keys(found));
      for (const { column, name } of cases) {
        const codec = codecFor(parseType(name));
        const physical = (text: string | null | undefined): string =>
          text === null || text === undefined ? 'null' : shown(name === 'blob' ? text : codec.fromText(text));
        expect([name, ...found[column]!.map(physical)]).toEqual([
          name,
          ...expected.map((row) => physical(row[column])),
        ]);
      }
    });

    test('nested values are their text, whatever is in them', async () => {
      const place = host.place();
      await place.attach(duck, { create: true, inliningRowLimit: 1000 });
      await duck.run('CREATE TABLE lake.t(l VARCHAR[], s STRUCT(a DOUBLE, "b c" BOOLEAN), m MAP(VARCHAR, DATE[]))');
      await duck.run(
        `INSERT INTO lake.t VALUES (['a b', 'a,b', NULL, 'NULL', '', 'q''x', '🦆'], {a: 1e300, "b c": true}, MAP {'k=': [DATE '0044-03-15 (BC)']}),
         ([], {a: NULL, "b c": NULL}, MAP {}), (NULL, NULL, NULL)`,
      );
      const expected = await duck.rows('FROM lake.t');
      await duck.detach();
      await using catalog = place.open();
      const { inlined } = await catalog.readFiles({ snapshotId: 2, tableId: 1, stats: 'none' });
      expect(columnsOf(inlined[0]!)).toEqual({
        l: expected.map((row) => row['l']!),
        s: expected.map((row) => row['s']!),
        m: expected.map((row) => row['m']!),
      });
    });

    test('text with anything in it', async () => {
      const place = host.place();
      await place.attach(duck, { create: true, inliningRowLimit: 1000 });
      await duck.run('CREATE TABLE lake.t("a ""b"" 🦆" VARCHAR, v JSON)');
      await duck.run(
        `INSERT INTO lake.t VALUES ('a' || chr(0) || 'b', '"x"'), (chr(65279) || 'é\\"''', '{"k": [1, null]}'), ('', NULL)`,
      );
      await duck.detach();
      await using catalog = place.open();
      const { inlined } = await catalog.readFiles({ snapshotId: 2, tableId: 1, stats: 'none' });
      expect(columnsOf(inlined[0]!)).toEqual({
        'a "b" 🦆': ['a\0b', `\ufeffé\\"'`, ''],
        v: ['"x"', '{"k": [1, null]}', null],
      });
    });

    test('rows, deletes and schema versions at each snapshot', async () => {
      const place = host.place();
      await place.attach(duck, { create: true, inliningRowLimit: 10 });
      await using catalog = place.open();
      const at = (snapshotId: number): Promise<TableFiles> =>
        catalog.readFiles({ snapshotId, tableId: 1, stats: 'none' });
      const wide = Array.from({ length: 150 }, (_, i) => `w${i}`);
      await duck.run(`CREATE TABLE lake.t(a INTEGER, ${wide.map((column) => `${column} INTEGER`).join(', ')})`);
      expect((await at(1)).inlined).toEqual([]);
      await duck.run(`INSERT INTO lake.t SELECT i, ${wide.map((_, i) => `i + ${i}`).join(', ')} FROM range(20) r(i)`);
      await duck.run(
        `INSERT INTO lake.t SELECT i, ${wide.map((_, i) => `i + ${i}`).join(', ')} FROM range(30, 33) r(i)`,
      );
      expect(idsOf(await at(3))).toEqual([20, 21, 22]);
      await duck.run('DELETE FROM lake.t WHERE a IN (3, 17, 31)');
      await duck.run('DELETE FROM lake.t WHERE a = 5');
      await duck.run('ALTER TABLE lake.t RENAME a TO b');
      await duck.run('ALTER TABLE lake.t ADD COLUMN a VARCHAR');
      await duck.run("INSERT INTO lake.t(b, a) VALUES (99, 'new')");
      await duck.run('DELETE FROM lake.t WHERE b = 99');

      const seen = await Promise.all([2, 3, 4, 5, 8, 9].map(at));
      expect(seen.map(idsOf)).toEqual([[], [20, 21, 22], [20, 22], [20, 22], [20, 22, 23], [20, 22]]);
      expect(seen.map(({ files }) => files.map(({ inlinedDeletes }) => inlinedDeletes))).toEqual(
        [[], [], [3, 17], [3, 5, 17], [3, 5, 17], [3, 5, 17]].map((positions) => [positions]),
      );
      const [older, newer] = seen[4]!.inlined;
      const fields = (rows: InlinedRows | undefined): Record<string, number> =>
        Object.fromEntries(
          seen[4]!.inlinedFields.get(rows!.schemaVersion)!.map((row) => [row.column_name!, row.column_id!]),
        );
      expect([fields(older)['a'], fields(older)['b']]).toEqual([1, undefined]);
      expect([fields(newer)['a'], fields(newer)['b']]).toEqual([152, 1]);
      expect(columnsOf(older!)['w149']).toEqual(['179', '181']);
      expect([columnsOf(newer!)['a'], columnsOf(newer!)['b']]).toEqual([['new'], ['99']]);
      expect(seen[4]!.inlined.map(({ rows }) => rows.map((row) => [row.beginSnapshot, row.endSnapshot]))).toEqual([
        [
          [3, null],
          [3, null],
        ],
        [[8, 9]],
      ]);

      // What was known of the inlined tables before is no longer so.
      await duck.run("CALL ducklake_flush_inlined_data('lake')");
      const flushed = await at(10);
      expect(idsOf(flushed)).toEqual([]);
      expect(
        flushed.files.map(({ inlinedDeletes, deletes }) => [inlinedDeletes.length, deletes.length]),
      ).toContainEqual([0, 1]);
      await duck.detach();
    });
  });
}
