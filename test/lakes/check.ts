import { build, type Kind } from './build.ts';
import { type Comparison, compare, emptyComparison } from './compare.ts';
import type { Duck } from './duck.ts';
import { type ExpectedLake, expectLake } from './expected.ts';
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
  await compare(await lake.place.open(), expected, random, result);
  return { ...result, expected, refusals: lake.refusals };
}
