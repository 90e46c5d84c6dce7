import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { openOracle } from '../support/oracle.ts';
import { type Cli, scratch, startCli } from './run.ts';

setDefaultTimeout(300_000);

let folder: Awaited<ReturnType<typeof scratch>>;
let cli: Cli;
beforeAll(async () => {
  folder = await scratch();
  cli = startCli();
});
afterAll(async () => {
  await cli[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

test('changes prints what DuckDB inserted, updated and deleted', async () => {
  const lake = `${folder.path}/lake`;
  await cli.ok(['init', lake]);
  await cli.ok(['create', lake, 'orders', 'id int, note varchar']);
  await cli.ok(['append', lake, 'orders', '-'], { stdin: '{"id":1,"note":"a"}\n{"id":2,"note":null}\n' });
  {
    await using duck = await openOracle();
    await duck.attachSqlite(`${lake}/catalog.sqlite`, undefined, { as: 'lake' });
    await duck.run(`UPDATE lake.orders SET note = 'b' WHERE id = 1`);
    await duck.run('DELETE FROM lake.orders WHERE id = 2');
  }
  const all =
    '{"snapshot_id":2,"rowid":0,"change_type":"insert","id":1,"note":"a"}\n' +
    '{"snapshot_id":2,"rowid":1,"change_type":"insert","id":2,"note":null}\n' +
    '{"snapshot_id":3,"rowid":0,"change_type":"update_preimage","id":1,"note":"a"}\n' +
    '{"snapshot_id":3,"rowid":0,"change_type":"update_postimage","id":1,"note":"b"}\n' +
    '{"snapshot_id":4,"rowid":1,"change_type":"delete","id":2,"note":null}\n';
  const changes = (...more: string[]): Promise<string> => cli.ok(['changes', lake, 'orders', ...more]);
  expect(await changes('--from', '0')).toBe(all);
  expect(await changes('--from', '3', '--to', '3', '--columns', 'NOTE', '--format', 'csv')).toBe(
    'snapshot_id,rowid,change_type,note\n3,0,update_preimage,a\n3,0,update_postimage,b\n',
  );
  expect(await changes('--from', '0', '--where', '{"id": 2}', '--limit', '1')).toBe(
    '{"snapshot_id":2,"rowid":1,"change_type":"insert","id":2,"note":null}\n',
  );
  expect(await changes('--from', '4', '--format', 'table')).toContain('│           4 │     1 │ delete      │  2 │');
  // Times as the list prints them, both ends included.
  const snapshots = JSON.parse(await cli.ok(['snapshots', lake, '--json'])) as { time: string }[];
  expect(await changes('--from', snapshots[2]!.time, '--to', snapshots[3]!.time)).toBe(
    `${all.split('\n').slice(0, 4).join('\n')}\n`,
  );
  expect(await changes('--from', '1970-01-01')).toBe(all);

  const fails = async (args: readonly string[]): Promise<string> => (await cli.run(['changes', lake, ...args])).log;
  expect(await fails(['orders'])).toContain('--from is missing');
  expect(await fails(['orders', '--from', '9'])).toContain('no snapshot 9');
  expect(await fails(['orders', '--from', '2999-01-01'])).toContain('no snapshot since 2999-01-01');
  expect(await fails(['orders', '--from', 'yesterday'])).toContain(
    "--from yesterday: write a snapshot's id, or a time",
  );
  expect(await fails(['orders', '--from', '0', '--columns', 'x'])).toContain('has no column x');
  expect(await fails(['customers', '--from', '0'])).toContain('there is no table');
});
