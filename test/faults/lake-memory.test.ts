import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { memoryCatalog, memoryStore } from '../../adapters/memory.ts';
import { everyFault, type FaultPlace, Scenario } from '../support/fault-scenario.ts';
import { Faults } from '../support/faults.ts';

function place(): FaultPlace {
  const rows = memoryCatalog();
  return { dataPath: 'memory://lake/', store: memoryStore(), catalog: () => memoryCatalog({ sharedWith: rows }) };
}

const faults = await everyFault(place());

test('the scenario makes every kind of call', () => {
  const names = new Set(faults.map(({ name }) => name));
  for (const name of [
    'initialize',
    'readCatalog',
    'readHead',
    'readSnapshots',
    'readFiles',
    'readTableStats',
    'commit',
  ])
    expect(names).toContain(`catalog.${name}`);
  for (const name of [
    'store.open',
    'store.create',
    'store.delete',
    'reader.slice',
    'writer.write',
    'writer.close',
    'writer.abort',
  ])
    expect(names).toContain(name);
});

for (const { name, nth, moment } of faults)
  test(`call ${nth} of ${name} fails ${moment} its effect`, async () => {
    await using scenario = new Scenario(place(), new Faults().failNext(name, moment, nth));
    await scenario.run();
    expect(scenario.faults.failed).toEqual([{ name, moment }]);
    await scenario.verify();
  });

test('any number of calls fail, at random', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const random = evenly(seed);
      await using scenario = new Scenario(place(), new Faults().failAtRandom(0.04, random));
      await scenario.run();
      await scenario.verify();
    }),
    { numRuns: 60 },
  );
}, 300_000);

/** Draws from 0 to 1, evenly, unlike fast-check's doubles (mulberry32). */
function evenly(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
