import { expect, test } from 'bun:test';
import { memoryLake } from '../../adapters/memory.ts';
import { isLakeError, t } from '../../src/index.ts';
import { testLake } from '../support/lakes.ts';

test('objects that are no rows are refused, not taken for rows of NULLs', async () => {
  await using lake = await memoryLake();
  const table = await lake.createTable('t', { a: t.int32() });
  const rows: unknown[] = [
    new Map([['a', 1]]),
    new Set([1]),
    new Date(0),
    Promise.resolve({ a: 1 }),
    /a/,
    [1],
    'a',
    1,
    null,
  ];
  for (const row of rows) {
    const error = await table.insert([{ a: 1 }, row] as never).catch((reason) => reason);
    expect(isLakeError(error, 'INVALID_VALUE')).toBe(true);
    expect(error.context).toMatchObject({ schema: 'main', table: 't', row: 1 });
  }
  class Point {
    a = 5;
  }
  await table.insert([new Point(), Object.assign(Object.create(null), { a: 6 }), {}]);
  expect(await table.scan().toArray()).toEqual([{ a: 5 }, { a: 6 }, { a: null }]);
});

test('an insert from a handle whose snapshot expired lands when its table is what it was', async () => {
  await using place = await testLake('sqlite');
  await using idle = await place.open();
  const table = await idle.createTable('t', { a: t.int32() });
  await idle.createTable('other', { a: t.int32() });
  await table.insert([{ a: 1 }]);
  {
    await using busy = await place.open();
    await busy.table('t').insert([{ a: 2 }]);
    await busy.createTable('third', { a: t.int32() });
    await place.sql('DELETE FROM ducklake_snapshot WHERE snapshot_id < 5');
  }
  const stream = async function* (): AsyncGenerator<{ a: number }> {
    yield { a: 3 };
  };
  const { snapshotId } = await table.insert(stream());
  expect(snapshotId).toBe(6);
  expect((await table.scan().toArray()).map((row) => row.a)).toEqual([1, 2, 3]);
});

test('… and conflicts when it is another', async () => {
  await using place = await testLake('sqlite');
  await using idle = await place.open();
  const table = await idle.createTable('t', { a: t.int32() });
  await table.insert([{ a: 1 }]);
  {
    await using busy = await place.open();
    await busy.dropTable('t');
    await busy.createTable('t', { a: t.varchar() });
    await place.sql('DELETE FROM ducklake_snapshot WHERE snapshot_id < 4');
  }
  const stream = async function* (): AsyncGenerator<{ a: number }> {
    yield { a: 3 };
  };
  const error = await table.insert(stream()).catch((reason) => reason);
  expect(isLakeError(error, 'CONFLICT')).toBe(true);
});
