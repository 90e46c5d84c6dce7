import { expect, test } from 'bun:test';
import { createFsFromVolume, Volume } from 'memfs';
import { type LocalFile, type LocalFs, localStore } from '../../adapters/local.ts';
import { locations, pattern } from '../../src/conformance/storage/target.ts';
import { isLakeError } from '../../src/errors.ts';

/** A file system whose `failing`-th call fails with `code`, before or after its effect. */
function faultyFs(failing: number, moment: 'before' | 'after', code: string) {
  const inner: LocalFs = createFsFromVolume(new Volume()).promises;
  const state = { calls: 0, opened: 0, failed: '' };

  async function call<T>(name: string, run: () => Promise<T>): Promise<T> {
    state.calls += 1;
    if (state.calls !== failing) return await run();
    // A call that fails by itself is no fault.
    state.failed = 'nothing';
    const result = moment === 'after' ? await run() : undefined;
    state.failed = name;
    if (moment === 'after') {
      // An open file that its caller never gets is the fault's own leak.
      if (name === 'open') await (result as LocalFile).close();
    }
    throw Object.assign(new Error(`${code}: injected into ${name}`), { code });
  }

  const fs: LocalFs = {
    open: async (path, flags) => {
      const file = await call('open', async () => {
        const opened = await inner.open(path, flags);
        return opened;
      });
      state.opened += 1;
      return {
        read: (...args) => call('read', () => file.read(...args)),
        write: (...args) => call('write', () => file.write(...args)),
        datasync: () => call('datasync', () => file.datasync()),
        sync: () => call('sync', () => file.sync?.() ?? file.datasync()),
        close: () => {
          state.opened -= 1;
          return call('close', () => file.close());
        },
      };
    },
    stat: (path) => call('stat', () => inner.stat(path)),
    readdir: (path, options) => call('readdir', () => inner.readdir(path, options)),
    mkdir: (path) => call('mkdir', () => inner.mkdir(path)),
    rename: (from, to) => call('rename', () => inner.rename(from, to)),
    unlink: (path) => call('unlink', () => inner.unlink(path)),
    realpath: (path) => call('realpath', () => inner.realpath!(path)),
  };
  return { fs, state, truth: localStore({ fs: inner }) };
}

for (const [code, expected] of [
  ['EIO', 'STORE_UNAVAILABLE'],
  ['ENOSPC', 'STORE_UNAVAILABLE'],
  ['EACCES', 'ACCESS_DENIED'],
] as const) {
  for (const moment of ['before', 'after'] as const) {
    test(`local store: every call of a write fails once ${moment} its effect with ${code}`, async () => {
      const seen = new Set<string>();
      for (let failing = 1; ; failing++) {
        const { fs, state, truth } = faultyFs(failing, moment, code);
        const store = localStore({ fs, root: '/lake' });
        let error: unknown;
        try {
          const writer = await store.create('main/events/x.parquet');
          try {
            await writer.write(pattern(100));
            await writer.write(pattern(100, 2));
            await writer.close();
          } finally {
            await writer.abort();
          }
        } catch (thrown) {
          error = thrown;
        }
        if (state.failed === '') break;
        if (state.failed === 'nothing') continue;
        seen.add(state.failed);
        const left = await locations(truth, '/lake/');
        if (error === undefined) {
          // Only flushing a folder may fail unnoticed, where the system says that it can't be done at all.
          expect([state.failed, code]).toEqual([expect.stringMatching(/^(open|sync|close)$/), 'EACCES']);
          expect(left).toEqual(['/lake/main/events/x.parquet']);
        } else {
          expect(isLakeError(error, expected), `${error}`).toBe(true);
          expect((error as { retryable: boolean }).retryable).toBe(expected === 'STORE_UNAVAILABLE');
          // `open` that took effect before it failed is a crash: its file has a temporary name, and nobody's handle.
          const excused = state.failed === 'open' && moment === 'after' ? left.filter(isTemporary) : [];
          expect(left.filter((location) => !excused.includes(location))).toEqual([]);
        }
        expect(state.opened, `files left open after a failed ${state.failed}`).toBe(0);
      }
      expect([...seen].sort()).toEqual(['close', 'datasync', 'mkdir', 'open', 'realpath', 'rename', 'sync', 'write']);
    });
  }
}

function isTemporary(location: string): boolean {
  return location.endsWith('.edgemere-tmp');
}

test('local store: a failed removal does not hide why the write failed', async () => {
  const inner: LocalFs = createFsFromVolume(new Volume()).promises;
  const fail = (what: string) => async (): Promise<never> => {
    throw Object.assign(new Error(`EIO: ${what}`), { code: 'EIO' });
  };
  const fs: LocalFs = {
    open: (path, flags) => inner.open(path, flags),
    stat: (path) => inner.stat(path),
    readdir: (path, options) => inner.readdir(path, options),
    mkdir: (path) => inner.mkdir(path),
    rename: fail('rename'),
    unlink: fail('unlink'),
  };
  const writer = await localStore({ fs }).create('/x');
  await expect(writer.close()).rejects.toThrow('EIO: rename');
  await writer.abort();
});
