import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openOracle } from '../support/oracle.ts';
import { cleanEnv, DATA, headOf, MAIN, NODE, runProcess, scratch } from './run.ts';

setDefaultTimeout(900_000);

/** All files below a folder. */
async function filesIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

async function newLake(folder: string): Promise<{ lake: string; catalog: string }> {
  const lake = `${folder}/lake`;
  expect((await runProcess(['init', lake])).code).toBe(0);
  return { lake, catalog: `${lake}/catalog.sqlite` };
}

describe('in a shell', () => {
  test('three commands from nothing to rows, which DuckDB counts', async () => {
    await using folder = await scratch();
    const { lake, catalog } = await newLake(folder.path);
    const append = await runProcess(['append', lake, 'airports', `${DATA}/airports.csv`, '--create']);
    // No progress in a pipe, and no warnings.
    expect(append).toMatchObject({ code: 0, log: '' });
    expect(append.out).toMatch(
      /^made main\.airports of 7 columns, types from all 3,376 records\nappended 3,376 rows to main\.airports in 1 file \(\d+ kB\), snapshot 1\n$/,
    );
    const scan = await runProcess(['scan', lake, 'airports', '--limit', '1']);
    expect(scan).toEqual({
      code: 0,
      log: '',
      out: '{"iata":"00M","name":"Thigpen","city":"Bay Springs","state":"MS","country":"USA","latitude":31.95376472,"longitude":-89.23450472}\n',
    });
    await using duck = await openOracle();
    await duck.attachSqlite(catalog);
    const counts = 'count(*) n, count(DISTINCT iata) iata, min(latitude) low, max(longitude) high, count(city) cities';
    expect(await duck.rowsAgreed(`SELECT ${counts} FROM lake.airports`)).toEqual(
      await duck.rows(
        `SELECT ${counts} FROM read_csv('${DATA}/airports.csv', types = {'latitude': 'DOUBLE', 'longitude': 'DOUBLE'})`,
      ),
    );
  });

  test('exit codes reach it: 1 failed, 2 used wrongly', async () => {
    expect(await runProcess(['ls', '/nowhere/at/all'])).toMatchObject({ code: 1, out: '' });
    expect(await runProcess(['scan'])).toMatchObject({ code: 2, out: '' });
    expect(await runProcess(['--version'])).toEqual({ code: 0, out: '0.1.0\n', log: '' });
  });

  test('scan | head ends quietly, and a pipe goes from one lake into another', async () => {
    await using folder = await scratch();
    const { lake } = await newLake(folder.path);
    const rows = Array.from({ length: 50_000 }, (_, i) => `{"id":${i},"text":"${'x'.repeat(40)}"}\n`).join('');
    expect((await runProcess(['append', lake, 't', '-', '--create'], { stdin: rows })).code).toBe(0);

    const shell = async (script: string): Promise<{ code: number; out: string; log: string }> => {
      const child = Bun.spawn(
        ['/bin/bash', '-c', `edgemere() { "${NODE}" "${MAIN}" "$@"; }\nset -o pipefail\n${script}`],
        {
          env: cleanEnv({ EDGEMERE_LAKE: lake }),
          stdout: 'pipe',
          stderr: 'pipe',
        },
      );
      const [out, log] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
      return { code: await child.exited, out, log };
    };
    expect(await shell('edgemere scan t | head -n 2 | cut -c 1-9')).toEqual({
      code: 0,
      out: '{"id":0,"\n{"id":1,"\n',
      log: '',
    });
    expect(
      await shell(
        'edgemere scan t | edgemere append copy - --create > /dev/null && edgemere scan copy | cmp - <(edgemere scan t)',
      ),
    ).toEqual({ code: 0, out: '', log: '' });
  });
});

test('the commands of the README run one after another', async () => {
  await using folder = await scratch();
  const readme = await readFile(join(import.meta.dir, '../../README.md'), 'utf8');
  const script = /^```sh\n(edgemere init [\s\S]*?)^```/m.exec(readme)![1]!;
  await copyFile(`${DATA}/movies.json`, `${folder.path}/movies.json`);
  await writeFile(
    `${folder.path}/orders.ndjson`,
    '{"id":1,"placed":"2024-01-15T12:30:00Z","total":9.90,"lines":[{"item":"tea","n":2}]}\n',
  );
  const child = Bun.spawn(
    ['/bin/bash', '-e', '-c', `edgemere() { "${NODE}" "${MAIN}" "$@"; }\nset -o pipefail\n${script}`],
    {
      cwd: folder.path,
      env: cleanEnv(),
      stdout: 'pipe',
      stderr: 'pipe',
    },
  );
  const [out, log] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  expect({ code: await child.exited, log }).toEqual({
    code: 0,
    log: 'note: column "Title" is json: values of several kinds\n',
  });
  expect(out).toContain('\nid,total\n1,9.90\n');
});

describe('Ctrl-C', () => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    test(`${signal} in an append leaves no snapshot and no file`, async () => {
      await using folder = await scratch();
      const { lake, catalog } = await newLake(folder.path);
      const child = Bun.spawn([NODE, MAIN, 'append', lake, 'flights', `${DATA}/flights-3m.parquet`, '--create'], {
        env: cleanEnv(),
        stdout: 'pipe',
        stderr: 'pipe',
      });
      // Its first file is being written.
      while ((await filesIn(`${lake}/data`)).length === 0 && child.exitCode === null) await Bun.sleep(20);
      child.kill(signal);
      const [log, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
      expect({ code, log }).toEqual({ code: 130, log: 'edgemere: interrupted: nothing was committed\n' });
      expect(headOf(catalog)).toBe(0);
      expect(await filesIn(`${lake}/data`)).toEqual([]);
      const ls = await runProcess(['ls', lake, '--json']);
      expect(ls.out).toBe('[]\n');
    });

  test('while standard input is waited for', async () => {
    await using folder = await scratch();
    const { lake, catalog } = await newLake(folder.path);
    const child = Bun.spawn([NODE, MAIN, 'append', lake, 't', '-', '--create'], {
      env: cleanEnv({ TMPDIR: folder.path }),
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    child.stdin.write('{"a":1}\n');
    await child.stdin.flush();
    const spooled = async (): Promise<string[]> =>
      (await readdir(folder.path)).filter((name) => name.startsWith('edgemere-'));
    while ((await spooled()).length === 0) await Bun.sleep(20);
    child.kill('SIGINT');
    expect(await child.exited).toBe(130);
    expect(headOf(catalog)).toBe(0);
    expect(await spooled()).toEqual([]);
  });
});

test('a tall file streams: 3 million rows in bounded memory', async () => {
  await using folder = await scratch();
  const { lake, catalog } = await newLake(folder.path);
  const measure = `${folder.path}/measure.mjs`;
  // Linux counts what the parent took to the `maxRSS` of its child; its other figure begins anew.
  await writeFile(
    measure,
    `import { existsSync, readFileSync } from 'node:fs';
const status = existsSync('/proc/self/status') ? () => readFileSync('/proc/self/status', 'utf8') : () => '';
const peak = () => /VmHWM:\\s*(\\d+)/.exec(status())?.[1] ?? String(process.resourceUsage().maxRSS);
process.on('exit', () => process.stderr.write(peak()));`,
  );
  const child = Bun.spawn(
    [NODE, '--import', measure, MAIN, 'append', lake, 'flights', `${DATA}/flights-3m.parquet`, '--create', '--json'],
    { env: cleanEnv(), stdout: 'pipe', stderr: 'pipe' },
  );
  const [out, log, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ rowCount: 3_000_000, snapshotId: 1 });
  // Kilobytes. The rows themselves are some 120 MB as typed arrays, and several times that as objects.
  expect(Number(log)).toBeLessThan(700_000);
  await using duck = await openOracle();
  await duck.attachSqlite(catalog);
  const sums =
    'count(*) n, sum(delay) delay, max(distance) far, min(date) earliest, max(date) latest, count(DISTINCT origin) origins';
  expect(await duck.rowsAgreed(`SELECT ${sums} FROM lake.flights`)).toEqual(
    await duck.rows(`SELECT ${sums} FROM read_parquet('${DATA}/flights-3m.parquet')`),
  );
});
