/** A child that commits by edgemere: it is a bundle of what a function that appends has, with the rest apart. */
import { type CatalogStore, openLake } from 'edgemere';
import { localStore } from 'edgemere/local';
import { postgresCatalog } from 'edgemere/postgres';
import postgres from 'postgres';
import type { LakeAddress } from '../../test/support/lakes.ts';
import { type Commit, type CommitTask, commitForAWhile } from './commit-child.ts';

await commitForAWhile(open);

function rowOf(i: number): Record<string, unknown> {
  return {
    id: BigInt(i),
    ts: new Date(Date.UTC(2024, 0, 1) + i * 1000),
    user: `user_${i % 1000}`,
    event: ['view', 'click', 'purchase', 'login'][i % 4],
    url: `https://example.com/products/${(Math.imul(i, 2_654_435_761) >>> 0).toString(36)}`,
    amount: (i % 10_000) / 100,
    qty: i % 10 === 0 ? null : i % 100,
    ok: i % 2 === 0,
  };
}

async function open(task: CommitTask): Promise<Commit> {
  const { commitGapMs } = task;
  const catalog = await catalogAt(task.address);
  const lake = await openLake({ catalog, store: localStore(), ...(commitGapMs === undefined ? {} : { commitGapMs }) });
  const events = lake.table('events');
  const rows = Array.from({ length: task.rows }, (_, i) => rowOf(i));
  if (task.call === 'insert') return () => events.insert(rows);
  const writer = events.writer();
  return () => writer.append(rows);
}

async function catalogAt(address: LakeAddress): Promise<CatalogStore> {
  if (address.kind === 'sqlite') {
    const { sqliteCatalog } = await import('edgemere/sqlite');
    return sqliteCatalog({ path: address.path });
  }
  const sql = postgres(address.url, { max: 1, fetch_types: false, onnotice: () => {} });
  return postgresCatalog({ sql, schema: address.schema });
}
