import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import type { S3Location } from './oracle.ts';

/** The S3 servers that storage tests run on: each is faithful where the other isn't (see test/services/s3.sh). */
export type S3Server = 'seaweedfs' | 'swift';

export const S3_SERVERS: readonly S3Server[] = ['seaweedfs', 'swift'];

export interface S3Service extends S3Location {
  /** It exists. Tests share it: each uses keys under a prefix of its own, or makes a bucket. */
  readonly bucket: string;
}

/**
 * A superuser's URL of a real Postgres, without TLS, in another time zone than UTC and another collation than C.
 *
 * Services are looked for in environment variables (`npm test` starts them and sets these; or name your own), else started,
 * once for this process, and stopped at its end.
 */
export async function postgresUrl(): Promise<string> {
  return service('postgres', 'EDGEMERE_TEST_POSTGRES_URL');
}

/** An empty database of the test's own, dropped at the end with whatever is still connected to it. */
export async function freshDatabase(): Promise<AsyncDisposable & { readonly url: string; readonly name: string }> {
  const server = await postgresUrl();
  const name = `t_${randomUUID().replaceAll('-', '')}`;
  const execute = async (statement: string): Promise<void> => {
    const sql = postgres(server, { max: 1, onnotice: () => {} });
    await sql.unsafe(statement).finally(() => sql.end());
  };
  await execute(`create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    name,
    [Symbol.asyncDispose]: () => execute(`drop database if exists ${name} with (force)`),
  };
}

/** How to reach one of the S3 servers. */
export async function s3Env(server: S3Server): Promise<S3Service> {
  const url = new URL(await service(server, `EDGEMERE_TEST_S3_${server.toUpperCase()}_URL`));
  return {
    endpoint: url.origin,
    accessKeyId: decodeURIComponent(url.username),
    secretAccessKey: decodeURIComponent(url.password),
    region: url.searchParams.get('region') ?? 'us-east-1',
    bucket: decodeURIComponent(url.pathname.slice(1)),
  };
}

async function service(name: string, variable: string): Promise<string> {
  const set = process.env[variable];
  if (set) return set;
  const url = (await startServices([name])).env[variable];
  if (url === undefined) throw new Error(`${name} did not say where it is`);
  return url;
}

interface Services {
  /** The variables that tell tests where the services are. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends them and resolves when they are gone. Without it they end with this process. */
  stop(): Promise<void>;
}

// Test runners may load this module once per test file: the services are the process's.
const started: Map<string, Promise<Services>> = (() => {
  const key = Symbol.for('edgemere.test.services');
  const holder = globalThis as { [key]?: Map<string, Promise<Services>> };
  holder[key] ??= new Map();
  return holder[key];
})();

/** Starts services together, through test/services/supervisor.ts, at most once for this process. */
export function startServices(names: readonly string[]): Promise<Services> {
  const key = names.join(' ');
  let services = started.get(key);
  if (!services) {
    services = supervise(names);
    started.set(key, services);
  }
  return services;
}

async function supervise(names: readonly string[]): Promise<Services> {
  const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
  const node = path('../../node_modules/node/bin/node');
  const child = spawn(existsSync(node) ? node : 'node', [path('../services/supervisor.ts'), ...names], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${names.join(', ')} could not be started (exit ${code})`)));
  });
  // It must not keep this process alive; our end closes its input, which ends it.
  child.unref();
  for (const stream of [child.stdin, child.stdout]) (stream as { unref?: () => void }).unref?.();
  return {
    env: JSON.parse(line),
    async stop() {
      child.ref();
      child.stdin.end();
      await exited;
    },
  };
}
