import { expect, setDefaultTimeout, test } from 'bun:test';
import { scratch, startCli } from './run.ts';

setDefaultTimeout(300_000);

test('explain tells what a scan reads', async () => {
  await using folder = await scratch();
  await using cli = startCli();
  const lake = `${folder.path}/lake`;
  await cli.ok(['init', lake]);
  for (const from of [0, 1000])
    await cli.ok(['append', lake, 't', '-', '--create'], {
      stdin: Array.from({ length: 1000 }, (_, i) => `{"id":${from + i},"kind":"k"}\n`).join(''),
    });
  const text = await cli.ok(['explain', lake, 't', '--where', '{"ID": {"gte": 1500}}', '--columns', 'kind']);
  // `append --create` makes the table and fills it in one snapshot.
  expect(text.split('\n').slice(0, -2)).toEqual([
    'main.t at snapshot 2',
    '  columns: kind',
    '  where: "id" >= 1500',
    expect.stringMatching(/^1 request for .* of /),
    '1 of 2 files',
    '  not read: 1 file of 1000 rows, ruled out by statistics: "id" >= 1500',
    '1 of 1 row group in them, with 1000 rows',
  ]);
  const json = JSON.parse(await cli.ok(['explain', lake, 't', '--json', '--as-of', '1']));
  expect(json).toMatchObject({ snapshotId: 1, where: null, limit: null, pruned: [], files: [{ rowCount: 1000 }] });
  for (const [args, code, message] of [
    [['--where', '{"nope": 1}'], 1, 'there is no column nope: there are id, kind'],
    [['--where', 'id = 1'], 2, 'not JSON'],
    [['--where', '{"id": {"gt": null}}'], 1, 'null is no value to compare with'],
    [['--columns', 'nope'], 1, 'has no column nope'],
  ] as const) {
    const failed = await cli.run(['explain', lake, 't', ...args]);
    expect([failed.code, failed.log]).toEqual([code, expect.stringContaining(message)]);
  }
});
