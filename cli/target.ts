import { statSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { UsageError } from './errors.ts';

/** Where a lake is: what LAKE stands for. */
export type LakeTarget =
  | {
      readonly kind: 'sqlite';
      /** Absolute path of the catalog file. */
      readonly path: string;
      /** Where its data goes unless `--data-path` says otherwise; absolute, ends in a slash. */
      readonly dataPath: string;
      /** Absolute path of the folder that holds both, for LAKE as a folder. */
      readonly folder: string | undefined;
    }
  | { readonly kind: 'postgres'; readonly url: string; readonly schema: string };

const catalogExtensions = new Set(['.sqlite', '.sqlite3', '.db', '.ducklake']);

/**
 * `sqlite:FILE`, `postgres://…`, or a path. A path is the catalog file when it is a file, or ends like one (`.sqlite`, `.sqlite3`,
 * `.db`, `.ducklake`), and its data goes to `FILE.files/` then, as in DuckDB. Otherwise it is a folder, which holds the catalog as
 * `catalog.sqlite` and the data in `data/`.
 */
export function parseTarget(given: string, schema: string | undefined): LakeTarget {
  const text = given.startsWith('ducklake:') ? given.slice('ducklake:'.length) : given;
  if (text === '') throw new UsageError('LAKE is empty: write a folder, sqlite:FILE or postgres://…');
  if (/^postgres(ql)?:\/\//i.test(text)) return postgresTarget(text, schema);
  if (schema !== undefined) throw new UsageError('--schema is for lakes in Postgres; tables are named SCHEMA.NAME');
  if (/^postgres(ql)?:/i.test(text))
    throw new UsageError('write a lake in Postgres as postgres://USER:PASSWORD@HOST:PORT/DATABASE');
  if (/^(duckdb|mysql):/i.test(text) || /\.duckdb$/i.test(text))
    throw new UsageError(`${given}: catalogs are read in SQLite and Postgres, not in DuckDB's own files or MySQL`);
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(text))
    throw new UsageError(
      `${given}: a lake is a folder, sqlite:FILE or postgres://…; where its data lies --data-path says`,
    );
  if (text.startsWith('sqlite:')) {
    const file = text.slice('sqlite:'.length);
    if (file === '') throw new UsageError('sqlite: needs a file, as in sqlite:catalog.sqlite');
    return fileTarget(file);
  }
  return isCatalogFile(text) ? fileTarget(text) : folderTarget(text);
}

function postgresTarget(url: string, schema = 'public'): LakeTarget {
  try {
    if (new URL(url).pathname.length > 1) return { kind: 'postgres', url, schema };
  } catch {
    // Its text may hold a password, so it isn't shown.
    throw new UsageError('the postgres:// address is not a URL: special characters in a password are written as %XX');
  }
  throw new UsageError('the postgres:// address names no database: postgres://USER:PASSWORD@HOST:PORT/DATABASE');
}

function isCatalogFile(path: string): boolean {
  if (/[/\\]$/.test(path)) return false;
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats !== undefined) return !stats.isDirectory();
  return catalogExtensions.has(extname(path).toLowerCase());
}

function fileTarget(file: string): LakeTarget {
  const path = resolve(file);
  return { kind: 'sqlite', path, dataPath: `${path}.files/`, folder: undefined };
}

function folderTarget(given: string): LakeTarget {
  const folder = resolve(given);
  return { kind: 'sqlite', path: join(folder, 'catalog.sqlite'), dataPath: `${folder}/data/`, folder };
}

/** A data path as the catalog keeps it: S3 as it is, folders absolute, so that they are found from anywhere. */
export function absoluteDataPath(path: string): string {
  if (path === '') throw new UsageError('--data-path is empty: name a folder or s3://BUCKET/PREFIX/');
  if (/^s3:\/\//.test(path)) {
    if (!/^s3:\/\/[^/]+/.test(path)) throw new UsageError(`${path} names no bucket: s3://BUCKET/PREFIX/`);
    return path;
  }
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path))
    throw new UsageError(`${path}: data lies in a folder or on S3 (s3://BUCKET/PREFIX/)`);
  return `${resolve(path)}/`;
}

/** The target for people: no password. */
export function showTarget(target: LakeTarget): string {
  if (target.kind === 'sqlite') return target.folder ?? target.path;
  const url = new URL(target.url);
  url.password = '';
  url.search = '';
  return target.schema === 'public' ? String(url) : `${url} (schema ${target.schema})`;
}
