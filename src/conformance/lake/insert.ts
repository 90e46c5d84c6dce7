import { LakeError } from '../../errors.ts';
import { t } from '../../schema/builder.ts';
import { type ConformanceCase, check, collect, equal, rejects, rejectsWith } from '../case.ts';
import { createNumbered, headId, ids, type LakeTarget, numbered, range } from './target.ts';

export const insertCases: readonly ConformanceCase<LakeTarget>[] = [
  {
    name: 'rows come in any container',
    async run(target) {
      await using lake = await target.open();
      const table = await createNumbered(lake);
      async function* later(): AsyncGenerator<{ id: number }> {
        for (const row of numbered(30, 39)) yield row;
      }
      const inputs = [
        numbered(0, 9),
        new Set(numbered(10, 19)),
        numbered(20, 29).values(),
        later(),
        new ReadableStream<{ id: number }>({
          start(controller) {
            for (const row of numbered(40, 49)) controller.enqueue(row);
            controller.close();
          },
        }),
        { columns: { id: range(50, 59) } },
        { columns: { id: Int32Array.from(range(60, 69)) } },
        { columns: { id: BigInt64Array.from(range(70, 79), BigInt) } },
        { columns: { id: Float64Array.from(range(80, 89)) } },
      ];
      for (const [k, input] of inputs.entries()) {
        const { snapshotId, rowCount, files } = await table.insert(input);
        equal([snapshotId, rowCount, files.length], [k + 2, 10, 1], `the result of insert ${k}`);
        equal(files[0]?.rowCount, 10, 'the rows of its file');
      }
      equal(await ids(table), range(0, 89), 'the rows');
      const files = await table.files();
      equal(
        files.map(({ id, rowCount, rowIdStart, beginSnapshot }) => [id, rowCount, rowIdStart, beginSnapshot]),
        inputs.map((_, k) => [k, 10, k * 10, k + 2]),
        'the files',
      );
      for (const { path, location, byteLength } of files) {
        equal(location, `${lake.dataPath}main/numbers/${path}`, 'the location of a file');
        check(byteLength > 0, `file ${path} has ${byteLength} bytes`);
      }
      const stats = await table.stats();
      equal(
        stats,
        {
          rowCount: 90,
          byteLength: files.reduce((sum, file) => sum + file.byteLength, 0),
          columns: [{ name: 'id', containsNull: false, containsNan: null, min: '0', max: '89' }],
        },
        'the statistics',
      );
    },
  },
  {
    name: 'what an insert reports is what the catalog holds',
    async run(target) {
      await using lake = await target.open();
      const table = await createNumbered(lake);
      const { snapshotId, files } = await table.insert(numbered(1, 5));
      const [file] = await table.files();
      equal(
        files,
        [{ location: file?.location, rowCount: 5, byteLength: file?.byteLength }],
        'the files of the result',
      );
      equal(file?.beginSnapshot, snapshotId, 'the snapshot');
    },
  },
  {
    name: 'an insert of no rows makes no file and no snapshot',
    async run(target) {
      await using lake = await target.open();
      const table = await createNumbered(lake);
      const none = async function* (): AsyncGenerator<{ id: number }> {};
      for (const input of [[], new Set<{ id: number }>(), none(), { columns: { id: [] } }, { columns: {} }]) {
        const result = await table.insert(input);
        equal(result, { snapshotId: undefined, rowCount: 0, inlinedRowCount: 0, files: [] }, 'the result');
      }
      equal(await headId(lake), 1, 'the head');
      equal(await table.files(), [], 'the files');
    },
  },
  {
    name: 'a bad row names table, column, row and value, and nothing of the insert stays',
    async run(target) {
      await using lake = await target.open();
      const table = lake.table('t');
      await lake.createTable('t', { id: t.int32().notNull(), name: t.varchar(), price: t.decimal(5, 2) });
      await table.insert([{ id: 0 }]);
      const bad: readonly (readonly [column: string, row: Record<string, unknown>])[] = [
        ['id', { name: 'x' }],
        ['id', { id: null }],
        ['id', { id: undefined }],
        ['id', { id: 1.5 }],
        ['id', { id: 2 ** 31 }],
        ['id', { id: -(2n ** 31n) - 1n }],
        ['id', { id: '1' }],
        ['id', { id: Number.NaN }],
        ['name', { id: 1, name: 7 }],
        ['name', { id: 1, name: '\ud800' }],
        ['name', { id: 1, name: ['x'] }],
        ['price', { id: 1, price: '1000.00' }],
        ['price', { id: 1, price: '1.001' }],
        ['price', { id: 1, price: 0.001 }],
        ['price', { id: 1, price: 'x' }],
        ['unknown', { id: 1, unknown: 1 }],
      ];
      for (const [column, row] of bad) {
        const what = `${column} of ${Object.values(row).map(String).join()}`;
        const rows = [...numbered(1, 2000), row, ...numbered(2001, 2010)];
        const error = await rejects(() => table.insert(rows), 'INVALID_VALUE', what);
        equal(
          [error.context.schema, error.context.table, error.context.column, error.context.row],
          ['main', 't', column, 2000],
          `the context of ${what}`,
        );
        check(typeof error.context.value === 'string', `${what}: the context has no value`);
        check(error.message.includes(column) && error.message.includes('2000'), `the message is "${error.message}"`);
      }
      for (const row of [1, null, undefined, 'x', [1]])
        await rejects(() => table.insert([row as never]), 'INVALID_VALUE', `a row that is ${String(row)}`);
      for (const input of [1, null, undefined, 'x', { id: 1 }])
        await rejects(() => table.insert(input as never), 'INVALID_ARGUMENT', `rows that are ${String(input)}`);
      await rejects(
        () => table.insert({ columns: { id: [1, 2], name: ['x'] } }),
        'INVALID_ARGUMENT',
        'columns of different lengths',
      );
      equal(await headId(lake), 2, 'the head');
      equal(await table.scan().toArray(), [{ id: 0, name: null, price: null }], 'the rows');
      equal((await table.stats()).rowCount, 1, 'the row count of the statistics');
    },
  },
  {
    name: 'a source that fails fails the insert with its own error',
    async run(target) {
      await using lake = await target.open();
      const table = await createNumbered(lake);
      const reason = new Error('no more');
      const ended = Promise.withResolvers<void>();
      async function* failing(): AsyncGenerator<{ id: number }> {
        try {
          for (const row of numbered(1, 5000)) yield row;
          throw reason;
        } finally {
          ended.resolve();
        }
      }
      await rejectsWith(() => table.insert(failing()), reason, 'the insert');
      await ended.promise;
      equal([await headId(lake), await ids(table)], [1, []], 'the head and the rows');
    },
  },
  {
    name: 'an abort before, during and between rows rejects with the reason, and nothing stays',
    async run(target) {
      await using lake = await target.open();
      const table = await createNumbered(lake);
      const reason = new Error('enough');
      await rejectsWith(() => table.insert([{ id: 1 }], { signal: AbortSignal.abort(reason) }), reason, 'before');

      const during = new AbortController();
      const ended = Promise.withResolvers<void>();
      let given = 0;
      async function* stopping(): AsyncGenerator<{ id: number }> {
        try {
          for (const row of numbered(1, 100_000)) {
            if (row.id === 5000) during.abort(reason);
            given = row.id;
            yield row;
          }
        } finally {
          ended.resolve();
        }
      }
      await rejectsWith(() => table.insert(stopping(), { signal: during.signal }), reason, 'during');
      // The insert doesn't wait for that: a source may be stuck.
      await ended.promise;
      check(given < 100_000, 'the source was read to its end');

      const waiting = new AbortController();
      const stuck = new ReadableStream<{ id: number }>({
        start(controller) {
          controller.enqueue({ id: 1 });
          setTimeout(() => waiting.abort(reason), 20);
        },
      });
      await rejectsWith(() => table.insert(stuck, { signal: waiting.signal }), reason, 'while it waits for rows');
      await rejectsWith(
        () => lake.createTable('u', { a: t.int8() }, { signal: AbortSignal.abort(reason) }),
        reason,
        'createTable',
      );
      equal([await headId(lake), await ids(table)], [1, []], 'the head and the rows');
    },
  },
  {
    name: 'many rows from a stream, with progress that only grows and ends at the truth',
    async run(target) {
      await using lake = await target.open();
      const table = await lake.createTable('t', { id: t.int64().notNull(), text: t.varchar() });
      const count = 150_000;
      async function* rows(): AsyncGenerator<{ id: number; text: string | null }> {
        for (let id = 0; id < count; id++) yield { id, text: id % 3 === 0 ? null : `text ${id % 1000}` };
      }
      const progress: { rowCount: number; byteLength: number; fileCount: number }[] = [];
      const { rowCount, files } = await table.insert(rows(), { onProgress: (p) => progress.push({ ...p }) });
      equal(rowCount, count, 'the row count');
      equal(
        files.reduce((sum, file) => sum + file.rowCount, 0),
        count,
        'the rows of all files',
      );
      check(progress.length > 1, `there were ${progress.length} reports`);
      check(
        progress.every((p, k) => k === 0 || p.rowCount >= progress[k - 1]!.rowCount),
        'the row count went down',
      );
      const last = progress.at(-1)!;
      equal(
        [last.rowCount, last.byteLength, last.fileCount],
        [count, files.reduce((sum, file) => sum + file.byteLength, 0), files.length],
        'the last report',
      );
      let seen = 0;
      let nulls = 0;
      for await (const { id, text } of table.scan()) {
        if (id !== BigInt(seen) || (text !== null && text !== `text ${seen % 1000}`))
          check(false, `row ${seen} is ${id} ${text}`);
        if (text === null) nulls++;
        seen++;
      }
      equal([seen, nulls], [count, count / 3], 'the rows and NULLs of the scan');
    },
  },
  {
    name: 'author, message and extra info go with the snapshot',
    async run(target) {
      await using lake = await target.open();
      const table = await createNumbered(lake);
      const message = { author: 'Ada 🦆', message: `it's "done"\n`, extraInfo: '{"job":1}' };
      await table.insert([{ id: 1 }], message);
      await lake.createSchema('s', { author: 'B' });
      const [insert, schema] = await collect(lake.snapshots({ from: 2 }));
      equal(
        { author: insert?.author, message: insert?.message, extraInfo: insert?.extraInfo },
        message,
        'what the insert said',
      );
      equal([schema?.author, schema?.message, schema?.extraInfo], ['B', null, null], 'what createSchema said');
      equal(insert?.changes, [{ kind: 'inserted_into_table', id: 1 }], 'the changes of the insert');
      equal(schema?.changes, [{ kind: 'created_schema', name: 's' }], 'the changes of createSchema');
    },
  },
  {
    name: 'concurrent inserts, of one client and of several, all land once',
    async run(target) {
      const lakes = await Promise.all(Array.from({ length: 3 }, () => target.open({ maxRetries: 50 })));
      try {
        const table = await createNumbered(lakes[0]!);
        const inserts = range(0, 17).map((k) =>
          lakes[k % 3]!.table('numbers').insert(numbered(k * 10, k * 10 + 9), { author: `insert ${k}` }),
        );
        const results = await Promise.all(inserts);
        equal(await ids(table), range(0, 179), 'the rows');
        const snapshots = await collect(lakes[0]!.snapshots());
        equal(
          snapshots.map(({ id }) => id),
          range(0, snapshots.length - 1),
          'the snapshots',
        );
        for (const [k, { snapshotId, rowCount }] of results.entries()) {
          equal(rowCount, 10, `the row count of insert ${k}`);
          const then = await ids(table, snapshotId);
          check(
            then.includes(k * 10) && then.includes(k * 10 + 9),
            `snapshot ${snapshotId} lacks the rows of insert ${k}`,
          );
        }
        const files = await table.files();
        equal(
          files.map(({ rowIdStart }) => rowIdStart).sort((a, b) => a! - b!),
          range(0, 17).map((k) => k * 10),
          'the first row ids',
        );
        equal((await table.stats()).rowCount, 180, 'the row count of the statistics');
      } finally {
        for (const lake of lakes) await lake.close();
      }
    },
  },
  {
    name: 'a reason that is a LakeError is not taken for a failure of ours',
    async run(target) {
      await using lake = await target.open();
      const table = await createNumbered(lake);
      const reason = new LakeError('CONFLICT', 'the caller says so');
      let reads = 0;
      async function* failing(): AsyncGenerator<{ id: number }> {
        reads++;
        yield { id: 1 };
        throw reason;
      }
      await rejectsWith(() => table.insert(failing()), reason, 'the insert');
      equal([reads, await ids(table)], [1, []], 'how often the source was read, and the rows');
    },
  },
];
