import { build, type Kind } from './build.ts';
import { type Comparison, compare, compareTable, count, emptyComparison } from './compare.ts';
import { compressors } from './compare-tasks.ts';
import type { Duck } from './duck.ts';
import { type ExpectedLake, type ExpectedTable, expectLake, expectTable } from './expected.ts';
import type { History } from './history.ts';
import { Random } from './random.ts';

export interface Checked extends Comparison {
  readonly expected: ExpectedLake;
  readonly refusals: readonly { readonly sql: string; readonly message: string }[];
}

/** Makes the lake of a history in DuckDB, and compares what edgemere reads in it with what DuckDB does. */
export async function check(duck: Duck, kind: Kind, history: History, seed = 0): Promise<Checked> {
  await using lake = await build(duck, kind, history);
  const random = new Random(seed);
  const expected = await lake.ask((attached, metadata) => expectLake(attached, metadata, random));
  const result = emptyComparison();
  const ours = await lake.place.open({ compressors });
  await compare(ours, expected, random, result);
  // DuckDB may remember another version's columns: a lake that it has only just attached has the last word.
  const doubted = new Set(result.findings.flatMap(({ table }) => table ?? []));
  for (const table of [...doubted].slice(0, 8)) {
    const { snapshotId, schema, name } = table;
    const again = emptyComparison();
    const anew = await lake.ask((attached) => expectTable(attached, snapshotId, schema, name, new Random(seed)));
    if (sameTable(anew, table)) continue;
    await compareTable(ours, anew, new Random(seed), again);
    const rest = result.findings.filter((finding) => finding.table !== table);
    result.findings.splice(0, result.findings.length, ...rest, ...again.findings);
    count(result.theirFailures, 'DuckDB reads a table one way and then another');
  }
  return { ...result, expected, refusals: lake.refusals };
}

const sameTable = (a: ExpectedTable, b: ExpectedTable): boolean =>
  JSON.stringify([a.columns.map(({ name }) => name), a.cells, a.failure]) ===
  JSON.stringify([b.columns.map(({ name }) => name), b.cells, b.failure]);
