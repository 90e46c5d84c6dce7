import { isLakeError, type Lake, type Table } from '../../src/index.ts';
import { callerValue } from './caller-values.ts';
import { compareChanges } from './compare-changes.ts';
import { compareTasks } from './compare-tasks.ts';
import { compareVirtual } from './compare-virtual.ts';
import type { ExpectedLake, ExpectedTable } from './expected.ts';
import { filterWhere } from './filters.ts';
import type { Random } from './random.ts';

/** Something that edgemere got wrong. */
export interface Finding {
  /** What it is, whatever the names and numbers: shrinking keeps it. */
  readonly kind: string;
  readonly where: string;
  readonly detail: string;
  /** The table that it is about. */
  readonly table?: ExpectedTable;
}

export interface Comparison {
  readonly findings: Finding[];
  /** How often edgemere refused something, by reason. */
  readonly refused: Map<string, number>;
  /** How often DuckDB itself could not read a table at a snapshot, by reason. */
  readonly theirFailures: Map<string, number>;
  /** Reads that came out right. */
  right: number;
}

export const emptyComparison = (): Comparison => ({
  findings: [],
  refused: new Map(),
  theirFailures: new Map(),
  right: 0,
});

export const count = (counts: Map<string, number>, key: string, by = 1): void =>
  void counts.set(key, (counts.get(key) ?? 0) + by);

/** A message without what differs from lake to lake. */
export const plain = (message: string): string =>
  message
    .split('\n')[0]!
    .replace(/\S*\/[^\s"]*/g, '…/')
    .replace(/"(?:[^"]|"(?=\w))*"/g, '"…"')
    .replace(/\b[\w-]*\.(parquet|puffin)/g, 'FILE')
    .replace(/\d+/g, '#')
    .slice(0, 160);

/** Every table at every snapshot, several ways. */
export async function compare(lake: Lake, expected: ExpectedLake, random: Random, result: Comparison): Promise<void> {
  for (const { id, schemas, tables } of expected.snapshots) {
    const asOf = { snapshot: id };
    await attempt(result, `schemas at ${id}`, async () => {
      const ours = (await lake.schemas({ asOf })).map(({ name }) => name);
      return same('schemas', ours.sort(), [...schemas].sort());
    });
    await attempt(result, `tables at ${id}`, async () => {
      const ours = (await lake.tables({ asOf })).map(({ schema, name }) => JSON.stringify([schema, name]));
      return same('tables', ours.sort(), tables.map(({ schema, name }) => JSON.stringify([schema, name])).sort());
    });
    for (const table of tables) await compareTable(lake, table, random, result);
  }
  for (const changes of expected.changes) await compareChanges(lake, expected, changes, random, result);
}

export async function compareTable(
  lake: Lake,
  expected: ExpectedTable,
  random: Random,
  result: Comparison,
): Promise<void> {
  if (expected.failure !== undefined) {
    count(result.theirFailures, plain(expected.failure));
    return;
  }
  const before = result.findings.length;
  await compareReads(lake.table({ schema: expected.schema, name: expected.name }), expected, random, result);
  result.findings.splice(
    before,
    result.findings.length,
    ...result.findings.slice(before).map((finding) => ({ ...finding, table: expected })),
  );
}

async function compareReads(table: Table, expected: ExpectedTable, random: Random, result: Comparison): Promise<void> {
  const where = `"${expected.schema}"."${expected.name}" at ${expected.snapshotId}`;
  const asOf = { snapshot: expected.snapshotId };
  const names = expected.columns.map(({ name }) => name);
  const rowIds = await read(table, { columns: ['rowid'], asOf }).catch(() => undefined);
  if (rowIds && showsTwice(expected, rowIds[0]!.map(String)))
    return count(result.theirFailures, 'DuckDB shows rows twice, as they were and as they are');
  const isWhole = await attempt(result, where, async () => {
    const columns = [...names, 'rowid'];
    const ours = await read(table, { columns: columns, asOf });
    return sameRows('all columns', texts(expected, ours, names, true), wanted(expected, names, true));
  });
  await attempt(result, `${where}, as objects`, async () => {
    const rows = (await table.scan({ asOf }).toArray()) as Record<string, unknown>[];
    for (const row of rows)
      if (JSON.stringify(Object.keys(row)) !== JSON.stringify(orderedKeys(names)))
        return {
          kind: 'keys of a row',
          detail: `${JSON.stringify(Object.keys(row))} instead of ${JSON.stringify(names)}`,
        };
    const ours = names.map((name) => rows.map((row) => own(row, name)));
    return sameRows('objects', texts(expected, ours, names, false), wanted(expected, names, false));
  });
  if (!isWhole && result.findings.length > 0) return;
  await attempt(result, `${where}, virtual columns`, () => compareVirtual(table, expected));
  await compareFilters(table, expected, where, result);
  const some = random.shuffled(names).slice(0, random.int(1, names.length));
  await compareAsTasks(table, expected, { where, some, random }, result);
  await attempt(result, `${where}, count`, async () => sameCount(await table.count({}, { asOf }), expected.rowIds));
  await attempt(result, `${where}, only ${JSON.stringify(some)}`, async () => {
    const ours = await read(table, { columns: some, asOf });
    return sameRows('projection', texts(expected, ours, some, false), wanted(expected, some, false));
  });
  const limit = random.pick([0, 1, 3, 10, 11, 200]);
  await attempt(result, `${where}, limit ${limit}`, async () => {
    const ours = texts(expected, await read(table, { columns: [...some, 'rowid'], limit, asOf }), some, true);
    const all = wanted(expected, some, true);
    const right = Math.min(limit, all.length);
    if (ours.length !== right)
      return { kind: 'limit: number of rows', detail: `${ours.length} rows instead of ${right}` };
    const rest = new Map<string, number>();
    for (const row of all) count(rest, row);
    for (const row of ours) {
      count(rest, row, -1);
      if (rest.get(row)! < 0) return { kind: 'limit: a row that is none', detail: row };
    }
    return undefined;
  });
}

async function compareAsTasks(
  table: Table,
  expected: ExpectedTable,
  { where, some, random }: { where: string; some: readonly string[]; random: Random },
  result: Comparison,
): Promise<void> {
  const filter = random.chance(0.5) ? expected.filters[0] : undefined;
  const options = {
    columns: random.chance(0.2) ? [] : some,
    asOf: { snapshot: expected.snapshotId },
    ...(filter && { where: filterWhere(filter.filter, callerValue) }),
    ...(random.chance(0.3) && { limit: random.pick([0, 1, 5, 50]) }),
  };
  const maxByteLength = random.pick([1 << 27, 5000, 1000, 100]);
  await attempt(result, `${where}, as tasks of ${maxByteLength} bytes, ${JSON.stringify(filter?.sql)}`, () =>
    compareTasks(table, options, maxByteLength),
  );
}

/**
 * DuckDB keeps all rows of a file that it updated or deleted from, rewrote and flushed: then each id is here once, and some twice there,
 * or rows are there that were deleted.
 */
function showsTwice({ rowIds, isDoubled }: ExpectedTable, ours: readonly string[]): boolean {
  const [a, b] = [new Set(ours), new Set(rowIds)];
  return ours.length === a.size && rowIds.length > (isDoubled ? ours.length : b.size) && ours.every((id) => b.has(id));
}

async function compareFilters(table: Table, expected: ExpectedTable, where: string, result: Comparison): Promise<void> {
  const names = expected.columns.map(({ name }) => name);
  const all = wanted(expected, names, true);
  for (const { filter, sql, rowIds } of expected.filters) {
    const filtered = filterWhere(filter, callerValue);
    await attempt(result, `${where}, count of ${sql}`, async () =>
      sameCount(await table.count(filtered, { asOf: { snapshot: expected.snapshotId } }), rowIds),
    );
    await attempt(result, `${where}, ${sql}`, async () => {
      const options = {
        columns: [...names, 'rowid'],
        asOf: { snapshot: expected.snapshotId },
        where: filtered,
      };
      const ours = texts(expected, await read(table, options), names, true);
      return sameRows(
        'filter',
        ours,
        all.filter((_, i) => rowIds.has(expected.rowIds[i]!)),
      );
    });
  }
}

function sameCount(ours: number, theirs: { readonly length: number } | { readonly size: number }): Problem {
  const wanted = 'size' in theirs ? theirs.size : theirs.length;
  return ours === wanted ? undefined : { kind: 'count', detail: `edgemere counts ${ours} rows, DuckDB ${wanted}` };
}

type Columns = readonly ArrayLike<unknown>[];

async function read(
  table: Table,
  options: { columns: readonly string[]; asOf: { snapshot: number }; limit?: number; where?: Record<string, unknown> },
): Promise<unknown[][]> {
  const out: unknown[][] = options.columns.map(() => []);
  for await (const { rowCount, columns } of table.scan(options).batches())
    for (const [k, name] of options.columns.entries()) {
      const values = (columns as Record<string, ArrayLike<unknown>>)[name]!;
      for (let i = 0; i < rowCount; i++) out[k]!.push(values[i]);
    }
  return out;
}

/** Rows as texts: the named columns in that order and, last of the columns given, row ids. */
function texts(expected: ExpectedTable, ours: Columns, names: readonly string[], withRowIds: boolean): string[] {
  const columns = names.map((name, k) => {
    const { canonical } = expected.columns.find((column) => column.name === name)!;
    return Array.from(ours[k]!, canonical.ours);
  });
  return joined(columns, withRowIds ? Array.from(ours[names.length]!, String) : undefined, ours[0]?.length ?? 0);
}

function wanted(expected: ExpectedTable, names: readonly string[], withRowIds: boolean): string[] {
  const columns = names.map((name) => expected.cells[expected.columns.findIndex((column) => column.name === name)]!);
  return joined(columns, withRowIds ? expected.rowIds : undefined, expected.rowIds.length);
}

function joined(
  columns: readonly (readonly string[])[],
  rowIds: readonly string[] | undefined,
  rowCount: number,
): string[] {
  return Array.from({ length: rowCount }, (_, i) => {
    const cells = columns.map((column) => column[i]!).join(' | ');
    return rowIds ? `#${rowIds[i]!.padStart(6, '0')} | ${cells}` : cells;
  });
}

export const own = (row: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(row, name) ? row[name] : undefined;

/** JavaScript puts names that are whole numbers first. */
const orderedKeys = (names: readonly string[]): string[] =>
  Object.keys(Object.fromEntries(names.map((name) => [name, 0])));

export type Problem = { readonly kind: string; readonly detail: string } | undefined;

/** Rows have no order between files: row ids do. */
export function sameRows(what: string, ours: string[], theirs: string[]): Problem {
  if (ours.length === theirs.length && ours.every((row, i) => row === theirs[i])) return undefined;
  const a = [...ours].sort();
  const b = [...theirs].sort();
  const at = b.findIndex((row, i) => row !== a[i]);
  if (at < 0 && a.length === b.length) return undefined;
  const kind = a.length === b.length ? 'values' : a.length < b.length ? 'rows are missing' : 'rows that are none';
  const onlyOurs = without(a, b);
  const onlyTheirs = without(b, a);
  const show = (rows: readonly string[]): string =>
    rows
      .slice(0, 4)
      .map((row) => `    ${row.length > 600 ? `${row.slice(0, 600)}…` : row}`)
      .join('\n');
  return {
    kind: `${what}: ${kind}`,
    detail: `edgemere ${a.length} rows, DuckDB ${b.length}\n  only edgemere (${onlyOurs.length}):\n${show(onlyOurs)}\n  only DuckDB (${onlyTheirs.length}):\n${show(onlyTheirs)}`,
  };
}

function without(rows: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const row of others) count(counts, row);
  return rows.filter((row) => {
    const left = counts.get(row) ?? 0;
    counts.set(row, left - 1);
    return left <= 0;
  });
}

function same(kind: string, ours: readonly string[], theirs: readonly string[]): Problem {
  if (JSON.stringify(ours) === JSON.stringify(theirs)) return undefined;
  return { kind, detail: `edgemere ${JSON.stringify(ours)}\n  DuckDB   ${JSON.stringify(theirs)}` };
}

/** Whether it came out right. A refusal is tallied, a wrong result or any other error is a finding. */
export async function attempt(result: Comparison, where: string, check: () => Promise<Problem>): Promise<boolean> {
  try {
    const problem = await check();
    if (problem) result.findings.push({ ...problem, where });
    else result.right++;
    return problem === undefined;
  } catch (error) {
    if (isLakeError(error, 'UNSUPPORTED')) count(result.refused, plain(error.message));
    // Members of structs that DuckDB wrote as SQL, or without doubling quotes: it can't read them back itself.
    else if (isLakeError(error, 'CORRUPT') && /expected DuckDB's text of a nested value/.test(error.message))
      count(result.refused, 'inlined nested values that DuckDB lost');
    else if (isLakeError(error, 'NOT_FOUND') && error.context.column === 'rowid') count(result.refused, 'row ids');
    else {
      const code = isLakeError(error) ? error.code : (error as Error).name;
      const message = error instanceof Error ? error.message : String(error);
      const stack = isLakeError(error)
        ? error.cause instanceof Error
          ? `\n${error.cause.stack}`
          : ''
        : `\n${(error as Error).stack}`;
      result.findings.push({ kind: `${code}: ${plain(message)}`, where, detail: `${code}: ${message}${stack}` });
    }
    return false;
  }
}
