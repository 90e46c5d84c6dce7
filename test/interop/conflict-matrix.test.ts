import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { conflictRules, firstConflict, type OwnChange } from '../../src/catalog/conflicts.ts';
import { type Change, changeText, type IdChange, parseChanges } from '../../src/spec/changes.ts';
import { attachTwice, changeSql, madeKinds, ownChange, type Playground, playground } from '../support/duck-changes.ts';
import { type TestLake, testLake } from '../support/lakes.ts';
import { literal, type Oracle, openOracle } from '../support/oracle.ts';

setDefaultTimeout(120_000);

// DuckDB looks at nothing of what others committed but `changes_made`, and files with deletes: snapshots that only have those
// ask it about every pair of changes, with objects of the same and of other ids and names.

let place: TestLake;
let duck: Oracle;

beforeAll(async () => {
  place = await testLake('postgres');
  duck = await openOracle();
  await attachTwice(duck, (options) => place.attach(duck, options));
});
afterAll(async () => {
  await duck?.close();
  await place?.[Symbol.asyncDispose]();
});

/** A snapshot by somebody else. */
async function commitElsewhere(changes: readonly Change[], more = ''): Promise<void> {
  await place.sql(`INSERT INTO ducklake_snapshot SELECT snapshot_id + 1, now(), schema_version, next_catalog_id, next_file_id
    FROM ducklake_snapshot ORDER BY snapshot_id DESC LIMIT 1;
    INSERT INTO ducklake_snapshot_changes (snapshot_id, changes_made)
    SELECT max(snapshot_id), ${literal(changes.map((change) => changeText(change)).join(','))} FROM ducklake_snapshot; ${more}`);
}

/** What DuckDB says to a change when others commit while its transaction is open: nothing, or a conflict. */
async function commitBeside(sql: string, others: () => Promise<void>): Promise<string> {
  await duck.run(`BEGIN; ${sql}`);
  await others();
  try {
    await duck.run('COMMIT');
    return 'committed';
  } catch (error) {
    await duck.run('ROLLBACK').catch(() => undefined);
    return /Transaction conflict/.test(String(error)) ? 'conflict' : String(error);
  }
}

/** Changes of every kind, about the same objects and about others. */
function othersFor(own: OwnChange, at: Playground): Change[] {
  const ids = new Set([...('id' in own ? [own.id] : []), at.schemaId, at.tableId, 9999]);
  const idKinds = Object.keys(conflictRules).filter((kind) => !kind.startsWith('created_')) as IdChange[];
  const schema = 'schema' in own ? own.schema : own.kind === 'dropped_schema' ? own.name : at.schema;
  const name = 'name' in own ? own.name : 't';
  const named = (['created_table', 'created_view', 'created_scalar_macro', 'created_table_macro'] as const).flatMap(
    (kind): Change[] => [
      { kind, schema, name },
      { kind, schema: schema.toUpperCase(), name: name.toUpperCase() },
      { kind, schema, name: `${name}2` },
      { kind, schema: `${schema}2`, name },
      { kind, schema: `x"."${schema}`, name: `,created_schema:"${name}"` },
    ],
  );
  return [
    ...idKinds.flatMap((kind) => [...ids].map((id): Change => ({ kind, id }))),
    { kind: 'created_schema', name },
    { kind: 'created_schema', name: name.toUpperCase() },
    { kind: 'created_schema', name: `${name}2` },
    ...named,
  ];
}

describe('DuckDB conflicts exactly where the matrix says', () => {
  for (const kind of madeKinds)
    test(kind, async () => {
      const at = await playground(duck, (sql) => place.sql(sql), `m_${kind}`);
      const files = await place.sql(
        `SELECT data_file_id FROM ducklake_data_file WHERE table_id = ${at.tableId} ORDER BY data_file_id`,
      );
      const fileIds = files.map((row) => Number(row['data_file_id']));
      // The row that is deleted is in the first file.
      const own = ownChange(kind, at, fileIds.slice(0, 1));
      const others = othersFor(own, at);
      const isAtOdds = (change: Change): boolean =>
        firstConflict([own], { changes: [change], deletedFrom: new Set() }) !== undefined;
      const atOdds = others.filter(isAtOdds);
      expect(atOdds.length).toBeGreaterThan(0);
      const answers: Record<string, string> = {};
      for (const change of atOdds)
        answers[changeText(change)] = await commitBeside(changeSql[kind](at), () => commitElsewhere([change]));
      expect(answers).toEqual(Object.fromEntries(atOdds.map((change) => [changeText(change), 'conflict'])));

      let together = others.filter((change) => !isAtOdds(change));
      let deletes = '';
      if (kind === 'deleted_from_table') {
        const deleted: Change = { kind, id: at.tableId };
        const [same, other] = [fileIds[0]!, fileIds[1]!];
        const deletesIn = (fileId: number): string =>
          `INSERT INTO ducklake_delete_file (delete_file_id, table_id, begin_snapshot, data_file_id, path, path_is_relative, format, delete_count)
           SELECT 100000 + ${fileId}, ${at.tableId}, max(snapshot_id), ${fileId}, 'none', true, 'parquet', 1 FROM ducklake_snapshot`;
        expect(firstConflict([own], { changes: [deleted], deletedFrom: new Set([same]) })).toBeDefined();
        expect(await commitBeside(changeSql[kind](at), () => commitElsewhere([deleted], deletesIn(same)))).toBe(
          'conflict',
        );
        await place.sql('DELETE FROM ducklake_delete_file WHERE delete_file_id >= 100000');
        // Files that are not known stand against every delete from the table.
        expect(firstConflict([own], { changes: [deleted] })).toBeDefined();
        expect(firstConflict([own], { changes: [deleted], deletedFrom: new Set([other]) })).toBeUndefined();
        together = [...together, deleted];
        deletes = deletesIn(other);
      }
      expect(await commitBeside(changeSql[kind](at), () => commitElsewhere(together, deletes))).toBe('committed');
      const [last] = await place.sql(
        'SELECT changes_made AS made FROM ducklake_snapshot_changes ORDER BY snapshot_id DESC LIMIT 1',
      );
      const made = parseChanges(String(last!['made']));
      expect(made.map((change) => change.kind)).toEqual([kind]);
      expect(made[0]).toEqual(expect.objectContaining('id' in own ? { id: own.id } : { name: own.name }));
    });
});

test('every kind of change that DuckDB reads has its row, and its rules are about kinds that it reads', () => {
  expect(Object.keys(conflictRules).sort()).toEqual([...madeKinds, 'compacted_table'].sort());
  for (const rules of Object.values(conflictRules))
    for (const kind of Object.keys(rules)) expect(Object.keys(conflictRules)).toContain(kind);
});
