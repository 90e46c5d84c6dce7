import { sqliteCatalog } from '../../adapters/sqlite.ts';
import { appendUnless } from '../../src/conformance/catalog/batches.ts';

// A process that appends to a table of a lake in a SQLite file: FILE TABLE_ID COUNT. Prints the ids of its snapshots as JSON.
const [path = '', tableId, count] = process.argv.slice(2);
await using catalog = sqliteCatalog({ path, busyTimeoutMs: 120_000 });
let base = (await catalog.readHead()).snapshot;
const ids: number[] = [];
for (let round = 0; round < Number(count); round++) {
  const outcome = await catalog.commit(appendUnless(base, Number(tableId), 2));
  if (outcome.status !== 'committed') throw new Error('an append was superseded');
  base = outcome.snapshot;
  ids.push(base.id);
}
console.log(JSON.stringify(ids));
