import { LakeError } from '../../src/errors.ts';
import { directory } from '../../src/spec/paths.ts';
import { codeOf } from './errors.ts';
import type { LocalFs } from './fs.ts';

/** The folder part of a path, with its slash; '' when there is none. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

/** The path of a location: DuckDB's `file:` prefixes are taken off, without decoding anything, as DuckDB does. */
export function pathOf(location: string, root: string | undefined): string {
  const path = location.replace(/^file:(?:\/\/(?:localhost)?(?=\/)|(?=\/(?!\/)))/, '');
  if (path === location && /^[a-z][a-z0-9+.-]*:\/\//i.test(location)) {
    throw new LakeError('INVALID_ARGUMENT', `${location} is no file path: it needs another store than localStore`, {
      context: { location },
    });
  }
  if (root === undefined || path.startsWith('/')) return path;
  return directory(root) + path;
}

/**
 * Throws INVALID_ARGUMENT unless `path` is inside `root`: by its text, and by where its folders really are. It guards
 * against what a catalog may say, not against somebody who changes the folders meanwhile.
 */
export async function checkInside(fs: LocalFs, root: string, path: string, location: string): Promise<void> {
  const outside = (reason: string): LakeError =>
    new LakeError('INVALID_ARGUMENT', `${location} is not inside the store's root ${root}: ${reason}`, {
      context: { location, root },
    });
  const folder = directory(root);
  if ((path.startsWith(folder) ? path.slice(folder.length) : path).split('/').includes('..'))
    throw outside('".." is not allowed');
  const [realRoot, realPath] = fs.realpath
    ? [await physical(fs, root), await physical(fs, path)]
    : [lexical(root), lexical(path)];
  if (realPath !== realRoot && !realPath.startsWith(realRoot === '/' ? '/' : `${realRoot}/`)) {
    throw outside(fs.realpath ? `it is ${realPath}` : 'it begins otherwise');
  }
}

/** Where a path really is, however much of it exists yet. */
async function physical(fs: LocalFs, path: string): Promise<string> {
  let existing = path;
  const rest: string[] = [];
  for (;;) {
    try {
      const real = (await fs.realpath!(existing === '' ? '.' : existing)) as string;
      return lexical([real, ...rest].join('/'));
    } catch (error) {
      const code = codeOf(error);
      if ((code !== 'ENOENT' && code !== 'ENOTDIR') || existing === '' || existing === '/') throw error;
    }
    const trimmed = existing.replace(/\/+$/, '');
    const folder = folderOf(trimmed);
    rest.unshift(trimmed.slice(folder.length));
    existing = folder;
  }
}

/** A path without empty and `.` segments and without a slash at its end. */
function lexical(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  return (path.startsWith('/') ? '/' : '') + segments.join('/');
}
