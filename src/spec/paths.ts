/**
 * Paths in the catalog and locations in the store. A stored path is an object key byte for byte: nothing is encoded,
 * decoded or normalised. Directories end in a slash.
 */

/** A data path as the catalog stores it: with exactly one slash at its end. */
export function directory(path: string): string {
  return `${path.replace(/[/\\]+$/, '')}/`;
}

/** The location of a stored path: itself when absolute, else below `base` (a directory). */
export function resolvePath(base: string, path: string, isRelative: boolean | null): string {
  return isRelative === false ? path : base + path;
}

/** The folder of a new schema or table: its name where that is plain, else its UUID, as DuckDB chooses. */
export function folderName(name: string, uuid: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? `${name}/` : `${uuid}/`;
}
