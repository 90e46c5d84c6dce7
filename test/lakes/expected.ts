import type { DuckDBType } from '@duckdb/node-api';
import { identifier, literal } from '../support/oracle.ts';
import { type Canonical, canonicalOf } from './canonical.ts';
import { expectVirtual } from './compare-virtual.ts';
import type { Duck } from './duck.ts';
import { type Filter, filterSql, randomFilters } from './filters.ts';
import type { Random } from './random.ts';
import { textsOf } from './types.ts';

export interface ExpectedColumn {
  readonly name: string;
  readonly type: DuckDBType;
  readonly canonical: Canonical;
}

/** Rows as DuckDB shows them, column by column, canonical. */
export interface ExpectedRows {
  readonly columns: readonly ExpectedColumn[];
  readonly cells: readonly (readonly string[])[];
  readonly rowIds: readonly string[];
}

/** A table at a snapshot. */
export interface ExpectedTable extends ExpectedRows {
  readonly snapshotId: number;
  readonly schema: string;
  readonly name: string;
  readonly filters: readonly ExpectedFilter[];
  readonly virtual?: readonly string[] | undefined;
  /** Whether a data file has two delete files at once, as rewriting and flushing may leave it: DuckDB lists it with each of them. */
  readonly isDoubled?: boolean;
  /** Why DuckDB can't read it; then it has neither columns nor rows. */
  readonly failure?: string;
}

/** Only of tables in which DuckDB shows no row id twice, as it does after it deleted again from a file with a deletion vector. */
export interface ExpectedFilter {
  readonly filter: Filter;
  readonly sql: string;
  /** The row ids of what it leaves. */
  readonly rowIds: ReadonlySet<string>;
}

/** A table's change feed between two snapshots, both included. */
export interface ExpectedChanges extends ExpectedRows {
  readonly schema: string;
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly snapshotIds: readonly string[];
  readonly kinds: readonly string[];
  /** What the table was called at each snapshot. */
  readonly names: ReadonlyMap<number, { readonly schema: string; readonly name: string }>;
  readonly failure?: string;
}

export interface ExpectedSnapshot {
  readonly id: number;
  readonly schemas: readonly string[];
  readonly tables: readonly ExpectedTable[];
}

export interface ExpectedLake {
  /** Oldest first. */
  readonly snapshots: readonly ExpectedSnapshot[];
  readonly changes: readonly ExpectedChanges[];
}

/** Everything that DuckDB reads in the attached lake. */
export async function expectLake(duck: Duck, metadata: string, random: Random): Promise<ExpectedLake> {
  const lives = (alias: string): string =>
    `s.snapshot_id >= ${alias}.begin_snapshot AND (${alias}.end_snapshot IS NULL OR s.snapshot_id < ${alias}.end_snapshot)`;
  const ids = (await duck.rows(`SELECT snapshot_id FROM ${metadata}.ducklake_snapshot ORDER BY 1`)).map(([id]) =>
    Number(id),
  );
  const schemas = await duck.rows(
    `SELECT s.snapshot_id, c.schema_name FROM ${metadata}.ducklake_snapshot s, ${metadata}.ducklake_schema c WHERE ${lives('c')} ORDER BY ALL`,
  );
  const tables = await duck.rows(
    `SELECT s.snapshot_id, c.schema_name, t.table_name, t.table_id FROM ${metadata}.ducklake_snapshot s, ${metadata}.ducklake_schema c, ${metadata}.ducklake_table t ` +
      `WHERE ${lives('t')} AND ${lives('c')} AND t.schema_id = c.schema_id ORDER BY ALL`,
  );
  const deletes = await duck.rows(
    `SELECT s.snapshot_id, d.table_id FROM ${metadata}.ducklake_snapshot s, ${metadata}.ducklake_delete_file d WHERE ${lives('d')} GROUP BY s.snapshot_id, d.table_id, d.data_file_id HAVING count(*) > 1`,
  );
  const doubled = new Set(deletes.map(String));
  const snapshots: ExpectedSnapshot[] = [];
  for (const id of ids) {
    const found: ExpectedTable[] = [];
    for (const [at, schema, name, tableId] of tables)
      if (Number(at) === id)
        found.push({
          ...(await expectTable(duck, id, schema!, name!, random)),
          isDoubled: doubled.has(String([at, tableId])),
        });
    const names = schemas.filter(([at]) => Number(at) === id).map(([, name]) => name!);
    snapshots.push({ id, schemas: names, tables: found });
  }
  const changes: ExpectedChanges[] = [];
  for (const lived of Map.groupBy(tables, ([, , , tableId]) => tableId).values()) {
    const names = new Map(lived.map(([at, schema, name]) => [Number(at), { schema: schema!, name: name! }]));
    const [last, some] = [[...names.keys()].at(-1)!, random.pick([...names.keys()])];
    const ranges = [[random.pick(ids.filter((id) => id <= last)), last] as const, [some, some] as const];
    if (random.chance(0.5)) ranges.push([random.pick(ids.filter((id) => id <= some)), some]);
    for (const [from, to] of ranges) changes.push(await expectChanges(duck, names, from, to));
  }
  return { snapshots, changes };
}

export async function expectTable(
  duck: Duck,
  snapshotId: number,
  schema: string,
  name: string,
  random: Random,
): Promise<ExpectedTable> {
  const place = { snapshotId, schema, name };
  const from = `lake.${identifier(schema)}.${identifier(name)} AT (VERSION => ${snapshotId})`;
  try {
    const reader = await duck.read(`SELECT rowid, * FROM ${from}`);
    const types = reader.columnTypes();
    const names = reader.columnNames();
    const [rowIds, ...values] = reader.getColumns();
    const columns = types.slice(1).map((type, k) => ({ name: names[k + 1]!, type, canonical: canonicalOf(type) }));
    const cells = columns.map(({ canonical }, k) => (values[k] ?? []).map(canonical.theirs));
    const isNumbered = new Set(rowIds).size === (rowIds ?? []).length;
    const filters = isNumbered && random.chance(0.4) ? await expectFilters(duck, from, columns, random) : [];
    const virtual = await expectVirtual(duck, from, names.slice(1));
    return { ...place, columns, rowIds: (rowIds ?? []).map(String), cells, filters, virtual };
  } catch (error) {
    return { ...place, columns: [], cells: [], rowIds: [], filters: [], failure: String(error) };
  }
}

async function expectFilters(
  duck: Duck,
  from: string,
  columns: readonly ExpectedColumn[],
  random: Random,
): Promise<ExpectedFilter[]> {
  const samples = await duck.rows(
    `SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ${from} LIMIT 5 OFFSET ${random.pick([0, 0, 3, 12])}`,
  );
  const filterColumns = columns.map(({ name, type }, k) => ({
    name,
    type: type.alias ?? String(type),
    samples: samples.map((row) => row[k]!).filter((text) => text !== null),
  }));
  const filters = randomFilters(random, filterColumns, (type) => textsOf(shortType(type)) ?? [], 5);
  // As columns, not as WHERE: what DuckDB prunes must not count.
  // Nor what it makes of statistics, which are the head's.
  await duck.run("SET disabled_optimizers = 'filter_pushdown,statistics_propagation'");
  const [rowIds, ...found] = await duck
    .read(`SELECT rowid, ${filters.map((filter) => `(${filterSql(filter)})`).join(', ')} FROM ${from}`)
    .then((reader) => reader.getColumns())
    .finally(() => duck.run('RESET disabled_optimizers'));
  return filters.map((filter, k) => ({
    filter,
    sql: filterSql(filter),
    rowIds: new Set((rowIds ?? []).filter((_, i) => found[k]![i] === true).map(String)),
  }));
}

const shortType = (type: string): string => (type === 'TIMESTAMP WITH TIME ZONE' ? 'TIMESTAMPTZ' : type);

async function expectChanges(
  duck: Duck,
  names: ExpectedChanges['names'],
  from: number,
  to: number,
): Promise<ExpectedChanges> {
  const { schema, name } = names.get(to)!;
  const place = { schema, name, from, to, names };
  try {
    const reader = await duck.read(
      `SELECT * FROM ducklake_table_changes('lake', ${literal(schema)}, ${literal(name)}, ${from}, ${to})`,
    );
    const types = reader.columnTypes();
    const columnNames = reader.columnNames();
    const [snapshotIds, rowIds, kinds, ...values] = reader.getColumns();
    const columns = types
      .slice(3)
      .map((type, k) => ({ name: columnNames[k + 3]!, type, canonical: canonicalOf(type) }));
    return {
      ...place,
      columns,
      snapshotIds: (snapshotIds ?? []).map(String),
      rowIds: (rowIds ?? []).map(String),
      kinds: (kinds ?? []).map(String),
      cells: columns.map(({ canonical }, k) => (values[k] ?? []).map(canonical.theirs)),
    };
  } catch (error) {
    return { ...place, columns: [], snapshotIds: [], rowIds: [], kinds: [], cells: [], failure: String(error) };
  }
}
