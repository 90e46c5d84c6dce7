import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile as readBytes, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import type { FileReader, ReadRequest } from '../../src/file/format.ts';
import { openReader } from '../../src/file/parquet/reader.ts';
import { decoded } from '../../src/scan/vectors.ts';
import { filterOf } from '../../src/scan/where/filter.ts';
import { parseWhere } from '../../src/scan/where/parse.ts';
import type { Field } from '../../src/schema/field.ts';
import { field, objectOf, writeFile } from '../support/parquet.ts';

setDefaultTimeout(900_000);

const run = promisify(execFile);

const fields: readonly Field[] = [
  field(1, 'id', 'int64'),
  field(2, 'small', 'int32'),
  field(3, 'name', 'varchar'),
  field(4, 'size', 'float64'),
  field(5, 'day', 'date'),
  field(6, 'noise', 'varchar'),
];

const rowCount = 60_000;

/** Ordered, in blocks, with NULLs on whole pages, with NaN; the last makes the file large. */
function columnsOf(): unknown[][] {
  const rows = Array.from({ length: rowCount }, (_, i) => i);
  return [
    rows.map((i) => BigInt(i) * 3n),
    rows.map((i) => (i < 20_000 ? null : Math.floor(i / 1000))),
    rows.map((i) => (i % 5000 < 40 ? null : `n${String(Math.floor(i / 7)).padStart(6, '0')}ü`)),
    rows.map((i) => (i % 9973 === 0 ? Number.NaN : i / 8)),
    rows.map((i) => `2020-01-${String(1 + (Math.floor(i / 2500) % 28)).padStart(2, '0')}`),
    rows.map((i) => `${(i * 2654435761) % 4294967296}-${(i * 40503) % 65536}`),
  ];
}

const conditions = fc.oneof(
  fc.record({ id: fc.record({ gte: fc.integer({ min: 0, max: 180_000 }), lt: fc.integer({ min: 0, max: 180_000 }) }) }),
  fc.record({ id: fc.integer({ min: -10, max: 180_100 }) }),
  fc.record({ id: fc.record({ in: fc.array(fc.integer({ min: 0, max: 180_000 }), { maxLength: 3 }) }) }),
  fc.record({
    small: fc.oneof(fc.integer({ min: 15, max: 62 }), fc.constant({ isNull: true }), fc.constant({ ne: 30 })),
  }),
  fc.record({
    name: fc.record({ startsWith: fc.integer({ min: 0, max: 90 }).map((n) => `n00${String(n).padStart(2, '0')}`) }),
  }),
  fc.record({ name: fc.constant({ isNull: true }) }),
  fc.record({ size: fc.record({ gt: fc.integer({ min: 0, max: 8000 }) }) }),
  fc.record({ size: fc.constant(Number.NaN) }),
  fc.record({
    day: fc.record({ lt: fc.integer({ min: 1, max: 28 }).map((d) => `2020-01-${String(d).padStart(2, '0')}`) }),
  }),
  fc.record({ noise: fc.constant('2654435761-40503') }),
);
const filters = fc.oneof(
  conditions,
  fc.array(conditions, { minLength: 1, maxLength: 3 }).map((and) => ({ and })),
  fc.array(conditions, { minLength: 1, maxLength: 2 }).map((or) => ({ or })),
  conditions.map((one) => ({ not: one })),
);

interface Found {
  readonly rows: unknown[][];
  /** Rows that were decoded. */
  readonly readCount: number;
  readonly positions: boolean;
}

async function rowsOf(reader: FileReader, where: unknown, names: readonly string[], prunes: boolean): Promise<Found> {
  const own = names.map((name) => fields.find((one) => one.name === name)!);
  const columns = own.map((one) => ({ kind: 'field', name: one.name, field: one }) as const);
  const filter = filterOf(parseWhere(where, { schema: 'main', table: 't', fields }), columns);
  const all = filter.columns.flatMap((column) => (column.kind === 'field' ? [column.field] : []));
  const request: ReadRequest = { fields: all, matters: prunes ? filter.matters : undefined };
  const rows: unknown[][] = [];
  let readCount = 0;
  let positions = true;
  let last = -1;
  for await (const batch of reader.read(request)) {
    readCount += batch.rowCount;
    positions &&= batch.firstPosition > last;
    last = batch.firstPosition + batch.rowCount - 1;
    expect(batch.columns.map(({ values }) => values.length)).toEqual(all.map(() => batch.rowCount));
    const kept = filter.keep(batch);
    const values = kept.columns.map((vector) => decoded(vector));
    for (let i = 0; i < kept.rowCount; i++) rows.push(values.map((column) => column[i]));
  }
  if (prunes) expect((await reader.survey(request)).readRowCount).toBe(readCount);
  return { rows, readCount, positions };
}

const someNames = fc.subarray(
  fields.map(({ name }) => name),
  { minLength: 1 },
);

async function comparePruned(bytes: Uint8Array): Promise<void> {
  const reader = await openReader(objectOf(bytes));
  let saved = 0;
  await fc.assert(
    fc.asyncProperty(filters, someNames, async (where, names) => {
      const [pruned, whole] = [await rowsOf(reader, where, names, true), await rowsOf(reader, where, names, false)];
      expect({ where, rows: pruned.rows }).toEqual({ where, rows: whole.rows });
      expect(pruned.positions).toBe(true);
      if (pruned.readCount < whole.readCount) saved++;
    }),
    { numRuns: 60 },
  );
  expect(saved).toBeGreaterThan(5);
}

describe('pages that cannot matter are not read', () => {
  test('of files of our own: the same rows as without', async () => {
    const { bytes } = await writeFile(fields, columnsOf(), { rowGroupRowCount: 45_000 });
    await comparePruned(bytes);
  });

  test('of compressed ones', async () => {
    const { bytes } = await writeFile(fields, columnsOf(), { rowGroupRowCount: 60_000, compression: 'gzip' });
    await comparePruned(bytes);
  });

  test.each([
    ['int8', 3],
    ['uint64', 3n],
    ['float32', 1.5],
    ['decimal(4,2)', '1.50'],
    ['decimal(18,2)', '1.50'],
    ['date', '2020-01-02'],
    ['time', '01:02:03'],
    ['timestamp', '2020-01-02T03:04:05.000006'],
    ['timestamp_ns', '2020-01-02T03:04:05.000006'],
    ['timestamptz', '2020-01-02T03:04:05Z'],
  ])('of pages of NULLs alone nothing more is known, %s', async (type, value) => {
    const own = [field(1, 'id', 'int64'), field(2, 'x', type)];
    const count = 100_000;
    const ids = Array.from({ length: count }, (_, i) => BigInt((i * 7919) % 100_003));
    const { bytes } = await writeFile(own, [ids, ids.map((_, i) => (i < count - 10_000 ? null : value))], {
      rowGroupRowCount: count,
    });
    const reader = await openReader(objectOf(bytes));
    const columns = own.map((one) => ({ kind: 'field', name: one.name, field: one }) as const);
    const filter = filterOf(parseWhere({ x: value }, { schema: 'main', table: 't', fields: own }), columns);
    let [kept, readCount] = [0, 0];
    for await (const batch of reader.read({ fields: own, matters: filter.matters })) {
      readCount += batch.rowCount;
      kept += filter.keep(batch).rowCount;
    }
    expect(kept).toBe(10_000);
    expect(readCount).toBeLessThan(count / 2);
  });

  test('only what is needed of a large file is asked for', async () => {
    const { bytes } = await writeFile(fields, columnsOf(), { rowGroupRowCount: 60_000 });
    const ranges: [number, number][] = [];
    const reader = await openReader(objectOf(bytes, ranges));
    ranges.length = 0;
    const { rows } = await rowsOf(reader, { id: 91_500 }, ['id', 'name', 'noise'], true);
    expect(rows).toEqual([[91_500n, expect.any(String), expect.any(String)]]);
    const asked = ranges.reduce((sum, [start, end]) => sum + end - start, 0);
    expect(asked).toBeLessThan(bytes.length * 0.6);
  });

  test('of files of pyarrow with page indexes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'edgemere-pages-'));
    try {
      const script = (name: string): string => fileURLToPath(new URL(`../services/${name}`, import.meta.url));
      const { stdout } = await run('bash', [script('pyarrow.sh')]);
      const path = join(folder, 'x.parquet');
      await run('python3', ['-c', pyarrowScript, path], { env: { ...process.env, PYTHONPATH: stdout.trim() } });
      await comparePruned(new Uint8Array(await readBytes(path)));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

const pyarrowScript = `
import sys, datetime, pyarrow as pa, pyarrow.parquet as pq
n = ${rowCount}
def field(name, type, id): return pa.field(name, type, metadata={'PARQUET:field_id': str(id)})
schema = pa.schema([field('id', pa.int64(), 1), field('small', pa.int32(), 2), field('name', pa.string(), 3),
  field('size', pa.float64(), 4), field('day', pa.date32(), 5), field('noise', pa.string(), 6)])
table = pa.table([
  pa.array([i * 3 for i in range(n)], pa.int64()),
  pa.array([None if i < 20000 else i // 1000 for i in range(n)], pa.int32()),
  pa.array([None if i % 5000 < 40 else 'n%06d\\u00fc' % (i // 7) for i in range(n)]),
  pa.array([float('nan') if i % 9973 == 0 else i / 8 for i in range(n)]),
  pa.array([datetime.date(2020, 1, 1 + (i // 2500) % 28) for i in range(n)]),
  pa.array(['%d-%d' % (i * 2654435761 % 4294967296, i * 40503 % 65536) for i in range(n)]),
], schema=schema)
pq.write_table(table, sys.argv[1], row_group_size=45000, data_page_size=8192, write_page_index=True)
`;
