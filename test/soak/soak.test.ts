import { expect, test } from 'bun:test';
import { CATALOG_KINDS } from '../support/lakes.ts';
import { soak } from './soak.ts';

// Minutes of it, and more processes: node test/soak/run.ts
for (const catalog of CATALOG_KINDS)
  test(`random calls by processes that are killed, paused and cut off, ${catalog}`, async () => {
    const { calls, problems } = await soak({
      catalog,
      seconds: 10,
      processes: 6,
      seed: Math.floor(Math.random() * 1e6),
    });
    expect(problems).toEqual([]);
    expect(calls.done).toBeGreaterThan(20);
  }, 120_000);
