import { expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runExample } from '../support/examples.ts';
import { freshDatabase, s3Env } from '../support/services.ts';

setDefaultTimeout(300_000);

const folder = join(import.meta.dir, '../../examples');
const names = readdirSync(folder).filter((name) => name.endsWith('.ts'));

test('there are examples, and each prints something that is checked', () => {
  expect(names.length).toBeGreaterThan(3);
  for (const name of names) expect(readFileSync(join(folder, name), 'utf8')).toMatch(/console\.log\(.*\); \/\/ /);
});

for (const name of names)
  test(`examples/${name} runs and prints what it says`, async () => {
    const code = readFileSync(join(folder, name), 'utf8');
    await using stack = new AsyncDisposableStack();
    const env: Record<string, string> = {};
    if (code.includes('DATABASE_URL')) env['DATABASE_URL'] = stack.use(await freshDatabase()).url;
    if (code.includes('S3_BUCKET')) {
      const s3 = await s3Env('seaweedfs');
      env['S3_BUCKET'] = s3.bucket;
      env['AWS_ENDPOINT_URL_S3'] = s3.endpoint;
      env['AWS_ACCESS_KEY_ID'] = s3.accessKeyId;
      env['AWS_SECRET_ACCESS_KEY'] = s3.secretAccessKey;
      env['AWS_REGION'] = s3.region;
    }
    await runExample({ place: `examples/${name}`, language: 'ts', code }, env);
  });
