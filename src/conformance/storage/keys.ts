import { equal, rejects } from '../case.ts';
import { get, locations, pattern, put, type StorageCase } from './target.ts';

/** Names that some client, server or file system is known to get wrong. */
const awkward: readonly string[] = [
  'plus+plus',
  'percent%percent',
  'percent%20encoded',
  'percent%2Fslash',
  'percent%252525',
  'equals=equals',
  'question?question=1',
  'amp&amp;amp',
  'hash#hash',
  'space space',
  'two  spaces',
  'é',
  'ΑΩ — 日本語 🦩',
  'quote"quote\'quote`',
  'paren(1)~!*',
  'colon:semi;comma,at@',
  'dollar$brace{}bracket[0]caret^angle<>pipe|',
  'dots..dots',
  '...',
  '.hidden',
  '-dash',
  'n'.repeat(200),
];

/** Groups of names that a store which decodes or encodes them once too often takes for one. */
const lookAlikes: readonly (readonly string[])[] = [
  ['a b', 'a+b', 'a%20b', 'a%2Bb', 'a%2520b'],
  ['p=1', 'p%3D1', 'p%3d1'],
  ['e', 'é', 'e%CC%81', '%C3%A9'],
  ['q?x', 'q', 'q%3Fx', 'q#x', 'q%23x'],
  ['&', '&amp;', '&#38;', '%26'],
];

const exactOnly: readonly string[] = [
  'double//slash',
  '/leading',
  'dot/./segment',
  'dot/../segments',
  'trailing/',
  'back\\slash',
  'ends with a space ',
  'Case',
  'case',
  'e\u0301 decomposed',
  '\u00e9 composed',
  `${'long'.repeat(70)}/segment`,
];

/** Locations are opaque byte for byte. */
export const keyCases: readonly StorageCase[] = [
  ...awkward.map(
    (name): StorageCase => ({
      name: `key byte for byte: ${name.length > 60 ? `${name.length} characters` : JSON.stringify(name)}`,
      run: ({ store, prefix }) => roundTrip(store, prefix, [`${name}/${name}.parquet`]),
    }),
  ),
  ...lookAlikes.map(
    (names): StorageCase => ({
      name: `keys that look alike stay apart: ${names.join('  ')}`,
      run: ({ store, prefix }) => roundTrip(store, prefix, names),
    }),
  ),
  {
    name: 'keys: names as partitions and DuckDB make them',
    run: ({ store, prefix }) =>
      roundTrip(store, prefix, [
        'main/events/day=2024-01-15/city=S%C3%A3o%20Paulo/ducklake-018f-00.parquet',
        'main/events/day=__HIVE_DEFAULT_PARTITION__/city=/ducklake-018f-01.parquet',
        `main/events/text=${'%2F'.repeat(60)}/ducklake-018f-02.parquet`,
      ]),
  },
  {
    name: 'keys exactly: slashes doubled, leading and trailing, backslashes, case, composition, long segments',
    requires: 'exactKeys',
    run: ({ store, prefix }) => roundTrip(store, prefix, exactOnly),
  },
  {
    name: 'keys exactly: an object beside others that it would be the folder of',
    requires: 'exactKeys',
    run: ({ store, prefix }) => roundTrip(store, prefix, ['a', 'a/b', 'a/', 'a//', 'a//b', 'a/b/c']),
  },
];

/** Every name holds its own bytes, is listed as itself, and can be deleted without the others. */
async function roundTrip(
  store: Parameters<StorageCase['run']>[0]['store'],
  prefix: string,
  names: readonly string[],
): Promise<void> {
  const all = names.map((name) => prefix + name);
  await Promise.all(all.map((location, i) => put(store, location, pattern(20 + i, i + 1))));
  equal(await locations(store, prefix), [...all].sort(), 'what is listed');
  await Promise.all(
    all.map(async (location, i) => {
      equal(await get(store, location), pattern(20 + i, i + 1), `the content of ${location}`);
      equal((await locations(store, location)).includes(location), true, `list(${location}) reports it`);
    }),
  );
  const [first, ...rest] = all;
  await store.delete([first!]);
  await rejects(() => store.open(first!), 'NOT_FOUND', `open(${first}) after its deletion`);
  equal(await locations(store, prefix), [...rest].sort(), `what is listed without ${first}`);
  await store.delete(rest);
  equal(await locations(store, prefix), [], 'what is listed after all deletions');
}
