import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';

const VERSION = '1.5.5';

/** What the oracle loads, in this order. */
export const EXTENSIONS: readonly string[] = [
  'icu',
  'json',
  'httpfs',
  'sqlite_scanner',
  'postgres_scanner',
  'ducklake',
];

let found: Promise<string> | undefined;

/**
 * The folder that holds DuckDB's extensions: `EDGEMERE_DUCKDB_EXTENSIONS`, the cache, or the cache after filling it from
 * DuckDB's own host or, where that can't be reached, from PyPI.
 */
export function extensionsFolder(): Promise<string> {
  found ??= find();
  return found;
}

function complete(folder: string): boolean {
  return EXTENSIONS.every((name) => existsSync(join(folder, `${name}.duckdb_extension`)));
}

async function find(): Promise<string> {
  const named = process.env['EDGEMERE_DUCKDB_EXTENSIONS'];
  if (named) {
    if (complete(named)) return named;
    throw new Error(`EDGEMERE_DUCKDB_EXTENSIONS=${named}: not all of ${EXTENSIONS.join(', ')} are there`);
  }
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'edgemere-oracle');
  const fromWheels = join(cache, `v${VERSION}`);
  if (complete(fromWheels)) return fromWheels;
  const installed = await install(join(cache, 'installed'));
  if (installed) return installed;
  const script = fileURLToPath(new URL('../services/duckdb-extensions.sh', import.meta.url));
  const { status, error } = spawnSync('bash', [script, VERSION, fromWheels, ...EXTENSIONS], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`DuckDB's extensions could not be fetched (${error?.message ?? `exit ${status}`})`);
  return fromWheels;
}

/** DuckDB's own INSTALL; `undefined` when its host can't be reached. */
async function install(root: string): Promise<string | undefined> {
  const instance = await DuckDBInstance.create(':memory:', { extension_directory: root });
  const db = await instance.connect();
  try {
    const platform = (await db.runAndReadAll('PRAGMA platform')).getRowsJson()[0]?.[0];
    const folder = join(root, `v${VERSION}`, String(platform));
    if (complete(folder)) return folder;
    for (const name of EXTENSIONS) await db.run(`INSTALL ${name}`);
    return complete(folder) ? folder : undefined;
  } catch {
    return undefined;
  } finally {
    db.closeSync();
    instance.closeSync();
  }
}
