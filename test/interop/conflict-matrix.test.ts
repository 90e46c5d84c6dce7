import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  conflictRules,
  firstConflict,
  type OtherChanges,
  type OwnChange,
  stricterRules,
} from '../../src/catalog/conflicts.ts';
import { type Change, changeText, type IdChange, parseChanges } from '../../src/spec/changes.ts';
import {
  attachTwice,
  changeSql,
  type MadeKind,
  madeKinds,
  ownChange,
  type Playground,
  playground,
} from '../support/duck-changes.ts';
import { type TestLake, testLake } from '../support/lakes.ts';
import { literal, type Oracle, openOracle } from '../support/oracle.ts';

setDefaultTimeout(300_000);

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

const byReference = (own: OwnChange, others: OtherChanges): ReturnType<typeof firstConflict> =>
  firstConflict([own], others, conflictRules);

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
        byReference(own, { changes: [change], deletedFrom: new Set() }) !== undefined;
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
        expect(byReference(own, { changes: [deleted], deletedFrom: new Set([same]) })).toBeDefined();
        expect(await commitBeside(changeSql[kind](at), () => commitElsewhere([deleted], deletesIn(same)))).toBe(
          'conflict',
        );
        await place.sql('DELETE FROM ducklake_delete_file WHERE delete_file_id >= 100000');
        // Files that are not known stand against every delete from the table.
        expect(byReference(own, { changes: [deleted] })).toBeDefined();
        expect(byReference(own, { changes: [deleted], deletedFrom: new Set([other]) })).toBeUndefined();
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

describe('where we are stricter, the reference comes to harm', () => {
  /** What is seen after DuckDB has committed one change and then, from a transaction that began before, another. */
  const seenAfter = async (mine: MadeKind, theirs: string, at: Playground, look: string): Promise<unknown> => {
    await using other = await openOracle();
    await attachTwice(other, (options) => place.attach(other, options));
    expect(await commitBeside(changeSql[mine](at), () => other.run(theirs))).toBe('committed');
    await using fresh = await openOracle();
    await place.attach(fresh);
    return (await fresh.rows(look))[0]!['seen'];
  };
  const newPlayground = (name: string): Promise<Playground> => playground(duck, (sql) => place.sql(sql), name);
  const isThere = ({ schema }: Playground, id: number): string =>
    `SELECT count(*) FILTER (id = ${id}) AS seen FROM lake.${schema}.t`;
  const counts = ({ schema }: Playground): string =>
    `SELECT concat_ws(' ', (SELECT count(*) FROM lake.${schema}.t), (SELECT len(list(id)) FROM lake.${schema}.t)) AS seen`;

  for (const [mine, theirs, id] of [
    ['merge_adjacent', 'inlined_delete', 4],
    ['inlined_delete', 'merge_adjacent', 4],
    ['rewrite_delete', 'inlined_delete', 7],
  ] as const)
    test(`${mine} after ${theirs}: a row that was deleted is there again`, async () => {
      const at = await newPlayground(`h_${mine}`);
      const sql =
        theirs === 'inlined_delete' ? `DELETE FROM inl.${at.schema}.t WHERE id = ${id}` : changeSql[theirs](at);
      expect(await seenAfter(mine, sql, at, isThere(at, id))).toBe('1');
      expect(stricterRules[mine]?.[theirs]).toBe('id');
    });

  for (const [mine, theirs] of [
    ['deleted_from_table', 'inlined_delete'],
    ['inlined_delete', 'deleted_from_table'],
  ] as const)
    test(`${mine} after ${theirs}: a row is counted twice`, async () => {
      const at = await newPlayground(`h_${mine}_twice`);
      const [into, row] = theirs === 'inlined_delete' ? ['inl', 1] : ['lake', 4];
      const sql = `DELETE FROM ${into}.${at.schema}.t WHERE id = ${row}`;
      expect(await seenAfter(mine, sql, at, counts(at))).toBe('7 8');
      expect(stricterRules[mine]?.[theirs]).toBe('id');
    });

  for (const kind of ['created_scalar_macro', 'created_table_macro'] as const)
    test(`dropped_schema after ${kind} in it: the lake can't be opened`, async () => {
      await using own = await testLake('postgres');
      await using one = await openOracle();
      await attachTwice(one, (options) => own.attach(one, options));
      const at = await playground(one, (sql) => own.sql(sql), 'p');
      await one.run(`BEGIN; ${changeSql.dropped_schema(at)}`);
      await using other = await openOracle();
      await attachTwice(other, (options) => own.attach(other, options));
      await other.run(changeSql[kind]({ ...at, schema: at.emptySchema }));
      await one.run('COMMIT');
      await using fresh = await openOracle();
      const opened = own.attach(fresh).then(() => fresh.rows(`FROM lake.${at.schema}.t`));
      await expect(opened).rejects.toThrow('could not find schema that corresponds to the macro');
      expect(stricterRules.dropped_schema?.[kind]).toBe('holds');
    });
});

test('every kind of change that DuckDB reads has its row, and its rules are about kinds that it reads', () => {
  expect(Object.keys(conflictRules).sort()).toEqual([...madeKinds, 'compacted_table'].sort());
  for (const rules of Object.values(conflictRules))
    for (const kind of Object.keys(rules)) expect(Object.keys(conflictRules)).toContain(kind);
});
