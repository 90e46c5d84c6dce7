import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Request } from './serve.ts';

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

/** Runs the command line. */
export interface Cli extends AsyncDisposable {
  run(args: readonly string[], options?: CliOptions): Promise<CliResult>;
  /** A run that must succeed; its output. */
  ok(args: readonly string[], options?: CliOptions): Promise<string>;
}

/** A process of its own for each run, as a shell does it. */
export async function runProcess(
  args: readonly string[],
  { stdin = '', env = {} }: CliOptions = {},
): Promise<CliResult> {
  const child = Bun.spawn([NODE, MAIN, ...args], {
    env: cleanEnv(env),
    stdin: bytesOf(stdin),
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

/** One process for all runs, which is quicker: see `serve.ts`. */
export function startCli(): Cli {
  const child = Bun.spawn([NODE, join(import.meta.dir, 'serve.ts')], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const results = lines(child.stdout);
  const cli: Cli = {
    async run(args, { stdin = '', env = {} } = {}) {
      const request: Request = { args, env, stdin: Buffer.from(bytesOf(stdin)).toString('base64') };
      child.stdin.write(`${JSON.stringify(request)}\n`);
      await child.stdin.flush();
      const { value, done } = await results.next();
      if (done) throw new Error(`the process ended on edgemere ${args.join(' ')}`);
      return JSON.parse(value) as CliResult;
    },
    async ok(args, options) {
      const { code, out, log } = await cli.run(args, options);
      if (code !== 0) throw new Error(`edgemere ${args.join(' ')} failed with ${code}: ${log}`);
      return out;
    },
    async [Symbol.asyncDispose]() {
      await child.stdin.end();
      await child.exited;
    },
  };
  return cli;
}

async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop()!;
    yield* parts;
  }
}

function bytesOf(stdin: string | Uint8Array): Uint8Array<ArrayBuffer> {
  return typeof stdin === 'string' ? new TextEncoder().encode(stdin) : new Uint8Array(stdin);
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
