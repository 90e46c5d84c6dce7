/** What `localStore` needs of an open file: a subset of Node's `FileHandle`. */
export interface LocalFile {
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
  write(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesWritten: number }>;
  /** Flushes the file's bytes to the disk. */
  datasync(): Promise<void>;
  /** Flushes a folder's names to the disk. */
  sync?(): Promise<void>;
  close(): Promise<void>;
}

/** What `localStore` needs to know of a folder's entry: a subset of Node's `Dirent`. */
export interface LocalEntry {
  readonly name: string | Uint8Array;
  isFile(): boolean;
  isDirectory(): boolean;
}

/**
 * What `localStore` needs of a file system: a subset of `node:fs/promises`, which `memfs` has as well (whose types are
 * the reason for the unions: only the first of each is ever expected). Failures carry Node's `code` (`ENOENT`, …).
 */
export interface LocalFs {
  /** Flags: `r` to read (folders too, to flush them), `wx` to write a file that must not be there yet. */
  open(path: string, flags: string): Promise<LocalFile>;
  stat(path: string): Promise<{ readonly size: number | bigint; readonly mtimeMs: number | bigint; isFile(): boolean }>;
  readdir(
    path: string,
    options: { readonly withFileTypes: true },
  ): Promise<readonly (LocalEntry | string | Uint8Array)[]>;
  mkdir(path: string): Promise<unknown>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Where it is missing, links that lead out of `root` are not noticed. */
  realpath?(path: string): Promise<string | Uint8Array>;
}
