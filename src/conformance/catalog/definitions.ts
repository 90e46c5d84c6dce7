import type { CommitBatch, Snapshot } from '../../catalog/store.ts';
import type { Change } from '../../spec/changes.ts';
import type { ColumnType } from '../../spec/types.ts';
import { type ConformanceCase, equal } from '../case.ts';
import {
  appendUnless,
  batchOn,
  type CatalogTarget,
  columnRow,
  commitOnHead,
  committed,
  createTables,
  leavesNothing,
  openLake,
  tableOps,
} from './batches.ts';

const int64: ColumnType = { name: 'int64' };

interface Creation {
  readonly schema?: string;
  readonly name: string;
  /** Whether it makes a catalog table for inlined rows, and puts these in. */
  readonly rows?: readonly string[];
}

/** Makes a table on top of any head on which its name is free. */
function createUnless(base: Snapshot, { schema = 'main', name, rows }: Creation): CommitBatch {
  const columns = [{ name: 'c1', type: int64 }];
  const uuid = crypto.randomUUID();
  const recordCount = rows?.length ?? 0;
  return batchOn(base, {
    fence: {
      kind: 'unless',
      changes: [
        { kind: 'created_table', schema, name },
        { kind: 'created_view', schema, name },
        { kind: 'dropped_schema', id: 0 },
      ],
      sameSchema: false,
    },
    changesSchema: true,
    catalogIdCount: 1,
    fileIdCount: rows ? 1 : 0,
    changes: [{ kind: 'created_table', schema, name }],
    ops: [
      ...tableOps({ id: -1, name, uuid, columns: [columnRow(-1, 1)] }),
      ...(rows
        ? ([
            {
              kind: 'addStats',
              stats: { tableId: -1, recordCount, rowIdCount: recordCount, byteLength: 0, columns: [] },
            },
            { kind: 'createInlined', tableId: -1, columns },
            { kind: 'insertInlined', tableId: -1, columns, rowIdStart: -1, rows: rows.map((row) => [row]) },
          ] as const)
        : []),
    ],
    witness: { table: 'ducklake_table', column: 'table_uuid', value: uuid },
  });
}

const created = (name: string, schema: string = 'main'): Change => ({ kind: 'created_table', schema, name });

export const definitionCases: readonly ConformanceCase<CatalogTarget>[] = [
  {
    name: 'what is created on top of later snapshots, of new schema versions, gets the ids of the head',
    async run(target) {
      await using catalog = await openLake(target);
      const { snapshot: base } = await catalog.readHead();
      await createTables(catalog, 'a', 'b');
      const { snapshot: head } = await catalog.readHead();
      const snapshot = committed(await catalog.commit(createUnless(base, { name: 'c', rows: ['7', '8'] })));
      equal(snapshot.schemaVersion, head.schemaVersion + 1, 'the schema version');
      const rows = await catalog.readCatalog();
      const table = rows?.tables.find((row) => row.table_name === 'c');
      equal([table?.table_id, table?.begin_snapshot], [head.nextCatalogId, snapshot.id], 'the table');
      equal(
        rows?.inlinedTables,
        [
          {
            table_id: head.nextCatalogId,
            table_name: `ducklake_inlined_data_${head.nextCatalogId}_${snapshot.schemaVersion}`,
            schema_version: snapshot.schemaVersion,
          },
        ],
        'the catalog table for its inlined rows',
      );
      const { inlined } = await catalog.readFiles({
        snapshotId: snapshot.id,
        tableId: head.nextCatalogId,
        stats: 'none',
      });
      equal(
        inlined.flatMap((one) => one.rows.map(({ rowId, beginSnapshot, cells }) => [rowId, beginSnapshot, ...cells])),
        [
          [0, snapshot.id, '7'],
          [1, snapshot.id, '8'],
        ],
        'its inlined rows',
      );
    },
  },
  {
    name: 'what is created is superseded by a later snapshot that created the same name, in whatever case',
    async run(target) {
      await using catalog = await openLake(target);
      for (const [name, taken] of [
        ['t', 't'],
        ['Events', 'eVENTS'],
        ['it\'s, a "name"', 'It\'s, A "Name"'],
        ['{ä, "b"}\\', '{ä, "B"}\\'],
        ['%_', '%_'],
      ] as const) {
        const others: readonly Change[] = [
          created(taken),
          created(taken, 'MAIN'),
          { kind: 'created_view', schema: 'main', name: taken },
        ];
        for (const other of others) {
          const { snapshot: base } = await catalog.readHead();
          await commitOnHead(catalog, { changes: [created('before'), other, { kind: 'altered_table', id: 9 }] });
          await commitOnHead(catalog, { changes: [{ kind: 'inserted_into_table', id: 9 }] });
          const outcome = await leavesNothing(catalog, () => catalog.commit(createUnless(base, { name })));
          equal(outcome, { status: 'superseded' }, `the outcome of ${name} after ${other.kind} ${taken}`);
        }
      }
      const { snapshot: base } = await catalog.readHead();
      await commitOnHead(catalog, { changes: [{ kind: 'dropped_schema', id: 0 }] });
      const outcome = await leavesNothing(catalog, () => catalog.commit(createUnless(base, { name: 't' })));
      equal(outcome, { status: 'superseded' }, 'the outcome after its schema was dropped');
    },
  },
  {
    name: 'a batch that wants tables by their names is superseded when one has another, and by nothing else',
    async run(target) {
      await using catalog = await openLake(target);
      const [id, other] = (await createTables(catalog, "it's", 'other')) as [number, number];
      const { snapshot: base } = await catalog.readHead();
      const batch = (): CommitBatch => {
        const append = appendUnless(base, id);
        const tables = [
          { id, name: "it's" },
          { id: other, name: 'other' },
        ];
        return { ...append, fence: { ...append.fence, tables } as CommitBatch['fence'] };
      };
      committed(await catalog.commit(batch()), 'on top of its base');
      await createTables(catalog, 'more');
      committed(await catalog.commit(batch()), 'on top of another table');
      // As DuckDB tells of a table with a new name.
      await commitOnHead(catalog, {
        changesSchema: true,
        changes: [created('another')],
        ops: [
          { kind: 'end', table: 'ducklake_table', match: { table_id: other } },
          ...tableOps({ id: other, name: 'another' }).slice(0, 1),
        ],
      });
      const outcome = await leavesNothing(catalog, () => catalog.commit(batch()));
      equal(outcome, { status: 'superseded' }, 'the outcome on top of the new name');
      committed(await catalog.commit({ ...appendUnless(base, id) }), 'without names');
    },
  },
  {
    name: 'what is created goes on top of later snapshots that created other names, however alike',
    async run(target) {
      await using catalog = await openLake(target);
      const { snapshot: base } = await catalog.readHead();
      for (const name of ['t1', '1t', 't"', '"t', 't","main"."t', 'ä', '"main"."t"', 'created_table:"main"."t"'])
        await commitOnHead(catalog, { changes: [created(name), created('t', name), created('t', 'other')] });
      await commitOnHead(catalog, {
        changes: [
          { kind: 'created_schema', name: 't' },
          { kind: 'created_table_macro', schema: 'main', name: 't' },
          { kind: 'dropped_schema', id: 10 },
        ],
      });
      committed(await catalog.commit(createUnless(base, { name: 't' })));
      committed(await catalog.commit(createUnless(base, { name: 'Ä' })), 'a name that is another in the other case');
    },
  },
];
