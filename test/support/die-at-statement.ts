/**
 * A process that commits to a lake in a SQLite file and kills itself before the n-th statement of the commit:
 *
 *   node die-at-statement.ts '{"path":"…/catalog.sqlite","dataPath":"…/data/","id":7,"statement":3}'
 *
 * The commit has rows of two tables, inlined ones and some in a file, and makes a table. Where it has fewer statements, the process prints
 * their count, and dies after the commit.
 */
import { writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { localStore } from '../../adapters/local.ts';
import { type SqliteDatabase, sqliteCatalog } from '../../adapters/sqlite.ts';
import { openLake, t } from '../../src/index.ts';

export interface DeathTask {
  readonly path: string;
  readonly dataPath: string;
  readonly id: number;
  /** From 1, which is BEGIN. */
  readonly statement: number;
}

const { path, dataPath, id, statement }: DeathTask = JSON.parse(process.argv[2]!);
let isCommitting = false;
let count = 0;
const die = (): void => void process.kill(process.pid, 'SIGKILL');

function counted<T>(run: () => T): T {
  if (isCommitting && ++count === statement) die();
  return run();
}

const real = new DatabaseSync(path);
const database: SqliteDatabase = {
  exec(sql) {
    if (sql.startsWith('BEGIN')) isCommitting = true;
    return counted(() => real.exec(sql));
  },
  prepare(sql) {
    const prepared = real.prepare(sql);
    return {
      all: (...parameters) => counted(() => prepared.all(...parameters)),
      run: (...parameters) => counted(() => prepared.run(...parameters)),
    };
  },
  close() {},
};

const lake = await openLake({ catalog: sqliteCatalog({ database }), store: localStore(), dataPath });
await lake.transaction(async (tx) => {
  await tx.table('a').insert([{ id }]);
  await tx.table('a').insert(Array.from({ length: 20 }, () => ({ id })));
  await tx.table('b').insert([{ id }]);
  const made = await tx.createTable(`made_${id}`, { id: t.int64() });
  await made.insert([{ id }]);
});
writeSync(1, String(count));
die();
