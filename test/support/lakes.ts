import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import postgres from 'postgres';
import { localStore } from '../../adapters/local.ts';
import { postgresCatalog } from '../../adapters/postgres.ts';
import { sqliteCatalog } from '../../adapters/sqlite.ts';
import { type CatalogStore, type CatalogTable, type Lake, type OpenOptions, openLake } from '../../src/index.ts';
import { catalogTables, cellsOf } from '../../src/spec/rows.ts';
import type { AttachOptions, Oracle } from './oracle.ts';
import { freshDatabase } from './services.ts';

/** A catalog row as text, so that rows of all drivers compare. */
export type TextRow = Readonly<Record<string, string | null>>;

export type CatalogDump = Readonly<Record<CatalogTable, readonly TextRow[]>>;

/** Where a process of its own finds the same lake: plain data. */
export type LakeAddress = { readonly dataPath: string } & (
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly schema: string }
);

/** A place for one lake, with a folder and a catalog of its own that go when it is disposed of. Empty until somebody opens it. */
export interface TestLake extends AsyncDisposable {
  readonly address: LakeAddress;
  /** Holds the data files, and the catalog on SQLite. */
  readonly folder: string;
  /** Ends in a slash. */
  readonly dataPath: string;
  /** A client with connections of its own, closed at the end. As with DuckDB, rows are not inlined unless the options say so. */
  open(options?: Partial<OpenOptions>): Promise<Lake>;
  /** Attaches the lake to DuckDB, making it when it isn't there. */
  attach(duck: Oracle, options?: AttachOptions): Promise<void>;
  /** Runs SQL on the catalog itself. Values are plain JSON. */
  sql(text: string): Promise<Record<string, unknown>[]>;
  dump(): Promise<CatalogDump>;
  /** Catalog tables of inlined rows and deletes by name: their columns, then their rows, as text that tells types apart. */
  dumpInlined(): Promise<Record<string, string[]>>;
}

export type CatalogKind = LakeAddress['kind'];

export const CATALOG_KINDS: readonly CatalogKind[] = ['sqlite', 'postgres'];

export interface TestLakeOptions {
  /** Of Postgres. `public` by default. */
  readonly schema?: string;
  /** Uses that database instead of a fresh one. */
  readonly url?: string;
}

export async function testLake(kind: CatalogKind, options: TestLakeOptions = {}): Promise<TestLake> {
  const folder = await mkdtemp(join(tmpdir(), 'edgemere-lake-'));
  const dataPath = `${folder}/data/`;
  if (kind === 'sqlite')
    return new Place({ kind, dataPath, path: `${folder}/catalog.sqlite` }, folder, async () => {
      await rm(folder, { recursive: true, force: true });
    });
  const database = options.url === undefined ? await freshDatabase() : undefined;
  const url = options.url ?? database!.url;
  return new Place({ kind, dataPath, url, schema: options.schema ?? 'public' }, folder, async () => {
    await database?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });
}

/** The catalog at an address, and what closes its connections. */
export function catalogAt(address: LakeAddress): { readonly catalog: CatalogStore; close(): Promise<void> } {
  if (address.kind === 'sqlite')
    // However slowly those work that hold the lock.
    return { catalog: sqliteCatalog({ path: address.path, busyTimeoutMs: 120_000 }), close: async () => {} };
  const sql = postgres(address.url, { max: 4, onnotice: () => {} });
  return { catalog: postgresCatalog({ sql, schema: address.schema }), close: () => sql.end({ timeout: 1 }) };
}

class Place implements TestLake {
  readonly address: LakeAddress;
  readonly folder: string;
  readonly dataPath: string;
  readonly #remove: () => Promise<void>;
  readonly #opened: (() => Promise<void>)[] = [];

  constructor(address: LakeAddress, folder: string, remove: () => Promise<void>) {
    this.address = address;
    this.folder = folder;
    this.dataPath = address.dataPath;
    this.#remove = remove;
  }

  async open(options: Partial<OpenOptions> = {}): Promise<Lake> {
    const { catalog, close } = catalogAt(this.address);
    this.#opened.push(close);
    const lake = await openLake({
      catalog,
      store: localStore(),
      dataPath: this.dataPath,
      dataInliningRowLimit: 0,
      ...options,
    });
    this.#opened.push(() => lake.close());
    return lake;
  }

  attach(duck: Oracle, options: AttachOptions = {}): Promise<void> {
    const { address } = this;
    if (address.kind === 'sqlite') return duck.attachSqlite(address.path, this.dataPath, options);
    return duck.attachPostgres(address.url, this.dataPath, { schema: address.schema, ...options });
  }

  async sql(text: string): Promise<Record<string, unknown>[]> {
    const { address } = this;
    if (address.kind === 'sqlite') {
      const database = new DatabaseSync(address.path);
      try {
        return database.prepare(text).all() as Record<string, unknown>[];
      } finally {
        database.close();
      }
    }
    const client = postgres(address.url, { max: 1, onnotice: () => {}, connection: { search_path: address.schema } });
    try {
      return await client.unsafe(text);
    } finally {
      await client.end();
    }
  }

  async dump(): Promise<CatalogDump> {
    const names = Object.keys(catalogTables) as CatalogTable[];
    const rows: [CatalogTable, TextRow[]][] = [];
    for (const name of names) {
      const found =
        this.address.kind === 'sqlite'
          ? await this.sql(`SELECT * FROM ${name}`)
          : (await this.sql(`SELECT to_jsonb(x) AS j FROM ${name} x`)).map(({ j }) => j as Record<string, unknown>);
      rows.push([name, found.map((row) => textRow(name, row))]);
    }
    return Object.fromEntries(rows) as unknown as CatalogDump;
  }

  async dumpInlined(): Promise<Record<string, string[]>> {
    const isSqlite = this.address.kind === 'sqlite';
    const tables = await this.sql(
      isSqlite
        ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'ducklake_inlined_d%'"
        : "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relname LIKE 'ducklake_inlined_d%'",
    );
    const names = tables.map(({ name }) => String(name)).filter((name) => name !== 'ducklake_inlined_data_tables');
    const found: Record<string, string[]> = {};
    for (const table of names.sort()) {
      const columns = await this.sql(
        isSqlite
          ? `SELECT name, type FROM pragma_table_info('${table}')`
          : `SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute WHERE attrelid = '${table}'::regclass AND attnum > 0 ORDER BY attnum`,
      );
      const cells = columns.map(({ name }) => `"${String(name).replaceAll('"', '""')}"`);
      const row = isSqlite
        ? cells
            .map((cell) => `typeof(${cell}) || ' ' || quote(${cell}) || ' ' || length(hex(${cell}))`)
            .join(" || ', ' || ")
        : 'x::text';
      const rows = await this.sql(`SELECT ${row} AS row FROM ${table} x ORDER BY ${cells[0]}, ${cells[1]}`);
      found[table] = [...columns.map(({ name, type }) => `${name} ${type}`), ...rows.map((one) => String(one['row']))];
    }
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#opened.reverse()) await close();
    await this.#remove();
  }
}

function textRow(table: CatalogTable, row: Record<string, unknown>): TextRow {
  const types = new Map(cellsOf(table).map(([name, { type }]) => [name, type]));
  const text = (name: string, cell: unknown): string | null => {
    if (cell === null) return null;
    // SQLite has no booleans.
    if (types.get(name) === 'boolean') return String(cell === 1 || cell === true);
    return String(cell);
  };
  // In the format's order whatever the driver's, and with columns that the format doesn't have.
  const names = [...new Set([...types.keys(), ...Object.keys(row)])].filter((name) => name in row);
  return Object.fromEntries(names.map((name) => [name, text(name, row[name])]));
}
