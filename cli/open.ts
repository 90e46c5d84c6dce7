import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { type CatalogStore, type Compressors, isLakeError, type Lake, openLake } from 'edgemere';
import { CommandError } from './errors.ts';
import { withJsonAsText } from './json-text-catalog.ts';
import { LocationStore } from './store.ts';
import { absoluteDataPath, type LakeTarget, showTarget } from './target.ts';

export interface OpenTargetOptions {
  readonly env: NodeJS.ProcessEnv;
  /** As given by `--data-path`. */
  readonly dataPath?: string | undefined;
  readonly overrideDataPath?: boolean | undefined;
  /** Scans give the text of json columns instead of parsed values. */
  readonly jsonAsText?: boolean | undefined;
}

/** A lake with the catalog that it was opened on. Disposing closes both, and the connection. */
export class OpenLake implements AsyncDisposable {
  readonly lake: Lake;
  readonly catalog: CatalogStore;
  readonly target: LakeTarget;
  readonly #disconnect: () => Promise<void>;

  constructor(lake: Lake, { catalog, disconnect }: Connection, target: LakeTarget) {
    this.lake = lake;
    this.catalog = catalog;
    this.target = target;
    this.#disconnect = disconnect;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.lake.close();
    await this.#disconnect();
  }
}

/** Opens the lake that is there. */
export async function openTarget(target: LakeTarget, options: OpenTargetOptions): Promise<OpenLake> {
  const opened = await tryOpen(target, options);
  if (opened !== undefined) return opened;
  throw new CommandError(`there is no lake in ${showTarget(target)}: make one with \`edgemere init LAKE\``);
}

/** Makes a lake, unless there is one. */
export async function makeLake(
  target: LakeTarget,
  options: OpenTargetOptions,
): Promise<{ opened: OpenLake; isNew: boolean }> {
  const existing = await tryOpen(target, options);
  if (existing !== undefined) return { opened: existing, isNew: false };
  if (target.kind === 'postgres' && options.dataPath === undefined)
    throw new CommandError('a lake in Postgres needs --data-path: a folder or s3://BUCKET/PREFIX/ for its data files');
  if (target.kind === 'sqlite') mkdirSync(dirname(target.path), { recursive: true });
  const dataPath =
    options.dataPath === undefined && target.kind === 'sqlite' ? target.dataPath : absoluteDataPath(options.dataPath!);
  const connection = await connect(target);
  return { opened: await open(target, connection, { create: true, dataPath }, options), isNew: true };
}

async function tryOpen(target: LakeTarget, options: OpenTargetOptions): Promise<OpenLake | undefined> {
  const dataPath = options.dataPath === undefined ? undefined : absoluteDataPath(options.dataPath);
  const { overrideDataPath } = options;
  const connection = await connect(target);
  try {
    return await open(target, connection, { create: false, dataPath, overrideDataPath }, options);
  } catch (error) {
    if (isLakeError(error, 'NOT_FOUND')) return undefined;
    if (isLakeError(error, 'INVALID_ARGUMENT') && dataPath !== undefined && !overrideDataPath)
      throw new CommandError(
        `the lake's data path is ${error.context.location}, not ${dataPath}: leave --data-path out, or add --override-data-path if it was moved`,
        {
          cause: error,
        },
      );
    throw error;
  }
}

async function open(
  target: LakeTarget,
  connection: Connection,
  how: { create: boolean; dataPath: string | undefined; overrideDataPath?: boolean | undefined },
  { env, jsonAsText }: OpenTargetOptions,
): Promise<OpenLake> {
  try {
    const catalog = jsonAsText ? withJsonAsText(connection.catalog) : connection.catalog;
    const lake = await openLake({ catalog, store: new LocationStore(env), compressors, ...how });
    return new OpenLake(lake, connection, target);
  } catch (error) {
    await connection.catalog[Symbol.asyncDispose]();
    await connection.disconnect();
    throw error;
  }
}

/** Node's own, which are quicker than streams of them. */
const compressors: Compressors = {
  gzip: { compress: gzipSync, decompress: gunzipSync },
  zstd: { compress: zstdCompressSync, decompress: zstdDecompressSync },
};

interface Connection {
  readonly catalog: CatalogStore;
  readonly disconnect: () => Promise<void>;
}

async function connect(target: LakeTarget): Promise<Connection> {
  if (target.kind === 'sqlite') {
    const { sqliteCatalog } = await import('edgemere/sqlite');
    return { catalog: sqliteCatalog({ path: target.path }), disconnect: async () => {} };
  }
  const [{ postgresCatalog }, postgres] = await Promise.all([import('edgemere/postgres'), loadPostgres()]);
  const sql = postgres(target.url, { max: 2, onnotice: () => {}, connection: { application_name: 'edgemere' } });
  return {
    catalog: postgresCatalog({ sql, schema: target.schema }),
    disconnect: () => sql.end({ timeout: 2 }),
  };
}

async function loadPostgres(): Promise<typeof import('postgres')> {
  try {
    return (await import('postgres')).default;
  } catch (cause) {
    throw new CommandError('postgres:// needs the package postgres: npm install postgres', { cause });
  }
}
