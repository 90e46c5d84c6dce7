import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { EXTENSIONS, extensionsFolder } from './extensions.ts';

/** A row as DuckDB's own text, value by value: exact, and the same whatever the driver makes of a type. */
export type OracleRow = Record<string, string | null>;

export interface AttachOptions {
  /** What the lake is called in SQL; `lake` by default. */
  readonly as?: string;
  /** `DATA_INLINING_ROW_LIMIT`; 0 by default, so that DuckDB writes files however few the rows (its own default is 10). */
  readonly inliningRowLimit?: number;
  /** `METADATA_SCHEMA`, for several lakes in one Postgres database. */
  readonly schema?: string;
  readonly readOnly?: boolean;
  /** Any further options of ATTACH, as SQL: `OVERRIDE_DATA_PATH true, SNAPSHOT_VERSION 3`. */
  readonly more?: string;
}

/** Where a test's S3 server is. */
export interface S3Location {
  /** `http://127.0.0.1:PORT` */
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

/**
 * Stock DuckDB with its `ducklake` extension, in this process: the judge of every semantic question.
 *
 * SQLite's locks belong to a process, so it does not exclude a SQLite client of this same process: where both write at
 * the same time, run one of them in a process of its own.
 */
export interface Oracle extends AsyncDisposable {
  /** Runs statements, separated by semicolons. */
  run(sql: string): Promise<void>;
  /** Runs one query. Every value comes back as DuckDB's VARCHAR text. */
  rows(sql: string): Promise<OracleRow[]>;
  /** {@link rows}, which must be the same with statistics pruning off: DuckDB answers from statistics where it can. */
  rowsAgreed(sql: string): Promise<OracleRow[]>;
  /** Attaches a lake whose catalog is a SQLite file. `dataPath` is needed only to make it. */
  attachSqlite(path: string, dataPath?: string, options?: AttachOptions): Promise<void>;
  /** Attaches a lake whose catalog is in Postgres: `postgres://user:password@host:port/database`. */
  attachPostgres(url: string, dataPath?: string, options?: AttachOptions): Promise<void>;
  detach(as?: string): Promise<void>;
  /** Lets `s3://` paths reach that server. */
  useS3(location: S3Location): Promise<void>;
  close(): Promise<void>;
}

/**
 * @example
 * await using duck = await openOracle();
 * await duck.attachSqlite(`${dir}/catalog.sqlite`, `${dir}/data/`);
 * await duck.rows('SELECT * FROM lake.events ORDER BY id');   // [{ id: '1', price: '9.90', at: null }]
 */
export async function openOracle(): Promise<Oracle> {
  const folder = await extensionsFolder();
  const instance = await DuckDBInstance.create(':memory:', {
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    threads: '2',
  });
  const db = await instance.connect();
  for (const name of EXTENSIONS) await db.run(`LOAD ${literal(join(folder, `${name}.duckdb_extension`))}`);
  await db.run("SET TimeZone = 'UTC'");

  let open = true;
  const oracle: Oracle = {
    async run(sql) {
      await db.run(sql);
    },
    rows: (sql) => textRows(db, sql),
    async rowsAgreed(sql) {
      const fast = await textRows(db, sql);
      await db.run("SET disabled_optimizers = 'filter_pushdown,statistics_propagation'");
      const slow = await textRows(db, sql).finally(() => db.run('RESET disabled_optimizers'));
      if (JSON.stringify(fast) !== JSON.stringify(slow)) {
        throw new Error(
          `DuckDB answers from statistics what the files don't hold: ${sql}\nwith statistics: ${JSON.stringify(fast)}\nwithout: ${JSON.stringify(slow)}`,
        );
      }
      return fast;
    },
    attachSqlite: (path, dataPath, options = {}) => attach(db, `ducklake:sqlite:${path}`, dataPath, options),
    attachPostgres: (url, dataPath, options = {}) => attach(db, `ducklake:postgres:${url}`, dataPath, options),
    async detach(as = 'lake') {
      await db.run(`DETACH ${identifier(as)}`);
    },
    async useS3(location) {
      const { host, protocol } = new URL(location.endpoint);
      await db.run(
        `CREATE OR REPLACE SECRET s3 (TYPE s3, KEY_ID ${literal(location.accessKeyId)}, SECRET ${literal(location.secretAccessKey)}, ` +
          `ENDPOINT ${literal(host)}, USE_SSL ${protocol === 'https:'}, URL_STYLE 'path', REGION ${literal(location.region)})`,
      );
    },
    async close() {
      if (!open) return;
      open = false;
      db.closeSync();
      instance.closeSync();
    },
    [Symbol.asyncDispose]: () => oracle.close(),
  };
  return oracle;
}

/** A SQL string. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A quoted SQL name. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

async function attach(
  db: DuckDBConnection,
  target: string,
  dataPath: string | undefined,
  options: AttachOptions,
): Promise<void> {
  const settings = [`DATA_INLINING_ROW_LIMIT ${options.inliningRowLimit ?? 0}`];
  if (dataPath !== undefined) settings.push(`DATA_PATH ${literal(dataPath)}`);
  if (options.schema !== undefined) settings.push(`METADATA_SCHEMA ${literal(options.schema)}`);
  if (options.readOnly) settings.push('READ_ONLY');
  if (options.more) settings.push(options.more);
  await db.run(`ATTACH ${literal(target)} AS ${identifier(options.as ?? 'lake')} (${settings.join(', ')})`);
}

async function textRows(db: DuckDBConnection, sql: string): Promise<OracleRow[]> {
  const query = sql.trim().replace(/;$/, '');
  // Statements that can't stand in a FROM return counts and names only, whose JSON is their text.
  const wrapped = /^(select|from|with|values|describe|show|summarize|pivot|unpivot|\()/i.test(query)
    ? `SELECT CAST(COLUMNS(*) AS VARCHAR) AS "\\0" FROM (${query}\n)`
    : query;
  const result = await db.runAndReadAll(wrapped);
  return result.getRowObjectsJson().map((row) => {
    const out: OracleRow = {};
    for (const [name, value] of Object.entries(row)) out[name] = value === null ? null : String(value);
    return out;
  });
}
