import { access } from 'node:fs/promises';
import { localStore } from '../../adapters/local.ts';
import type { TestLake } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';
import { watchedStore } from '../support/watched-store.ts';
import { type Line, TABLES } from './lines.ts';
import type { Told } from './soak.ts';

type Outcome = 'done' | 'refused' | 'maybe';

/** A call with what became of it. */
interface Call extends Extract<Line, { event: 'try' }> {
  readonly outcome: Outcome;
  readonly name: string;
}

/** What is wrong with a lake, given what its writers were told. */
export async function problemsOf(place: TestLake, told: readonly Told[]): Promise<string[]> {
  const calls = told.flatMap(callsOf);
  const problems: string[] = [];
  await using duck = await openOracle();
  await place.attach(duck);

  const tables = (await duck.rows("SELECT table_name AS name FROM duckdb_tables() WHERE database_name = 'lake'")).map(
    ({ name }) => name!,
  );
  problems.push(...tableProblems(tables, calls));

  const found = new Map<string, Map<number, number>>();
  await using lake = await place.open();
  for (const table of tables) {
    const theirs = (await duck.rowsAgreed(`SELECT id FROM lake.${table} ORDER BY id`)).map(({ id }) => Number(id));
    const ours = (
      await lake
        .table(table)
        .scan({ columns: ['id'] })
        .toArray()
    )
      .map(({ id }) => Number(id))
      .sort((x, y) => x - y);
    if (JSON.stringify(ours) !== JSON.stringify(theirs))
      problems.push(`${table}: DuckDB reads ${theirs.length} rows, we read ${ours.length}, and they differ`);
    const counts = new Map<number, number>();
    for (const id of theirs) counts.set(id, (counts.get(id) ?? 0) + 1);
    found.set(table, counts);

    const [totals] = await duck.rowsAgreed(
      `SELECT count(*) AS n, min(id) AS low, max(id) AS high, min(v) AS first, max(v) AS last FROM lake.${table}`,
    );
    if (Number(totals!['n']) !== theirs.length) problems.push(`${table}: count(*) is ${totals!['n']}`);
    const [ids] = await duck.rows(`SELECT count(DISTINCT rowid) AS ids, count(*) AS n FROM lake.${table}`);
    if (ids!['ids'] !== ids!['n']) problems.push(`${table}: ${ids!['n']} rows have ${ids!['ids']} row ids`);
  }
  problems.push(...rowProblems(found, calls));

  const snapshots = await place.sql('SELECT snapshot_id FROM ducklake_snapshot ORDER BY snapshot_id');
  if (snapshots.some((row, i) => Number(row['snapshot_id']) !== i)) problems.push('snapshot ids have gaps');
  problems.push(...(await fileProblems(place, told)));

  for (const table of TABLES) await duck.run(`INSERT INTO lake.${table} VALUES (-1, 0, 'last')`);
  for (const table of TABLES) {
    await lake.table(table).insert([{ id: -2n, worker: 0, v: 'last' }]);
    const rows = await duck.rowsAgreed(`SELECT min(id) AS low FROM lake.${table} WHERE id < 0`);
    if (rows[0]!['low'] !== '-2') problems.push(`${table} does not go on`);
  }
  return problems;
}

function callsOf({ worker, lines }: Told): Call[] {
  const outcomes = new Map<number, Outcome>();
  for (const line of lines) if (line.event === 'done' || line.event === 'refused') outcomes.set(line.call, line.event);
  return lines
    .filter((line) => line.event === 'try')
    .map((line) => ({
      ...line,
      outcome: outcomes.get(line.call) ?? 'maybe',
      name: `call ${line.call} of worker ${worker}`,
    }));
}

function tableProblems(tables: readonly string[], calls: readonly Call[]): string[] {
  const there = new Set(tables);
  const dropped = new Map(
    calls.flatMap(({ drops, outcome }) => (drops === undefined ? [] : [[drops, outcome] as const])),
  );
  const created = new Map(
    calls.flatMap(({ creates, outcome }) => (creates === undefined ? [] : [[creates, outcome] as const])),
  );
  const problems: string[] = [];
  for (const [name, outcome] of created) {
    const drop = dropped.get(name) ?? 'refused';
    if (there.has(name) && (outcome === 'refused' || drop === 'done')) problems.push(`table ${name} is there`);
    if (!there.has(name) && outcome === 'done' && drop === 'refused') problems.push(`table ${name} is missing`);
  }
  for (const name of tables)
    if (!created.has(name) && !(TABLES as readonly string[]).includes(name)) problems.push(`table ${name} is nobody's`);
  return problems;
}

/** Each call's rows are there once, or not at all, as it was told; and no others. */
function rowProblems(found: ReadonlyMap<string, ReadonlyMap<number, number>>, calls: readonly Call[]): string[] {
  const problems: string[] = [];
  const deletes = new Map(
    calls.flatMap(({ deletes, outcome }) =>
      deletes === undefined ? [] : [[`${deletes.table} ${deletes.ids[0]}`, outcome] as const],
    ),
  );
  const known = new Map<string, Set<number>>([...found.keys()].map((table) => [table, new Set()]));
  for (const { rows, outcome, name } of calls) {
    const states = new Set<string>();
    for (const [table, [first, count]] of Object.entries(rows)) {
      const counts = found.get(table);
      // A table of its own that is gone with its rows.
      if (counts === undefined) continue;
      for (let id = first; id < first + count; id++) known.get(table)!.add(id);
      const times = Array.from({ length: count }, (_, i) => counts.get(first + i) ?? 0);
      const state = times.every((n) => n === 1)
        ? 'there'
        : times.every((n) => n === 0)
          ? 'absent'
          : `there ${times} times`;
      const isDeleted = deletes.get(`${table} ${first}`);
      if (isDeleted === 'done' && state === 'absent') continue;
      if (isDeleted === 'maybe' && outcome === 'done' && state === 'absent') continue;
      if (isDeleted === 'done') problems.push(`${name}: rows ${first} of ${table} were deleted, but are ${state}`);
      states.add(state);
    }
    const expected = { done: 'there', refused: 'absent', maybe: undefined }[outcome];
    for (const state of states)
      if ((state !== 'there' && state !== 'absent') || (expected !== undefined && state !== expected))
        problems.push(`${name} is ${outcome}, but its rows ${JSON.stringify(rows)} are ${state}`);
    if (states.size > 1) problems.push(`${name} is in the lake in part: ${JSON.stringify(rows)}`);
  }
  for (const [table, counts] of found)
    for (const id of counts.keys()) if (!known.get(table)!.has(id)) problems.push(`row ${id} of ${table} is nobody's`);
  return problems;
}

/** No registered file is missing; of ours only those are orphans whose calls were cut off or of unknown outcome. */
async function fileProblems(place: TestLake, told: readonly Told[]): Promise<string[]> {
  const problems: string[] = [];
  const registered = new Set<string>();
  const rows = await place.sql(`
    SELECT s.path AS s, t.path AS t, f.path AS f, f.path_is_relative AS r FROM ducklake_table t JOIN ducklake_schema s ON s.schema_id = t.schema_id
      JOIN (SELECT table_id, path, path_is_relative FROM ducklake_data_file UNION ALL SELECT table_id, path, path_is_relative FROM ducklake_delete_file) f
      ON f.table_id = t.table_id`);
  for (const { s, t, f, r } of rows)
    registered.add(r === true || r === 1 ? `${place.dataPath}${s}${t}${f}` : String(f));
  for (const location of registered)
    if (
      !(await access(location).then(
        () => true,
        () => false,
      ))
    )
      problems.push(`registered file ${location} is missing`);
  for (const { path, path_is_relative } of await place.sql(
    'SELECT path, path_is_relative FROM ducklake_files_scheduled_for_deletion',
  ))
    registered.add(path_is_relative === true || path_is_relative === 1 ? `${place.dataPath}${path}` : String(path));

  const mayBeOrphans = new Set<string>();
  const ours = new Set<string>();
  for (const { lines, isDuck } of told) {
    if (isDuck) continue;
    const isOpen = new Map<number, boolean>();
    const certain = new Set(
      lines.flatMap((line) => (line.event === 'done' || line.event === 'refused' ? [line.call] : [])),
    );
    for (const line of lines)
      if (line.event === 'round')
        isOpen.set(
          line.round,
          line.calls.some((call) => !certain.has(call)),
        );
    for (const line of lines)
      if (line.event === 'file') {
        ours.add(line.location);
        if (isOpen.get(line.round) ?? true) mayBeOrphans.add(line.location);
      }
  }
  for (const location of await watchedStore(localStore(), place.dataPath).left())
    if (ours.has(location) && !registered.has(location) && !mayBeOrphans.has(location))
      problems.push(`${location} is an orphan, although its call's outcome was certain`);
  return problems;
}
