import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { memoryCatalog, memoryLake, memoryStore } from '../../adapters/memory.ts';
import { lakeParticipant, runOn, seenBy } from '../support/interleaved-lake.ts';
import { interleave, orders, type Program, start, startedModel, stepCount } from '../support/interleaving.ts';
import { programs } from '../support/programs.ts';

setDefaultTimeout(300_000);

/** Runs programs in one order on a lake of its own. */
async function runInMemory(chosen: readonly Program[], order: readonly number[], isOneHandle: boolean): Promise<void> {
  const catalog = memoryCatalog();
  const store = memoryStore();
  // Either way rows are rows.
  const dataInliningRowLimit = isOneHandle ? 0 : 10;
  const open = () =>
    memoryLake({ store, catalog: memoryCatalog({ sharedWith: catalog }), commitGapMs: 0, dataInliningRowLimit });
  await using lake = await open();
  for (const op of start) await runOn(lake as never, op);
  const model = startedModel();
  const handles = await Promise.all(chosen.map(() => (isOneHandle ? lake : open())));
  await interleave({ programs: chosen, participants: handles.map(lakeParticipant), order, model });
  await using fresh = await open();
  expect(await seenBy(fresh)).toEqual(model.head.seen());
  // Every commit is a snapshot, beside the one with which a lake begins; what failed left no file.
  const { ducklake_snapshot, ducklake_data_file } = catalog.dump();
  expect(ducklake_snapshot.length).toBe(model.log.length + 1);
  const files = await Array.fromAsync(store.list(lake.dataPath));
  const known = new Set(ducklake_data_file.map(({ path }) => path));
  expect(files.filter(({ location }) => !known.has(location.slice(location.lastIndexOf('/') + 1)))).toEqual([]);
}

describe('every order of the steps of two transactions', () => {
  for (const [i, first] of programs.entries())
    test(`"${first.name}" and others`, async () => {
      for (const second of programs.slice(i)) {
        const other =
          second === first
            ? { ...second, ops: second.ops.map((op) => ('id' in op ? { ...op, id: 1000 } : op)) }
            : second;
        let n = 0;
        for (const order of orders([first, other].map(stepCount)))
          await runInMemory([first, other], order, n++ % 2 === 0);
      }
    });
});

describe('every order of the steps of three transactions', () => {
  for (const names of [
    ['insert', 'drop', 'insert'],
    ['create in a schema', 'drop a schema', 'create a schema'],
    ['insert', 'calls: insert', 'calls: drop, create'],
  ])
    test(names.join(', '), async () => {
      const chosen = names.map((name, i): Program => {
        const { ops, isCall = false } = programs.find((one) => one.name === name)!;
        return { name, isCall, ops: ops.map((op) => ('id' in op ? { ...op, id: 100 * (i + 1) } : op)) };
      });
      for (const order of orders(chosen.map(stepCount))) await runInMemory(chosen, order, false);
    });
});
