import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** pgbouncer refuses to run as root: as root it runs as `nobody`, which every system has. */
const NOBODY = 65534;

/** A pooler in front of the server, which hands each transaction to another of its few connections. */
export async function pgbouncer(target: string): Promise<AsyncDisposable & { readonly url: string }> {
  const script = fileURLToPath(new URL('../services/pgbouncer.sh', import.meta.url));
  const program = execFileSync('bash', [script], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
  // Not $TMPDIR, nor the cache: root's may be closed to others.
  const folder = mkdtempSync('/tmp/edgemere-pgbouncer-');
  chmodSync(folder, 0o755);
  const bin = join(folder, 'bin');
  // Of a folder of the system only the program itself.
  if (program.includes('edgemere')) cpSync(program, bin, { recursive: true, verbatimSymlinks: true });
  else cpSync(join(program, 'pgbouncer'), join(bin, 'pgbouncer'), { dereference: true });
  const { hostname, port: serverPort, username, password, pathname } = new URL(target);
  const config = join(folder, 'pgbouncer.ini');
  const start = async (port: number): Promise<ChildProcess> => {
    writeFileSync(
      config,
      `[databases]
* = host=${hostname} port=${serverPort} user=${decodeURIComponent(username)} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 500
server_round_robin = 1
client_login_timeout = 0
query_wait_timeout = 0
server_connect_timeout = 300
`,
    );
    const child = spawn(join(bin, 'pgbouncer'), [config], {
      ...(process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}),
      env: { LD_LIBRARY_PATH: bin },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const log: string[] = [];
    await new Promise<void>((resolve, reject) => {
      createInterface({ input: child.stderr }).on('line', (line) => {
        if (log.length < 100) log.push(line);
        if (line.includes('process up')) resolve();
      });
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`pgbouncer ended (${code}):\n${log.join('\n')}`)));
    });
    return child;
  };
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    try {
      const child = await start(port);
      return {
        url: `postgres://any@127.0.0.1:${port}${pathname}`,
        async [Symbol.asyncDispose]() {
          // At once, whatever is still connected.
          if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit');
          rmSync(folder, { recursive: true, force: true });
        },
      };
    } catch (error) {
      // Somebody may have taken the port meanwhile.
      if (attempt === 3) throw error;
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
