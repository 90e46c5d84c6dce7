import { readFile } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { parquetReadObjects } from 'hyparquet';
import { localStore } from '../../adapters/local.ts';
import { parquetFormat } from '../../src/file/parquet/index.ts';
import type { ScanColumn } from '../../src/scan/columns.ts';
import { Rows } from '../../src/scan/output.ts';
import type { FilePart } from '../../src/scan/parts.ts';
import { events } from '../lib/data.ts';
import type { Contender } from '../lib/measure.ts';
import type { Question } from '../lib/question.ts';

/** The columns of `events` as DuckDB makes them. */
const query = `
  SELECT i AS id, TIMESTAMP '2023-11-14 22:13:20' + to_milliseconds(i * 37) AS ts,
    'user_' || ((i * 7919) % 10000) AS "user", 'event_' || (i % 20) AS event,
    'https://example.com/products/' || hash(i) || '?ref=' || (i % 97) AS url, ((hash(i) % 100000) / 100)::DOUBLE AS amount,
    CASE WHEN i % 10 = 0 THEN NULL ELSE (hash(i) % 100)::INTEGER END AS qty, hash(i) % 2 = 0 AS ok
  FROM range(ROWS) t(i)`;

/** How fast a file that DuckDB wrote becomes row objects, and columns. */
export const read: Question = {
  name: 'read',
  async *ask({ rowCount, path }) {
    const api = await import('@duckdb/node-api');
    const instance = await api.DuckDBInstance.create(':memory:', { threads: '2' });
    const connection = await instance.connect();
    const file = path('read');
    const ids = events.fields.map(({ name, id }) => `"${name}": ${id}`).join(', ');
    await connection.run(
      `COPY (${query.replace('ROWS', String(rowCount))}) TO '${file}' (FORMAT parquet, FIELD_IDS {${ids}})`,
    );
    const names = events.fields.map(({ name }) => name);
    yield {
      of: `rows, ${rowCount} × ${names.length} columns`,
      contenders: [ours(file, rowCount, names, toArray), duckRows(connection, file), hyparquetRows(file)],
    };
    const two = ['id', 'amount'];
    yield {
      of: `columns ${two.join(' and ')}, ${rowCount} rows`,
      contenders: [ours(file, rowCount, two, toBatches), duckColumns(connection, file, two)],
    };
    const texts = ['user', 'url'];
    yield {
      of: `columns ${texts.join(' and ')}, ${rowCount} rows`,
      contenders: [ours(file, rowCount, texts, toBatches), duckColumns(connection, file, texts)],
    };
    connection.closeSync();
    instance.closeSync();
  },
};

/** A scan as users run it, of a table with this one file. Reads bytes from disk each time, as the others do. */
function ours(
  file: string,
  rowCount: number,
  names: readonly string[],
  use: (rows: Rows<unknown>) => Promise<unknown>,
): Contender {
  const columns = names.map((name): ScanColumn => {
    const field = events.fields.find((candidate) => candidate.name === name)!;
    return { kind: 'field', name, field };
  });
  const part: FilePart = {
    kind: 'file',
    fileIndex: 0,
    location: file,
    byteLength: null,
    footerLength: null,
    rowCount,
    rowIdStart: 0,
    beginSnapshot: 1,
    isPartial: false,
    binding: { kind: 'ids' },
    deletes: { files: [], positions: [] },
    range: null,
  };
  const rows = new Rows(
    async (signal) => ({
      read: {
        table: { schema: 'main', name: 'events' },
        snapshotId: 1,
        columns,
        where: undefined,
        limit: Number.POSITIVE_INFINITY,
      },
      parts: { count: 1, part: () => part },
      from: { store: localStore(), format: parquetFormat(), signal },
    }),
    undefined,
  );
  return {
    name: 'edgemere',
    async run() {
      await use(rows);
      return undefined;
    },
  };
}

const toArray = (rows: Rows<unknown>): Promise<unknown> => rows.toArray();
const toBatches = (rows: Rows<unknown>): Promise<unknown> => Array.fromAsync(rows.batches());

function duckRows(connection: DuckDBConnection, file: string): Contender {
  return {
    name: 'DuckDB, runAndReadAll().getRowObjectsJS()',
    async run() {
      const reader = await connection.runAndReadAll(`SELECT * FROM '${file}'`);
      reader.getRowObjectsJS();
      return undefined;
    },
    runs: 2,
  };
}

function duckColumns(connection: DuckDBConnection, file: string, names: readonly string[]): Contender {
  return {
    name: 'DuckDB, getColumnsJS()',
    async run() {
      const list = names.map((name) => `"${name}"`).join(', ');
      const reader = await connection.runAndReadAll(`SELECT ${list} FROM '${file}'`);
      reader.getColumnsJS();
      return undefined;
    },
  };
}

function hyparquetRows(path: string): Contender {
  return {
    name: 'hyparquet, parquetReadObjects',
    async run() {
      const bytes = await readFile(path);
      const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
      await parquetReadObjects({ file });
      return undefined;
    },
  };
}
