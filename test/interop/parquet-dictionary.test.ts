import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { parquetMetadata } from 'hyparquet';
import type { FileReader, ReadRequest } from '../../src/file/format.ts';
import { openReader } from '../../src/file/parquet/reader.ts';
import { filterOf } from '../../src/scan/where/filter.ts';
import { parseWhere } from '../../src/scan/where/parse.ts';
import type { Field } from '../../src/schema/field.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';
import { duckFileOf, objectOf, writeFile } from '../support/parquet.ts';
import { fieldOf } from '../unit/where/fields.ts';

setDefaultTimeout(60_000);

let duck: Oracle;
let folder: string;
beforeAll(async () => {
  duck = await openOracle();
  folder = await mkdtemp(join(tmpdir(), 'edgemere-dictionary-'));
});
afterAll(async () => {
  await duck.close();
  await rm(folder, { recursive: true, force: true });
});

/** Of every type a value for each number: those of a row group are each seventh, from another one on in each. */
const columns: readonly (readonly [name: string, type: string, sql: string, value: (k: number) => unknown])[] = [
  ['i8', 'int8', '(K - 50)::TINYINT', (k) => k - 50],
  ['i32', 'int32', '(K * 1000)::INTEGER', (k) => k * 1000],
  ['i64', 'int64', 'K::BIGINT * 10000000000', (k) => BigInt(k) * 10_000_000_000n],
  ['u16', 'uint16', '(K + 60000)::USMALLINT', (k) => k + 60_000],
  ['u64', 'uint64', '(18446744073709551000 + K)::UBIGINT', (k) => 18_446_744_073_709_551_000n + BigInt(k)],
  ['f32', 'float32', '(K / 8.0)::FLOAT', (k) => k / 8],
  ['f64', 'float64', '(K / 8.0)::DOUBLE', (k) => k / 8],
  ['dec', 'decimal(9,2)', '(K / 4.0)::DECIMAL(9, 2)', (k) => (k / 4).toFixed(2)],
  ['big', 'decimal(30,2)', '(K / 4.0)::DECIMAL(30, 2)', (k) => (k / 4).toFixed(2)],
  ['text', 'varchar', "'ü' || lpad(K::VARCHAR, 4, '0')", (k) => `ü${String(k).padStart(4, '0')}`],
  ['blob', 'blob', "encode('b' || lpad(K::VARCHAR, 4, '0'))", (k) => Buffer.from(`b${String(k).padStart(4, '0')}`)],
  [
    'uuid',
    'uuid',
    "('00000000-0000-0000-0000-' || lpad(K::VARCHAR, 12, '0'))::UUID",
    (k) => `00000000-0000-0000-0000-${String(k).padStart(12, '0')}`,
  ],
  ['day', 'date', "DATE '1990-01-01' + K::INTEGER", (k) => new Date(Date.UTC(1990, 0, 1 + k))],
  ['ts', 'timestamp', "TIMESTAMP '1990-01-01' + to_hours(K)", (k) => new Date(Date.UTC(1990, 0, 1, k))],
  ['time', 'time', "TIME '00:00:00' + to_minutes(K)", (k) => BigInt(k) * 60_000_000n],
];
const fields: readonly Field[] = columns.map(([name, type], i) => fieldOf(i + 1, name, type));
const groupCount = 4;
const groupRowCount = 2048;
/** The number of a row: NULL, or of those that its group has. */
const numberOf = (row: number): number | null =>
  row % 19 === 0 ? null : (Math.floor(row / groupRowCount) * 2 + 7 * (row % 14)) % 98;
const values = (column: (k: number) => unknown): unknown[] =>
  Array.from({ length: groupCount * groupRowCount }, (_, row) => {
    const number = numberOf(row);
    return number === null ? null : column(number);
  });

async function duckFile(options: string): Promise<Uint8Array> {
  const selected = columns.map(([name, , sql]) => `${sql.replaceAll('K', 'k')} AS ${name}`).join(', ');
  const query = `SELECT ${selected} FROM (SELECT CASE WHEN i % 19 = 0 THEN NULL ELSE (i // ${groupRowCount} * 2 + 7 * (i % 14)) % 98 END AS k FROM range(${groupCount * groupRowCount}) r(i))`;
  const ids = Object.fromEntries(columns.map(([name], i) => [name, i + 1]));
  return duckFileOf(duck, folder, query, ids, `, ROW_GROUP_SIZE ${groupRowCount}${options}`);
}

interface Answer {
  readonly rowCount: number;
  readonly readGroupCount: number;
}

async function answer(reader: FileReader, where: unknown, prunes: 'no' | 'by bounds' | 'yes'): Promise<Answer> {
  const expression = parseWhere(where, { schema: 'main', table: 't', fields });
  const filter = filterOf(expression, []);
  const read = filter.columns.flatMap((column) => (column.kind === 'field' ? [column.field] : []));
  const byBounds: typeof filter.matters = (boundsOf) =>
    filter.matters((field) => {
      const bounds = boundsOf(field);
      return bounds && { ...bounds, mayContain: undefined };
    });
  const matters = { no: undefined, 'by bounds': byBounds, yes: filter.matters }[prunes];
  const request: ReadRequest = { fields: read, matters };
  let rowCount = 0;
  for await (const batch of reader.read(request)) rowCount += filter.keep(batch).rowCount;
  return { rowCount, readGroupCount: (await reader.survey(request)).readRowGroupCount };
}

function hasDictionary(bytes: Uint8Array, name: string): boolean {
  const { row_groups: groups } = parquetMetadata(bytes.slice().buffer);
  const chunk = groups[0]!.columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === name);
  return Boolean(chunk?.meta_data?.dictionary_page_offset);
}

/** Every number, in some group or in none, as a filter; how many groups that were not needed were left out. */
async function comparePruned(bytes: Uint8Array): Promise<void> {
  const compressors = {
    zstd: {
      compress: (page: Uint8Array) => zstdCompressSync(page),
      decompress: (page: Uint8Array) => zstdDecompressSync(page),
    },
  };
  const reader = await openReader(objectOf(bytes), { compressors });
  let prunedCount = 0;
  for (const [name, , , make] of columns) {
    let leftOut = 0;
    for (let k = 0; k < 98; k += 13) {
      const other = (k + 41) % 98;
      const eq = make(k);
      for (const where of [
        { [name]: { eq } },
        { [name]: { in: [eq, make(other)] } },
        { or: [{ [name]: { eq } }, { i32: 1000 * other }] },
        { [name]: { ne: eq } },
        { not: { [name]: { in: [eq, null] } } },
      ]) {
        const pruned = await answer(reader, where, 'yes');
        const bounded = await answer(reader, where, 'by bounds');
        const whole = await answer(reader, where, 'no');
        expect([name, where, pruned.rowCount]).toEqual([name, where, whole.rowCount]);
        leftOut += bounded.readGroupCount - pruned.readGroupCount;
      }
    }
    // Equal blobs are not the same object: they are not looked up.
    const isPruned = name !== 'blob' && hasDictionary(bytes, name);
    expect([name, leftOut > 10]).toEqual([name, isPruned]);
    prunedCount += Number(isPruned);
  }
  expect(prunedCount).toBeGreaterThan(7);
}

describe('row groups whose dictionaries lack the value are left out, and no answer depends on it', () => {
  test.each(['snappy', 'zstd'] as const)('files of ours, %s', async (compression) => {
    const { bytes } = await writeFile(
      fields,
      columns.map(([, , , make]) => values(make)),
      { rowGroupRowCount: groupRowCount, compression, version: compression === 'zstd' ? 1 : 2 },
    );
    await comparePruned(bytes);
  });

  test('files of DuckDB without Bloom filters', async () => {
    await comparePruned(await duckFile(', WRITE_BLOOM_FILTER false'));
  });
});

test('a value that a later page holds outside the dictionary is found', async () => {
  // Few values at first, then ever new ones: the dictionary is given up within the row group.
  const texts = Array.from({ length: 60_000 }, (_, i) => (i < 20_000 ? `t${i % 10}` : `u${i}`));
  const field = fieldOf(1, 'text', 'varchar');
  const { bytes } = await writeFile([field], [texts]);
  const reader = await openReader(objectOf(bytes));
  for (const text of ['t3', 'u20000', 'u59999', 'u3']) {
    const filter = filterOf(parseWhere({ text }, { schema: 'main', table: 't', fields: [field] }), []);
    let count = 0;
    for await (const batch of reader.read({ fields: [field], matters: filter.matters }))
      count += filter.keep(batch).rowCount;
    expect([text, count]).toEqual([text, texts.filter((one) => one === text).length]);
  }
});

test('a dictionary that is damaged is an error', async () => {
  const text = values((k) => `value ${k}`);
  const { bytes } = await writeFile([fieldOf(1, 'text', 'varchar')], [text], { compression: 'uncompressed' });
  const at = Buffer.from(bytes).indexOf('value ');
  bytes.fill(0xff, at - 4, at);
  const field = fieldOf(1, 'text', 'varchar');
  const filter = filterOf(parseWhere({ text: 'value 500' }, { schema: 'main', table: 't', fields: [field] }), []);
  const reader = await openReader(objectOf(bytes));
  await expect(reader.survey({ fields: [field], matters: filter.matters })).rejects.toMatchObject({ code: 'CORRUPT' });
});

test('of a file that is not read whole a dictionary costs a request, which saves the rest; after four in vain no more', async () => {
  const count = 8;
  const rowCount = 60_000;
  const kinds = Array.from(
    { length: count * rowCount },
    (_, row) => `kind ${(row % 100) * 2 + (row < rowCount ? 1 : 0)}`,
  );
  const noise = Array.from({ length: count * rowCount }, (_, row) => Math.imul(row, 0x9e3779b1));
  const file = [fieldOf(1, 'kind', 'varchar'), fieldOf(2, 'noise', 'int32')];
  const { bytes } = await writeFile(file, [kinds, noise], { rowGroupRowCount: rowCount });
  const ranges: [number, number][] = [];
  const reader = await openReader(objectOf(bytes, ranges));
  const lengthOf = async (kind: string, pruned: number): Promise<number> => {
    ranges.length = 0;
    const filter = filterOf(parseWhere({ kind }, { schema: 'main', table: 't', fields: file }), []);
    const request = { fields: [...file].reverse(), matters: filter.matters };
    const survey = await reader.survey(request);
    expect(survey.readRowGroupCount).toBe(count - pruned);
    ranges.length = 0;
    for await (const _ of reader.read(request));
    expect(ranges.length).toBe(survey.requestCount);
    return ranges.reduce((sum, [start, end]) => sum + end - start, 0);
  };
  expect(await lengthOf('kind 11', count - 1)).toBeLessThan(bytes.length / 4);
  expect(ranges.length).toBe(count + 1);
  await lengthOf('kind 10', 1);
  // Where bounds say enough none is read.
  expect(await lengthOf('some', count)).toBe(0);
  const before = (await reader.survey({ fields: file })).requestCount;
  await lengthOf('kind 10', 1);
  expect(ranges.length).toBe(before - 1 + 5);
});
