import { mkdir } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { localStore } from '../../adapters/local.ts';
import { sqliteCatalog } from '../../adapters/sqlite.ts';
import { openLake } from '../../src/index.ts';
import type { Lake } from '../../src/lake.ts';
import { EXTENSIONS, extensionsFolder } from '../../test/support/extensions.ts';
import { events } from '../lib/data.ts';
import { eventColumns } from '../lib/event-columns.ts';
import type { Contender } from '../lib/measure.ts';
import type { Question } from '../lib/question.ts';

const fileCount = 1000;

/** How long it takes to get the rows of a filter that one row in a thousand passes, of a thousand local files in the filter's order. */
export const selective: Question = {
  name: 'selective',
  async *ask({ rowCount, path }) {
    const catalog = path('selective').replace('.parquet', '.sqlite');
    const dataPath = `${path('selective')}.data/`;
    await mkdir(dataPath);
    await using lake = await openLake({ catalog: sqliteCatalog({ path: catalog }), store: localStore(), dataPath });
    await lake.createTable('t', eventColumns);
    const rows = events.rows(rowCount);
    const perFile = Math.ceil(rowCount / fileCount);
    await lake.transaction(async (tx) => {
      for (let at = 0; at < rowCount; at += perFile) await tx.table('t').insert(rows.slice(at, at + perFile));
    });
    const low = Math.floor(rowCount / 2) + Math.floor(perFile / 3);
    const high = low + Math.ceil(rowCount / 1000);
    const connection = await duckdb(catalog);
    for (const columns of [['id', 'user', 'amount'], events.fields.map(({ name }) => name)])
      yield {
        of: `${high - low} of ${rowCount} rows, ${fileCount} files, ${columns.length} columns`,
        contenders: [
          ours(lake, columns, low, high),
          byDuck(connection, columns, `id >= ${low} AND id < ${high}`, high - low),
        ],
      };
    connection.closeSync();
  },
};

async function duckdb(catalog: string): Promise<DuckDBConnection> {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const instance = await DuckDBInstance.create(':memory:', { threads: '2', autoload_known_extensions: 'false' });
  const connection = await instance.connect();
  const folder = await extensionsFolder();
  for (const name of EXTENSIONS) await connection.run(`LOAD '${folder}/${name}.duckdb_extension'`);
  await connection.run(`ATTACH 'ducklake:sqlite:${catalog}' AS lake (READ_ONLY)`);
  return connection;
}

function ours(lake: Lake, columns: readonly string[], low: number, high: number): Contender {
  return {
    name: 'edgemere',
    async run() {
      const found = await lake
        .table('t')
        .scan({ where: { id: { gte: low, lt: high } }, columns })
        .toArray();
      if (found.length !== high - low) throw new Error(`${found.length} rows were found`);
      return undefined;
    },
  };
}

function byDuck(connection: DuckDBConnection, columns: readonly string[], where: string, count: number): Contender {
  const query = `SELECT ${columns.map((name) => `"${name}"`).join(', ')} FROM lake.t WHERE ${where}`;
  return {
    name: 'DuckDB, getRowObjectsJS()',
    async run() {
      const found = (await connection.runAndReadAll(query)).getRowObjectsJS();
      if (found.length !== count) throw new Error(`DuckDB found ${found.length} rows`);
      return undefined;
    },
  };
}
