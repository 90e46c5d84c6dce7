import { isLakeError } from '../../errors.ts';
import type { Change } from '../../spec/changes.ts';
import { type CatalogRow, NEXT, relativeId } from '../../spec/rows.ts';
import { CaseFailure, type ConformanceCase, check, collect, equal } from '../case.ts';
import {
  appendParts,
  appendUnless,
  batchOn,
  bySnapshot,
  type CatalogTarget,
  columnRow,
  commitOnHead,
  committed,
  createTables,
  fileRow,
  insert,
  leavesNothing,
  openLake,
  tableOps,
} from './batches.ts';

// biome-ignore format: a list
const weirdNames = [
  'a b', 'a.b', 'a,b', 'a"b', '"', '","', "it's", '\\', '$1', '?', 'select', '🦆', 'é', 'a\nb', ' ', '__proto__', 'constructor',
  'x,dropped_table:1', '","a":1', '{}', '%s', 'x'.repeat(200),
];

export const commitCases: readonly ConformanceCase<CatalogTarget>[] = [
  {
    name: 'author, message and extra info are kept as they are, and NULL apart from empty',
    async run(target) {
      await using catalog = await openLake(target);
      const texts = ['', 'NULL', `it's "quoted" \\ $1 ? 🦆\n{"a":[1]}`, 'x'.repeat(20_000), null];
      for (const text of texts) {
        const { id } = await commitOnHead(catalog, { author: text, message: null, extraInfo: text });
        const [record] = await collect(catalog.readSnapshots({ from: id }));
        equal([record?.author, record?.message, record?.extraInfo], [text, null, text], 'what was said');
      }
    },
  },
  {
    name: 'names that need quoting, in one batch',
    async run(target) {
      await using catalog = await openLake(target);
      const schemas = weirdNames.map(
        (name, k): CatalogRow => ({
          schema_id: relativeId(2 * k),
          schema_uuid: crypto.randomUUID(),
          begin_snapshot: NEXT,
          schema_name: name,
          path: `${name}/`,
          path_is_relative: true,
        }),
      );
      await commitOnHead(catalog, {
        changesSchema: true,
        catalogIdCount: 2 * weirdNames.length,
        changes: [
          ...weirdNames.map((name): Change => ({ kind: 'created_schema', name })),
          ...weirdNames.map((name): Change => ({ kind: 'created_table', schema: name, name })),
        ],
        ops: [
          insert('ducklake_schema', ...schemas),
          ...weirdNames.flatMap((name, k) =>
            tableOps({
              id: relativeId(2 * k + 1),
              schemaId: relativeId(2 * k),
              name,
              columns: [columnRow(relativeId(2 * k + 1), 1, { column_name: name, default_value: name })],
            }),
          ),
        ],
      });
      const rows = await catalog.readCatalog();
      const schemaIds = new Map(rows?.schemas.map((row) => [row.schema_name, row.schema_id]));
      const columns = new Map(rows?.columns.map((row) => [row.table_id, row]));
      for (const [k, name] of weirdNames.entries()) {
        const what = JSON.stringify(name);
        equal(schemaIds.get(name), 1 + 2 * k, `the id of schema ${what}`);
        const table = rows?.tables.find((row) => row.table_name === name);
        equal([table?.table_id, table?.schema_id], [2 + 2 * k, 1 + 2 * k], `the ids of table ${what}`);
        const column = columns.get(2 + 2 * k);
        equal([column?.column_name, column?.default_value], [name, name], `the column of table ${what}`);
        equal(rows?.schemas.find((row) => row.schema_id === 1 + 2 * k)?.path, `${name}/`, `the path of schema ${what}`);
      }
      const quoted = weirdNames.map((name) => `"${name.replaceAll('"', '""')}"`);
      equal(
        await bySnapshot(catalog, 1),
        [
          ...quoted.map((name) => `created_schema:${name}`),
          ...quoted.map((name) => `created_table:${name}.${name}`),
        ].join(','),
        'the changes',
      );
    },
  },
  {
    name: 'ending rows touches live rows that match every cell, and no others',
    async run(target) {
      await using catalog = await openLake(target);
      const [a, b] = (await createTables(catalog, 'a', 'b')) as [number, number];
      const columns = (tableId: number): CatalogRow[] => [1, 2, 3].map((id) => columnRow(tableId, id + 1));
      const altered = (tableId: number): Change[] => [{ kind: 'altered_table', id: tableId }];
      await commitOnHead(catalog, {
        changesSchema: true,
        changes: altered(a),
        ops: [insert('ducklake_column', ...columns(a), ...columns(b))],
      });
      await commitOnHead(catalog, {
        changesSchema: true,
        changes: altered(a),
        ops: [{ kind: 'end', table: 'ducklake_column', match: { table_id: a, column_id: 2 } }],
      });
      await commitOnHead(catalog, {
        changesSchema: true,
        changes: altered(a),
        ops: [
          { kind: 'end', table: 'ducklake_column', match: { table_id: a } },
          { kind: 'end', table: 'ducklake_tag', match: { object_id: a } },
        ],
      });
      const at = async (snapshot: number): Promise<unknown> =>
        (await catalog.readCatalog({ snapshot }))?.columns
          .filter((row) => row.table_id === a)
          .map((row) => [row.column_id, row.end_snapshot])
          .sort();
      equal(
        await at(2),
        [
          [1, 4],
          [2, 3],
          [3, 4],
          [4, 4],
        ],
        'the columns at 2',
      );
      equal(
        await at(3),
        [
          [1, 4],
          [3, 4],
          [4, 4],
        ],
        'the columns at 3',
      );
      equal(await at(4), [], 'the columns at 4');
      equal(
        (await catalog.readCatalog())?.columns.filter((row) => row.table_id === b).length,
        4,
        'the number of columns of the other table',
      );
    },
  },
  {
    name: 'a row can end and its successor begin in one batch',
    async run(target) {
      await using catalog = await openLake(target);
      const [id] = (await createTables(catalog, 't')) as [number];
      await commitOnHead(catalog, {
        changesSchema: true,
        changes: [{ kind: 'altered_table', id }],
        ops: [
          { kind: 'end', table: 'ducklake_column', match: { table_id: id, column_id: 1 } },
          insert('ducklake_column', columnRow(id, 1, { column_name: 'renamed' })),
        ],
      });
      const live = async (snapshot: number): Promise<unknown> =>
        (await catalog.readCatalog({ snapshot }))?.columns.map((row) => [
          row.column_name,
          row.begin_snapshot,
          row.end_snapshot,
        ]);
      equal(await live(1), [['c1', 1, 2]], 'the columns before');
      equal(await live(2), [['renamed', 2, null]], 'the columns after');
    },
  },
  {
    name: 'a batch that fails leaves nothing, and the next one takes its ids',
    async run(target) {
      await using catalog = await openLake(target);
      const [id] = (await createTables(catalog, 't')) as [number];
      await commitOnHead(catalog, appendParts(id));
      const { snapshot: base } = await catalog.readHead();
      const append = appendParts(id, 2);
      // The last op breaks: the catalog's key column takes no NULL.
      const bad = batchOn(base, {
        ...append,
        ops: [
          { kind: 'end', table: 'ducklake_column', match: { table_id: id } },
          ...append.ops!,
          insert('ducklake_metadata', { key: null, value: 'x' }),
        ],
      });
      await leavesNothing(catalog, async () => {
        try {
          await catalog.commit(bad);
        } catch (error) {
          if (isLakeError(error)) return;
          throw new CaseFailure(`commit rejected with something else than a LakeError: ${error}`, { cause: error });
        }
        throw new CaseFailure('a batch with a NULL in a NOT NULL column was committed');
      });
      equal(await catalog.findCommit(bad), undefined, 'findCommit of the batch that failed');
      const snapshot = committed(await catalog.commit(batchOn(base, append)));
      equal([snapshot.id, snapshot.nextFileId], [base.id + 1, base.nextFileId + 2], 'the ids of the next batch');
    },
  },
  {
    name: 'findCommit knows the snapshot of a committed batch by each kind of witness',
    async run(target) {
      await using catalog = await openLake(target);
      await using other = await target.open();
      const [id] = (await createTables(catalog, 't')) as [number];
      const { snapshot: base } = await catalog.readHead();
      const [path, tableUuid, schemaUuid] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
      const create = {
        changesSchema: true,
        catalogIdCount: 1,
      };
      const batches = [
        batchOn(base, {
          fileIdCount: 1,
          changes: [{ kind: 'inserted_into_table', id }],
          ops: [insert('ducklake_data_file', fileRow(id, relativeId(0), relativeId(0), { path: `50%_${path}` }))],
          witness: { table: 'ducklake_data_file', column: 'path', value: `50%_${path}` },
        }),
        batchOn(base, {
          ...create,
          changes: [{ kind: 'created_table', schema: 'main', name: 'u' }],
          ops: tableOps({ id: relativeId(0), name: 'u', uuid: tableUuid }),
          witness: { table: 'ducklake_table', column: 'table_uuid', value: tableUuid },
        }),
        batchOn(base, {
          ...create,
          changes: [{ kind: 'created_schema', name: 's' }],
          ops: [
            insert('ducklake_schema', {
              schema_id: relativeId(0),
              schema_uuid: schemaUuid,
              begin_snapshot: NEXT,
              schema_name: 's',
              path: 's/',
              path_is_relative: true,
            }),
          ],
          witness: { table: 'ducklake_schema', column: 'schema_uuid', value: schemaUuid },
        }),
        batchOn(base, {
          changes: [{ kind: 'inlined_insert', id }],
          extraInfo: `{"who":"${path}"}`,
          witness: { table: 'ducklake_snapshot_changes', column: 'commit_extra_info', value: `{"who":"${path}"}` },
        }),
        batchOn(base, {
          changesSchema: true,
          changes: [{ kind: 'dropped_table', id }],
          ops: [{ kind: 'end', table: 'ducklake_table', match: { table_id: id } }],
          witness: { table: 'ducklake_snapshot_changes', column: 'changes_made', value: `dropped_table:${id}` },
        }),
      ];
      const snapshots = [];
      for (const [k, batch] of batches.entries()) {
        const { snapshot: head } = await catalog.readHead();
        const attempt = { ...batch, base: head };
        equal(await catalog.findCommit(attempt), undefined, `findCommit before batch ${k}`);
        const snapshot = committed(await catalog.commit(attempt), `batch ${k}`);
        snapshots.push({ attempt, snapshot });
        equal(await other.findCommit(attempt), snapshot, `findCommit after batch ${k}`);
      }
      await commitOnHead(catalog, { changes: [{ kind: 'altered_table', id: 77 }] });
      for (const [k, { attempt, snapshot }] of snapshots.entries())
        equal(await catalog.findCommit(attempt), snapshot, `findCommit of batch ${k} later`);
      // The very changes, but made by a snapshot that another one separates from the base.
      const { attempt } = snapshots.at(-1)!;
      equal(
        await catalog.findCommit({ ...attempt, base }),
        undefined,
        'findCommit of the same changes on top of an older base',
      );
    },
  },
  {
    name: 'one client serves concurrent calls',
    async run(target) {
      await using catalog = await openLake(target);
      const [id] = (await createTables(catalog, 't')) as [number];
      const { snapshot: base } = await catalog.readHead();
      const reads = Array.from({ length: 8 }, () => catalog.readCatalog());
      const commits = Array.from({ length: 8 }, () => catalog.commit(appendUnless(base, id)));
      const lists = Array.from({ length: 8 }, () => collect(catalog.readSnapshots()));
      for (const rows of await Promise.all(reads)) equal(rows?.tables.length, 1, 'the number of tables');
      for (const outcome of await Promise.all(commits)) committed(outcome);
      for (const list of await Promise.all(lists))
        check(
          list.every((snapshot, k) => snapshot.id === k),
          'a list of snapshots has gaps',
        );
      equal((await catalog.readHead()).snapshot.id, base.id + 8, 'the head');
    },
  },
];
