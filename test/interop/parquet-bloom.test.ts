import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileReader, ReadRequest } from '../../src/file/format.ts';
import { openReader } from '../../src/file/parquet/reader.ts';
import { filterOf } from '../../src/scan/where/filter.ts';
import { parseWhere } from '../../src/scan/where/parse.ts';
import type { Field } from '../../src/schema/field.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';
import { fieldOf } from '../unit/where/fields.ts';

setDefaultTimeout(300_000);

let duck: Oracle;
let folder: string;
beforeAll(async () => {
  duck = await openOracle();
  folder = await mkdtemp(join(tmpdir(), 'edgemere-bloom-'));
});
afterAll(async () => {
  await duck.close();
  await rm(folder, { recursive: true, force: true });
});

/** Columns by type, with every tenth of some thousand values in the file: the others are within its bounds. */
const columns: readonly (readonly [name: string, type: string, sql: string, isHashed: boolean])[] = [
  ['i8', 'int8', '(k % 100)::TINYINT', true],
  ['i16', 'int16', '(k * 10)::SMALLINT', true],
  ['i32', 'int32', '(k * 10 - 5000)::INTEGER', true],
  ['i64', 'int64', 'k::BIGINT * 10000000000', true],
  ['d', 'date', "DATE '1960-01-01' + (k * 10)::INTEGER", true],
  ['ts', 'timestamp', "TIMESTAMP '1960-01-01' + to_hours(k * 10)", true],
  ['tz', 'timestamptz', "TIMESTAMPTZ '1960-01-01 00:00:00+00' + to_hours(k * 10)", true],
  ['ms', 'timestamp_ms', "(TIMESTAMP '1960-01-01' + to_hours(k * 10))::TIMESTAMP_MS", true],
  ['ns', 'timestamp_ns', "(TIMESTAMP '1960-01-01' + to_hours(k * 10))::TIMESTAMP_NS", true],
  ['text', 'varchar', "'ü' || lpad((k * 10)::VARCHAR, 6, '0')", true],
  ['s', 'timestamp_s', "(TIMESTAMP '1960-01-01' + to_hours(k * 10))::TIMESTAMP_S", false],
  ['u32', 'uint32', '(k * 10)::UINTEGER', false],
  ['f', 'float64', 'k * 10.0::DOUBLE', false],
  ['dec', 'decimal(9,2)', '(k * 10)::DECIMAL(9, 2)', false],
  ['uuid', 'uuid', "('00000000-0000-0000-0000-' || lpad((k * 10)::VARCHAR, 12, '0'))::UUID", false],
];

async function written(): Promise<{ reader: FileReader; fields: readonly Field[]; path: string }> {
  const path = join(folder, 'x.parquet');
  const ids = columns.map(([name], i) => `${name}: ${i + 1}`).join(', ');
  await duck.run(
    `COPY (SELECT ${columns.map(([name, , sql]) => `${sql} AS ${name}`).join(', ')} FROM (SELECT i % 500 + (i // 8192) % 2 * 500 AS k FROM range(16384) r(i))) ` +
      `TO '${path}' (FORMAT parquet, ROW_GROUP_SIZE 8192, FIELD_IDS {${ids}})`,
  );
  const bytes = await readFile(path);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  const reader = await openReader({ byteLength: bytes.length, slice: async (start, end) => file.slice(start, end) });
  return { reader, fields: columns.map(([name, type], i) => fieldOf(i + 1, name, type)), path };
}

function requestOf(where: unknown, fields: readonly Field[]): ReadRequest {
  const expression = parseWhere(where, { schema: 'main', table: 't', fields });
  return { fields: fields.slice(0, 1), matters: filterOf(expression, []).matters };
}

test('values that are in a row group are found in its Bloom filters, of all types; most others are not', async () => {
  const { reader, fields, path } = await written();
  const [metadata] = await duck.rows(
    `SELECT count(DISTINCT path_in_schema) AS n FROM parquet_metadata('${path}') WHERE bloom_filter_offset IS NOT NULL`,
  );
  expect(Number(metadata!['n'])).toBeGreaterThan(8);
  for (const [name, , , isHashed] of columns) {
    const values = await duck.rows(`SELECT DISTINCT ${name} AS v FROM '${path}' ORDER BY hash(v) LIMIT 60`);
    const isNumber = /^(i|u32|f)/.test(name);
    for (const { v } of values) {
      const value = isNumber ? Number(v) : v!;
      const count = await duck.rows(
        `SELECT count(DISTINCT row_group) AS n FROM (SELECT file_row_number // 8192 AS row_group FROM read_parquet('${path}', file_row_number = true) WHERE ${name}::VARCHAR = '${v}')`,
      );
      const survey = await reader.survey(requestOf({ [name]: value }, fields));
      expect([name, v, survey.readRowGroupCount]).toSatisfy(([, , read]) => Number(read) >= Number(count[0]!['n']));
    }
    if (!isHashed || name === 'i8') continue;
    // Between those that are there.
    const next = isNumber ? 'v + 1' : name === 'text' ? "v || 'x'" : name === 'd' ? 'v + 1' : 'v + INTERVAL 1 MINUTE';
    const others = await duck.rows(`SELECT ${next} AS v FROM (SELECT DISTINCT ${name} AS v FROM '${path}') LIMIT 40`);
    const absent = others.map(({ v }) => (isNumber ? Number(v) : v!));
    let read = 0;
    for (const value of absent) read += (await reader.survey(requestOf({ [name]: value }, fields))).readRowGroupCount;
    expect([name, read]).toSatisfy(([, n]) => Number(n) < absent.length / 2);
    const { readRowGroupCount } = await reader.survey(requestOf({ [name]: { in: absent.slice(0, 3) } }, fields));
    expect([name, readRowGroupCount]).toSatisfy(([, n]) => Number(n) < 2);
  }
});

test('a filter that is damaged is an error', async () => {
  const { fields, path } = await written();
  const bytes = new Uint8Array(await readFile(path));
  const [row] = await duck.rows(
    `SELECT bloom_filter_offset AS at FROM parquet_metadata('${path}') WHERE path_in_schema = 'text' AND bloom_filter_offset IS NOT NULL`,
  );
  bytes.fill(0xff, Number(row!['at']), Number(row!['at']) + 8);
  const reader = await openReader({
    byteLength: bytes.length,
    slice: async (start, end) => bytes.slice(start, end).buffer as ArrayBuffer,
  });
  const survey = reader.survey(requestOf({ text: 'ü000015' }, fields));
  await expect(survey).rejects.toMatchObject({ code: 'CORRUPT' });
});
