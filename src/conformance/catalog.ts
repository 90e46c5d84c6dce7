import type { ConformanceCase } from './case.ts';
import type { CatalogTarget } from './catalog/batches.ts';
import { commitCases } from './catalog/commit.ts';
import { definitionCases } from './catalog/definitions.ts';
import { fenceCases } from './catalog/fence.ts';
import { historyCases } from './catalog/history.ts';
import { idCases } from './catalog/ids.ts';
import { initializeCases } from './catalog/initialize.ts';
import { keyCases } from './catalog/keys.ts';
import { pruningCases } from './catalog/prune.ts';
import { readCases } from './catalog/read.ts';
import { statsCases } from './catalog/stats.ts';

export type { CatalogTarget } from './catalog/batches.ts';

/**
 * What every {@link CatalogStore} must do. Each case wants an empty place of its own, which it opens as often as it
 * likes: two opened catalogs are two clients of one database.
 *
 * @example
 * ```ts
 * import { test } from 'bun:test';
 * import { catalogCases } from 'edgemere/conformance';
 * import { memoryCatalog } from 'edgemere/memory';
 *
 * for (const { name, run } of catalogCases) {
 *   const place = memoryCatalog();
 *   test(name, () => run({ open: async () => memoryCatalog({ sharedWith: place }) }));
 * }
 * ```
 */
export const catalogCases: readonly ConformanceCase<CatalogTarget>[] = [
  ...initializeCases,
  ...readCases,
  ...historyCases,
  ...pruningCases,
  ...idCases,
  ...commitCases,
  ...fenceCases,
  ...definitionCases,
  ...statsCases,
  ...keyCases,
];
