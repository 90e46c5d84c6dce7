import { expect, setDefaultTimeout, test } from 'bun:test';
import { localStore } from '../../adapters/local.ts';
import { isLakeError, readTask, type ScanTask } from '../../src/index.ts';
import { compareTasks } from '../lakes/compare-tasks.ts';
import { testLake } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';

setDefaultTimeout(300_000);

/** A lake with a part of every kind. */
async function everyKind(): Promise<Awaited<ReturnType<typeof testLake>>> {
  const place = await testLake('sqlite');
  await using duck = await openOracle();
  await place.attach(duck, { inliningRowLimit: 5 });
  const outside = `${place.folder}/p=7`;
  await duck.run(`
    CREATE TABLE lake.t (id INTEGER, s STRUCT(a INTEGER, b VARCHAR), l DOUBLE[], p INTEGER);
    INSERT INTO lake.t SELECT i, {a: i, b: 'b' || i}, [i / 2], 0 FROM range(3000) r(i);
    INSERT INTO lake.t VALUES (-1, NULL, NULL, NULL), (-2, {a: NULL, b: ''}, [NULL, 'nan'], 1);
    DELETE FROM lake.t WHERE id % 7 = 0;
    ALTER TABLE lake.t ALTER id SET DATA TYPE BIGINT;
    ALTER TABLE lake.t ADD COLUMN extra DECIMAL(9, 2) DEFAULT 1.50;
    INSERT INTO lake.t SELECT i, NULL, NULL, 2, 9 FROM range(10000, 10100) r(i);
    DELETE FROM lake.t WHERE id = 10001`);
  await Bun.write(`${outside}/note`, '');
  await duck.run(`
    COPY (SELECT range::BIGINT AS id, 0.25 AS extra FROM range(20000, 20010)) TO '${outside}/f.parquet' (FORMAT parquet);
    CALL ducklake_add_data_files('lake', 't', '${outside}/f.parquet', allow_missing => true, hive_partitioning => true)`);
  await duck.detach();
  return place;
}

const where = { id: { gt: 3 }, or: [{ extra: { lt: '2.00' } }, { s: { isNull: false } }] };

test('tasks of parts of every kind give the rows of the scan', async () => {
  await using place = await everyKind();
  const table = (await place.open()).table('t');
  const kinds = new Set<string>();
  for (const { part } of (await table.scan().plan()).tasks)
    kinds.add(
      part.kind === 'inlined'
        ? part.kind
        : `${part.binding.kind}, ${part.deletes.files.length} delete files, ` +
            `${part.deletes.positions.length} deleted`,
    );
  expect(kinds).toEqual(
    new Set([
      'positions, 1 delete files, 0 deleted',
      'positions, 0 delete files, 1 deleted',
      'names, 0 delete files, 0 deleted',
      'inlined',
    ]),
  );
  for (const columns of [['id', 's', 'l', 'p', 'extra'], ['extra'], []])
    for (const more of [{}, { where }, { where, limit: 5 }, { limit: 3000 }])
      for (const maxByteLength of [1 << 27, 1000, 37])
        expect(
          await compareTasks(
            table,
            { columns, asOf: { snapshot: (await table.scan().plan()).snapshotId }, ...more },
            maxByteLength,
          ),
        ).toBeUndefined();
});

/** All places in a JSON value, as paths. */
function* places(value: unknown, path: readonly string[] = []): Generator<readonly string[]> {
  if (path.length > 0) yield path;
  if (typeof value !== 'object' || value === null) return;
  // Of long lists the ends.
  const keys = Object.keys(value);
  const some = keys.length > 8 && Array.isArray(value) ? [...keys.slice(0, 2), keys.at(-1)!] : keys;
  for (const key of some) yield* places((value as Record<string, unknown>)[key], [...path, key]);
}

const odd: readonly unknown[] = [
  undefined,
  null,
  true,
  -1,
  0,
  1,
  0.5,
  1e300,
  4294967296,
  '',
  'x',
  '1',
  'parquet',
  'list',
  [],
  [null],
  {},
  { op: 'and', parts: [] },
];

test('a task that somebody changed is refused, or read as what it says: nothing else happens', async () => {
  await using place = await everyKind();
  const table = (await place.open()).table('t');
  const { tasks } = await table
    .scan({ where, columns: ['id', 's', 'l', 'extra', 'rowid', 'filename'] as never })
    .plan();
  const store = localStore();
  const outcomes = new Map<string, number>();
  const kinds = new Map(
    tasks.map((task) => [JSON.stringify([task.part.kind, 'binding' in task.part && task.part.binding.kind]), task]),
  );
  expect(kinds.size).toBe(3);
  for (const task of kinds.values())
    for (const path of places(task))
      for (const value of odd) {
        const changed = JSON.parse(JSON.stringify(task)) as Record<string, unknown>;
        const parent = path.slice(0, -1).reduce((at, key) => at[key] as Record<string, unknown>, changed);
        if (value === undefined) delete parent[path.at(-1)!];
        else parent[path.at(-1)!] = value;
        let outcome = 'read';
        try {
          for await (const { rowCount } of readTask(changed as unknown as ScanTask, { store }).batches())
            expect(rowCount).toBeGreaterThan(0);
        } catch (error) {
          if (!isLakeError(error)) throw new Error(`${path.join('.')} = ${JSON.stringify(value)}`, { cause: error });
          outcome = error.code;
        }
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
  expect(outcomes.get('INVALID_ARGUMENT')).toBeGreaterThan(1000);
  expect(outcomes.get('read')).toBeGreaterThan(100);
  // What is in a file decides the rest.
  expect([...outcomes.keys()].sort()).toEqual(['CORRUPT', 'INVALID_ARGUMENT', 'NOT_FOUND', 'UNSUPPORTED', 'read']);
});
