import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WrittenFile } from '../../src/file/format.ts';
import { parseType } from '../../src/spec/types.ts';
import { codecFor } from '../../src/spec/values/codec.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';
import { field, readFile, writeFile } from '../support/parquet.ts';
import { edges } from '../support/parquet-values.ts';

let duck: Oracle;
let dir: string;
beforeAll(async () => {
  duck = await openOracle();
  dir = await mkdtemp(join(tmpdir(), 'edgemere-parquet-'));
});
afterAll(async () => {
  await duck.close();
  await rm(dir, { recursive: true, force: true });
});

/** A file of one column `x`, the values of `inputs` between NULLs. */
async function fileOf(type: string, inputs: readonly unknown[]) {
  const path = join(dir, `${crypto.randomUUID()}.parquet`);
  const { bytes, file } = await writeFile([field(1, 'x', type)], [inputs]);
  await Bun.write(path, bytes);
  return { path, bytes, file };
}

/** What DuckDB reads as that type, in the file's order, as text. */
async function duckReads(path: string, type: string): Promise<(string | null)[]> {
  const rows = await duck.rows(
    `SELECT x::${duckName(type)} AS x FROM (FROM read_parquet('${path}', file_row_number = true) ORDER BY file_row_number)`,
  );
  return rows.map((row) => row['x']!);
}

function duckName(type: string): string {
  const names: Record<string, string> = {
    int8: 'TINYINT',
    int16: 'SMALLINT',
    int32: 'INTEGER',
    int64: 'BIGINT',
    int128: 'HUGEINT',
    uint8: 'UTINYINT',
    uint16: 'USMALLINT',
    uint32: 'UINTEGER',
    uint64: 'UBIGINT',
    uint128: 'UHUGEINT',
    float32: 'FLOAT',
    float64: 'DOUBLE',
  };
  return names[type] ?? type;
}

/** Invalid dates, which infinities are, are never equal. */
function comparable(value: unknown): unknown {
  return value instanceof Date ? value.toJSON() : value;
}

/** DuckDB's cast of booleans and blobs isn't the text of bounds. */
function castText(type: string, physical: unknown): string {
  if (type === 'boolean') return String(physical);
  if (type === 'blob')
    return [...(physical as Uint8Array)]
      .map((byte) =>
        byte >= 32 && byte < 127 && byte !== 92 && byte !== 39 && byte !== 34
          ? String.fromCharCode(byte)
          : `\\x${byte.toString(16).toUpperCase().padStart(2, '0')}`,
      )
      .join('');
  if (type === 'varchar') return physical as string;
  return codecFor(parseType(type)).text(physical as never)!;
}

describe('DuckDB reads what we wrote, and we do', () => {
  for (const [type, inputs] of Object.entries(edges))
    test(type, async () => {
      const values = [null, ...inputs.flatMap((value, i) => (i % 3 === 1 ? [value, undefined] : [value])), null];
      const { path, bytes } = await fileOf(type, values);
      const codec = codecFor(parseType(type));
      const physical = values.map((value) => (value === null || value === undefined ? null : codec.encode(value)));
      expect(await duckReads(path, type)).toEqual(
        physical.map((value) => (value === null ? null : castText(type, value))),
      );
      const [read] = await readFile(bytes, { fields: [field(1, 'x', type)] });
      const expected = physical.map((value) => (value === null ? null : codec.decode(value)));
      expect(read!.map(comparable)).toEqual(expected.map(comparable));
      // What is read can be written again, and is the same; a JSON string would be taken as JSON text.
      if (type !== 'json')
        expect(read!.map((value) => (value === null ? null : codec.encode(value)))).toEqual(physical);
    });
});

test('a byte order mark is text like any other', async () => {
  const { path, bytes } = await fileOf('varchar', ['\ufeffbom']);
  // DuckDB's driver would drop it.
  expect(await duck.rows(`SELECT hex(x) AS x FROM read_parquet('${path}')`)).toEqual([{ x: 'EFBBBF626F6D' }]);
  expect(await readFile(bytes, { fields: [field(1, 'x', 'varchar')] })).toEqual([['\ufeffbom']]);
});

describe("bounds are DuckDB's own for the same data", () => {
  /** Where DuckDB counts nothing, having no statistics of the type; we count. */
  const uncounted = new Set(['interval', 'timetz']);

  test('every type: both orders, single values, NULL alone', async () => {
    const types = Object.keys(edges);
    const casesOf = (inputs: readonly unknown[]): unknown[][] => [
      [...inputs, null],
      [...inputs].reverse(),
      [null],
      ...inputs.map((value) => [null, value]),
    ];
    const byType = types.map((type) => casesOf(edges[type]!));
    const lake = join(dir, 'bounds');
    await duck.attachSqlite(`${lake}.sqlite`, `${lake}/`);
    await duck.run('BEGIN');
    const files: { values: unknown[][]; file: WrittenFile }[] = [];
    // The k-th table holds the k-th case of every type, a column each, filled up with NULL.
    for (let k = 0; k < Math.max(...byType.map((cases) => cases.length)); k++) {
      const cases = byType.map((all) => all[k] ?? [null]);
      const rowCount = Math.max(...cases.map((values) => values.length));
      const values = cases.map((given) => [...given, ...new Array(rowCount - given.length).fill(null)]);
      const fields = types.map((type, i) => field(i + 1, `c${i}`, type));
      const { bytes, file } = await writeFile(fields, values);
      const path = join(dir, `bounds${k}.parquet`);
      await Bun.write(path, bytes);
      files.push({ values, file });
      const columns = types.map((type, i) => `c${i}::${duckName(type)} AS c${i}`);
      await duck.run(`CREATE TABLE lake.t${k} AS SELECT ${columns.join(', ')} FROM read_parquet('${path}')`);
    }
    await duck.run('COMMIT');
    await duck.detach();

    using catalog = new Database(`${lake}.sqlite`, { readonly: true });
    const statsOf = catalog.query<Record<string, unknown>, [string]>(
      'SELECT s.* FROM ducklake_file_column_stats s JOIN ducklake_table USING (table_id) WHERE table_name = ? ORDER BY column_id',
    );
    for (const [k, { values, file }] of files.entries()) {
      const rows = statsOf.all(`t${k}`);
      for (const [i, stats] of file.columns.entries()) {
        const row = rows[i]!;
        const what: unknown[] = [types[i], values[i]];
        expect([...what, stats.min ?? null, stats.max ?? null]).toEqual([...what, row['min_value'], row['max_value']]);
        if (uncounted.has(types[i]!)) continue;
        expect([...what, stats.valueCount, stats.nullCount]).toEqual([...what, row['value_count'], row['null_count']]);
        // DuckDB says nothing about NaN when every value is NULL.
        if (stats.valueCount > 0)
          expect([...what, stats.containsNan]).toEqual([
            ...what,
            row['contains_nan'] === null ? undefined : row['contains_nan'] === 1,
          ]);
      }
    }
  }, 300_000);

  test('long bounds are cut outwards, between characters', async () => {
    const x = 'x'.repeat(255);
    const cases: readonly (readonly [values: string[], min: string | undefined, max: string | undefined])[] = [
      [['a', `${x}xx`], 'a', `${x}y`],
      [[`${x}xx`, 'zzz'], `${x}x`, 'zzz'],
      [[`${x}éé`], x, `${'x'.repeat(254)}y`],
      [['é'.repeat(129)], 'é'.repeat(128), `${'é'.repeat(127)}ê`],
      [['\ud7ff'.repeat(86)], '\ud7ff'.repeat(85), `${'\ud7ff'.repeat(84)}\ue000`],
      [[`a${'\u{10ffff}'.repeat(65)}`], `a${'\u{10ffff}'.repeat(63)}`, 'b'],
      [['\u{10ffff}'.repeat(65)], undefined, undefined],
    ];
    for (const [values, min, max] of cases)
      expect((await fileOf('varchar', values)).file.columns[0]).toMatchObject({ min, max, valueCount: values.length });
    for (const whole of ['x'.repeat(256), 'é'.repeat(128), '\u{1f600}'.repeat(64)])
      expect((await fileOf('varchar', [whole])).file.columns[0]).toMatchObject({ min: whole, max: whole });
    const bytes = new Uint8Array(300).fill(0xff, 10);
    expect((await fileOf('blob', [bytes])).file.columns[0]).toMatchObject({
      min: `${'00'.repeat(10)}${'FF'.repeat(246)}`,
      max: `${'00'.repeat(9)}01`,
    });
    expect((await fileOf('blob', [bytes.fill(0xff)])).file.columns[0]).toMatchObject({
      min: undefined,
      max: undefined,
    });
  });

  test('bounds end at a NUL character, outwards', async () => {
    expect((await fileOf('varchar', ['a\0b', 'c\0'])).file.columns[0]).toMatchObject({ min: 'a', max: 'c\u0001' });
    expect((await fileOf('varchar', ['\0'])).file.columns[0]).toMatchObject({ min: '', max: '\u0001' });
    expect((await fileOf('varchar', ['a', 'b\0', 'c'])).file.columns[0]).toMatchObject({ min: 'a', max: 'c' });
  });
});
