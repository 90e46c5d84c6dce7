import { LakeError } from '../../src/errors.ts';
import type { ListedObject } from '../../src/storage/object-store.ts';
import { tooShort } from '../../src/storage/range.ts';
import type { ObjectSink } from '../../src/storage/sink.ts';
import { codeOf, localError } from './errors.ts';
import { flushFolder } from './flush.ts';
import type { LocalEntry, LocalFile, LocalFs } from './fs.ts';
import { folderOf } from './paths.ts';

/** The length of a file. A folder is no object: NOT_FOUND. */
export async function lengthOf(fs: LocalFs, path: string, location: string): Promise<number> {
  try {
    const found = await fs.stat(path);
    if (found.isFile()) return Number(found.size);
  } catch (error) {
    throw localError(error, 'read', location);
  }
  throw new LakeError('NOT_FOUND', `${location} is no file`, { context: { location } });
}

/** A file as it is listed, `undefined` when it went meanwhile. */
export async function listed(fs: LocalFs, path: string, location: string): Promise<ListedObject | undefined> {
  try {
    const { size, mtimeMs } = await fs.stat(path);
    return { location, byteLength: Number(size), lastModified: Math.floor(Number(mtimeMs)) };
  } catch (error) {
    const failure = localError(error, 'list', location);
    if (failure.code === 'NOT_FOUND') return undefined;
    throw failure;
  }
}

/** Removes a file. One that isn't there, or a folder, is no error: neither is an object. */
export async function removeFile(fs: LocalFs, path: string, location: string): Promise<void> {
  try {
    await fs.unlink(path);
  } catch (error) {
    const failure = localError(error, 'delete', location);
    // For a folder, systems and runtimes answer EISDIR, EPERM or ENOTEMPTY.
    if (failure.code !== 'NOT_FOUND' && !(await isFolder(fs, path))) throw failure;
  }
}

async function isFolder(fs: LocalFs, path: string): Promise<boolean> {
  return await fs.stat(path).then(
    (found) => !found.isFile(),
    () => false,
  );
}

/** What is in a folder: nothing when it isn't there. */
export async function entriesOf(fs: LocalFs, path: string, location: string): Promise<readonly LocalEntry[]> {
  try {
    return (await fs.readdir(path === '' ? '.' : path, { withFileTypes: true })) as readonly LocalEntry[];
  } catch (error) {
    const failure = localError(error, 'list', location);
    if (failure.code === 'NOT_FOUND') return [];
    throw failure;
  }
}

export async function readRange(
  fs: LocalFs,
  path: string,
  location: string,
  start: number,
  end: number,
): Promise<ArrayBuffer> {
  const bytes = new Uint8Array(end - start);
  try {
    const file = await fs.open(path, 'r');
    try {
      for (let done = 0; done < bytes.length; ) {
        const { bytesRead } = await file.read(bytes, done, bytes.length - done, start + done);
        if (bytesRead === 0) throw tooShort(location, start, end, start + done);
        done += bytesRead;
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    throw localError(error, 'read', location);
  }
  return bytes.buffer;
}

/** Opens a new file, making its folder when that is missing. */
export async function createFile(fs: LocalFs, path: string): Promise<LocalFile> {
  try {
    return await fs.open(path, 'wx');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  await makeFolder(fs, folderOf(path));
  return await fs.open(path, 'wx');
}

/** Writes to `temporary`, which `file` is, and renames it to `path`. */
export function fileSink(fs: LocalFs, file: LocalFile, temporary: string, path: string, location: string): ObjectSink {
  let position = 0;
  let stage: 'writing' | 'closed' | 'renaming' = 'writing';
  return {
    async write(bytes) {
      try {
        for (let done = 0; done < bytes.length; ) {
          const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position);
          done += bytesWritten;
          position += bytesWritten;
        }
      } catch (error) {
        throw localError(error, 'write', location);
      }
    },
    async finish() {
      try {
        await file.datasync();
        stage = 'closed';
        await file.close();
        stage = 'renaming';
        await fs.rename(temporary, path);
        await flushFolder(fs, folderOf(path));
      } catch (error) {
        throw localError(error, 'write', location);
      }
    },
    async discard() {
      if (stage === 'writing') await file.close().catch(() => {});
      try {
        await fs.unlink(temporary);
      } catch (error) {
        // A rename may have happened although it was reported as failed.
        if (stage !== 'renaming' || codeOf(error) !== 'ENOENT') throw error;
        await fs.unlink(path);
      }
    },
  };
}

/** Makes a folder and those above it, and flushes what names them: a file is only as durable as its folder. */
async function makeFolder(fs: LocalFs, folder: string, isAboveMade = false): Promise<void> {
  const above = folderOf(folder.replace(/\/+$/, ''));
  try {
    await fs.mkdir(folder);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') return;
    // What is above may be a link to what is missing, or take no folders: it is there each time, and of no use.
    if (code !== 'ENOENT' || above === '' || isAboveMade) throw error;
    await makeFolder(fs, above);
    return await makeFolder(fs, folder, true);
  }
  await flushFolder(fs, above);
}
