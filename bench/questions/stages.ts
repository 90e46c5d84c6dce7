import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localStore } from '../../adapters/local.ts';
import { sqliteCatalog } from '../../adapters/sqlite.ts';
import { ColumnEncoder } from '../../src/file/parquet/encode/column.ts';
import { PageAssembler } from '../../src/file/parquet/encode/page.ts';
import { openLake, t } from '../../src/index.ts';
import { events, type Row } from '../lib/data.ts';
import { onlyReading } from '../lib/peers.ts';
import type { Question } from '../lib/question.ts';
import { encode, gathered } from '../lib/writers.ts';

/** Milliseconds of one run. What is within another stage is counted there too. */
interface Spent {
  all: number;
  gather: number;
  append: number;
  closePage: number;
  assemble: number;
  takeChunk: number;
}

let spent: Spent = { all: 0, gather: 0, append: 0, closePage: 0, assemble: 0, takeChunk: 0 };

/** Adds up what calls of a method take, those within another of the same method not counted twice. */
function time<Key extends string>(prototype: object, method: Key, stage: keyof Spent): void {
  const methods = prototype as Record<Key, (...args: unknown[]) => unknown>;
  const original = methods[method];
  let depth = 0;
  methods[method] = function (this: unknown, ...args: unknown[]): unknown {
    const start = performance.now();
    depth++;
    try {
      return original.apply(this, args);
    } finally {
      depth--;
      if (depth === 0) spent[stage] += performance.now() - start;
    }
  };
}

function* gatheredInTime(...[set, data]: Parameters<typeof gathered>): ReturnType<typeof gathered> {
  const batches = gathered(set, data);
  for (;;) {
    const start = performance.now();
    const next = batches.next();
    spent.gather += performance.now() - start;
    if (next.done) return;
    yield next.value;
  }
}

/** Where the time goes: the writer's own methods, timed block by block and page by page. */
export const stages: Question = {
  name: 'stages',
  async *ask({ rowCount, path }) {
    time(ColumnEncoder.prototype, 'append', 'append');
    time(ColumnEncoder.prototype, 'closePage' as never, 'closePage');
    time(ColumnEncoder.prototype, 'takeChunk', 'takeChunk');
    time(PageAssembler.prototype, 'assemble', 'assemble');
    const data = events.rows(rowCount);
    const stage = (name: string, millis: () => number) => ({ name, millis, run: async () => undefined });
    // Pages are closed within `append` and within `takeChunk`, which also makes pages of the dictionaries.
    yield {
      of: `events, ${rowCount} rows`,
      contenders: [
        {
          name: 'all of it',
          millis: () => spent.all,
          async run() {
            spent = { all: 0, gather: 0, append: 0, closePage: 0, assemble: 0, takeChunk: 0 };
            const start = performance.now();
            const byteLength = await encode(events, gatheredInTime(events, data), path('stages'));
            spent.all = performance.now() - start;
            return byteLength;
          },
        },
        stage('gather', () => spent.gather),
        stage('validate, convert, statistics, dictionaries', () => spent.append + spent.takeChunk - spent.closePage),
        stage('encode pages', () => spent.closePage - spent.assemble),
        stage('compress', () => spent.assemble),
        stage('footer, file', () => spent.all - spent.gather - spent.append - spent.takeChunk),
        onlyReading(events, data),
      ],
    };
    yield* inserts(data, 1);
    yield* inserts(data.slice(0, 100), 50);
  },
};

/** Whole inserts: what of them is the store's, local files, and what the catalog's, SQLite. */
async function* inserts(rows: readonly Row[], times: number): ReturnType<Question['ask']> {
  const folder = await mkdtemp(join(tmpdir(), 'edgemere-stages-'));
  const took = { all: 0, store: 0, catalog: 0 };
  const store = localStore();
  const catalog = sqliteCatalog({ path: join(folder, 'catalog.sqlite') });
  const lake = await openLake({
    catalog: timed(catalog, (millis) => (took.catalog += millis)),
    store: timed(store, (millis) => (took.store += millis)),
    dataPath: `${folder}/`,
  });
  try {
    const columns = { id: t.int64(), ts: t.timestamp(), user: t.varchar(), event: t.varchar(), url: t.varchar() };
    const table = await lake.createTable('events', {
      ...columns,
      amount: t.float64(),
      qty: t.int32(),
      ok: t.boolean(),
    });
    const stage = (name: string, millis: () => number) => ({ name, millis, run: async () => undefined });
    yield {
      of: `${times === 1 ? 'an insert' : `${times} inserts`} of ${rows.length} rows`,
      contenders: [
        {
          name: 'all of it',
          millis: () => took.all,
          async run() {
            Object.assign(took, { all: 0, store: 0, catalog: 0 });
            const start = performance.now();
            let byteLength = 0;
            for (let i = 0; i < times; i++)
              for (const file of (await table.insert(rows as never)).files) byteLength += file.byteLength;
            took.all = performance.now() - start;
            return byteLength;
          },
        },
        stage('store: create, write, close', () => took.store),
        stage('catalog: read, commit', () => took.catalog),
        stage('gather, encode, plan', () => took.all - took.store - took.catalog),
      ],
    };
  } finally {
    await lake[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The same object, whose methods tell how long their promises took. */
function timed<T extends object>(target: T, tell: (millis: number) => void): T {
  return new Proxy(target, {
    get(of, key) {
      const value: unknown = Reflect.get(of, key, of);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        const start = performance.now();
        const result: unknown = value.apply(of, args);
        if (!(result instanceof Promise)) return result;
        return result.then((made: unknown) => {
          tell(performance.now() - start);
          // The writer of an object.
          return typeof made === 'object' && made !== null && 'abort' in made ? timed(made, tell) : made;
        });
      };
    },
  });
}
