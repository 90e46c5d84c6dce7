import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync } from 'node:fs';
import * as nodeFs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { relative } from 'node:path';
import { createFsFromVolume, Volume } from 'memfs';
import { type LocalFs, localStore } from '../../adapters/local.ts';
import { equal, rejects } from '../../src/conformance/case.ts';
import { get, locations, pattern, put } from '../../src/conformance/storage/target.ts';
import { storageCases } from '../../src/conformance/storage.ts';
import { TEMPORARY_SUFFIX } from '../../src/storage/object-store.ts';

const base = await nodeFs.realpath(mkdtempSync(`${tmpdir()}/edgemere-local-`));
afterAll(() => nodeFs.rm(base, { recursive: true, force: true }));

const memfs = (): LocalFs => createFsFromVolume(new Volume()).promises;
const text = (path: string): Promise<string> => nodeFs.readFile(path, 'utf8');
const bytes = (content: string): Uint8Array => new TextEncoder().encode(content);

describe('conformance', () => {
  const targets = {
    'absolute paths': (id: number) => ({ store: localStore(), prefix: `${base}/absolute/${id}/` }),
    'below a root': (id: number) => ({ store: localStore({ root: `${base}/root` }), prefix: `${id}/lake/` }),
    memfs: () => ({ store: localStore({ fs: memfs(), root: '/lake' }), prefix: 'data/' }),
  };
  let id = 0;
  for (const [target, make] of Object.entries(targets)) {
    for (const { name, requires, run } of storageCases) {
      // A file system's names aren't exact: those cases say nothing here.
      if (requires === 'exactKeys') continue;
      test(`local store, ${target}: ${name}`, () => run({ ...make(id++), capabilities: { exactKeys: false } }));
    }
  }
});

describe('locations', () => {
  test('relative ones are below the working directory', async () => {
    const folder = `${relative(process.cwd(), base)}/relative/`;
    const store = localStore();
    await put(store, `${folder}x`, bytes('x'));
    equal(await text(`${base}/relative/x`), 'x');
    equal(await locations(store, folder), [`${folder}x`]);
  });

  test('relative ones are below the root, which may be relative itself and may end in a slash', async () => {
    const root = `${relative(process.cwd(), base)}/rooted`;
    for (const [i, store] of [localStore({ root }), localStore({ root: `${root}/` })].entries()) {
      await put(store, `folder/${i}`, bytes('x'));
      equal(await text(`${base}/rooted/folder/${i}`), 'x');
      equal(await locations(store, `folder/${i}`), [`folder/${i}`]);
      equal(await locations(store, `${base}/rooted/folder/${i}`), [`${base}/rooted/folder/${i}`]);
    }
    equal(await locations(localStore({ root }), ''), ['folder/0', 'folder/1']);
  });

  test('file: prefixes are those that DuckDB knows, and nothing after them is decoded', async () => {
    const store = localStore();
    for (const [i, prefix] of ['file://', 'file://localhost', 'file:'].entries()) {
      const location = `${prefix}${base}/url/${i}/a%20b c.parquet`;
      await put(store, location, bytes('x'));
      equal(await text(`${base}/url/${i}/a%20b c.parquet`), 'x');
      equal(await locations(store, `${prefix}${base}/url/${i}/`), [location]);
    }
  });

  test('those of other stores are refused', async () => {
    for (const location of ['s3://bucket/key', 'https://host/x', 'memory://x', 'file://elsewhere/x']) {
      await rejects(() => localStore().create(location), 'INVALID_ARGUMENT', location);
      await rejects(() => localStore({ root: base }).open(location), 'INVALID_ARGUMENT', location);
    }
  });

  test('impossible ones are refused', async () => {
    const store = localStore({ root: `${base}/impossible` });
    for (const location of ['', 'folder/', 'nul\0nul', 'n'.repeat(300), `${'d'.repeat(300)}/x`]) {
      await rejects(() => put(store, location, bytes('x')), 'INVALID_ARGUMENT', JSON.stringify(location));
    }
    await put(store, 'file', bytes('x'));
    await put(store, 'folder/file', bytes('x'));
    await rejects(() => store.create('file/below'), 'INVALID_ARGUMENT', 'below a file');
    await rejects(() => put(store, 'folder', bytes('y')), 'INVALID_ARGUMENT', 'over a folder');
    equal(await locations(store, ''), ['file', 'folder/file'], 'what is listed');
    expect(() => localStore({ root: '' })).toThrow('empty');
  });

  test('names that a shell or a list would trip over', async () => {
    const store = localStore({ root: `${base}/names` });
    const names = ['new\nline', 'tab\tbell\u0007', ' lead', 'trail ', '*', '~', '-rf', "'; drop", 'é', 'e\u0301', '\\'];
    for (const [i, name] of names.entries()) await put(store, `${name}/${name}`, pattern(10, i));
    for (const [i, name] of names.entries()) equal(await get(store, `${name}/${name}`), pattern(10, i), name);
    equal(await locations(store, ''), names.map((name) => `${name}/${name}`).sort());
    await store.delete(names.map((name) => `${name}/${name}`));
    equal(await locations(store, ''), []);
  });
});

describe('the root', () => {
  const root = `${base}/jail`;
  const store = localStore({ root });

  async function refused(location: string, from: typeof store = store): Promise<void> {
    await rejects(() => from.create(location), 'INVALID_ARGUMENT', `create(${location})`);
    await rejects(() => from.open(location), 'INVALID_ARGUMENT', `open(${location})`);
    await rejects(() => from.open(location, { byteLength: 1 }), 'INVALID_ARGUMENT', `open(${location}) with a length`);
    await rejects(() => from.delete([location]), 'INVALID_ARGUMENT', `delete(${location})`);
    if (location.endsWith('file-link')) return; // below a file there is nothing to list
    await rejects(() => locations(from, `${location}/`), 'INVALID_ARGUMENT', `list(${location}/)`);
  }

  test('can’t be left by "..", an absolute path, or a link', async () => {
    await nodeFs.mkdir(`${root}/inside`, { recursive: true });
    await nodeFs.mkdir(`${base}/outside`);
    await nodeFs.mkdir(`${base}/jail-next-door`);
    for (const folder of ['outside', 'jail-next-door']) await nodeFs.writeFile(`${base}/${folder}/secret`, 'secret');
    await nodeFs.symlink('../outside', `${root}/link`);
    await nodeFs.symlink('../../outside', `${root}/inside/link`);
    await nodeFs.symlink(`${base}/outside/secret`, `${root}/file-link`);
    for (const location of [
      '../outside/secret',
      'inside/../../outside/secret',
      'inside/..',
      '..',
      `${root}/../outside/secret`,
      `file://${base}/outside/secret`,
      `${base}/outside/secret`,
      `${base}/outside/new/deeper`,
      `${base}/jail-next-door/secret`,
      '/',
      '/etc/passwd',
      'link/secret',
      'link/new/deeper',
      'inside/link/secret',
      'file-link',
    ]) {
      await refused(location);
    }
    equal(await nodeFs.readdir(`${base}/outside`), ['secret'], 'what is outside');
    equal(await text(`${base}/outside/secret`), 'secret');
    await put(store, 'inside/x', bytes('x'));
    equal(await locations(store, ''), ['inside/x'], 'links are not followed');
  });

  test('may be a link, hold links to its own folders, and be named in any spelling', async () => {
    await nodeFs.symlink(root, `${base}/jail-link`);
    await nodeFs.symlink('inside', `${root}/alias`);
    const linked = localStore({ root: `${base}/jail-link` });
    await put(linked, 'alias/y', bytes('y'));
    await put(linked, `${root}/inside/z`, bytes('z'));
    for (const location of ['inside/y', `${base}/jail-link/inside/y`, `${base}//jail/./inside//y`]) {
      equal(await get(linked, location), bytes('y'), location);
      equal(await get(store, location), bytes('y'), location);
    }
    await put(store, '..dots..', bytes('d'));
    equal(await text(`${root}/..dots..`), 'd');
  });

  test('need not be there yet', async () => {
    const late = localStore({ root: `${base}/late/root` });
    await refused('../x', late);
    await refused(`${base}/outside/secret`, late);
    equal(await locations(late, ''), []);
    await rejects(() => late.open('x'), 'NOT_FOUND');
    await put(late, `${base}/late/root/folder/x`, bytes('x'));
    equal(await locations(late, ''), ['folder/x']);
  });

  test('holds in a file system without realpath, by the text', async () => {
    const { open, stat, readdir, mkdir, rename, unlink } = memfs();
    const plain = localStore({ fs: { open, stat, readdir, mkdir, rename, unlink }, root: '/lake' });
    for (const location of ['../x', 'a/../x', '/other/x', '/lakeside/x', '/lake/../x']) await refused(location, plain);
    await put(plain, '/lake//a/./x', bytes('x'));
    equal(await locations(plain, ''), ['a/x']);
  });
});

describe('writing', () => {
  test('happens under a temporary name beside the file, which the list reports', async () => {
    const store = localStore({ root: `${base}/temporary` });
    const writer = await store.create('folder/x.parquet');
    await writer.write(bytes('half'));
    const [name, ...others] = readdirSync(`${base}/temporary/folder`);
    equal(others, []);
    expect(name).toEndWith(TEMPORARY_SUFFIX);
    expect(TEMPORARY_SUFFIX).not.toEndWith('.parquet');
    equal(await locations(store, 'folder/'), [`folder/${name}`], 'a dead writer’s file can be found');
    await writer.close();
    equal(readdirSync(`${base}/temporary/folder`), ['x.parquet']);
  });

  test('into folders that can not be made fails', async () => {
    await nodeFs.symlink(`${base}/nowhere`, `${base}/dangling`);
    const error = await rejects(put(localStore(), `${base}/dangling/a/b/x`, bytes('x')), 'NOT_FOUND');
    equal(error.message, `could not write ${base}/dangling/a/b/x: its folder is missing, and can't be made`);
  });

  test('and reading leave no file open', async () => {
    const store = localStore({ root: `${base}/handles` });
    const open = (): number => readdirSync('/proc/self/fd').length;
    await put(store, 'x', pattern(1_000));
    const before = open();
    const reader = await store.open('x');
    await Promise.all(Array.from({ length: 50 }, (_, i) => reader.slice(i, i + 100)));
    const lying = await store.open('x', { byteLength: 9_999 });
    for (let i = 0; i < 20; i++) await lying.slice(9_000, 9_001).catch(() => {});
    for (let i = 0; i < 20; i++) {
      const writer = await store.create(`y${i}`);
      await writer.write(pattern(10));
      await (i % 2 ? writer.close() : writer.abort());
    }
    await locations(store, '');
    // Others of this process may open some meanwhile; 70 calls would leak more.
    expect(open()).toBeLessThanOrEqual(before + 10);
  });

  test('goes on after short reads and writes', async () => {
    const inner = memfs();
    const fs: LocalFs = {
      ...bound(inner),
      async open(path, flags) {
        const file = await inner.open(path, flags);
        return {
          read: (buffer, offset, length, position) => file.read(buffer, offset, Math.min(length, 3), position),
          write: (buffer, offset, length, position) => file.write(buffer, offset, Math.min(length, 3), position),
          datasync: () => file.datasync(),
          close: () => file.close(),
        };
      },
    };
    const store = localStore({ fs });
    await put(store, '/x', pattern(100), pattern(50, 2));
    equal(await get(store, '/x'), new Uint8Array([...pattern(100), ...pattern(50, 2)]));
  });

  test('flushes the folder of many files twice: at first, and when all of them are named', async () => {
    const count = 20;
    const { fs, renamed, flushed } = watchedFs(count);
    const store = localStore({ fs });
    const names = Array.from({ length: count }, (_, i) => `/f${i}`);
    const closed = names.map(async (name) => {
      await put(store, name, pattern(10));
      // One that began when the file had its name is over.
      expect(flushed.some((flush) => flush.isOver && flush.names.includes(name))).toBe(true);
    });
    await Promise.all(closed);
    expect(renamed.length).toBe(count);
    expect(flushed.length).toBe(2);
    await put(store, '/later', pattern(10));
    expect(flushed.length).toBe(3);
  });

  test('fails for all whose flush failed, and for nobody else', async () => {
    const { fs, flushed } = watchedFs(3, 1);
    const store = localStore({ fs });
    const ends = await Promise.allSettled(['/a', '/b', '/c'].map((name) => put(store, name, pattern(10))));
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    await put(store, '/d', pattern(10));
    expect(flushed.length).toBe(3);
    expect(await locations(store, '/')).toEqual(['/a', '/d']);
  });
});

interface WatchedFlush {
  /** What had its name when it began. */
  readonly names: readonly string[];
  isOver: boolean;
}

/** A file system whose first flush of the folder lasts until so many files have their names, and whose flush of that number fails. */
function watchedFs(count: number, failing?: number) {
  const inner = memfs();
  const renamed: string[] = [];
  const flushed: WatchedFlush[] = [];
  const named = Promise.withResolvers<void>();
  const fs: LocalFs = {
    ...bound(inner),
    async open(path, flags) {
      const file = await inner.open(path, flags);
      return {
        read: (...args) => file.read(...args),
        write: (...args) => file.write(...args),
        datasync: () => file.datasync(),
        close: () => file.close(),
        async sync() {
          const flush = { names: [...renamed], isOver: false };
          const number = flushed.push(flush) - 1;
          await named.promise;
          if (number === failing) throw Object.assign(new Error('EIO'), { code: 'EIO' });
          flush.isOver = true;
        },
      };
    },
    async rename(from, to) {
      await inner.rename(from, to);
      if (renamed.push(to) === count) named.resolve();
    },
  };
  return { fs, renamed, flushed };
}

function bound(fs: LocalFs): LocalFs {
  return {
    open: (path, flags) => fs.open(path, flags),
    stat: (path) => fs.stat(path),
    readdir: (path, options) => fs.readdir(path, options),
    mkdir: (path) => fs.mkdir(path),
    rename: (from, to) => fs.rename(from, to),
    unlink: (path) => fs.unlink(path),
  };
}
