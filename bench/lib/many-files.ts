import { mkdir } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import postgres from 'postgres';
import { type Oracle, openOracle } from '../../test/support/oracle.ts';

/** A table `lake.t` of many files, of which one is there: the one that holds the ids 0 to 999. */
export interface ManyFiles {
  readonly catalog: 'sqlite' | 'postgres';
  /** A path or a URL. */
  readonly where: string;
  readonly dataPath: string;
  /** Attaches the lake. */
  attach(duck: Oracle, as: string): Promise<void>;
}

const columns = 'id BIGINT, ts TIMESTAMP, name VARCHAR, amount DOUBLE';
const values = (i: string): string =>
  `${i} AS id, TIMESTAMP '2026-01-01' + to_seconds(${i}) AS ts, 'n' || lpad(${i}::VARCHAR, 9, '0') AS name, ${i} / 4 AS amount`;

/** Registers files with rows of their own in the catalog, as many inserts would have left them. */
export async function manyFiles(
  catalog: ManyFiles['catalog'],
  where: string,
  folder: string,
  fileCount: number,
): Promise<ManyFiles> {
  await mkdir(folder, { recursive: true });
  const lake: ManyFiles = {
    catalog,
    where,
    dataPath: `${folder}/`,
    attach: (duck, as) =>
      catalog === 'sqlite'
        ? duck.attachSqlite(where, `${folder}/`, { as })
        : duck.attachPostgres(where, `${folder}/`, { as }),
  };
  {
    await using duck = await openOracle();
    await lake.attach(duck, 'lake');
    await duck.run(
      `CREATE TABLE lake.t (${columns}); INSERT INTO lake.t SELECT ${values('i')} FROM range(1000) r(i); DETACH lake`,
    );
  }
  if (catalog === 'sqlite') {
    const database = new DatabaseSync(where);
    const numbers = `WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < ${fileCount - 1})`;
    for (const statement of registration(fileCount, numbers, sqliteText)) database.exec(statement);
    database.close();
  } else {
    const sql = postgres(where, { max: 1, onnotice: () => {} });
    const numbers = `WITH k(i) AS (SELECT i::bigint FROM generate_series(1, ${fileCount - 1}) s(i))`;
    for (const statement of registration(fileCount, numbers, postgresText)) await sql.unsafe(statement);
    await sql.unsafe('ANALYZE');
    await sql.end();
  }
  return lake;
}

interface Texts {
  /** A time so many seconds into the year. */
  time(seconds: string): string;
  padded(n: string): string;
  float(quarters: string): string;
}

const sqliteText: Texts = {
  time: (seconds) => `strftime('%Y-%m-%d %H:%M:%S', '2026-01-01', (${seconds}) || ' seconds')`,
  padded: (n) => `printf('n%09d', ${n})`,
  float: (quarters) => `printf('%.1f', (${quarters}) / 4)`,
};

const postgresText: Texts = {
  time: (seconds) => `to_char(timestamp '2026-01-01' + (${seconds}) * interval '1 second', 'YYYY-MM-DD HH24:MI:SS')`,
  padded: (n) => `'n' || lpad((${n})::text, 9, '0')`,
  float: (quarters) => `(${quarters}) / 4 || '.0'`,
};

function registration(fileCount: number, numbers: string, texts: Texts): string[] {
  const bounds = [
    ['i * 1000', 'i * 1000 + 999'],
    [texts.time('i * 1000'), texts.time('i * 1000 + 999')],
    [texts.padded('i * 1000'), texts.padded('i * 1000 + 999')],
    [texts.float('i * 1000'), texts.float('i * 1000 + 1000')],
  ];
  const [yes, no] = texts === sqliteText ? ['1', '0'] : ['true', 'false'];
  return [
    'INSERT INTO ducklake_data_file (data_file_id, table_id, begin_snapshot, file_order, path, path_is_relative, file_format, ' +
      `record_count, file_size_bytes, footer_size, row_id_start) ${numbers} SELECT i, 1, 2, i, ` +
      `'ducklake-' || i || '-0190a1b2-c3d4-7e5f-8a9b-0123456789ab.parquet', ${yes}, 'parquet', 1000, 12345, 678, i * 1000 FROM k`,
    ...bounds.map(
      ([min, max], c) =>
        'INSERT INTO ducklake_file_column_stats (data_file_id, table_id, column_id, column_size_bytes, value_count, null_count, ' +
        `min_value, max_value${c === 3 ? ', contains_nan' : ''}) ${numbers} ` +
        `SELECT i, 1, ${c + 1}, 4000, 1000, 0, ${min}, ${max}${c === 3 ? `, ${no}` : ''} FROM k`,
    ),
    `UPDATE ducklake_snapshot SET next_file_id = ${fileCount} WHERE snapshot_id = 2`,
    `UPDATE ducklake_table_stats SET record_count = ${fileCount * 1000}, next_row_id = ${fileCount * 1000}`,
    `UPDATE ducklake_table_column_stats SET max_value = '${fileCount * 1000 - 1}' WHERE column_id = 1`,
  ];
}
