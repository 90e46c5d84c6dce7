import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Lake, type TableSchema, t } from '../../src/index.ts';
import { INPUT_FORMS, inForm } from '../support/input-forms.ts';
import { CATALOG_KINDS, type TestLake, testLake } from '../support/lakes.ts';
import { identifier, type Oracle, openOracle } from '../support/oracle.ts';
import { shown, type TypeCase, typeCases, type ValueCase } from '../support/type-cases.ts';

setDefaultTimeout(300_000);

/** What rows hold: values with NULLs before and after them. */
const cellsOf = ({ values }: TypeCase): (ValueCase | undefined)[] => [undefined, ...values, undefined];

/**
 * The values, and filters that DuckDB prunes files by, in one statement: each part is planned on its own, and costs DuckDB
 * a look at the catalog.
 */
function everything(table: string, { values, sqlType }: TypeCase, operators: readonly string[]): string {
  const part = (label: string, id: string, v: string, where = 'true'): string =>
    `SELECT '${label.replaceAll("'", "''")}' AS part, CAST(${id} AS VARCHAR) AS id, CAST(${v} AS VARCHAR) AS v FROM ${table} WHERE ${where}`;
  const parts = [
    part('rows', 'id', 'v'),
    part('types', 'min(typeof(v))', 'max(typeof(v))'),
    part('counts', 'count(*)', 'count(v)'),
    part('bounds', 'min(v)', 'max(v)'),
    part('null', 'id', 'NULL', 'v IS NULL'),
  ];
  values.forEach(({ sql, isFound }, i) => {
    const mine = operators.length > 0 && isFound ? ['=', operators[i % operators.length]!] : [];
    for (const operator of mine)
      parts.push(part(`${operator} ${sql}`, 'id', 'NULL', `v ${operator} CAST(${sql} AS ${sqlType})`));
  });
  return `SELECT * FROM (${parts.join('\nUNION ALL ')}) ORDER BY ALL`;
}

/** A table of DuckDB's own, in memory, with the values as it makes them from SQL. */
async function ownTable(
  duck: Oracle,
  { name, sqlType }: TypeCase,
  cells: ReadonlyMap<number, ValueCase | undefined>,
): Promise<string> {
  const table = `memory.${identifier(name)}`;
  const rows = [...cells].map(([id, cell]) => `(${id}, ${cell ? `CAST(${cell.sql} AS ${sqlType})` : 'NULL'})`);
  await duck.run(
    `CREATE OR REPLACE TABLE ${table} (id INTEGER, v ${sqlType}); INSERT INTO ${table} VALUES ${rows.join(', ')}`,
  );
  return table;
}

for (const kind of CATALOG_KINDS)
  describe(`values, ${kind}`, () => {
    // Files and their statistics are the same there, and DuckDB takes much longer.
    const operators = kind === 'sqlite' ? ['>', '<=', '<', '>='] : [];
    let place: TestLake;
    let lake: Lake;
    let duck: Oracle;

    beforeAll(async () => {
      place = await testLake(kind);
      lake = await place.open();
      duck = await openOracle();
      await place.attach(duck);
    });
    afterAll(async () => {
      await duck.close();
      await place[Symbol.asyncDispose]();
    });

    test.each(typeCases.map((type) => [type.name, type] as const))('%s', async (name, type) => {
      const cells = new Map(cellsOf(type).entries());
      const rows = [...cells].map(([id, cell]) => ({ id, v: cell?.given ?? null }));
      const half = Math.ceil(rows.length / 2);
      const table = await lake.createTable(name, { id: t.int32().notNull(), v: type.column });
      await table.insert(rows.slice(0, half));
      await table.insert({ columns: { id: Int32Array.of(100, 101), v: [null, undefined] } });
      await table.insert(rows.slice(half));
      cells.set(100, undefined).set(101, undefined);

      const theirs = await ownTable(duck, type, cells);
      const ours = `lake.${identifier(name)}`;
      expect(await duck.rowsAgreed(everything(ours, type, operators))).toEqual(
        await duck.rows(everything(theirs, type, operators)),
      );

      const wanted = [...cells].map(([id, cell]) => `${id} ${cell?.back ?? 'null'}`).sort();
      const scanned = async (): Promise<string[]> =>
        (await table.scan().toArray()).map(({ id, v }) => `${id} ${shown(v)}`).sort();
      expect(await scanned()).toEqual(wanted);

      const { rowCount, columns } = await table.stats();
      expect(rowCount).toBe(cells.size);
      expect(columns[1]).toMatchObject({ name: 'v', containsNull: true });
      expect([columns[1]!.min !== null, columns[1]!.max !== null]).toEqual([type.hasBounds, type.hasBounds]);

      // The other way round: DuckDB writes them, we read both.
      await duck.run(`INSERT INTO ${ours} SELECT * FROM ${theirs}`);
      expect(await scanned()).toEqual(wanted.flatMap((row) => [row, row]));
      await duck.run(`INSERT INTO ${theirs} SELECT * FROM ${theirs}`);
      expect(await duck.rowsAgreed(everything(ours, type, []))).toEqual(await duck.rows(everything(theirs, type, [])));
    });
  });

test('every form of input gives the same rows', async () => {
  await using place = await testLake('sqlite');
  await using duck = await openOracle();
  const lake = await place.open();
  await place.attach(duck);
  const columnName = (type: TypeCase): string => type.name.replaceAll(/\W/g, '_');
  const schema: TableSchema = Object.fromEntries(typeCases.map((type) => [columnName(type), type.column]));
  // More than one block of rows.
  const rows = Array.from({ length: 2500 }, (_, i) =>
    Object.fromEntries(
      typeCases.flatMap((type) => {
        const cells = cellsOf(type);
        const cell = cells[i % cells.length];
        return cell ? [[columnName(type), cell.given]] : i % 2 === 0 ? [[columnName(type), null]] : [];
      }),
    ),
  );
  for (const form of INPUT_FORMS) {
    const { rowCount } = await (await lake.createTable(form, schema)).insert(inForm(form, rows));
    expect([form, rowCount]).toEqual([form, rows.length]);
  }
  const expressions = typeCases.map((type) => `list(CAST(${columnName(type)} AS VARCHAR) ORDER BY rowid)`).join(', ');
  const [first, ...others] = await Promise.all(
    INPUT_FORMS.map((form) =>
      duck.rows(`SELECT md5(CAST(row(${expressions}) AS VARCHAR)) AS digest FROM lake.${identifier(form)}`),
    ),
  );
  for (const other of others) expect(other).toEqual(first!);
});

const numbers = [0, 1, 7, 100];

/** Typed arrays that hold what a column takes, with the SQL that gives the same numbers. */
const typedArrays: readonly (readonly [keyof typeof t, ArrayLike<unknown>, string])[] = [
  ['int8', Int8Array.of(-128, 0, 127), '[-128, 0, 127]::TINYINT[]'],
  ['int16', Int16Array.of(-32768, 0, 32767), '[-32768, 0, 32767]::SMALLINT[]'],
  ['int32', Int32Array.of(-(2 ** 31), 0, 2 ** 31 - 1), '[-2147483648, 0, 2147483647]::INTEGER[]'],
  ['int64', BigInt64Array.of(-(2n ** 63n), 2n ** 63n - 1n), '[-9223372036854775808, 9223372036854775807]::BIGINT[]'],
  ['uint8', Uint8Array.of(0, 255), '[0, 255]::UTINYINT[]'],
  ['uint8', Uint8ClampedArray.of(0, 255), '[0, 255]::UTINYINT[]'],
  ['uint16', Uint16Array.of(0, 65535), '[0, 65535]::USMALLINT[]'],
  ['uint32', Uint32Array.of(0, 2 ** 32 - 1), '[0, 4294967295]::UINTEGER[]'],
  ['uint64', BigUint64Array.of(0n, 2n ** 64n - 1n), '[0, 18446744073709551615]::UBIGINT[]'],
  [
    'float32',
    Float32Array.of(0.1, Number.NaN, -0, Number.NEGATIVE_INFINITY),
    "['0.1', 'nan', '-0.0', '-inf']::FLOAT[]",
  ],
  [
    'float64',
    Float64Array.of(0.1, Number.NaN, -0, Number.MAX_VALUE),
    "['0.1', 'nan', '-0.0', '1.7976931348623157e308']::DOUBLE[]",
  ],
  // Of another kind than the column, with values that fit.
  ['int64', Int32Array.from(numbers), '[0, 1, 7, 100]::BIGINT[]'],
  ['int64', Float64Array.of(2 ** 53 - 1, -1), '[9007199254740991, -1]::BIGINT[]'],
  ['int8', BigInt64Array.of(-128n, 127n), '[-128, 127]::TINYINT[]'],
  ['uint64', Uint8Array.from(numbers), '[0, 1, 7, 100]::UBIGINT[]'],
  ['float32', Float64Array.of(0.1, 1.5), '[0.1, 1.5]::FLOAT[]'],
  ['float64', Float32Array.of(0.1, 1.5), '[0.1::FLOAT, 1.5::FLOAT]::DOUBLE[]'],
  ['float64', Int32Array.from(numbers), '[0, 1, 7, 100]::DOUBLE[]'],
  ['int128', BigInt64Array.of(-5n, 5n), '[-5, 5]::HUGEINT[]'],
  ['timestamp', BigInt64Array.of(0n, -1n), "['1970-01-01 00:00:00', '1969-12-31 23:59:59.999999']::TIMESTAMP[]"],
  ['timestampNs', BigInt64Array.of(-1n), "['1969-12-31 23:59:59.999999999']::TIMESTAMP_NS[]"],
  ['time', BigInt64Array.of(0n, 1n), "['00:00:00', '00:00:00.000001']::TIME[]"],
];

test('typed arrays', async () => {
  await using place = await testLake('sqlite');
  await using duck = await openOracle();
  const lake = await place.open();
  await place.attach(duck);
  for (const [i, [type, values, sql]] of typedArrays.entries()) {
    const table = await lake.createTable(`t${i}`, { v: (t[type] as typeof t.int64)() });
    await table.insert({ columns: { v: values } } as never);
    expect(await duck.rowsAgreed(`SELECT v, typeof(v) AS type FROM lake.t${i} ORDER BY rowid`)).toEqual(
      await duck.rows(`SELECT v, typeof(v) AS type FROM (SELECT unnest(${sql}) AS v)`),
    );
    expect(await duck.rowsAgreed(`SELECT min(v), max(v), count(v) FROM lake.t${i}`)).toEqual(
      await duck.rows(`SELECT min(v), max(v), count(v) FROM (SELECT unnest(${sql}) AS v)`),
    );
  }
});
