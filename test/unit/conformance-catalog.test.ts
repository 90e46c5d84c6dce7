import { expect, test } from 'bun:test';
import { memoryCatalog } from '../../src/catalog/memory.ts';
import type { CatalogOp, CatalogStore, CommitBatch, SnapshotRecord, UsedKey } from '../../src/catalog/store.ts';
import type { LiveFile } from '../../src/catalog/table-files.ts';
import type { TableHistory } from '../../src/catalog/table-history.ts';
import { collect } from '../../src/conformance/case.ts';
import { catalogCases } from '../../src/conformance/catalog.ts';
import { changeText, parseChanges } from '../../src/spec/changes.ts';
import type { CatalogRow } from '../../src/spec/rows.ts';

/** What is different about a catalog that is wrong in one way. */
type Wrong = (right: CatalogStore) => Partial<CatalogStore>;

const commits =
  (change: (batch: CommitBatch) => CommitBatch): Wrong =>
  (right) => ({ commit: (batch) => right.commit(change(batch)) });

const inserts = (change: (table: string, row: CatalogRow) => CatalogRow | undefined): Wrong =>
  commits((batch) => ({
    ...batch,
    ops: batch.ops.map((op): CatalogOp => {
      if (op.kind !== 'insert') return op;
      return { ...op, rows: op.rows.map((row) => change(op.table, row)).filter((row) => row !== undefined) };
    }),
  }));

const ops = (change: (op: CatalogOp) => CatalogOp | undefined): Wrong =>
  commits((batch) => ({ ...batch, ops: batch.ops.flatMap((op) => change(op) ?? []) }));

const files =
  (change: (files: LiveFile[]) => LiveFile[]): Wrong =>
  (right) => ({
    async readFiles(request) {
      const found = await right.readFiles(request);
      return { ...found, files: change([...found.files]) };
    },
  });

const history =
  (change: (found: TableHistory) => TableHistory): Wrong =>
  (right) => ({ readHistory: async (request) => change(await right.readHistory(request)) });

const snapshots =
  (change: (records: SnapshotRecord[]) => SnapshotRecord[]): Wrong =>
  (right) => ({
    async *readSnapshots(range) {
      yield* change(await collect(right.readSnapshots(range)));
    },
  });

const fences = (change: (fence: Unless) => Partial<Unless>): Wrong =>
  commits((batch) =>
    batch.fence.kind === 'exact' ? batch : { ...batch, fence: { ...batch.fence, ...change(batch.fence) } },
  );

type Unless = Extract<CommitBatch['fence'], { readonly kind: 'unless' }>;

const wrongs: Readonly<Record<string, Wrong>> = {
  'makes a lake again': (right) => ({
    async initialize(init) {
      await right.initialize(init);
      return true;
    },
  }),
  'forgets the schema main': (right) => ({
    async readCatalog(asOf) {
      const rows = await right.readCatalog(asOf);
      return rows && { ...rows, schemas: rows.schemas.filter((row) => row.schema_name !== 'main') };
    },
  }),
  'has no time travel': (right) => ({ readCatalog: () => right.readCatalog() }),
  'takes the head for a snapshot that is missing': (right) => ({
    readCatalog: (asOf) => right.readCatalog(asOf).catch(() => right.readCatalog()),
  }),
  'tells of the snapshot that the caller knows': (right) => ({
    readHead: (since) => right.readHead(since === undefined ? undefined : since - 1),
  }),
  'tells nothing since': (right) => ({ readHead: () => right.readHead() }),
  'lists snapshots newest first': snapshots((records) => records.toReversed()),
  'leaves out the last snapshot of a range': (right) => ({
    readSnapshots: (range = {}) => right.readSnapshots(range.to === undefined ? range : { ...range, to: range.to - 1 }),
  }),
  'ignores where a range begins': (right) => ({
    readSnapshots: (range = {}) => right.readSnapshots(range.to === undefined ? {} : { to: range.to }),
  }),
  'forgets authors': snapshots((records) => records.map((record) => ({ ...record, author: null }))),
  'takes empty text for NULL': snapshots((records) =>
    records.map((record) => ({ ...record, extraInfo: record.extraInfo || null })),
  ),
  'lists files by their ids as text': files((all) =>
    all.toSorted((a, b) => (`${a.file.data_file_id}` < `${b.file.data_file_id}` ? -1 : 1)),
  ),
  'forgets deletes': files((all) => all.map((one) => ({ ...one, deletes: [] }))),
  'forgets statistics': files((all) => all.map((one) => ({ ...one, stats: [] }))),
  'gives statistics that nobody asked for': (right) => ({
    readFiles: (request) => right.readFiles({ ...request, stats: 'all' }),
  }),
  'forgets partition values': files((all) => all.map((one) => ({ ...one, partitionValues: [] }))),
  'gives files from the first on always': (right) => ({
    readFiles: (request) => right.readFiles({ ...request, fromFileId: undefined }),
  }),
  'gives all statistics where some are asked for': (right) => ({
    readFiles: (request) => right.readFiles({ ...request, stats: request.stats === 'none' ? 'none' : 'all' }),
  }),
  'takes NaN for a value outside': (right) => ({
    readFiles: (request) =>
      right.readFiles({ ...request, within: request.within?.map((range) => ({ ...range, includesNan: false })) }),
  }),
  'compares text bounds of numbers as text': (right) => ({
    readFiles: (request) =>
      right.readFiles({
        ...request,
        within: request.within?.map((range) =>
          range.comparison === 'number' ? { ...range, comparison: 'bytes' } : range,
        ),
      }),
  }),
  'gives histories without the last snapshot': (right) => ({
    readHistory: (request) => right.readHistory({ ...request, to: request.to - 1 }),
  }),
  'gives histories without the first snapshot': (right) => ({
    readHistory: ({ from, ...more }) =>
      right.readHistory({ ...more, from: 'snapshot' in from ? { snapshot: from.snapshot + 1 } : from }),
  }),
  'begins histories before the time': (right) => ({
    readHistory: ({ from, ...more }) => right.readHistory({ ...more, from: 'time' in from ? { snapshot: 0 } : from }),
  }),
  'forgets the files that ended': history((found) => ({
    ...found,
    files: found.files.filter(({ file }) => file.end_snapshot === null),
  })),
  'forgets what deleted from files later': history((found) => ({
    ...found,
    files: found.files.map((one) => ({ ...one, deletes: one.deletes.slice(0, 1) })),
  })),
  'forgets what was rewritten': history((found) => ({ ...found, changes: new Map([...found.changes].slice(0, 1)) })),
  'counts no snapshots': history((found) => ({ ...found, snapshotCount: 0 })),
  'never has a snapshot before the first': history((found) => ({ ...found, hasBefore: false })),
  'gives histories without mappings': history((found) => ({ ...found, nameMappings: [] })),
  'gives partitions of no file': (right) => ({
    readFiles: async (request) => ({ ...(await right.readFiles(request)), partitionColumns: [] }),
  }),
  'gives files of other snapshots': (right) => ({
    readFiles: (request) => right.readFiles({ ...request, snapshotId: request.snapshotId + 1 }),
  }),
  'trusts bounds from before a change': (right) => ({
    readFiles: (request) =>
      right.readFiles({ ...request, within: request.within?.map((range) => ({ ...range, fromSnapshot: 0 })) }),
  }),
  'trusts bounds of mapped files': (right) => ({
    readFiles: (request) =>
      right.readFiles({
        ...request,
        within: request.within?.map((range) => ({ ...range, fromSnapshot: range.fromSnapshot && undefined })),
      }),
  }),
  'tells nothing that was committed since': (right) => ({
    async readFiles(request) {
      const found = await right.readFiles(request);
      return found.since ? { ...found, since: [] } : found;
    },
  }),
  'rounds counts to 32 bits': files((all) =>
    all.map((one) => ({ ...one, file: { ...one.file, record_count: Number(one.file.record_count) | 0 } })),
  ),
  'takes 1 for true': files((all) =>
    all.map((one) => ({ ...one, file: { ...one.file, path_is_relative: Number(one.file.path_is_relative) as never } })),
  ),
  'takes every race for lost': commits((batch) => ({ ...batch, fence: { kind: 'exact' } })),
  'takes no race for lost': (right) => ({
    async commit(batch) {
      const { snapshot } = await right.readHead();
      return right.commit({ ...batch, base: snapshot });
    },
  }),
  'looks at the newest snapshot only': (right) => ({
    async commit(batch) {
      const { snapshot } = await right.readHead();
      if (batch.fence.kind === 'exact' || snapshot.id <= batch.base.id) return right.commit(batch);
      const base = (await right.readCatalog({ snapshot: snapshot.id - 1 }))?.snapshot;
      return right.commit({ ...batch, base: base ?? batch.base });
    },
  }),
  'fears no drop': fences(({ changes }) => ({ changes: changes.filter(({ kind }) => kind !== 'dropped_table') })),
  'fears no inlined delete': fences(({ changes }) => ({
    changes: changes.filter(({ kind }) => kind !== 'inlined_delete'),
  })),
  'fears no name': fences(({ changes }) => ({ changes: changes.filter((change) => 'id' in change) })),
  'lets tables have any name': fences(() => ({ tables: undefined })),
  'wants tables to be alone': (right) => ({
    async commit(batch) {
      const { snapshot } = await right.readHead();
      const isNamed = batch.fence.kind === 'unless' && batch.fence.tables !== undefined;
      const isOther = snapshot.schemaVersion !== batch.base.schemaVersion;
      return isNamed && isOther ? { status: 'superseded' } : right.commit(batch);
    },
  }),
  'tells names by their case': (right) => ({
    async commit(batch) {
      const { since, snapshot } = await right.readHead(batch.base.id);
      if (batch.fence.kind === 'exact') return right.commit(batch);
      const feared = batch.fence.changes.map((change) => changeText(change));
      const made = since.flatMap(({ changes }) => parseChanges(changes).map((change) => changeText(change)));
      if (made.some((text) => feared.includes(text))) return { status: 'superseded' };
      const changes = batch.fence.changes.filter((change) => 'id' in change);
      return right.commit({ ...batch, base: snapshot, fence: { ...batch.fence, changes } });
    },
  }),
  'fears no new schema': fences(() => ({ sameSchema: false })),
  'fears every new schema': fences(() => ({ sameSchema: true })),
  'fears changes whose text begins alike': (right) => ({
    async commit(batch) {
      const { since } = await right.readHead(batch.base.id);
      const feared = batch.fence.kind === 'exact' ? [] : batch.fence.changes.map((change) => changeText(change));
      if (since.some(({ changes }) => feared.some((text) => changes.includes(text)))) return { status: 'superseded' };
      return right.commit(batch);
    },
  }),
  'looks at the first change of a snapshot only': (right) => ({
    async commit(batch) {
      const { since, snapshot } = await right.readHead(batch.base.id);
      const feared = batch.fence.kind === 'exact' ? [] : batch.fence.changes.map((change) => changeText(change));
      const first = since.flatMap(({ changes }) =>
        parseChanges(changes)
          .slice(0, 1)
          .map((change) => changeText(change)),
      );
      if (batch.fence.kind === 'exact' || first.some((text) => feared.includes(text))) return right.commit(batch);
      return right.commit({ ...batch, base: snapshot });
    },
  }),
  'splits changes at every comma': (right) => ({
    async commit(batch) {
      const { since, snapshot } = await right.readHead(batch.base.id);
      if (batch.fence.kind === 'exact') return right.commit(batch);
      const feared = batch.fence.changes.map((change) => changeText(change));
      // A quote inside a name ends the name for it.
      const tokens = since.flatMap(({ changes }) => changes.replace(/"[^"]*"[^,]*/g, '').split(','));
      if (tokens.some((token) => feared.includes(token))) return right.commit(batch);
      return right.commit({ ...batch, base: snapshot });
    },
  }),
  'says superseded and commits all the same': (right) => ({
    async commit(batch) {
      const outcome = await right.commit(batch);
      if (outcome.status === 'superseded')
        await right.commit({ ...batch, base: (await right.readHead()).snapshot, fence: { kind: 'exact' } });
      return outcome;
    },
  }),
  'commits what it can of a batch that fails': (right) => ({
    async commit(batch) {
      try {
        return await right.commit(batch);
      } catch (error) {
        await right.commit({ ...batch, ops: batch.ops.slice(0, -1) });
        throw error;
      }
    },
  }),
  'throws errors of its own': (right) => ({
    commit: (batch) =>
      right.commit(batch).catch(() => {
        throw new TypeError('SQLITE_CONSTRAINT');
      }),
  }),
  'reports the head before the commit': (right) => ({
    async commit(batch) {
      const outcome = await right.commit(batch);
      return outcome.status === 'committed' ? { ...outcome, snapshot: batch.base } : outcome;
    },
  }),
  'forgets to raise the schema version': commits((batch) => ({ ...batch, changesSchema: false })),
  'raises the schema version always': commits((batch) => ({ ...batch, changesSchema: true })),
  'takes one file id more': commits((batch) => ({ ...batch, fileIdCount: batch.fileIdCount + 1 })),
  'takes one catalog id more': commits((batch) => ({ ...batch, catalogIdCount: batch.catalogIdCount + 1 })),
  'drops quotes from names': commits((batch) => ({
    ...batch,
    changes: batch.changes.map((change) =>
      'name' in change ? { ...change, name: change.name.replaceAll('"', '') } : change,
    ),
  })),
  'numbers rows from 0 in each batch': inserts((table, row) =>
    table === 'ducklake_data_file' && Number(row['row_id_start']) < 0
      ? { ...row, row_id_start: -1 - Number(row['row_id_start']) }
      : row,
  ),
  'numbers all files of a batch alike': inserts((table, row) =>
    table === 'ducklake_data_file' && Number(row['row_id_start']) < 0 ? { ...row, row_id_start: -1 } : row,
  ),
  'loses rows of big batches': (right) => {
    let count = 0;
    return inserts((table, row) => (table === 'ducklake_file_column_stats' && ++count > 5000 ? undefined : row))(right);
  },
  'ends all rows of a catalog table': ops((op) =>
    op.kind === 'end' ? { ...op, match: Object.fromEntries(Object.entries(op.match).slice(0, 1)) } : op,
  ),
  'ends nothing': ops((op) => (op.kind === 'end' ? undefined : op)),
  'compares numbers as text': ops((op) => reordered(op, 'number', 'bytes')),
  'compares text as dates': ops((op) => reordered(op, 'bytes', 'temporal')),
  'compares dates as text': ops((op) => reordered(op, 'temporal', 'bytes')),
  'takes unknown bounds for none': ops((op) =>
    op.kind === 'addStats'
      ? withColumns(op, (column) => (column.bounds === 'unknown' ? { ...column, bounds: 'none' } : column))
      : op,
  ),
  'takes no bounds for unknown ones': ops((op) =>
    op.kind === 'addStats'
      ? withColumns(op, (column) => (column.bounds === 'none' ? { ...column, bounds: 'unknown' } : column))
      : op,
  ),
  'forgets NULLs': ops((op) =>
    op.kind === 'addStats' ? withColumns(op, (column) => ({ ...column, containsNull: false })) : op,
  ),
  'adds rows for row ids': ops((op) =>
    op.kind === 'addStats' ? { ...op, stats: { ...op.stats, rowIdCount: op.stats.recordCount } } : op,
  ),
  'uses keys again': commits((batch) => ({ ...batch, keys: [] })),
  'uses one key of several': commits((batch) => ({ ...batch, keys: batch.keys?.slice(0, 1) })),
  'says superseded where a key was used': (right) => ({
    async commit(batch) {
      const outcome = await right.commit(batch);
      return outcome.status === 'used' ? { status: 'superseded' } : outcome;
    },
  }),
  'keeps the keys of what it did not commit': (right) => {
    const kept = new Map<string, UsedKey>();
    return {
      async commit(batch) {
        const outcome = await right.commit(batch);
        for (const key of batch.keys ?? []) kept.set(key.key, { ...key, snapshotId: 0 });
        return outcome;
      },
      findKeys: async (keys) => {
        const found = await right.findKeys(keys);
        return keys.flatMap((key) => found.find((one) => one.key === key) ?? kept.get(key) ?? []);
      },
    };
  },
  'forgets all keys': (right) => ({
    forgetKeys: (request) => right.forgetKeys({ ...request, usedBefore: new Date(8e12) }),
  }),
  'forgets keys of any scope': (right) => ({
    forgetKeys: (request) => right.forgetKeys({ ...request, exceptScopes: [] }),
  }),
  'folds keys': (right) => ({
    commit: (batch) =>
      right.commit({ ...batch, keys: batch.keys?.map((key) => ({ ...key, key: key.key.toLowerCase() })) }),
    findKeys: async (keys) => {
      const found = await right.findKeys(keys.map((key) => key.toLowerCase()));
      return found.map((one) => ({ ...one, key: keys.find((key) => key.toLowerCase() === one.key)! }));
    },
  }),
  'takes silence for no changes': (right) => ({
    async commit(batch) {
      const { since, snapshot } = await right.readHead(batch.base.id);
      const isSilent = since.some(({ changes }) => changes === '');
      return right.commit(isSilent && batch.fence.kind === 'unless' ? { ...batch, base: snapshot } : batch);
    },
  }),
  'finds no commit': () => ({ findCommit: async () => undefined }),
  'finds every commit': (right) => ({ findCommit: async () => (await right.readHead()).snapshot }),
  'says that everything is inlined': (right) => ({
    async readFiles(request) {
      const rows = [{ rowId: 0, beginSnapshot: 0, endSnapshot: null, cells: [] }];
      const inlined = [{ tableName: 'x', schemaVersion: 1, columns: [], rows }];
      return { ...(await right.readFiles(request)), inlined };
    },
  }),
  'never closes': () => ({ [Symbol.asyncDispose]: async () => {} }),
};

type AddStats = Extract<CatalogOp, { kind: 'addStats' }>;
type Column = AddStats['stats']['columns'][number];

function withColumns(op: AddStats, change: (column: Column) => Column): AddStats {
  return { ...op, stats: { ...op.stats, columns: op.stats.columns.map(change) } };
}

function reordered(op: CatalogOp, from: Column['order'], to: Column['order']): CatalogOp {
  if (op.kind !== 'addStats') return op;
  return withColumns(op, (column) => (column.order === from ? { ...column, order: to } : column));
}

/** The methods of a catalog as functions of its own, so that some can be put in their place. */
function methods(catalog: CatalogStore): CatalogStore {
  return {
    name: catalog.name,
    inlining: catalog.inlining,
    initialize: (init) => catalog.initialize(init),
    readCatalog: (asOf) => catalog.readCatalog(asOf),
    readHead: (since) => catalog.readHead(since),
    readSnapshots: (range) => catalog.readSnapshots(range),
    readFiles: (request) => catalog.readFiles(request),
    readHistory: (request) => catalog.readHistory(request),
    readTableStats: (tableId) => catalog.readTableStats(tableId),
    commit: (batch) => catalog.commit(batch),
    findCommit: (batch) => catalog.findCommit(batch),
    findKeys: (keys) => catalog.findKeys(keys),
    forgetKeys: (request) => catalog.forgetKeys(request),
    [Symbol.asyncDispose]: () => catalog[Symbol.asyncDispose](),
  };
}

async function failures(wrong: Wrong): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, run } of catalogCases) {
    const place = memoryCatalog();
    const open = async (): Promise<CatalogStore> => {
      const right = methods(memoryCatalog({ sharedWith: place }));
      return { ...right, ...wrong(right) };
    };
    await run({ open }).catch(() => failed.push(name));
  }
  return failed;
}

test('the cases pass a catalog that only forwards', async () => {
  expect(await failures(() => ({}))).toEqual([]);
});

for (const [name, wrong] of Object.entries(wrongs))
  test(`the cases notice a catalog that ${name}`, async () => {
    expect(await failures(wrong)).not.toEqual([]);
  });
