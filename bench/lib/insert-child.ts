/**
 * Inserts rows of an async generator, into local files or into S3, and prints what it took as JSON: in a process of its own, for
 * peaks never fall.
 *
 *   node bench/lib/insert-child.ts local|s3 ROWS
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localStore } from '../../adapters/local.ts';
import { memoryCatalog } from '../../adapters/memory.ts';
import { s3Store } from '../../adapters/s3.ts';
import { type ObjectStore, openLake } from '../../src/index.ts';
import type { Row } from './data.ts';
import { eventColumns } from './event-columns.ts';

export interface InsertFigures {
  readonly peakMiB: number;
  readonly millis: number;
  readonly byteLength: number;
}

const kinds = ['view', 'click', 'purchase', 'login'];

function row(i: number): Row {
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

async function write(store: ObjectStore, dataPath: string, rowCount: number): Promise<InsertFigures> {
  await using lake = await openLake({ catalog: memoryCatalog(), store, dataPath });
  const table = await lake.createTable('events', eventColumns);
  async function* rows(): AsyncGenerator<ReturnType<typeof row>> {
    for (let i = 0; i < rowCount; i++) yield row(i);
  }
  const start = performance.now();
  const { files } = await table.insert(rows() as never);
  const millis = performance.now() - start;
  const byteLength = files.reduce((sum, file) => sum + file.byteLength, 0);
  await store.delete(files.map(({ location }) => location));
  return { peakMiB: (await peakKiB()) / 1024, millis, byteLength };
}

/** Linux counts what the parent took to the `maxRSS` of its child; its other figure begins anew. */
async function peakKiB(): Promise<number> {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '');
  return Number(/VmHWM:\s*(\d+)/.exec(status)?.[1] ?? process.resourceUsage().maxRSS);
}

async function main(place: string, rowCount: number): Promise<InsertFigures> {
  if (place === 'local') {
    const folder = await mkdtemp(join(tmpdir(), 'edgemere-memory-'));
    return write(localStore(), `${folder}/`, rowCount).finally(() => rm(folder, { recursive: true, force: true }));
  }
  const url = new URL(process.env['EDGEMERE_TEST_S3_SEAWEEDFS_URL']!);
  const credentials = {
    accessKeyId: decodeURIComponent(url.username),
    secretAccessKey: decodeURIComponent(url.password),
  };
  const region = url.searchParams.get('region') ?? 'us-east-1';
  const store = s3Store({ config: { endpoint: url.origin, region, credentials, forcePathStyle: true } });
  return write(store, `s3:/${decodeURIComponent(url.pathname)}/memory-${crypto.randomUUID()}/`, rowCount);
}

const [place, rowCount] = process.argv.slice(2);
console.log(JSON.stringify(await main(place!, Number(rowCount))));
