import { expect, setDefaultTimeout, test } from 'bun:test';
import { localStore } from '../../adapters/local.ts';
import { memoryLake } from '../../adapters/memory.ts';
import { type Lake, t } from '../../src/index.ts';
import { CATALOG_KINDS, type TestLake, testLake } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';
import { watchedStore } from '../support/watched-store.ts';
import type { DuckReport } from './duck.ts';
import { rowsOf, type WriterLine, type WriterTask, write } from './writer.ts';

setDefaultTimeout(900_000);

/** A process that says `ready`, and what it prints after that. */
async function start(script: 'writer.ts' | 'duck.ts', argument: object) {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/${script}`, JSON.stringify(argument)], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes('\n')) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`${script} ended before it was ready`);
    text += value;
  }
  return {
    begin: () => child.stdin.write('go\n'),
    /** Closes its input, and gives the lines that it printed until its end. */
    async lines(): Promise<string[]> {
      await child.stdin.end();
      for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value;
      return text.split('\n').slice(1, -1);
    },
  };
}

/** Makes the table, and the rows that the lake must hold in the end known to DuckDB too. */
async function createEvents(place: TestLake): Promise<void> {
  await using lake = await place.open();
  await lake.createTable('events', { id: t.int64().notNull(), writer: t.int32(), v: t.varchar() });
}

const ids = (rows: readonly Record<string, unknown>[], name: string): number[] => rows.map((row) => Number(row[name]));

/** All that was acknowledged is there once, and the catalog is what one writer would have made of it. */
async function checkLake(
  place: TestLake,
  lines: readonly WriterLine[],
  task: WriterTask,
  writers: number[],
  duckIds: readonly number[],
) {
  expect(lines.filter(({ event }) => event === 'error')).toEqual([]);
  const commits = lines.filter(({ event }) => event === 'commit');
  expect(commits.length).toBe(writers.length * task.commits);

  // Each upload happened once, and nothing lies around.
  const uploaded = lines.filter(({ event }) => event === 'end').flatMap(({ locations }) => locations);
  expect(uploaded.length).toBe(commits.length);
  expect(uploaded.toSorted()).toEqual(commits.flatMap(({ locations }) => locations).toSorted());
  const stored = (await watchedStore(localStore(), place.dataPath).left()).filter((location) =>
    location.endsWith('.parquet'),
  );
  const byUs = new Set(uploaded);
  expect(stored.filter((location) => byUs.has(location)).length).toBe(uploaded.length);

  const snapshots = ids(
    await place.sql('SELECT snapshot_id FROM ducklake_snapshot ORDER BY snapshot_id'),
    'snapshot_id',
  );
  expect(snapshots).toEqual(snapshots.map((_, i) => i));
  const acknowledged = commits.map(({ snapshotId }) => snapshotId!);
  expect(new Set(acknowledged).size).toBe(acknowledged.length);
  expect(snapshots.length).toBe(2 + commits.length + duckIds.length);

  const files = await place.sql('SELECT * FROM ducklake_data_file ORDER BY row_id_start');
  expect(files.length).toBe(commits.length + duckIds.length);
  expect(new Set(ids(files, 'data_file_id')).size).toBe(files.length);
  let rowId = 0;
  for (const file of files) {
    expect(Number(file['row_id_start'])).toBe(rowId);
    rowId += Number(file['record_count']);
  }
  const rowCount = commits.length * task.rows + duckIds.length;
  const [stats] = await place.sql('SELECT * FROM ducklake_table_stats');
  expect([Number(stats!['record_count']), Number(stats!['next_row_id']), rowId]).toEqual([
    rowCount,
    rowCount,
    rowCount,
  ]);
  const [head] = await place.sql('SELECT * FROM ducklake_snapshot ORDER BY snapshot_id DESC LIMIT 1');
  expect(Number(head!['next_file_id'])).toBe(files.length);
  expect(Number(head!['schema_version'])).toBe(1);

  const all = [...duckIds];
  for (const writer of writers)
    for (let n = 0; n < task.commits; n++) all.push(...rowsOf(writer, n, task.rows).map(({ id }) => id));
  await using duck = await openOracle();
  await place.attach(duck);
  expect(await duck.rowsAgreed('SELECT count(*) AS n, min(id) AS low, max(id) AS high FROM lake.events')).toEqual([
    { n: String(rowCount), low: String(Math.min(...all)), high: String(Math.max(...all)) },
  ]);
  expect((await duck.rowsAgreed('SELECT id FROM lake.events ORDER BY id')).map(({ id }) => Number(id))).toEqual(
    all.toSorted((a, b) => a - b),
  );
  expect(await duck.rows('SELECT count(DISTINCT rowid) AS n FROM lake.events')).toEqual([{ n: String(rowCount) }]);
  // It can still write, and goes on where we are.
  await duck.run("INSERT INTO lake.events VALUES (0, 0, 'last')");
  expect(await duck.rowsAgreed('SELECT max(rowid) AS last, count(*) AS n FROM lake.events')).toEqual([
    { last: String(rowCount), n: String(rowCount + 1) },
  ]);
}

async function contest(
  place: TestLake,
  processes: readonly (readonly number[])[],
  here: readonly number[],
  size: { commits: number; rows: number },
) {
  await createEvents(place);
  const task: WriterTask = { address: place.address, writers: [], ...size };
  const [duck, ...children] = await Promise.all([
    start('duck.ts', place.address),
    ...processes.map((writers) => start('writer.ts', { ...task, writers })),
  ]);
  const lines: WriterLine[] = [];
  for (const child of children) child.begin();
  await Promise.all(here.map((writer) => write(task, writer, (line) => lines.push(line))));
  for (const child of children) lines.push(...(await child.lines()).map((line): WriterLine => JSON.parse(line)));
  const report: DuckReport = JSON.parse((await duck.lines()).at(-1)!);
  expect(report.ids.length + report.failures).toBeGreaterThan(0);
  await checkLake(place, lines, task, [...processes.flat(), ...here], report.ids);
}

test('16 writers and DuckDB on Postgres: 6 processes, 10 connections of this one', async () => {
  await using place = await testLake('postgres');
  const here = Array.from({ length: 10 }, (_, i) => 100 + i);
  await contest(place, [[1], [2], [3], [4], [5], [6]], here, { commits: 6, rows: 3 });
});

test('4 processes and DuckDB on SQLite', async () => {
  await using place = await testLake('sqlite');
  await contest(place, [[1], [2], [3], [4]], [], { commits: 8, rows: 3 });
});

for (const kind of CATALOG_KINDS)
  test(`processes that open a lake at once make one, ${kind}`, async () => {
    await using place = await testLake(kind);
    const task: WriterTask = { address: place.address, writers: [1], commits: 0, rows: 0 };
    const children = await Promise.all(
      [1, 2, 3, 4].map((writer) => start('writer.ts', { ...task, writers: [writer] })),
    );
    for (const child of children) child.begin();
    const ends = await Promise.all(children.map((child) => child.lines()));
    expect(ends.flat().map((line) => JSON.parse(line).error)).toEqual([undefined, undefined, undefined, undefined]);
    const { ducklake_metadata, ducklake_snapshot, ducklake_schema, ducklake_snapshot_changes } = await place.dump();
    expect([
      ducklake_metadata.length,
      ducklake_snapshot.length,
      ducklake_schema.length,
      ducklake_snapshot_changes.length,
    ]).toEqual([4, 1, 1, 1]);
  });

async function concurrentInserts(lake: Lake): Promise<void> {
  const events = await lake.createTable('events', { id: t.int64().notNull(), writer: t.int32(), v: t.varchar() });
  const results = await Promise.all(Array.from({ length: 16 }, (_, writer) => events.insert(rowsOf(writer, 0, 3))));
  expect(results.map(({ rowCount }) => rowCount)).toEqual(new Array(16).fill(3));
  const rows = await events.scan().toArray();
  expect(rows.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 16 }, (_, writer) => rowsOf(writer, 0, 3).map(({ id }) => id)).flat(),
  );
  const stats = await events.stats();
  expect([stats.rowCount, stats.columns[0]!.min, stats.columns[0]!.max]).toEqual([48, '0', '15000002']);
  const starts = (await events.files()).map(({ rowIdStart }) => rowIdStart!).sort((a, b) => a - b);
  expect(starts).toEqual(starts.map((_, i) => i * 3));
}

for (const kind of CATALOG_KINDS)
  test(`16 inserts at once on one handle, ${kind}`, async () => {
    await using place = await testLake(kind);
    await concurrentInserts(await place.open());
  });

test('16 inserts at once on one handle, memory', async () => {
  await using lake = await memoryLake({ dataInliningRowLimit: 0 });
  await concurrentInserts(lake);
});
