import { expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanEnv, NODE, scratch } from './run.ts';

setDefaultTimeout(900_000);

const demo = async (folder: string): Promise<{ code: number; out: string; log: string }> => {
  const script = join(import.meta.dir, '../../scripts/demo.ts');
  const child = Bun.spawn([NODE, script, folder], { env: cleanEnv(), stdout: 'pipe', stderr: 'pipe' });
  const [out, log, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, log };
};

test('the demo fills a lake, and DuckDB gives equal answers', async () => {
  await using folder = await scratch();
  const lake = `${folder.path}/lake`;
  const { code, out, log } = await demo(lake);
  expect(log).toBe('');
  expect(out).toContain(`ATTACH 'ducklake:sqlite:${lake}/catalog.sqlite' AS lake;`);
  expect(out).toMatch(/main\.flights +│ +5 │ 3,000,000 │/);
  expect(out).toMatch(/\nEQUAL: \d\d answers/);
  expect(code).toBe(0);
});

test('it replaces nothing but its own folders', async () => {
  await using folder = await scratch();
  mkdirSync(`${folder.path}/mine`);
  writeFileSync(`${folder.path}/mine/catalog.sqlite`, '');
  const { code, log } = await demo(`${folder.path}/mine`);
  expect(code).toBe(1);
  expect(log).toContain('name another folder');
  expect(existsSync(`${folder.path}/mine/catalog.sqlite`)).toBe(true);
});
