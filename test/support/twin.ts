import type { CatalogTable, Lake } from '../../src/index.ts';
import { type CatalogDump, type CatalogKind, type TestLake, type TextRow, testLake } from './lakes.ts';
import type { Oracle } from './oracle.ts';

/** One thing done to both lakes: in DuckDB's SQL (the lake is the current catalog), and through our API. */
export interface TwinStep {
  readonly sql: string;
  readonly ours: (lake: Lake) => Promise<unknown>;
}

/** A difference that is meant to be: the first one that fits takes it. Each must have been met, or it is out of date. */
export interface KnownDifference {
  readonly table: CatalogTable;
  readonly column: string;
  /** Only rows of ours that hold these cells. */
  readonly where?: TextRow;
  /** Any, when not given. */
  readonly ours?: string | null;
  readonly theirs?: string | null;
  readonly reason: string;
}

/**
 * Runs the steps on two fresh lakes, one by stock DuckDB and one by us, and compares every row and column of their catalogs.
 * Returns the differences that are not known, and known ones that weren't met.
 */
export async function twinDifferences(
  kind: CatalogKind,
  duck: Oracle,
  steps: readonly TwinStep[],
  known: readonly KnownDifference[] = [],
  inliningRowLimit = 0,
): Promise<string[]> {
  await using mine = await testLake(kind);
  await using theirs = await testLake(kind);
  const lake = await mine.open({ dataInliningRowLimit: inliningRowLimit });
  await theirs.attach(duck, { as: 'twin', inliningRowLimit });
  try {
    await duck.run('USE twin');
    for (const { sql, ours } of steps) {
      await duck.run(sql);
      await ours(lake);
    }
  } finally {
    await duck.run('USE memory');
    await duck.detach('twin');
  }
  return await lakeDifferences(mine, theirs, known);
}

/** Compares two catalogs, row by row, with what they have inlined. */
export async function lakeDifferences(
  mine: TestLake,
  theirs: TestLake,
  known: readonly KnownDifference[] = [],
): Promise<string[]> {
  const [a, b] = [normalized(await mine.dump(), mine), normalized(await theirs.dump(), theirs)];
  return [...compare(a, b, known), ...compareInlined(await mine.dumpInlined(), await theirs.dumpInlined())];
}

/** Catalog tables of inlined rows, whole. */
function compareInlined(ours: Record<string, string[]>, theirs: Record<string, string[]>): string[] {
  return [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].flatMap((table) => {
    const [mine = ['no such table'], other = ['no such table']] = [ours[table], theirs[table]];
    return Array.from({ length: Math.max(mine.length, other.length) }, (_, i) => i)
      .filter((i) => mine[i] !== other[i])
      .map((i) => `${table}: ours ${mine[i]}, DuckDB's ${other[i]}`);
  });
}

/** Columns whose values depend on who writes when and how. Whether there is one, and above zero, still counts. */
const incidental: Readonly<Record<string, string>> = {
  snapshot_time: 'time',
  schedule_start: 'time',
  file_size_bytes: 'size',
  footer_size: 'size',
  column_size_bytes: 'size',
};

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Takes out of a dump what may differ; UUIDs become numbers in the order of their first appearance. */
function normalized(dump: CatalogDump, { dataPath }: TestLake): CatalogDump {
  const numbers = new Map<string, number>();
  const cell = (table: string, name: string, value: string | null, row: TextRow): string | null => {
    if (value === null) return null;
    if (table === 'ducklake_metadata' && name === 'value') {
      if (row['key'] === 'created_by') return '<name>';
      return value.replace(dataPath, '<data path>/');
    }
    // By which a commit of inlined rows is known.
    if (name === 'commit_extra_info' && value.startsWith('{"edgemere":')) return null;
    const kind = incidental[name];
    if (kind !== undefined) return value === '0' ? value : `<${kind}>`;
    if (name !== 'path' && !name.endsWith('_uuid')) return value;
    return value.replace(uuid, (found) => {
      if (!numbers.has(found)) numbers.set(found, numbers.size + 1);
      return `<uuid ${numbers.get(found)}>`;
    });
  };
  return Object.fromEntries(
    Object.entries(dump).map(([table, rows]) => [
      table,
      rows
        .toSorted((x, y) => (sortKey(x) < sortKey(y) ? -1 : 1))
        .map((row) =>
          Object.fromEntries(Object.entries(row).map(([name, value]) => [name, cell(table, name, value, row)])),
        ),
    ]),
  ) as unknown as CatalogDump;
}

/** Ids first, padded so that text sorts as numbers; nothing that depends on the writer. */
function sortKey(row: TextRow): string {
  return Object.entries(row)
    .filter(([name]) => name !== 'path' && !name.endsWith('_uuid') && incidental[name] === undefined)
    .map(([, value]) => (value === null ? '' : /^\d+$/.test(value) ? value.padStart(20, '0') : value))
    .join('\t');
}

function compare(ours: CatalogDump, theirs: CatalogDump, known: readonly KnownDifference[]): string[] {
  const found: string[] = [];
  const met = new Set<KnownDifference>();
  for (const table of Object.keys(theirs) as CatalogTable[]) {
    const [mine, other] = [ours[table], theirs[table]];
    if (mine.length !== other.length) found.push(`${table}: ${mine.length} rows, DuckDB ${other.length}`);
    for (let i = 0; i < Math.max(mine.length, other.length); i++) {
      const [x, y] = [mine[i], other[i]];
      if (!x || !y) {
        found.push(`${table} row ${i}: ${x ? `only ours ${show(x)}` : `only DuckDB's ${show(y)}`}`);
        continue;
      }
      for (const column of new Set([...Object.keys(x), ...Object.keys(y)])) {
        if (x[column] === y[column]) continue;
        const entry = known.find(
          (one) =>
            one.table === table &&
            one.column === column &&
            (one.ours === undefined || one.ours === x[column]) &&
            (one.theirs === undefined || one.theirs === y[column]) &&
            Object.entries(one.where ?? {}).every(([name, value]) => x[name] === value),
        );
        if (entry) met.add(entry);
        else found.push(`${table}.${column}: ours ${show(x[column])}, DuckDB's ${show(y[column])} in ${show(x)}`);
      }
    }
  }
  for (const entry of known)
    if (!met.has(entry))
      found.push(`not met: ${entry.table}.${entry.column} ${show(entry.ours)} / ${show(entry.theirs)}`);
  return found;
}

const show = (value: unknown): string => JSON.stringify(value);
