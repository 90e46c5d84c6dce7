import { describe, expect, test } from 'bun:test';
import { memoryLake } from '../../adapters/memory.ts';
import { rejects } from '../../src/conformance/case.ts';
import { type Lake, t } from '../../src/index.ts';

async function place(): Promise<Lake> {
  const lake = await memoryLake();
  await lake.createTable('a', { id: t.int32().notNull() });
  return lake;
}

const ids = async (lake: Lake): Promise<number[]> =>
  ((await lake.table('a').scan().toArray()) as { id: number }[]).map(({ id }) => id);

describe('a buffered writer', () => {
  test('commits what many callers append as one snapshot and tells each', async () => {
    await using lake = await place();
    await using writer = lake.table('a').writer({ maxDelayMs: 60_000 });
    const calls = Array.from({ length: 64 }, (_, id) => writer.append([{ id }, { id: id + 100 }]));
    await writer.flush();
    const results = await Promise.all(calls);
    expect(new Set(results.map(({ snapshotId }) => snapshotId))).toEqual(new Set([2]));
    expect(results[5]).toEqual({ snapshotId: 2, rowCount: 2 });
    expect((await ids(lake)).slice(0, 4)).toEqual([0, 100, 1, 101]);
    expect((await lake.table('a').files()).length).toBe(1);
  });

  test('commits a full batch, and one whose time is over, by itself', async () => {
    await using lake = await place();
    await using full = lake.table('a').writer({ maxRows: 2, maxDelayMs: 60_000 });
    await Promise.all([full.append([{ id: 1 }]), full.append([{ id: 2 }])]);
    await using late = lake.table('a').writer({ maxDelayMs: 5 });
    expect(await late.append([{ id: 3 }])).toEqual({ snapshotId: 3, rowCount: 1 });
    expect(await ids(lake)).toEqual([1, 2, 3]);
  });

  test('rejects bad rows alone, with the numbers of their own append', async () => {
    await using lake = await place();
    const writer = lake.table('a').writer({ maxDelayMs: 60_000 });
    const appends = [[{ id: 1 }], [{ id: 2 }, { id: 'x' }], [{ id: 3 }], [{ id: null }], [{ id: 4 }]];
    const calls = appends.map((rows) => writer.append(rows));
    for (const call of calls) call.catch(() => undefined);
    await writer.close();
    const error = await rejects(() => calls[1]!, 'INVALID_VALUE');
    expect(error.context).toMatchObject({ table: 'a', column: 'id', row: 1 });
    expect((await rejects(() => calls[3]!, 'INVALID_VALUE')).context.row).toBe(0);
    for (const k of [0, 2, 4]) expect((await calls[k]!).rowCount).toBe(1);
    expect(await ids(lake)).toEqual([1, 3, 4]);
    await rejects(() => writer.append([{ id: 5 }]), 'CLOSED');
  });

  test('makes appends wait for room, and commits all of them in order', async () => {
    await using lake = await place();
    const kept: Promise<unknown>[] = [];
    const writer = lake.table('a').writer({
      ...{ maxRows: 3, maxPendingRows: 3, maxDelayMs: 0 },
      waitUntil: (promise) => void kept.push(promise),
    });
    const calls = Array.from({ length: 10 }, (_, id) => writer.append([{ id }, { id: id + 100 }]));
    await writer.close();
    await Promise.all(calls);
    expect(kept.length).toBe(10);
    expect(await ids(lake)).toEqual(Array.from({ length: 10 }, (_, id) => [id, id + 100]).flat());
  });

  test('a failed commit is that of all whose rows are in it', async () => {
    await using lake = await place();
    const writer = lake.table('a').writer({ maxDelayMs: 60_000 });
    const calls = [writer.append([{ id: 1 }]), writer.append([{ id: 2 }])];
    for (const call of calls) call.catch(() => undefined);
    await lake.dropTable('a');
    await writer.close();
    for (const call of calls) await rejects(() => call, 'NOT_FOUND');
  });

  test('closes though its last batch failed, and hands the failure to the edge runtime that stays for it', async () => {
    await using lake = await place();
    const kept: Promise<unknown>[] = [];
    const told: unknown[] = [];
    {
      await using writer = lake.table('a').writer({
        maxDelayMs: 60_000,
        waitUntil: (promise) => void kept.push(promise),
        onBatchError: (error) => void told.push(error),
      });
      void writer.append([{ id: 1 }]);
      const settled = Promise.allSettled(kept);
      await lake.dropTable('a');
      await writer.flush();
      expect((await settled).map(({ status }) => status)).toEqual(['rejected']);
    }
    expect(told).toMatchObject([{ code: 'NOT_FOUND' }]);
    await rejects(() => kept[0]!, 'NOT_FOUND');
  });

  test('loses nothing in silence: the failure of an append that nobody awaits ends the process', async () => {
    const url = (path: string): string => JSON.stringify(new URL(`../../${path}`, import.meta.url).href);
    const script = `
      import { memoryLake } from ${url('adapters/memory.ts')};
      import { t } from ${url('src/index.ts')};
      const lake = await memoryLake();
      const table = await lake.createTable('a', { id: t.int32() });
      const writer = table.writer({ maxDelayMs: 60_000 });
      void writer.append([{ id: 1 }]);
      await lake.dropTable('a');
      await writer.close();
      console.log('closed');
    `;
    const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'pipe' });
    const [text, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
    expect(text).toContain('table "main"."a" does not exist');
    expect(code).not.toBe(0);
  });
});
