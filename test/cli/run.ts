import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const ROOT = join(import.meta.dir, '../..');
export const NODE: string = join(ROOT, 'node_modules/node/bin/node');
export const MAIN: string = join(ROOT, 'cli/main.ts');
export const DATA: string = join(ROOT, 'node_modules/vega-datasets/data');

export interface CliResult {
  readonly code: number;
  readonly out: string;
  /** Of standard error. */
  readonly log: string;
}

export interface CliOptions {
  readonly stdin?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs `edgemere` as a user's shell does. */
export async function edgemere(args: readonly string[], { stdin = '', env = {} }: CliOptions = {}): Promise<CliResult> {
  const child = Bun.spawn([NODE, MAIN, ...args], {
    env: cleanEnv(env),
    stdin: typeof stdin === 'string' ? new TextEncoder().encode(stdin) : stdin,
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, log, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, log };
}

/** {@link edgemere}, which must succeed; its output. */
export async function ok(args: readonly string[], options?: CliOptions): Promise<string> {
  const { code, out, log } = await edgemere(args, options);
  if (code !== 0) throw new Error(`edgemere ${args.join(' ')} failed with ${code}: ${log}`);
  return out;
}

export function cleanEnv(env: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { EDGEMERE_LAKE: _, EDGEMERE_DEBUG: __, ...rest } = process.env as Record<string, string>;
  return { ...rest, ...env };
}

/** An empty folder that goes when it is disposed of. */
export async function scratch(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'edgemere-cli-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** The newest snapshot's id, from the catalog itself. */
export function headOf(catalog: string): number {
  const database = new DatabaseSync(catalog, { readOnly: true });
  try {
    return (database.prepare('SELECT max(snapshot_id) AS id FROM ducklake_snapshot').get() as { id: number }).id;
  } finally {
    database.close();
  }
}
