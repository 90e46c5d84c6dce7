/**
 * `npm run demo [-- FOLDER]`: real data sets into a lake of SQLite and local files, and the same questions to edgemere and to
 * stock DuckDB. FOLDER is demo-lake unless given; what an earlier demo made there is replaced.
 */
import { type InsertedRows, type Lake, openLake } from 'edgemere';
import { localStore } from 'edgemere/local';
import { sqliteCatalog } from 'edgemere/sqlite';
import { counted, renderTable, showBytes, showCount } from '../cli/output/render.ts';
import { rowRenderer } from '../cli/output/rows.ts';
import { startProgress } from '../cli/progress.ts';
import { answersOf, compareWithDuckDb } from './demo/compare.ts';
import { emptyFolder } from './demo/folder.ts';
import { type DemoTable, demoTables } from './demo/tables.ts';

/** node:sqlite says that it is experimental, in the middle of the demo. */
process.removeAllListeners('warning');

const folder = emptyFolder(process.argv[2] ?? 'demo-lake');
const [catalogPath, dataPath] = [`${folder}/catalog.sqlite`, `${folder}/data/`];

const heading = (text: string): void => console.log(`\n── ${text} ${'─'.repeat(Math.max(0, 76 - text.length))}\n`);

heading('A lake: its catalog in SQLite, its data in Parquet files');
console.log(`catalog  ${catalogPath}\ndata     ${dataPath}`);
const lake = await openLake({ catalog: sqliteCatalog({ path: catalogPath }), store: localStore(), dataPath });

heading('Five data sets, from Parquet, CSV, JSON and GeoJSON');
const [flights, airports, zipcodes, movies, earthquakes] = demoTables();
await ingest(lake, [flights], 'three million flights');
// Two tables, one snapshot: both are there, or neither.
await ingest(lake, [airports, zipcodes], 'reference data');
await ingest(lake, [movies], 'a messy file');
await ingest(lake, [earthquakes], 'a week of earthquakes');

heading('Tables');
console.log(await tableOfTables(lake));

heading('Snapshots');
console.log(await tableOfSnapshots(lake));

heading('Three rows');
console.log(await someRows(lake, earthquakes));

heading('Statistics of the flights, by which readers skip files');
console.log(await tableOfStats(lake, flights));

heading('The same questions to DuckDB');
const answers = await answersOf(lake, demoTables());
// SQLite's locks belong to a process: it is closed before DuckDB opens it in this one.
await lake.close();
console.log(`  ATTACH 'ducklake:sqlite:${catalogPath}' AS lake;\n`);
process.exitCode = (await compareWithDuckDb(catalogPath, answers)) ? 0 : 1;

/** Makes tables and fills them, as one snapshot. */
async function ingest(target: Lake, tables: readonly DemoTable[], message: string): Promise<void> {
  const started = performance.now();
  const { snapshotId, value } = await target.transaction(
    async (tx) => {
      const results: InsertedRows[] = [];
      for (const { name, columns, rows, byteLength } of tables) {
        const table = await tx.createTable(name, columns);
        const progress = startProgress(process.stderr, name, byteLength);
        try {
          const onProgress = ({ rowCount }: { rowCount: number }): void => progress.rows(rowCount);
          results.push(
            await table.insert(rows({ stdin: () => process.stdin, onBytes: progress.read }), { onProgress }),
          );
        } finally {
          progress.stop();
        }
      }
      return results;
    },
    { author: 'demo', message },
  );
  const seconds = (performance.now() - started) / 1000;
  const names = tables.map(({ name }) => name).join(' and ');
  const rowCount = value.reduce((sum, result) => sum + result.rowCount, 0);
  const byteLength = value.flatMap(({ files }) => files).reduce((sum, file) => sum + file.byteLength, 0);
  console.log(
    `snapshot ${snapshotId}  ${names}: ${counted(rowCount, 'row')}, ${showBytes(byteLength)} of Parquet, ${seconds.toFixed(1)} s`,
  );
}

async function tableOfTables(source: Lake): Promise<string> {
  const rows: string[][] = [];
  for (const { schema, name } of await source.tables()) {
    const table = source.table({ schema, name });
    const [{ rowCount, byteLength }, { columns }, files] = [
      await table.stats(),
      await table.describe(),
      await table.files(),
    ];
    rows.push([
      `${schema}.${name}`,
      String(columns.length),
      showCount(rowCount),
      String(files.length),
      showBytes(byteLength),
    ]);
  }
  return renderTable(['table', 'columns', 'rows', 'files', 'size'], rows, [false, true, true, true, true]);
}

async function tableOfSnapshots(source: Lake): Promise<string> {
  const rows: string[][] = [];
  for await (const { id, time, author, message, changes } of source.snapshots()) {
    const made = changes.flatMap((change) => (change.kind === 'created_table' ? [change.name] : []));
    rows.push([String(id), time.toJSON(), made.join(', '), author ?? '', message ?? '']);
  }
  return renderTable(['id', 'time', 'new tables', 'author', 'message'], rows, [true]);
}

async function someRows(source: Lake, { name }: DemoTable): Promise<string> {
  const table = source.table(name);
  const wanted = ['time', 'magnitude', 'depth_km', 'place', 'tsunami'];
  const { columns } = await table.describe();
  const shown = wanted.map((wantedName) => columns.find((column) => column.name === wantedName)!);
  const renderer = rowRenderer('table', shown);
  for await (const batch of table.scan({ columns: wanted, limit: 3 }).batches()) renderer.batch(batch);
  return renderer.end().trimEnd();
}

async function tableOfStats(source: Lake, { name }: DemoTable): Promise<string> {
  const { columns } = await source.table(name).stats();
  return renderTable(
    ['column', 'min', 'max', 'has null'],
    columns.map(({ name: column, min, max, containsNull }) => [
      column,
      min ?? '',
      max ?? '',
      containsNull ? 'yes' : 'no',
    ]),
  );
}
