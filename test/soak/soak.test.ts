import { expect, test } from 'bun:test';
import { CATALOG_KINDS } from '../support/lakes.ts';
import { soak } from './soak.ts';

// Minutes of it, and more processes: node test/soak/run.ts
for (const catalog of CATALOG_KINDS)
  test(`random calls by processes that are killed, paused and cut off, ${catalog}`, async () => {
    const { problems } = await soak({ catalog, seconds: 10, processes: 6, seed: 1, calls: 21 });
    expect(problems).toEqual([]);
  }, 900_000);
