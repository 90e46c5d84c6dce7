import { expect, test } from 'bun:test';
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

for (const { index, name, moment } of faults)
  test(`call ${index}, ${name}, fails ${moment} its effect`, async () => {
    await using scenario = new Scenario(place(), new Faults().failCall(index, moment));
    await scenario.run();
    expect(scenario.faults.failed).toEqual([{ name, moment }]);
    await scenario.verify();
  });
