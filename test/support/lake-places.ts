import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import postgres from 'postgres';
import { postgresCatalog } from '../../adapters/postgres.ts';
import { sqliteCatalog } from '../../adapters/sqlite.ts';
import type { CatalogStore } from '../../src/catalog/store.ts';
import { type CatalogTable, catalogTables, cellsOf } from '../../src/spec/rows.ts';
import type { AttachOptions, Oracle } from './oracle.ts';
import { freshDatabase } from './services.ts';

export type RawRow = Record<string, unknown>;

/** Where one lake's catalog is: for us, for DuckDB, and for looking at it with neither. */
export interface LakePlace {
  /** Where its data files go. */
  readonly dataPath: string;
  open(): CatalogStore;
  /** With `dataPath` DuckDB makes the lake. */
  attach(duck: Oracle, options?: AttachOptions & { readonly create?: boolean }): Promise<void>;
  /** Every row of every table of the catalog; booleans as such, whatever the database has for them. */
  dump(): Promise<Record<CatalogTable, RawRow[]>>;
  /** The catalog's tables, columns and keys as the database describes them. */
  structure(): Promise<unknown[]>;
}

/** A database that holds any number of lakes. */
export interface LakeHost extends AsyncDisposable {
  place(): LakePlace;
}

const tables = Object.keys(catalogTables) as CatalogTable[];

export async function sqliteHost(): Promise<LakeHost> {
  const folder = await mkdtemp(join(tmpdir(), 'edgemere-lakes-'));
  return {
    place() {
      const name = crypto.randomUUID();
      const path = join(folder, `${name}.sqlite`);
      const dataPath = join(folder, name, '/');
      const using = <T>(work: (database: DatabaseSync) => T): T => {
        const database = new DatabaseSync(path);
        try {
          return work(database);
        } finally {
          database.close();
        }
      };
      return {
        dataPath,
        open: () => sqliteCatalog({ path }),
        attach: (duck, { create, ...options } = {}) => duck.attachSqlite(path, create ? dataPath : undefined, options),
        async dump() {
          return using((database) => {
            const entries = tables.map((table) => {
              const rows = database.prepare(`SELECT * FROM ${table}`).all() as RawRow[];
              for (const [column, { type }] of cellsOf(table))
                if (type === 'boolean')
                  for (const row of rows) if (row[column] !== null) row[column] = row[column] === 1;
              return [table, rows.map((row) => ({ ...row }))];
            });
            return Object.fromEntries(entries);
          });
        },
        async structure() {
          return using((database) => [
            ...tables.map((table) => database.prepare(`PRAGMA table_info(${table})`).all()),
            ...database
              .prepare("SELECT name, tbl_name, sql FROM sqlite_master WHERE type <> 'table' ORDER BY name")
              .all(),
          ]);
        },
      };
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

export async function postgresHost(): Promise<LakeHost> {
  const database = await freshDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'edgemere-lakes-'));
  const sql = postgres(database.url, { max: 4, onnotice: () => {} });
  return {
    place() {
      const schema = `lake ${crypto.randomUUID()}`;
      const dataPath = join(folder, schema, '/');
      return {
        dataPath,
        open: () => postgresCatalog({ sql, schema }),
        attach: (duck, { create, ...options } = {}) =>
          duck.attachPostgres(database.url, create ? dataPath : undefined, { ...options, schema }),
        async dump() {
          const entries = await Promise.all(
            tables.map(async (table) => {
              const rows = await sql`SELECT to_json(t) AS row FROM ${sql(schema)}.${sql(table)} t`;
              return [table, rows.map(({ row }) => row)];
            }),
          );
          return Object.fromEntries(entries);
        },
        async structure() {
          return [
            ...(await sql`SELECT table_name, column_name, ordinal_position, column_default, is_nullable, data_type
              FROM information_schema.columns WHERE table_schema = ${schema} ORDER BY 1, 3`),
            ...(await sql`SELECT tablename, indexname, replace(indexdef, ${schema}, '') FROM pg_indexes WHERE schemaname = ${schema} ORDER BY 1, 2`),
          ];
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await sql.end();
      await database[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
