import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

export const ROOT: string = fileURLToPath(new URL('..', import.meta.url));

/** An installed devDependency's command. */
export function bin(name: string): string {
  // The `node` package's own: the machine's may be too old to run TypeScript.
  const path = name === 'node' ? join(ROOT, 'node_modules/node/bin/node') : join(ROOT, 'node_modules/.bin', name);
  return existsSync(path) ? path : name;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** Called with what the command prints as it prints it. */
  readonly onOutput?: (chunk: string) => void;
}

export interface RunResult {
  /** `null` when a signal ended it. */
  readonly code: number | null;
  /** Standard output and standard error as they came. */
  readonly output: string;
}

/** Runs a command to its end, however it ends. */
export function execute(command: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? ROOT,
      env: {
        ...process.env,
        PATH: [join(ROOT, 'node_modules/node/bin'), join(ROOT, 'node_modules/.bin'), process.env['PATH']].join(
          delimiter,
        ),
        NO_COLOR: '1',
        FORCE_COLOR: undefined,
        ...options.env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const collect = (chunk: Buffer): void => {
      const text = stripVTControlCharacters(String(chunk));
      output += text;
      options.onOutput?.(text);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    const timeoutMs = options.timeoutMs ?? 1_800_000;
    const timer = setTimeout(() => {
      output += `\nended after ${timeoutMs / 1000} s\n`;
      child.kill('SIGKILL');
    }, timeoutMs);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, output });
    });
  });
}

/** Runs a command that has to succeed; the error holds all that it printed. */
export async function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { code, output } = await execute(command, args, options);
  if (code !== 0) throw new Error(`${command.replace(ROOT, '')} ${args.join(' ')}: exit ${code}\n${output}`);
  return output;
}
