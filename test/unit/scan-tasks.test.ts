import { describe, expect, test } from 'bun:test';
import { memoryLake } from '../../adapters/memory.ts';
import { isLakeError, type Lake, type ObjectStore, readTask, type ScanTask, t } from '../../src/index.ts';
import { memoryStore } from '../../src/storage/memory.ts';
import { shown, typeCases } from '../support/type-cases.ts';

const sent = (task: unknown): ScanTask => JSON.parse(JSON.stringify(task)) as ScanTask;

async function lakeOf(): Promise<{ store: ObjectStore; lake: Lake } & AsyncDisposable> {
  const store = memoryStore();
  const lake = await memoryLake({ store, dataInliningRowLimit: 0 });
  return { store, lake, [Symbol.asyncDispose]: () => lake.close() };
}

describe('tasks give the rows of the scan', () => {
  for (const { name, column, values } of typeCases)
    test(`with constants of ${name}`, async () => {
      await using place = await lakeOf();
      const table = await place.lake.createTable('t', { n: t.int32(), x: column });
      await table.insert(values.map(({ given }, n) => ({ n, x: given })));
      await table.insert([{ n: 99 }]);
      for (const { given } of values)
        for (const x of [{ eq: given }, { not: { in: [given, null] } }, { lte: given }, { gt: given }]) {
          const scan = table.scan({ columns: ['n', 'x', 'file_index'] as never, where: { x } as never });
          const wanted = (await scan.toArray()).map((row) => shown(row));
          const found: string[] = [];
          for (const task of (await scan.plan()).tasks)
            for await (const row of readTask(sent(task), { store: place.store })) found.push(shown(row));
          expect(found).toEqual(wanted);
        }
    });

  test('as rows, batches and streams, of no more than the limit each', async () => {
    await using place = await lakeOf();
    const table = await place.lake.createTable('t', { id: t.int32() });
    for (let k = 0; k < 4; k++) await table.insert(Array.from({ length: 10 }, (_, i) => ({ id: k * 10 + i })));
    const plan = await table.scan({ limit: 15 }).plan();
    // Of the third and the fourth file no row is wanted.
    expect([plan.limit, plan.snapshotId, plan.tasks.length]).toEqual([15, 5, 2]);
    const read = (k: number) => readTask<{ id: number }>(sent(plan.tasks[k]), { store: place.store });
    expect((await read(0).toArray()).length).toBe(10);
    const [batch] = await Array.fromAsync(read(1).batches());
    expect(batch!.columns['id']).toEqual(Int32Array.from({ length: 10 }, (_, i) => 10 + i));
    expect((await Array.fromAsync(read(1).stream() as unknown as AsyncIterable<unknown>)).length).toBe(10);

    const few = await table.scan({ where: { id: { gte: 5 } }, limit: 3 }).plan();
    expect(few.tasks.length).toBe(4);
    for (const task of few.tasks) expect((await readTask(sent(task), { store: place.store }).toArray()).length).toBe(3);
    expect(await table.scan({ limit: 0 }).plan()).toEqual({ snapshotId: 5, tasks: [], limit: 0 });
  });

  test('large files are split where they are told to be', async () => {
    await using place = await lakeOf();
    const table = await place.lake.createTable('t', { id: t.int32() });
    await table.insert(Array.from({ length: 3000 }, (_, id) => ({ id })));
    const [file] = await table.files();
    const { tasks } = await table
      .scan({ columns: ['id', 'rowid', 'file_row_number'] as never })
      .plan({ maxByteLength: 1000 });
    expect(tasks.length).toBe(Math.ceil(file!.byteLength / 1000));
    const rows = (await Promise.all(tasks.map((task) => readTask(task, { store: place.store }).toArray()))).flat();
    expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: 3000 }, (_, id) => id));
    await expect(table.scan().plan({ maxByteLength: 0.5 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('a signal stops them', async () => {
    await using place = await lakeOf();
    const table = await place.lake.createTable('t', { id: t.int32() });
    await table.insert([{ id: 1 }]);
    const [task] = (await table.scan().plan()).tasks;
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(readTask(task!, { store: place.store, signal }).toArray()).rejects.toThrow('enough');
    await expect(table.scan({ signal }).plan()).rejects.toThrow('enough');
  });
});

describe('what is no task', () => {
  const refusal = (task: unknown): string => {
    try {
      readTask(task as ScanTask, { store: memoryStore() });
    } catch (error) {
      if (isLakeError(error, 'INVALID_ARGUMENT')) return error.message;
      throw error;
    }
    throw new Error('it was taken');
  };

  test('is refused, saying what is wrong where', async () => {
    await using place = await lakeOf();
    const table = await place.lake.createTable('t', { id: t.int32(), tags: t.list(t.varchar()), note: t.varchar() });
    await table.insert([{ id: 1, note: 'ab' }]);
    const [task] = (await table.scan({ where: { id: 1, note: { like: 'a%' }, tags: { isNull: true } } }).plan()).tasks;
    // biome-ignore lint/suspicious/noExplicitAny: to change what its type forbids.
    const changed = (change: (task: any) => void): string => {
      const copy = sent(task);
      change(copy);
      return refusal(copy);
    };
    for (const value of [null, undefined, 5, 'task', [], [task]])
      expect(refusal(value)).toMatch(/^task is .*an object/);
    expect(refusal({})).toBe(
      'task.version is missing; expected 1, the version of the tasks that this version of edgemere makes and reads',
    );
    expect(changed((copy) => (copy.version = 2))).toContain('task.version is 2; expected 1');
    expect(changed((copy) => (copy.part.kind = 'view'))).toBe('task.part.kind is "view"; expected file, inlined');
    expect(changed((copy) => (copy.limit = -1))).toContain('task.limit is -1; expected a whole number');
    expect(changed((copy) => delete copy.part.rowCount)).toContain('task.part.rowCount is missing');
    expect(changed((copy) => (copy.columns[1].field.children = []))).toContain(
      'children is []; expected an array of 1',
    );
    expect(changed((copy) => (copy.columns[0].field.type = 'int33'))).toContain('expected a type of DuckLake');
    expect(changed((copy) => (copy.columns[0] = { virtual: 'row' }))).toContain('task.columns[0].virtual is "row"');
    expect(changed((copy) => (copy.where.parts[0].fieldId = 77))).toContain('the id of a field that the task holds');
    expect(changed((copy) => (copy.where.parts[0].value = '1'))).toContain('where.parts[0].value is "1"; expected a n');
    expect(changed((copy) => (copy.where.parts[1].fieldId = 1))).toContain('the id of a field of text');
    expect(changed((copy) => (copy.where.parts[2].op = 'eq'))).toContain('a field that is not nested');
    let deep: unknown = { op: 'and', parts: [] };
    for (let i = 0; i < 100_000; i++) deep = { op: 'not', part: deep };
    expect(changed((copy) => (copy.where = deep))).toContain('nested more than 2500 deep');
  });
});
