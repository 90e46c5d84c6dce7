import { events } from '../lib/data.ts';
import type { Contender } from '../lib/measure.ts';
import { duckdb, hyparquetAsDocumented } from '../lib/peers.ts';
import type { Question } from '../lib/question.ts';
import { encode, gathered } from '../lib/writers.ts';

const rowCount = 100;
const fileCount = 200;

/** What one file of 100 rows costs, as an edge function writes it. */
export const small: Question = {
  name: 'small',
  async *ask({ path }) {
    const data = events.rows(rowCount);
    const many = ({ name, run }: Contender): Contender => ({
      name,
      async run() {
        let byteLength: number | undefined;
        for (let i = 0; i < fileCount; i++) byteLength = await run();
        return byteLength;
      },
    });
    // The JavaScript writers make their bytes in memory: a file's system calls would take longer than making it.
    yield {
      of: `events, ${fileCount} files of ${rowCount} rows`,
      contenders: [
        many({ name: 'edgemere', run: () => encode(events, gathered(events, data), undefined) }),
        many(hyparquetAsDocumented(events, data, undefined)),
        many(await duckdb(events, data, path('duckdb'))),
      ],
    };
  },
};
