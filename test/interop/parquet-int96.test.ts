import { expect, setDefaultTimeout, test } from 'bun:test';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { testLake } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';

setDefaultTimeout(120_000);

const run = promisify(execFile);

/** Where pyarrow is; `undefined` where it can't be installed. That is no failure but in CI. */
const pyarrow = await run('bash', [fileURLToPath(new URL('../services/pyarrow.sh', import.meta.url))]).then(
  ({ stdout }) => stdout.trim(),
  (error: Error) => {
    if (process.env['CI'] === 'true') throw error;
    return undefined;
  },
);

const script = `
import sys, pyarrow as pa, pyarrow.parquet as pq
nanos = [0, 1, 999, 1000, 1500, -1, -999, -1000, -1001, None, 2**63 - 1, 1 - 2**63, 1700000000123456789, -86400000000001, 86399999999999]
some = pa.timestamp('ns')
table = pa.table({'id': range(len(nanos)), 'ts': pa.array(nanos, some), 'list': pa.array([[n, None] for n in nanos], pa.list_(some))})
pq.write_table(table, sys.argv[1] + '/dictionary.parquet', use_deprecated_int96_timestamps=True)
pq.write_table(table, sys.argv[1] + '/plain.parquet', use_deprecated_int96_timestamps=True, use_dictionary=False, data_page_version='2.0')
`;

test.skipIf(pyarrow === undefined)('timestamps in INT96 are the micros that DuckDB shows', async () => {
  await using place = await testLake('sqlite');
  await using duck = await openOracle();
  await place.attach(duck);
  await run('python3', ['-c', script, place.folder], { env: { ...process.env, PYTHONPATH: pyarrow } });
  for (const [name, type] of [
    ['plain', 'TIMESTAMP'],
    ['dictionary', 'TIMESTAMP'],
    ['coarser', 'TIMESTAMP_MS'],
  ] as const) {
    const file = name === 'coarser' ? 'plain' : name;
    await duck.run(`CREATE TABLE lake.${name} (id BIGINT, ts ${type}, list ${type}[])`);
    await duck.run(`CALL ducklake_add_data_files('lake', '${name}', '${place.folder}/${file}.parquet')`);
  }
  const theirs = new Map<string, unknown>();
  const micros = 'SELECT id, epoch_us(ts) AS ts, list_transform(list, lambda x: epoch_us(x))::VARCHAR AS list';
  for (const name of ['plain', 'dictionary', 'coarser'])
    theirs.set(name, await duck.rows(`${micros} FROM lake.${name} ORDER BY id`));
  const [late] = await duck.rows("SELECT count(*) AS n FROM lake.plain WHERE ts >= '1970-01-01 00:00:00.000001'");
  await duck.detach();

  await using lake = await place.open();
  type Row = { id: bigint; ts: { micros: bigint } | null; list: ({ micros: bigint } | null)[] };
  for (const [name, rows] of theirs) {
    const ours = (await lake.table(name).scan().toArray()) as unknown as Row[];
    expect(ours.length).toBe(15);
    expect(
      ours.map(({ id, ts, list }) => ({
        id: String(id),
        ts: ts && String(ts.micros),
        list: `[${list.map((one) => (one ? one.micros : 'NULL')).join(', ')}]`,
      })),
    ).toEqual(rows as never);
  }
  const where = { ts: { gte: '1970-01-01T00:00:00.000001Z' } };
  expect(await lake.table('plain').count(where as never)).toBe(Number(late!['n']));
});
