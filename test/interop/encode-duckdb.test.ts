import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { parseType } from '../../src/spec/types.ts';
import { codecFor, type Physical } from '../../src/spec/values/codec.ts';
import { encodeFile, fieldsOf, filePlans, valuesOf } from '../support/encode-cases.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';

/** `ENCODE_RUNS=2000` looks longer. */
const runs = Number(process.env['ENCODE_RUNS'] ?? 40);

let duck: Oracle;
let dir: string;
beforeAll(async () => {
  duck = await openOracle();
  dir = await mkdtemp(join(tmpdir(), 'edgemere-encode-'));
}, 60_000);
afterAll(async () => {
  await duck.close();
  await rm(dir, { recursive: true, force: true });
});

/** A column in SQL, as a text that tells every value apart from every other. */
function textSql(name: string, type: string): string {
  return type === 'blob' ? `hex(${name})` : `${name}::VARCHAR`;
}

function textOf(type: string, physical: Physical): string {
  if (type === 'boolean') return String(physical);
  if (type === 'varchar') return physical as string;
  return codecFor(parseType(type)).text(physical)!;
}

test(
  'random schemas, random data: DuckDB reads the same',
  async () => {
    await fc.assert(
      fc.asyncProperty(filePlans, async (plan) => {
        const fields = fieldsOf(plan);
        const columns = valuesOf(plan);
        const { bytes } = await encodeFile(fields, columns, plan.options, plan, plan.batchRowCount);
        // DuckDB caches what it has read of a path.
        const path = join(dir, `${crypto.randomUUID()}.parquet`);
        await Bun.write(path, bytes);
        const selected = plan.columns.map(({ type }, c) => `${textSql(`c${c}`, type)} AS c${c}`);
        const rows = await duck.rows(
          `SELECT ${selected.join(', ')} FROM read_parquet('${path}') ORDER BY file_row_number`,
        );
        await rm(path);
        expect(rows.length).toBe(columns[0]!.length);
        for (const [c, { type }] of plan.columns.entries()) {
          const codec = codecFor(parseType(type));
          const expected = columns[c]!.map((value) => (value == null ? null : textOf(type, codec.encode(value))));
          expect(rows.map((row) => row[`c${c}`] ?? null)).toEqual(expected);
        }
      }),
      { numRuns: runs },
    );
  },
  30_000 + runs * 1000,
);
