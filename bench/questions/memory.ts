/**
 * How much memory an insert of many rows takes: rows from an async generator into local files and, where
 * EDGEMERE_TEST_S3_SEAWEEDFS_URL names a server, into S3; each in a process of its own, for peaks never fall.
 *
 *   node bench/questions/memory.ts [ROWS…]     2,000,000 by default; the limit is 256 MiB at 10,000,000
 *
 * `live` is what a full collection leaves, the most of ten looks on the way: what the writer holds. What the peak has
 * beyond it and the runtime's own (the peak of one row) is garbage that V8 hasn't collected yet.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify, styleText } from 'node:util';
import { localStore } from '../../adapters/local.ts';
import { memoryCatalog } from '../../adapters/memory.ts';
import { s3Store } from '../../adapters/s3.ts';
import { type ObjectStore, openLake, t } from '../../src/index.ts';

const limitMiB = 256;
const server = process.env['EDGEMERE_TEST_S3_SEAWEEDFS_URL'];

interface Figures {
  readonly rowCount: number;
  readonly peakMiB: number;
  /** Without `--expose-gc` there is none. */
  readonly liveMiB: number | undefined;
  readonly rowsPerSecond: number;
}

const columns = {
  id: t.int64(),
  ts: t.timestamp(),
  user: t.varchar(),
  event: t.varchar(),
  url: t.varchar(),
  amount: t.float64(),
  qty: t.int32(),
  ok: t.boolean(),
};

const kinds = ['view', 'click', 'purchase', 'login'];

function row(i: number): Record<keyof typeof columns, unknown> {
  return {
    id: BigInt(i),
    ts: new Date(1_700_000_000_000 + i * 37),
    user: `user_${((i * 7919) % 10_000).toString(36)}`,
    event: kinds[i % kinds.length],
    url: `https://example.com/products/${(Math.imul(i, 2_654_435_761) >>> 0).toString(36)}?ref=${i % 97}`,
    amount: (i % 100_000) / 100,
    qty: i % 10 === 0 ? null : i % 100,
    ok: i % 2 === 0,
  };
}

const toMiB = (bytes: number): number => bytes / 2 ** 20;

/** In the child. */
async function write(store: ObjectStore, dataPath: string, rowCount: number): Promise<Figures> {
  await using lake = await openLake({ catalog: memoryCatalog(), store, dataPath });
  const table = await lake.createTable('events', columns);
  const every = Math.ceil(rowCount / 10);
  let live: number | undefined;
  async function* rows(): AsyncGenerator<ReturnType<typeof row>> {
    for (let i = 0; i < rowCount; i++) {
      if (globalThis.gc && i % every === every - 1) {
        globalThis.gc();
        const { heapUsed, external } = process.memoryUsage();
        live = Math.max(live ?? 0, toMiB(heapUsed + external));
      }
      yield row(i);
    }
  }
  const start = performance.now();
  const { files } = await table.insert(rows() as never);
  const seconds = (performance.now() - start) / 1000;
  await store.delete(files.map(({ location }) => location));
  const peakMiB = process.resourceUsage().maxRSS / 1024;
  return { rowCount, peakMiB, liveMiB: live, rowsPerSecond: rowCount / seconds };
}

async function child(place: string, rowCount: number): Promise<Figures> {
  if (place === 'local') {
    const folder = await mkdtemp(join(tmpdir(), 'edgemere-memory-'));
    return write(localStore(), `${folder}/`, rowCount).finally(() => rm(folder, { recursive: true, force: true }));
  }
  const url = new URL(server!);
  const credentials = {
    accessKeyId: decodeURIComponent(url.username),
    secretAccessKey: decodeURIComponent(url.password),
  };
  const region = url.searchParams.get('region') ?? 'us-east-1';
  const store = s3Store({ config: { endpoint: url.origin, region, credentials, forcePathStyle: true } });
  return write(store, `s3:/${decodeURIComponent(url.pathname)}/memory-${crypto.randomUUID()}/`, rowCount);
}

async function measure(place: string, rowCount: number, ...flags: string[]): Promise<Figures> {
  const args = [...flags, fileURLToPath(import.meta.url), '--child', place, String(rowCount)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout);
}

async function main(rowCounts: readonly number[]): Promise<void> {
  for (const place of server === undefined ? ['local'] : ['local', 's3']) {
    const { peakMiB: least } = await measure(place, 1);
    console.log(`${place}: one row takes ${least.toFixed(0)} MiB`);
    for (const rowCount of rowCounts) {
      const { peakMiB, rowsPerSecond } = await measure(place, rowCount);
      // In a run of its own: it changes the peak.
      const { liveMiB } = await measure(place, Math.min(rowCount, 2_000_000), '--expose-gc');
      const peak = `peak ${peakMiB.toFixed(0)} MiB`;
      console.log(
        `${place}: ${rowCount} rows, ${peakMiB <= limitMiB ? peak : styleText('red', peak)}, live ${liveMiB!.toFixed(0)} MiB, ${Math.round(rowsPerSecond / 1000)} k rows/s`,
      );
      if (peakMiB > limitMiB) process.exitCode = 1;
    }
  }
}

const [first, ...rest] = process.argv.slice(2);
if (first === '--child') console.log(JSON.stringify(await child(rest[0]!, Number(rest[1]))));
else await main(first === undefined ? [2_000_000] : [first, ...rest].map(Number));
