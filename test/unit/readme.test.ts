import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { docstringExamples, markdownExamples, runExample } from '../support/examples.ts';
import { freshDatabase, s3Env } from '../support/services.ts';

const ROOT = join(import.meta.dir, '../..');
const DOCUMENTS = ['README.md', 'CONTRIBUTING.md'];

const documented = DOCUMENTS.flatMap(markdownExamples);

/** What examples find in their environment, as they would on a user's machine. */
async function environment(code: string): Promise<Record<string, string> & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const env: Record<string, string> = {};
  if (code.includes('postgres')) env['DATABASE_URL'] = stack.use(await freshDatabase()).url;
  if (code.includes('s3')) {
    const s3 = await s3Env('seaweedfs');
    env['AWS_ENDPOINT_URL_S3'] = s3.endpoint;
    env['AWS_ACCESS_KEY_ID'] = s3.accessKeyId;
    env['AWS_SECRET_ACCESS_KEY'] = s3.secretAccessKey;
    env['AWS_REGION'] = s3.region;
    env['S3_BUCKET'] = s3.bucket;
  }
  const owned = stack.move();
  return Object.assign(env, { [Symbol.asyncDispose]: () => owned.disposeAsync() });
}

describe('the documentation', () => {
  const runnable = [...documented, ...docstringExamples()].filter(({ language }) => language === 'ts');

  test('has examples', () => {
    expect(runnable.filter(({ place }) => place.startsWith('README.md')).length).toBeGreaterThan(0);
    expect(runnable.filter(({ source }) => source !== undefined).length).toBeGreaterThan(5);
  });

  for (const example of runnable) {
    test(`${example.place} runs and prints what it says`, async () => {
      await using env = await environment(example.code);
      await runExample(example, env);
    });
  }

  test('names scripts of package.json only', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
    const known = new Set(Object.keys(scripts));
    const named = DOCUMENTS.flatMap((path) =>
      [...readFileSync(join(ROOT, path), 'utf8').matchAll(/\bnpm run (?:-s |--silent )?([\w:-]+)/g)].map((match) => ({
        path,
        script: match[1]!,
      })),
    );
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter(({ script }) => !known.has(script))).toEqual([]);
  });

  test('names files that exist', () => {
    const missing = DOCUMENTS.flatMap((path) =>
      [...readFileSync(join(ROOT, path), 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)]
        .map((match) => match[1]!)
        .filter((target) => !existsSync(join(ROOT, target)))
        .map((target) => `${path}: ${target}`),
    );
    expect(missing).toEqual([]);
  });
});
