import { dirname, join } from 'node:path';
import postgres from 'postgres';
import { localStore } from '../../adapters/local.ts';
import { postgresCatalog } from '../../adapters/postgres.ts';
import { sqliteCatalog } from '../../adapters/sqlite.ts';
import { openLake } from '../../src/index.ts';
import type { Lake } from '../../src/lake.ts';
import { type Oracle, openOracle } from '../../test/support/oracle.ts';
import { freshDatabase } from '../../test/support/services.ts';
import { type ManyFiles, manyFiles } from '../lib/many-files.ts';
import type { Contender } from '../lib/measure.ts';
import type { Question } from '../lib/question.ts';

/** Filters that one file of them all answers. */
const filters = [
  { name: 'id', where: { id: 500 }, sql: 'id = 500' },
  {
    name: 'a time',
    where: { ts: { gte: '2026-01-01 00:08:20', lt: '2026-01-01 00:08:21' } },
    sql: "ts >= TIMESTAMP '2026-01-01 00:08:20' AND ts < TIMESTAMP '2026-01-01 00:08:21'",
  },
  { name: 'text', where: { name: 'n000000500' }, sql: "name = 'n000000500'" },
];

/**
 * How long it takes to find, and read, the one row among many files: first by somebody who has not read the table before, then, after ten
 * appends, by somebody who has. One file of a thousand rows is read; the others are only registered.
 */
export const plan: Question = {
  name: 'plan',
  async *ask({ rowCount, path, only }) {
    const fileCount = Math.max(100, Math.round(rowCount / 10));
    const folder = join(dirname(path('plan')), 'plan');
    await using duck = await openOracle();
    for (const catalog of ['sqlite', 'postgres'] as const) {
      if (only !== undefined && only !== catalog) continue;
      await using database = catalog === 'postgres' ? await freshDatabase() : undefined;
      const where = database?.url ?? path('plan').replace('.parquet', '.sqlite');
      const files = await manyFiles(catalog, where, `${folder}-${catalog}`, fileCount);
      await files.attach(duck, catalog);
      const of = (what: string): string => `${what}, ${fileCount} files, ${catalog}`;
      for (const { name, where, sql } of filters)
        yield {
          of: of(`first by ${name}`),
          contenders: [first(files, where), byDuck(duck, `SELECT count(*) AS n FROM ${catalog}.t WHERE ${sql}`)],
        };
      const [{ where: again, sql }] = filters as [(typeof filters)[0]];
      await using lake = await open(files);
      yield {
        of: of('again, ten appends later'),
        contenders: [afterAppends(lake, again), byDuck(duck, `SELECT count(*) AS n FROM ${catalog}.t WHERE ${sql}`)],
      };
      await duck.detach(catalog);
    }
  },
};

function open({ catalog, where, dataPath }: ManyFiles): Promise<Lake> {
  return openLake({
    catalog:
      catalog === 'sqlite'
        ? sqliteCatalog({ path: where })
        : postgresCatalog({ sql: postgres(where, { max: 1, onnotice: () => {} }), end: true }),
    store: localStore(),
    dataPath,
  });
}

function first(files: ManyFiles, where: object): Contender {
  let millis = 0;
  return {
    name: 'edgemere',
    millis: () => millis,
    async run() {
      await using lake = await open(files);
      millis = await timeOf(lake, where);
      return undefined;
    },
  };
}

function afterAppends(lake: Lake, where: object): Contender {
  let millis = 0;
  let id = -1;
  return {
    name: 'edgemere',
    millis: () => millis,
    async run() {
      for (let k = 0; k < 10; k++) await lake.table('t').insert([{ id: id-- }]);
      millis = await timeOf(lake, where);
      return undefined;
    },
  };
}

async function timeOf(lake: Lake, where: object): Promise<number> {
  const start = performance.now();
  const rows = await lake
    .table('t')
    .scan({ where, columns: ['id'] })
    .toArray();
  if (rows.length !== 1) throw new Error(`${rows.length} rows were found`);
  return performance.now() - start;
}

function byDuck(duck: Oracle, sql: string): Contender {
  return {
    name: 'DuckDB',
    async run() {
      const [row] = await duck.rows(sql);
      if (row?.['n'] !== '1') throw new Error(`DuckDB found ${row?.['n']} rows`);
      return undefined;
    },
  };
}
