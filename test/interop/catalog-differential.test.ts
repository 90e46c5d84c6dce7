import { afterAll, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import postgres from 'postgres';
import { memoryCatalog } from '../../adapters/memory.ts';
import { postgresCatalog } from '../../adapters/postgres.ts';
import { sqliteCatalog } from '../../adapters/sqlite.ts';
import type {
  BoundsOrder,
  CatalogOp,
  CatalogStore,
  ColumnStatsDelta,
  CommitBatch,
  Snapshot,
} from '../../src/catalog/store.ts';
import { equal } from '../../src/conformance/case.ts';
import {
  batchOn,
  columnRow,
  everything,
  fileRow,
  insert,
  statsRow,
  tableOps,
} from '../../src/conformance/catalog/batches.ts';
import type { Change } from '../../src/spec/changes.ts';
import { relativeId } from '../../src/spec/rows.ts';
import { codecFor } from '../../src/spec/values/codec.ts';
import { freshDatabase } from '../support/services.ts';

/**
 * The catalog in memory says in a few lines what a batch means; SQL catalogs say it in SQL. Here they get the same random
 * batches, and have to hold the same rows.
 */

const folder = await mkdtemp(join(tmpdir(), 'edgemere-differential-'));
const database = await freshDatabase();
const sql = postgres(database.url, { max: 2, onnotice: () => {} });
afterAll(async () => {
  await sql.end();
  await database[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
}, 900_000);

/** What a step appends to one column. */
interface ColumnStep {
  readonly bounds: readonly [string, string] | 'none' | 'unknown';
  readonly containsNull: boolean;
  readonly containsNan: boolean | null;
}

type Step =
  | { readonly kind: 'create'; readonly name: string; readonly withRows: boolean }
  | { readonly kind: 'append'; readonly parts: readonly AppendPart[]; readonly stale: number; readonly exact: boolean }
  | { readonly kind: 'drop'; readonly table: number; readonly stale: number }
  | { readonly kind: 'delete'; readonly table: number };

interface AppendPart {
  readonly table: number;
  readonly rowCounts: readonly number[];
  readonly columns: readonly ColumnStep[];
}

const orders: readonly BoundsOrder[] = ['number', 'bytes', 'temporal'];
const timestamps = codecFor({ name: 'timestamp' });
const floats = codecFor({ name: 'float64' });
const decimals = codecFor({ name: 'decimal', precision: 38, scale: 10 });

const texts: Readonly<Record<BoundsOrder, fc.Arbitrary<string>>> = {
  number: fc.oneof(
    fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String),
    fc.integer({ min: -20, max: 20 }).map(String),
    fc.double({ noNaN: true }).map((value) => floats.text(value)!),
    fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }).map((value) => decimals.text(value)!),
    fc.constantFrom('0', '-0.0', '0.0', 'inf', '-inf', '1e+300', '1e-300', '.5', '-.5'),
  ),
  bytes: fc.oneof(
    fc.string({ unit: 'binary', maxLength: 6 }).map((text) => text.replaceAll('\0', '').toWellFormed()),
    fc.constantFrom('', 'a', 'B', 'b', 'a ', 'é', '\uffff', '\u{10000}', 'NULL', '{}', "'", '\\', '"'),
  ),
  temporal: fc.oneof(
    fc.bigInt({ min: -9_223_372_022_400_000_000n, max: 2n ** 63n - 2n }).map((micros) => timestamps.text(micros)!),
    fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }).map((micros) => timestamps.text(micros)!),
    fc.constantFrom(
      'infinity',
      '-infinity',
      '0001-01-01',
      '0001-12-31 (BC)',
      '9999-12-31',
      '10000-01-01',
      '2024-01-15',
    ),
  ),
};

const column = (order: BoundsOrder): fc.Arbitrary<ColumnStep> =>
  fc.record({
    bounds: fc.oneof(
      { weight: 6, arbitrary: fc.tuple(texts[order], texts[order]) },
      { weight: 2, arbitrary: fc.constant('none' as const) },
      { weight: 1, arbitrary: fc.constant('unknown' as const) },
    ),
    containsNull: fc.boolean(),
    containsNan: fc.constantFrom(null, false, false, true),
  });

const part: fc.Arbitrary<AppendPart> = fc.record({
  table: fc.nat(7),
  rowCounts: fc.array(fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constant(7), fc.constant(5_000_000_000)), {
    minLength: 1,
    maxLength: 3,
  }),
  columns: fc.tuple(...orders.map(column)).chain((columns) => fc.constantFrom(columns, columns, columns.slice(0, 2))),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('create' as const),
      name: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).map((name) => name.replaceAll('\0', '0')),
      withRows: fc.boolean(),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      parts: fc.uniqueArray(part, { minLength: 1, maxLength: 3, selector: ({ table }) => table }),
      stale: fc.nat(3),
      exact: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('drop' as const), table: fc.nat(7), stale: fc.nat(1) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), table: fc.nat(7) }) },
);

const delta = (k: number, { bounds, containsNull, containsNan }: ColumnStep): ColumnStatsDelta => ({
  columnId: k + 1,
  containsNull,
  containsNan,
  bounds: typeof bounds === 'string' ? bounds : { min: bounds[0], max: bounds[1] },
  order: orders[k]!,
});

/** The ops and ids of an append of several parts; `base` relative ids have been taken. */
function append(parts: readonly (Omit<AppendPart, 'table'> & { readonly tableId: number })[]): Partial<CommitBatch> {
  let fileIdCount = 0;
  const ops: CatalogOp[] = [];
  for (const { tableId, rowCounts, columns } of parts) {
    let rows = 0;
    for (const rowCount of rowCounts) {
      const id = relativeId(fileIdCount++);
      ops.push(insert('ducklake_data_file', fileRow(tableId, id, relativeId(rows), { record_count: rowCount })));
      ops.push(
        insert(
          'ducklake_file_column_stats',
          ...columns.map(({ bounds, containsNan }, k) =>
            statsRow(tableId, id, k + 1, {
              value_count: bounds === 'none' ? 0 : rowCount === 7 ? null : rowCount,
              min_value: typeof bounds === 'string' ? null : bounds[0],
              max_value: typeof bounds === 'string' ? null : bounds[1],
              contains_nan: containsNan,
            }),
          ),
        ),
      );
      rows += rowCount;
    }
    const stats = {
      tableId,
      recordCount: rows,
      rowIdCount: rows,
      byteLength: rows * 3,
      columns: columns.map((c, k) => delta(k, c)),
    };
    ops.push({ kind: 'addStats', stats });
  }
  return {
    fileIdCount,
    changes: parts.map(({ tableId }): Change => ({ kind: 'inserted_into_table', id: tableId })),
    ops,
  };
}

/** The batch of a step on a lake with these snapshots and tables (all that there ever were, oldest first). */
function batchOf(made: Step, snapshots: readonly Snapshot[], tableIds: readonly number[]): CommitBatch | undefined {
  const head = snapshots.at(-1)!;
  if (made.kind === 'create') {
    const id = relativeId(0);
    const columns = orders.map((_, k) => columnRow(id, k + 1));
    const noValues = orders.map((): ColumnStep => ({ bounds: 'none', containsNull: true, containsNan: null }));
    const rows = made.withRows ? append([{ tableId: id, rowCounts: [1], columns: noValues }]) : {};
    return batchOn(head, {
      ...rows,
      changesSchema: true,
      catalogIdCount: 1,
      changes: [{ kind: 'created_table', schema: 'main', name: made.name }, ...(rows.changes ?? [])],
      ops: [...tableOps({ id, name: made.name, columns }), ...(rows.ops ?? [])],
    });
  }
  if (tableIds.length === 0) return undefined;
  const tableAt = (k: number): number => tableIds[k % tableIds.length]!;
  const stale = 'stale' in made ? (snapshots.at(-1 - made.stale) ?? head) : head;
  if (made.kind === 'drop') {
    const id = tableAt(made.table);
    return batchOn(stale, {
      changesSchema: true,
      changes: [{ kind: 'dropped_table', id }],
      ops: (['ducklake_table', 'ducklake_column', 'ducklake_data_file'] as const).map((table) => ({
        kind: 'end',
        table,
        match: { table_id: id },
      })),
    });
  }
  if (made.kind === 'delete') {
    const id = tableAt(made.table);
    return batchOn(head, { changes: [{ kind: 'deleted_from_table', id }] });
  }
  const parts = new Map(made.parts.map(({ table, ...rest }) => [tableAt(table), { ...rest, tableId: tableAt(table) }]));
  const against = ['dropped_table', 'altered_table', 'deleted_from_table', 'inlined_delete'] as const;
  return batchOn(stale, {
    ...append([...parts.values()]),
    fence: made.exact
      ? { kind: 'exact' }
      : {
          kind: 'unless',
          changes: [...parts.keys()].flatMap((id) => against.map((kind) => ({ kind, id }))),
          sameSchema: false,
        },
  });
}

/** The same step on each, on the snapshots that it itself made: only their times may differ. */
async function run(catalogs: Readonly<Record<string, CatalogStore>>, steps: readonly Step[]): Promise<void> {
  const lakes = Object.entries(catalogs).map(([name, catalog]) => ({ name, catalog, snapshots: [] as Snapshot[] }));
  const schemaUuid = crypto.randomUUID();
  for (const { catalog, snapshots } of lakes) {
    await catalog.initialize({ dataPath: 'x/', createdBy: 'differential', schemaUuid });
    snapshots.push((await catalog.readHead()).snapshot);
  }
  const tableIds: number[] = [];
  for (const made of steps) {
    const outcomes: unknown[] = [];
    let batch: CommitBatch | undefined;
    for (const { catalog, snapshots } of lakes) {
      // One batch for all: file names and uuids are drawn when it is made.
      batch ??= batchOf(made, snapshots, tableIds);
      if (batch === undefined) break;
      const base = snapshots.find(({ id }) => id === batch!.base.id)!;
      const outcome = await catalog.commit({ ...batch, base });
      if (outcome.status === 'committed') snapshots.push(outcome.snapshot);
      outcomes.push(outcome.status === 'committed' ? { ...outcome.snapshot, time: '' } : outcome.status);
    }
    for (const [k, outcome] of outcomes.entries())
      equal(outcome, outcomes[0], `the outcome of a ${made.kind} on ${lakes[k]!.name}`);
    if (made.kind === 'create') tableIds.push(lakes[0]!.snapshots.at(-1)!.nextCatalogId - 1);
  }
  const [first, ...others] = await Promise.all(lakes.map(async ({ catalog }) => timeless(await everything(catalog))));
  for (const [k, other] of others.entries()) equal(other, first, `the rows on ${lakes[k + 1]!.name}`);
}

/** Rows in an order of their own, without the times, which are each database's. */
function timeless(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(timeless);
    return items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'time')
      .map(([key, item]) => [key, timeless(item)])
      .toSorted(([a], [b]) => (a! < b! ? -1 : 1)),
  );
}

let places = 0;

test('memory, SQLite and Postgres hold the same rows after the same batches', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 24, size: 'max' }), async (steps) => {
      const place = ++places;
      await using memory = memoryCatalog();
      await using sqlite = sqliteCatalog({ path: join(folder, `${place}.sqlite`) });
      await using postgresql = postgresCatalog({ sql, schema: `lake ${place}` });
      const withRows: Step = { kind: 'create', name: 'first', withRows: true };
      await run({ memory, sqlite, postgresql }, [withRows, ...steps]);
    }),
    { numRuns: 20 },
  );
  expect(places).toBeGreaterThanOrEqual(20);
}, 900_000);
