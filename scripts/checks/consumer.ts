/** What a user does with the installed package; checks/package.ts type-checks and runs it in a project of its own. */
import { openLake, t } from 'edgemere';
import { localStore } from 'edgemere/local';
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
