import { describe, expect, test } from 'bun:test';
import { instantMicros, instantText } from '../../src/catalog/instant.ts';
import { type MemoryCatalog, memoryCatalog } from '../../src/catalog/memory.ts';
import type { CommitBatch } from '../../src/catalog/store.ts';
import { rejects } from '../../src/conformance/case.ts';
import { batchOn, commitOnHead, fileRow, insert, newLake } from '../../src/conformance/catalog/batches.ts';
import { catalogCases } from '../../src/conformance/catalog.ts';
import { LakeError } from '../../src/errors.ts';
import { relativeId } from '../../src/spec/rows.ts';

describe('conformance', () => {
  for (const { name, run } of catalogCases)
    test(name, () => {
      const place = memoryCatalog();
      return run({ open: async () => memoryCatalog({ sharedWith: place }) });
    });
});

describe('the catalog in memory', () => {
  test('hands out copies: nobody changes the catalog by changing what was read', async () => {
    const catalog = memoryCatalog();
    await catalog.initialize(newLake());
    const rows = await catalog.readCatalog();
    rows!.schemas[0]!.schema_name = 'changed';
    catalog.dump().ducklake_schema[0]!.schema_name = 'changed';
    expect(catalog.dump().ducklake_schema.map((row) => row.schema_name)).toEqual(['main']);
  });

  test('shows all 28 tables', async () => {
    const catalog = memoryCatalog();
    await catalog.initialize(newLake('memory://x/'));
    const dump = catalog.dump();
    expect(Object.keys(dump)).toHaveLength(28);
    expect(dump.ducklake_metadata).toContainEqual({
      key: 'data_path',
      value: 'memory://x/',
      scope: null,
      scope_id: null,
    });
  });

  test('shares with catalogs of its own kind only', () => {
    expect(() => memoryCatalog({ sharedWith: {} as MemoryCatalog })).toThrow(LakeError);
  });

  const file = fileRow(1, relativeId(0), relativeId(0));
  const refused: Record<string, Partial<CommitBatch>> = {
    'an id beyond those that the batch takes': { fileIdCount: 0, ops: [insert('ducklake_data_file', file)] },
    'a table id beyond those that the batch takes': {
      fileIdCount: 1,
      ops: [insert('ducklake_data_file', { ...file, table_id: relativeId(0) })],
    },
    'a change of a table beyond those that the batch takes': {
      changes: [{ kind: 'inserted_into_table', id: relativeId(0) }],
    },
    'a column that the table does not have': { ops: [insert('ducklake_metadata', { key: 'k', value: 'v', other: 1 })] },
    'text for a number': { fileIdCount: 1, ops: [insert('ducklake_data_file', { ...file, record_count: '1' })] },
    'a fraction': { fileIdCount: 1, ops: [insert('ducklake_data_file', { ...file, record_count: 1.5 })] },
    'a number that is not exact': {
      fileIdCount: 1,
      ops: [insert('ducklake_data_file', { ...file, record_count: 2 ** 53 })],
    },
    'a number for a boolean': {
      fileIdCount: 1,
      ops: [insert('ducklake_data_file', { ...file, path_is_relative: 1 })],
    },
    'a uuid that is none': {
      catalogIdCount: 1,
      ops: [insert('ducklake_table', { table_id: relativeId(0), table_uuid: 'x' })],
    },
    'an id that is taken': { fileIdCount: 1, ops: [insert('ducklake_data_file', file, file)] },
    'no key': { ops: [insert('ducklake_metadata', { value: 'v' })] },
  };
  for (const [what, parts] of Object.entries(refused))
    test(`refuses ${what}, and keeps nothing of the batch`, async () => {
      const catalog = memoryCatalog();
      await catalog.initialize(newLake());
      const before = catalog.dump();
      const { snapshot } = await catalog.readHead();
      await rejects(() => catalog.commit(batchOn(snapshot, parts)), 'INVALID_ARGUMENT');
      expect(catalog.dump()).toEqual(before);
    });

  test('does not call a commit undone whose snapshot has been expired', async () => {
    const catalog = memoryCatalog();
    await catalog.initialize(newLake());
    const { snapshot } = await catalog.readHead();
    await catalog.commit(
      batchOn(snapshot, {
        fileIdCount: 1,
        ops: [insert('ducklake_data_file', { ...file, path: 'p', begin_snapshot: 99 })],
      }),
    );
    const witness = { table: 'ducklake_data_file', column: 'path', value: 'p' } as const;
    await rejects(() => catalog.findCommit(batchOn(snapshot, { witness })), 'COMMIT_UNKNOWN');
  });

  test('gives every snapshot a later time, however fast they come', async () => {
    const catalog = memoryCatalog();
    await catalog.initialize(newLake());
    for (let i = 0; i < 50; i++) await commitOnHead(catalog, {});
    const micros = catalog.dump().ducklake_snapshot.map((row) => instantMicros(row.snapshot_time!));
    expect(micros).toEqual([...new Set(micros)].toSorted((a, b) => a - b));
  });
});

test('instants are written as DuckDB writes them, and read back', () => {
  const texts = {
    '2024-01-15 12:30:00+00': Date.UTC(2024, 0, 15, 12, 30) * 1000,
    '2024-01-15 12:30:00.5+00': Date.UTC(2024, 0, 15, 12, 30) * 1000 + 500_000,
    '2024-01-15 12:30:00.000001+00': Date.UTC(2024, 0, 15, 12, 30) * 1000 + 1,
    '1969-12-31 23:59:59.999999+00': -1,
  };
  for (const [text, micros] of Object.entries(texts)) {
    expect(instantText(micros)).toBe(text);
    expect(instantMicros(text)).toBe(micros);
  }
});
