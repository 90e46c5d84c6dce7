import { describe, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { isLakeError } from '../../src/errors.ts';
import { type Change, changeText, type IdChange, parseChanges, sortChanges } from '../../src/spec/changes.ts';
import { relativeId } from '../../src/spec/rows.ts';
import { identifier, literal, openOracle } from '../support/oracle.ts';

const text = (changes: readonly Change[]): string => changes.map((change) => changeText(change)).join(',');

const weirdNames = [
  'a b',
  'a.b',
  'a,b',
  'a"b',
  '"',
  '","',
  '"."',
  'a:b',
  'select',
  '🦆',
  '__proto__',
  'x'.repeat(200),
  'a\nb',
  "it's",
  '\\',
  ' ',
  'created_table:"a"."b",dropped_table:1',
];

const idKinds: readonly IdChange[] = [
  'dropped_schema',
  'dropped_table',
  'dropped_view',
  'dropped_scalar_macro',
  'dropped_table_macro',
  'inserted_into_table',
  'deleted_from_table',
  'altered_table',
  'altered_view',
  'inlined_insert',
  'inlined_delete',
  'inline_flush',
  'merge_adjacent',
  'rewrite_delete',
];

const anyName = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom(...weirdNames));
const anyChange: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    kind: fc.constantFrom(...idKinds, 'compacted_table' as const),
    id: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
  }),
  fc.record({ kind: fc.constant('created_schema' as const), name: anyName }),
  fc.record({
    kind: fc.constantFrom(
      'created_table' as const,
      'created_view' as const,
      'created_scalar_macro' as const,
      'created_table_macro' as const,
    ),
    schema: anyName,
    name: anyName,
  }),
);

describe('the text of changes', () => {
  test('is the grammar that DuckDB writes', () => {
    // As DuckDB wrote it for one transaction, but for created objects, which have no fixed order there.
    const written =
      'dropped_schema:1,dropped_table:2,dropped_table:4,created_schema:"s1",created_schema:"s9",' +
      'created_table:"main"."z",created_table:"main"."Y",created_table:"main"."x",created_table:"s9"."t",' +
      'created_view:"main"."v",created_scalar_macro:"main"."m",created_table_macro:"main"."tm",' +
      'inserted_into_table:39,inserted_into_table:42,inserted_into_table:44';
    const changes: Change[] = [
      { kind: 'dropped_schema', id: 1 },
      { kind: 'dropped_table', id: 2 },
      { kind: 'dropped_table', id: 4 },
      { kind: 'created_schema', name: 's1' },
      { kind: 'created_schema', name: 's9' },
      { kind: 'created_table', schema: 'main', name: 'z' },
      { kind: 'created_table', schema: 'main', name: 'Y' },
      { kind: 'created_table', schema: 'main', name: 'x' },
      { kind: 'created_table', schema: 's9', name: 't' },
      { kind: 'created_view', schema: 'main', name: 'v' },
      { kind: 'created_scalar_macro', schema: 'main', name: 'm' },
      { kind: 'created_table_macro', schema: 'main', name: 'tm' },
      { kind: 'inserted_into_table', id: 39 },
      { kind: 'inserted_into_table', id: 42 },
      { kind: 'inserted_into_table', id: 44 },
    ];
    expect(parseChanges(written)).toEqual(changes);
    expect(text(changes)).toBe(written);
    expect(text(sortChanges(changes.toSorted(byNameOfKind)))).toBe(written);
  });

  test('doubles quotes, and nothing else', () => {
    expect(changeText({ kind: 'created_table', schema: '"', name: 'a\\"\n,b' })).toBe('created_table:""""."a\\""\n,b"');
    expect(changeText({ kind: 'created_schema', name: '' })).toBe('created_schema:""');
  });

  test('takes the resolved id of a relative one', () => {
    expect(changeText({ kind: 'inserted_into_table', id: relativeId(2) }, 9)).toBe('inserted_into_table:9');
    expect(changeText({ kind: 'inserted_into_table', id: 0 }, 0)).toBe('inserted_into_table:0');
  });

  test('survives a round trip, whatever the names', () => {
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 8 }), (changes) => {
        expect(parseChanges(text(changes))).toEqual(changes);
      }),
    );
  });
});

/** Some other order in which no two changes of a kind swap places by name. */
const byNameOfKind = (a: Change, b: Change): number => (a.kind < b.kind ? 1 : a.kind > b.kind ? -1 : 0);

describe('parsing changes', () => {
  test('reads kinds in any case, an older word, a comma at the end and nothing at all, as DuckDB does', () => {
    expect(parseChanges('Inserted_Into_Table:1,FLUSHED_INLINED:2,')).toEqual([
      { kind: 'inserted_into_table', id: 1 },
      { kind: 'inline_flush', id: 2 },
    ]);
    expect(parseChanges('')).toEqual([]);
  });

  test.each([
    'sorted_table:1',
    'created_index:"a"."b"',
    'inserted_into_table',
    'inserted_into_table:',
    'inserted_into_table:x',
    'inserted_into_table:-1',
    'inserted_into_table:1;dropped_table:2',
    'inserted_into_table:9007199254740993',
    'created_table:main.t',
    'created_table:"main"',
    'created_table:"main"t"',
    'created_schema:"main',
    'created_schema:main',
    'created_schema:"main""',
    ',inserted_into_table:1',
    '__proto__:1',
  ])('refuses %s', (written) => {
    let thrown: unknown;
    try {
      parseChanges(written);
    } catch (error) {
      thrown = error;
    }
    expect(isLakeError(thrown, 'CORRUPT')).toBe(true);
  });
});

describe('the order of changes', () => {
  test('is by kind, then by id, new tables after those that exist, in the order of their creation', () => {
    const ids = [relativeId(1), 7, relativeId(0), 12, 3, relativeId(10)];
    const sorted = sortChanges([
      ...ids.map((id): Change => ({ kind: 'inserted_into_table', id })),
      { kind: 'dropped_table', id: 12 },
      { kind: 'dropped_table', id: 2 },
    ]);
    expect(sorted.map((change) => ('id' in change ? change.id : undefined))).toEqual([
      2,
      12,
      3,
      7,
      12,
      relativeId(0),
      relativeId(1),
      relativeId(10),
    ]);
  });

  test('is one that holds for any order in which they come, and loses none', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(anyChange, { maxLength: 12, selector: changeText }),
        fc.infiniteStream(fc.nat()),
        (changes, random) => {
          const key = new Map(changes.map((change) => [change, random.next().value]));
          const ids = (list: readonly Change[]): string[] =>
            sortChanges(list)
              .filter((change) => 'id' in change)
              .map((change) => changeText(change));
          const shuffled = changes.toSorted((a, b) => key.get(a)! - key.get(b)!);
          expect(ids(shuffled)).toEqual(ids(changes));
          expect(
            sortChanges(shuffled)
              .map((change) => changeText(change))
              .toSorted(),
          ).toEqual(changes.map((change) => changeText(change)).toSorted());
        },
      ),
    );
  });
});

describe('beside DuckDB', () => {
  test('its text for weird names is ours, and it parses ours', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'edgemere-changes-'));
    await using duck = await openOracle();
    try {
      const catalog = join(dir, 'catalog.sqlite');
      await duck.attachSqlite(catalog, `${dir}/data/`);
      for (const name of weirdNames)
        await duck.run(
          `CREATE SCHEMA lake.${identifier(name)}; CREATE TABLE lake.${identifier(name)}.${identifier(name)}(i INT)`,
        );
      await duck.detach();
      await duck.run(`ATTACH ${literal(catalog)} AS c (TYPE sqlite)`);
      const written = await duck.rows('SELECT changes_made FROM c.ducklake_snapshot_changes ORDER BY snapshot_id');
      const expected = weirdNames.flatMap((name): Change[] => [
        { kind: 'created_schema', name },
        { kind: 'created_table', schema: name, name },
      ]);
      const first: Change = { kind: 'created_schema', name: 'main' };
      expect(written.map((row) => row['changes_made'])).toEqual(
        [first, ...expected].map((change) => changeText(change)),
      );
      expect(written.flatMap((row) => parseChanges(row['changes_made']!))).toEqual([first, ...expected]);

      // One row with everything at once: DuckDB fails on what it can't parse, and shows what it understood.
      const everything = sortChanges([...expected, ...idKinds.map((kind, id): Change => ({ kind, id: id + 100 }))]);
      await duck.run(
        `UPDATE c.ducklake_snapshot_changes SET changes_made = ${literal(text(everything))} WHERE snapshot_id = 1; DETACH c`,
      );
      await duck.attachSqlite(catalog);
      const [shown] = await duck.rows(
        "SELECT changes['schemas_created'] AS schemas, len(changes['tables_created']) AS tables, " +
          "changes['tables_inserted_into'] AS inserted, changes['merge_adjacent'] AS merged " +
          'FROM lake.snapshots() WHERE snapshot_id = 1',
      );
      expect(shown).toMatchObject({
        tables: String(weirdNames.length),
        inserted: `[${100 + idKinds.indexOf('inserted_into_table')}]`,
        merged: `[${100 + idKinds.indexOf('merge_adjacent')}]`,
      });
      expect(shown?.['schemas']).toContain('🦆');
    } finally {
      await rm(dir, { recursive: true });
    }
  }, 300_000);
});
