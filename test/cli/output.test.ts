import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises';
import { localStore } from '../../adapters/local.ts';
import { sqliteCatalog } from '../../adapters/sqlite.ts';
import { openLake, t } from '../../src/index.ts';
import { openOracle } from '../support/oracle.ts';
import { type Cli, cleanEnv, MAIN, NODE, scratch, startCli } from './run.ts';

setDefaultTimeout(300_000);

let cli: Cli;
beforeAll(() => {
  cli = startCli();
});
afterAll(() => cli[Symbol.asyncDispose]());

const columns = `id bigint, name varchar, doc json, price decimal(12, 2), at timestamptz, tags varchar[], big hugeint`;
const rows = Array.from({ length: 2500 }, (_, i) =>
  JSON.stringify({
    id: i,
    name: i % 7 === 0 ? null : `name, "${i}"`,
    doc: { i },
    price: `${i}.50`,
    at: new Date(i * 1000),
    tags: i % 3 === 0 ? [] : [`t${i}`, null],
    big: i * 1000,
  }),
).join('\n');

async function lakeWithRows(folder: string): Promise<string> {
  const lake = `${folder}/lake`;
  await cli.ok(['init', lake]);
  await cli.ok(['create', lake, 't', columns]);
  await cli.ok(['append', lake, 't', '-'], { stdin: rows });
  return lake;
}

describe('scan --output', () => {
  test('writes what scan prints, in the format of the name or the one that is given', async () => {
    await using folder = await scratch();
    const lake = await lakeWithRows(folder.path);
    const some = ['scan', lake, 't', '--where', '{"id": {"gte": 1200}}', '--columns', 'id,name,doc,tags,price,at,big'];
    for (const [name, format] of [
      ['a.ndjson', 'ndjson'],
      ['a.jsonl', 'ndjson'],
      ['a.JSON', 'json'],
      ['a.csv', 'csv'],
    ]) {
      const file = `${folder.path}/out/${name}`;
      const printed = await cli.ok([...some, '--format', format!]);
      expect(await cli.ok([...some, '--output', file])).toMatch(/^wrote 1,300 rows to .*\/out\/a\.\w+ \(\d+ kB\)\n$/);
      expect(await readFile(file, 'utf8')).toBe(printed);
      expect(printed.length).toBeGreaterThan(50_000);
    }
    const odd = `${folder.path}/out/rows.txt`;
    await cli.ok([...some, '--format', 'csv', '--limit', '1', '--output', odd]);
    expect((await readFile(odd, 'utf8')).split('\n').length).toBe(3);
    await cli.ok([...some, '--json', '--limit', '0', '--output', odd]);
    expect(await readFile(odd, 'utf8')).toBe('[]\n');
    expect((await readdir(`${folder.path}/out`)).sort()).toEqual([
      'a.JSON',
      'a.csv',
      'a.jsonl',
      'a.ndjson',
      'rows.txt',
    ]);
  });

  test('Parquet has the values and types of the table, for DuckDB and for append', async () => {
    await using folder = await scratch();
    const lake = await lakeWithRows(folder.path);
    const file = `${folder.path}/part.parquet`;
    const where = '{"and": [{"name": {"isNull": false}}, {"at": {"lt": "1970-01-01T00:30:00Z"}}]}';
    await cli.ok(['scan', lake, 't', '--where', where, '--output', file]);
    await using duck = await openOracle();
    await duck.attachSqlite(`${lake}/catalog.sqlite`);
    const kept = `FROM lake.t WHERE name IS NOT NULL AND "at" < TIMESTAMPTZ '1970-01-01 00:30:00+00'`;
    expect(await duck.rows(`FROM '${file}'`)).toEqual(await duck.rows(`${kept} ORDER BY id`));
    const types = async (of: string): Promise<unknown> =>
      (await duck.rows(`DESCRIBE ${of}`)).map((row) => [row['column_name'], row['column_type']]);
    // Parquet has no integers of 128 bits.
    expect(await types(`FROM '${file}'`)).toEqual(
      ((await types('lake.t')) as string[][]).map(([name, type]) => [
        name,
        type === 'HUGEINT' ? 'DECIMAL(38,0)' : type,
      ]),
    );
    await duck.detach();
    // What append takes of Parquet.
    const flat = ['scan', lake, 't', '--where', where, '--columns', 'id,name,price,at,big'];
    await cli.ok([...flat, '--output', `${folder.path}/flat.parquet`]);
    await cli.ok(['append', lake, 'copy', `${folder.path}/flat.parquet`, '--create']);
    expect(await cli.ok(['scan', lake, 'copy'])).toBe(await cli.ok(flat));
    await cli.ok(['scan', lake, 't', '--where', '{"id": -1}', '--output', file]);
    expect(await duck.rows(`SELECT count(*) n FROM '${file}'`)).toEqual([{ n: '0' }]);
  });

  test('replaces a file as a whole, also one behind a link, and only when all went well', async () => {
    await using folder = await scratch();
    const lake = await lakeWithRows(folder.path);
    const [file, link] = [`${folder.path}/rows.csv`, `${folder.path}/link.csv`];
    await writeFile(file, 'before');
    await symlink('rows.csv', link);
    // A file of the table is gone.
    await cli.ok(['create', lake, 'broken', 'id int']);
    // More rows than are kept in the catalog.
    for (const id of [1, 2]) await cli.ok(['append', lake, 'broken', '-'], { stdin: `{"id":${id}}\n`.repeat(50) });
    const files = JSON.parse(await cli.ok(['files', lake, 'broken', '--json'])) as { location: string }[];
    await Bun.file(files[1]!.location).delete();
    for (const format of ['csv', 'parquet']) {
      const failed = await cli.run(['scan', lake, 'broken', '--format', format, '--output', file]);
      expect([failed.code, failed.out]).toEqual([1, '']);
      expect(await readFile(file, 'utf8')).toBe('before');
    }
    await cli.ok(['scan', lake, 't', '--columns', 'id', '--limit', '2', '--output', link]);
    expect(await readFile(file, 'utf8')).toBe('id\n0\n1\n');
    expect(await readlink(link)).toBe('rows.csv');
    expect((await readdir(folder.path)).sort()).toEqual(['lake', 'link.csv', 'rows.csv']);
  });

  test('is refused where it can not be meant', async () => {
    await using folder = await scratch();
    const lake = await lakeWithRows(folder.path);
    for (const [args, code, message] of [
      [['--output', 'rows.txt'], 2, "can't tell the format of rows.txt by its name"],
      [['--output', 'rows.csv', '--format', 'table'], 2, 'for people'],
      [['--format', 'parquet'], 2, 'add --output FILE'],
      [['--output', 'x.csv', '--json', '--format', 'csv'], 2, 'say different things'],
      [['--output', folder.path, '--format', 'csv'], 1, 'is a folder'],
      [['--output', '/dev/null', '--format', 'csv'], 1, 'is no regular file'],
      [['--where', '{"nope": 1}'], 1, 'there is no column nope'],
      [['--where', '{'], 2, 'not JSON'],
    ] as const) {
      const result = await cli.run(['scan', lake, 't', ...args]);
      expect([args, result.code]).toEqual([args, code]);
      expect(result.log).toContain(message);
    }
  });
});

describe('Ctrl-C', () => {
  test.each(['ndjson', 'csv', 'parquet'])('in a scan into %s leaves nothing', async (format) => {
    await using folder = await scratch();
    const lake = `${folder.path}/lake`;
    await cli.ok(['init', lake]);
    {
      await using opened = await openLake({
        catalog: sqliteCatalog({ path: `${lake}/catalog.sqlite` }),
        store: localStore(),
      });
      const table = await opened.createTable('t', { a: t.int64(), b: t.varchar() });
      const rowCount = 1_000_000;
      const a = BigInt64Array.from({ length: rowCount }, (_, i) => BigInt(i));
      const b = Array.from({ length: rowCount }, (_, i) => `text ${i} ${'x'.repeat(50)}`);
      for (let i = 0; i < 2; i++) await table.insert({ columns: { a, b } });
    }
    const out = `${folder.path}/out`;
    const child = Bun.spawn([NODE, MAIN, 'scan', lake, 't', '--output', `${out}/rows.${format}`], {
      env: cleanEnv(),
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const left = (): Promise<string[]> => readdir(out).catch(() => []);
    while ((await left()).length === 0 && child.exitCode === null) await Bun.sleep(5);
    child.kill('SIGINT');
    const [log, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
    expect({ code, log }).toEqual({ code: 130, log: 'edgemere: interrupted: nothing was written\n' });
    expect(await left()).toEqual([]);
  });
});
