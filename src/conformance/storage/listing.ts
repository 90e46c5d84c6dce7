import { check, collect, equal, rejects } from '../case.ts';
import { get, locations, pattern, put, type StorageCase } from './target.ts';

/** `delete` and `list`. */
export const listingCases: readonly StorageCase[] = [
  {
    name: 'delete: gone from open and list, its neighbours stay',
    async run({ store, prefix }) {
      for (const name of ['x', 'xy', 'y/x', 'x.parquet']) await put(store, prefix + name, pattern(5));
      await store.delete([`${prefix}x`]);
      await rejects(() => store.open(`${prefix}x`), 'NOT_FOUND');
      equal(await locations(store, prefix), [`${prefix}x.parquet`, `${prefix}xy`, `${prefix}y/x`], 'what is left');
    },
  },
  {
    name: 'delete: what is not there is no error, nor is deleting twice, nor deleting nothing',
    async run({ store, prefix }) {
      await put(store, `${prefix}a/x`, pattern(5));
      await store.delete([]);
      await store.delete([`${prefix}absent`, `${prefix}no/such/folder/absent`, `${prefix}a/x/under-an-object`]);
      equal(await locations(store, prefix), [`${prefix}a/x`], 'what is left');
      await store.delete([`${prefix}a/x`, `${prefix}a/x`, `${prefix}absent`]);
      await store.delete([`${prefix}a/x`]);
      equal(await locations(store, prefix), [], 'what is left');
    },
  },
  {
    name: 'delete: a folder’s name deletes nothing in it',
    async run({ store, prefix }) {
      await put(store, `${prefix}folder/x`, pattern(5));
      await store.delete([`${prefix}folder`]);
      equal(await get(store, `${prefix}folder/x`), pattern(5), 'what is in the folder');
    },
  },
  {
    name: 'delete: many in one call, then written anew',
    async run({ store, prefix }) {
      const names = Array.from({ length: 20 }, (_, i) => `${prefix}many/${i}`);
      await Promise.all(names.map((name) => put(store, name, pattern(5))));
      await put(store, `${prefix}kept`, pattern(5));
      await store.delete(names);
      equal(await locations(store, prefix), [`${prefix}kept`], 'what is left');
      await put(store, names[0]!, pattern(7));
      equal(await get(store, names[0]!), pattern(7), 'the new object');
    },
  },
  {
    name: 'list: the prefix is a string, not a folder',
    async run({ store, prefix }) {
      const names = ['ab/c', 'ab/cd', 'ab/d/e/f', 'abc', 'b', 'B/a'].map((name) => prefix + name);
      for (const name of names) await put(store, name, pattern(5));
      const expectations: Record<string, string[]> = {
        '': ['ab/c', 'ab/cd', 'ab/d/e/f', 'abc', 'b', 'B/a'],
        ab: ['ab/c', 'ab/cd', 'ab/d/e/f', 'abc'],
        'ab/': ['ab/c', 'ab/cd', 'ab/d/e/f'],
        'ab/c': ['ab/c', 'ab/cd'],
        'ab/d/e/f': ['ab/d/e/f'],
        'ab/d/e/f/': [],
        'ab/d/e/fg': [],
        abcd: [],
        'no/such/folder': [],
        'no/such/folder/': [],
      };
      for (const [part, expected] of Object.entries(expectations)) {
        equal(await locations(store, prefix + part), expected.map((name) => prefix + name).sort(), `list(${part})`);
      }
    },
  },
  {
    name: 'list: lengths, and times that are now',
    async run({ store, prefix }) {
      const before = Date.now();
      await put(store, `${prefix}empty`);
      await put(store, `${prefix}sized/x`, pattern(1_234));
      const after = Date.now();
      const found = await collect(store.list(prefix));
      equal(
        Object.fromEntries(found.map(({ location, byteLength }) => [location, byteLength])),
        { [`${prefix}empty`]: 0, [`${prefix}sized/x`]: 1_234 },
        'lengths',
      );
      for (const { location, lastModified } of found) {
        const near = lastModified >= before - 60_000 && lastModified <= after + 60_000;
        check(near, `lastModified of ${location} is ${lastModified}, not between ${before} and ${after}`);
      }
    },
  },
  {
    name: 'list: may be left early, and objects may be deleted on the way',
    async run({ store, prefix }) {
      for (let i = 0; i < 5; i++) await put(store, `${prefix}early/${i}`, pattern(5));
      for await (const { location } of store.list(prefix)) {
        check(location.startsWith(prefix), 'a location begins with the prefix');
        break;
      }
      for await (const { location } of store.list(prefix)) await store.delete([location]);
      equal(await locations(store, prefix), [], 'what is left');
    },
  },
];
