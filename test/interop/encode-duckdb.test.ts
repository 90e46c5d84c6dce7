import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { parseType } from '../../src/spec/types.ts';
import { codecFor, type Physical } from '../../src/spec/values/codec.ts';
import { encodeFile, fieldsOf, filePlans, valuesOf } from '../support/encode-cases.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';
import { field } from '../support/parquet.ts';

/** `ENCODE_RUNS=2000` looks longer. */
const runs = Number(process.env['ENCODE_RUNS'] ?? 40);

let duck: Oracle;
let dir: string;
beforeAll(async () => {
  duck = await openOracle();
  dir = await mkdtemp(join(tmpdir(), 'edgemere-encode-'));
}, 300_000);
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

test('DuckDB skips rows, pages and row groups of every encoding', async () => {
  const count = 150_000;
  const ids = Array.from({ length: count }, (_, i) => BigInt(i));
  const rows = {
    id: ids,
    moment: ids.map((id) => new Date(1_700_000_000_000 + Number(id) * 37)),
    far: ids.map((id) => (id * 0x9e3779b97f4a7c15n) % 2n ** 62n),
    url: ids.map((id) => (id % 11n === 0n ? null : `https://example.com/${(id * 7919n) % 100003n}?ref=${id % 97n}`)),
    name: ids.map((id) => `name ${id % 300n}`),
    amount: ids.map((id) => Number(id % 9973n) / 8),
    qty: ids.map((id) => (id % 10n === 0n ? null : Number(id % 100n))),
    ok: ids.map((id) => id % 3n === 0n),
  };
  const types = ['int64', 'timestamp', 'int64', 'varchar', 'varchar', 'float64', 'int32', 'boolean'];
  const fields = Object.keys(rows).map((name, i) => field(i + 1, name, types[i]!));
  const { bytes } = await encodeFile(fields, Object.values(rows), { rowGroupRowCount: 60_000 }, { pageSlots: 5000 });
  const path = join(dir, 'skip.parquet');
  await Bun.write(path, bytes);
  const filters: readonly (readonly [string, (i: number) => boolean])[] = [
    ['id % 1000 = 7', (i) => i % 1000 === 7],
    ['id BETWEEN 59990 AND 60010', (i) => i >= 59_990 && i <= 60_010],
    ["name = 'name 77'", (i) => i % 300 === 77],
    ['url IS NULL AND qty = 44', (i) => i % 11 === 0 && i % 100 === 44],
    ["url = 'https://example.com/7919?ref=1'", (i) => rows.url[i] === 'https://example.com/7919?ref=1'],
    ['amount > 1246 AND ok', (i) => rows.amount[i]! > 1246 && rows.ok[i]!],
    ["moment = TIMESTAMP '2023-11-14 22:58:20'", (i) => rows.moment[i]!.getTime() === 1_700_002_700_000],
    ['id = 149999', (i) => i === 149_999],
  ];
  for (const [filter, holds] of filters) {
    const found = await duck.rowsAgreed(
      `SELECT id, far, url, name, amount, qty, epoch_ms(moment) AS moment, ok FROM read_parquet('${path}') WHERE ${filter} ORDER BY id`,
    );
    const expected = ids.map(Number).filter(holds);
    expect([filter, found.length]).toEqual([filter, expected.length]);
    expect(
      found.map((row) => [row['id'], row['far'], row['url'], row['name'], row['qty'], row['moment'], row['ok']]),
    ).toEqual(
      expected.map((i) => [
        String(i),
        String(rows.far[i]),
        rows.url[i]!,
        rows.name[i]!,
        rows.qty[i] === null ? null : String(rows.qty[i]),
        String(rows.moment[i]!.getTime()),
        String(rows.ok[i]),
      ]),
    );
    expect(found.map((row) => Number(row['amount']))).toEqual(expected.map((i) => rows.amount[i]!));
  }
}, 300_000);
