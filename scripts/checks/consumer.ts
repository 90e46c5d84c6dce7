/** What a user does with the installed package; checks/package.ts type-checks and runs it in a project of its own. */
import { openLake, t } from 'edgemere';
import { lakeCases } from 'edgemere/conformance';
import { localStore } from 'edgemere/local';
import { memoryCatalog, memoryLake, memoryStore } from 'edgemere/memory';
import { sqliteCatalog } from 'edgemere/sqlite';

const lake = await openLake({
  catalog: sqliteCatalog({ path: 'lake.sqlite' }),
  store: localStore(),
  dataPath: 'data/',
});
const events = await lake.createTable('events', { id: t.int64().notNull(), at: t.timestamptz(), name: t.varchar() });
await events.insert([{ id: 1n, at: new Date(0), name: 'first' }]);
await events.insert([{ id: 2n }]);
const ids: bigint[] = [];
for await (const row of events.scan()) ids.push(row.id);
if (ids.join() !== '1,2') throw new Error(`read back ${ids}`);
await lake[Symbol.asyncDispose]();

// The package's files are cut otherwise than the sources that are tested: what is loaded on demand has to be found, and to be one with the rest.
for (const { name, run } of lakeCases) {
  const [catalog, store] = [memoryCatalog(), memoryStore()];
  const open: typeof memoryLake = (options) =>
    memoryLake({ store, ...options, catalog: memoryCatalog({ sharedWith: catalog }) });
  await run({ open }).catch((cause: unknown) => {
    throw new Error(`the installed package fails where the sources don't: ${name}`, { cause });
  });
}
