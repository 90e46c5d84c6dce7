import { codeOf } from './errors.ts';
import type { LocalFs } from './fs.ts';

/** Codes with which file systems answer that a folder can't be flushed, which is no reason to fail. */
const unflushable: ReadonlySet<string> = new Set(['EISDIR', 'EINVAL', 'EPERM', 'EACCES', 'ENOTSUP', 'EBADF', 'ENOSYS']);

/** A flush that is under way, and the one after it: for names that may have come too late for the first. */
interface Flush {
  readonly running: Promise<void>;
  next: Promise<void> | undefined;
}

/** By folder. */
const flushes = new WeakMap<LocalFs, Map<string, Flush>>();

/**
 * Flushes to the disk what a folder names at this moment. Many files are often made at once: those that come while a flush is under
 * way share the next.
 */
export function flushFolder(fs: LocalFs, folder: string): Promise<void> {
  let folders = flushes.get(fs);
  if (folders === undefined) {
    folders = new Map();
    flushes.set(fs, folders);
  }
  const flush = folders.get(folder);
  if (flush !== undefined) {
    const again = (): Promise<void> => flushFolder(fs, folder);
    flush.next ??= flush.running.then(again, again);
    return flush.next;
  }
  const known = folders;
  const running = flushNow(fs, folder).finally(() => known.delete(folder));
  known.set(folder, { running, next: undefined });
  return running;
}

async function flushNow(fs: LocalFs, folder: string): Promise<void> {
  try {
    const handle = await fs.open(folder === '' ? '.' : folder, 'r');
    try {
      await (handle.sync ? handle.sync() : handle.datasync());
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!unflushable.has(codeOf(error) ?? '')) throw error;
  }
}
