import { expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** In processes of its own: there are statements by which DuckDB ends its process. */
async function run(...args: string[]): Promise<{ code: unknown; output: string }> {
  const child = spawn(path('../../node_modules/node/bin/node'), [path('run.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, output };
}

/** Lakes that DuckDB made whatever it was, and reads that came out as DuckDB has them. */
function counts(output: string): { lakes: number; right: number } {
  const [, lakes, right] = /(\d+) lakes, \d+ snapshots, (\d+) reads right/.exec(output) ?? [];
  return { lakes: Number(lakes), right: Number(right) };
}

test('every table of random lakes is read as DuckDB reads it, SQLite', async () => {
  const { code, output } = await run('--seeds', '4', '--from', '0', '--no-shrink');
  if (code !== 0) throw new Error(output);
  expect(counts(output).lakes).toBe(4);
  expect(counts(output).right).toBeGreaterThan(200);
}, 900_000);

test('every table of random lakes is read as DuckDB reads it, Postgres', async () => {
  const { code, output } = await run('--seeds', '2', '--from', '7', '--no-shrink', '--catalog', 'postgres');
  if (code !== 0) throw new Error(output);
  expect(counts(output).lakes).toBe(2);
  expect(counts(output).right).toBeGreaterThan(30);
}, 900_000);

test('what was read wrong once is read right', async () => {
  const { code, output } = await run('--kept');
  if (code !== 0) throw new Error(output);
  expect(counts(output).lakes).toBeGreaterThan(0);
}, 900_000);
