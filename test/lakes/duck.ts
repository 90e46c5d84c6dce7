import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance, type DuckDBResultReader } from '@duckdb/node-api';
import { EXTENSIONS, extensionsFolder } from '../support/extensions.ts';

/** After it this DuckDB is of no more use. */
export const isFatal = (error: unknown): boolean => /FATAL|database has been invalidated/i.test(String(error));

/** Stock DuckDB, kept warm from lake to lake. */
export class Duck implements AsyncDisposable {
  #instance: DuckDBInstance | undefined;
  #db: DuckDBConnection | undefined;

  async #connection(): Promise<DuckDBConnection> {
    if (this.#db) return this.#db;
    const folder = await extensionsFolder();
    this.#instance = await DuckDBInstance.create(':memory:', {
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      threads: '1',
    });
    this.#db = await this.#instance.connect();
    for (const name of EXTENSIONS) await this.#db.run(`LOAD '${join(folder, `${name}.duckdb_extension`)}'`);
    await this.#db.run("SET TimeZone = 'UTC'");
    return this.#db;
  }

  async run(sql: string): Promise<void> {
    await this.read(sql);
  }

  async read(sql: string): Promise<DuckDBResultReader> {
    const db = await this.#connection();
    return db.runAndReadAll(sql);
  }

  /** Rows of text and numbers of a query on the catalog. */
  async rows(sql: string): Promise<(string | null)[][]> {
    const reader = await this.read(sql);
    return reader.getRows().map((row) => row.map((item) => (item === null ? null : String(item))));
  }

  close(): void {
    this.#db?.closeSync();
    this.#instance?.closeSync();
    this.#db = undefined;
    this.#instance = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}
