import { ColumnEncoder } from '../../src/file/parquet/encode/column.ts';
import { PageAssembler } from '../../src/file/parquet/encode/page.ts';
import { events } from '../lib/data.ts';
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
        stage('footer, store', () => spent.all - spent.gather - spent.append - spent.takeChunk),
        onlyReading(events, data),
      ],
    };
  },
};
