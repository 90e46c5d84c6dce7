/**
 * Runs test services and stops them when its standard input ends: so they end with whoever started them, killed or not.
 *
 *   node test/services/supervisor.ts postgres seaweedfs swift
 *
 * Prints a line of JSON when all run: the environment variables that test/support/services.ts looks for.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPostgres } from './postgres.ts';

interface Running {
  readonly env: Record<string, string>;
  stop(): Promise<void>;
}

const starters: Record<string, () => Promise<Running>> = {
  async postgres() {
    const { url, stop } = await startPostgres();
    return { env: { EDGEMERE_TEST_POSTGRES_URL: url }, stop };
  },
  seaweedfs: () => startS3('seaweedfs'),
  swift: () => startS3('swift'),
};

async function startS3(server: string): Promise<Running> {
  const dir = await mkdtemp(`/tmp/edgemere-${server}-`);
  const exports = await s3(server, 'start', dir).catch(async (error) => {
    const log = await readFile(join(dir, 's3.log'), 'utf8').catch(() => '');
    await rm(dir, { recursive: true, force: true });
    throw new Error(`${error.message}${log.slice(-2000)}`);
  });
  const value = (name: string): string => {
    const quoted = new RegExp(`^export ${name}=(.*)$`, 'm').exec(exports)?.[1];
    if (quoted === undefined) throw new Error(`s3.sh printed no ${name}`);
    return quoted.replaceAll('\\', '');
  };
  const url = new URL(`${value('S3_ENDPOINT')}/${value('S3_BUCKET')}`);
  url.username = encodeURIComponent(value('AWS_ACCESS_KEY_ID'));
  url.password = encodeURIComponent(value('AWS_SECRET_ACCESS_KEY'));
  url.searchParams.set('region', value('AWS_REGION'));
  return {
    env: { [`EDGEMERE_TEST_S3_${server.toUpperCase()}_URL`]: url.href },
    async stop() {
      await s3(server, 'stop', dir);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function s3(server: string, verb: string, dir: string): Promise<string> {
  const script = join(fileURLToPath(new URL('.', import.meta.url)), 's3.sh');
  const child = spawn('bash', [script, verb, dir], {
    env: { ...process.env, S3_SERVER: server },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let log = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`s3.sh ${verb} (${server}) failed:\n${log}`);
  return out;
}

const running: Running[] = [];
let stopping: Promise<void> | undefined;

function stop(): Promise<void> {
  stopping ??= Promise.allSettled(running.map((service) => service.stop())).then(() => {});
  return stopping;
}

// Ctrl-C reaches the whole terminal group: the owner decides when it ends, and its end closes our input.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => void stop().then(() => process.exit(0)));
let ended = false;
const inputEnded = new Promise<void>((resolve) => {
  process.stdin.on('end', resolve).on('close', resolve).on('error', resolve).resume();
}).then(() => {
  ended = true;
});

const outcomes = await Promise.allSettled(
  process.argv.slice(2).map(async (name) => {
    const start = starters[name];
    if (!start) throw new Error(`no such service: ${name}`);
    running.push(await start());
  }),
);
const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => String(reason));
if (failures.length > 0) {
  console.error(failures.join('\n'));
  process.exitCode = 1;
} else if (!ended) {
  console.log(JSON.stringify(Object.assign({}, ...running.map(({ env }) => env))));
  await inputEnded;
}
await stop();
process.exit();
