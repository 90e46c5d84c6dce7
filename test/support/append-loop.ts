/**
 * A process that appends to a lake until it is killed, and says what was acknowledged:
 *
 *   node append-loop.ts '{"path":"…/catalog.sqlite","dataPath":"…/data/","from":1000}'
 *
 * It makes the lake and its tables when they are not there, after a line `opening`.
 * Each insert has two rows of one table, each transaction a row of two. `ok ID` on a line of its own: the rows with that id are
 * in the lake. `try ID` comes before.
 */
import { writeSync } from 'node:fs';
import { localStore } from '../../adapters/local.ts';
import { sqliteCatalog } from '../../adapters/sqlite.ts';
import { openLake, t } from '../../src/index.ts';

const { path, dataPath, from } = JSON.parse(process.argv[2]!) as { path: string; dataPath: string; from: number };
/** Synchronous: what is said is said, however soon the end comes. */
const say = (line: string): number => writeSync(1, `${line}\n`);

say('opening');
const lake = await openLake({
  dataInliningRowLimit: 0,
  catalog: sqliteCatalog({ path, busyTimeoutMs: 120_000 }),
  store: localStore(),
  dataPath,
  maxRetries: 100,
});
const columns = { id: t.int64().notNull(), part: t.int32().notNull() };
for (const name of ['a', 'b']) await lake.createTable(name, columns, { ifNotExists: true });

for (let id = from; ; id++) {
  say(`try ${id}`);
  if (id % 3 === 0)
    await lake.transaction(async (tx) => {
      await tx.table('a').insert([{ id, part: 0 }]);
      await tx.table('b').insert([{ id, part: 1 }]);
    });
  else
    await lake.table('a').insert([
      { id, part: 0 },
      { id, part: 1 },
    ]);
  say(`ok ${id}`);
}
