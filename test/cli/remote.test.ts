import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openOracle } from '../support/oracle.ts';
import { freshDatabase, s3Env } from '../support/services.ts';
import { type Cli, runProcess, scratch, startCli } from './run.ts';

setDefaultTimeout(300_000);

let cli: Cli;
beforeAll(() => {
  cli = startCli();
});
afterAll(() => cli[Symbol.asyncDispose]());

describe('Postgres', () => {
  test('two lakes in one database, data in folders', async () => {
    await using database = await freshDatabase();
    await using folder = await scratch();
    const { url } = database;
    expect((await cli.run(['init', url])).log).toContain('a lake in Postgres needs --data-path');
    for (const schema of ['a', 'b'])
      await cli.ok(['init', url, '--schema', schema, '--data-path', `${folder.path}/${schema}`]);
    await cli.ok(['append', url, 't', '-', '--create', '--schema', 'a'], { stdin: '{"n":9007199254740993}' });
    expect(await cli.ok(['scan', url, 't', '--schema', 'a'])).toBe('{"n":9007199254740993}\n');
    expect(await cli.ok(['ls', url, '--schema', 'b', '--json'])).toBe('[]\n');
    const missing = await cli.run(['ls', url]);
    const { log } = missing;
    expect(missing).toMatchObject({ code: 1, log: expect.stringContaining('there is no lake in postgres://') });
    expect(log).not.toContain(`:${new URL(url).password}@`);

    await using duck = await openOracle();
    await duck.attachPostgres(url, undefined, { schema: 'a' });
    expect(await duck.rowsAgreed('FROM lake.t')).toEqual([{ n: '9007199254740993' }]);
  });

  test('a server that is not there fails in one line, without the password', async () => {
    const { code, log } = await cli.run(['ls', 'postgres://u:secret@127.0.0.1:9/lake']);
    expect(code).toBe(1);
    expect(log).toMatch(/^edgemere: .*\n$/);
    expect(log).not.toContain('secret');
  });
});

describe('S3', () => {
  test('data goes where --data-path says, with the settings of AWS tools', async () => {
    await using folder = await scratch();
    const s3 = await s3Env('seaweedfs');
    const env = {
      AWS_ACCESS_KEY_ID: s3.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
      AWS_REGION: s3.region,
      S3_ENDPOINT: s3.endpoint,
    };
    const lake = `${folder.path}/remote.sqlite`;
    const dataPath = `s3://${s3.bucket}/cli ${crypto.randomUUID()} é/`;
    expect(await cli.ok(['init', lake, '--data-path', dataPath], { env })).toContain(dataPath);
    // The client takes credentials from its process.
    expect(await runProcess(['append', lake, 't', '-', '--create'], { env, stdin: '{"a":1}\n{"a":2}' })).toMatchObject({
      code: 0,
      log: '',
    });
    expect(await runProcess(['scan', lake, 't'], { env })).toEqual({ code: 0, out: '{"a":1}\n{"a":2}\n', log: '' });

    await using duck = await openOracle();
    await duck.useS3(s3);
    await duck.attachSqlite(lake);
    expect(await duck.rowsAgreed('SELECT count(*) n, sum(a) s FROM lake.t')).toEqual([{ n: '2', s: '3' }]);
  });
});
