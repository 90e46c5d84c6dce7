import { type DataSet, events, nested, nulls, strings } from '../lib/data.ts';
import type { Contender } from '../lib/measure.ts';
import { duckdb, hyparquetAsDocumented, hyparquetTuned, onlyReading, parquetjs, parquetWasm } from '../lib/peers.ts';
import type { Question } from '../lib/question.ts';
import { encode, gathered } from '../lib/writers.ts';

const sets: readonly (readonly [DataSet, share: number])[] = [
  [events, 1],
  [strings, 0.2],
  [nulls, 0.5],
  [nested, 0.2],
];

/** How fast row objects become a file: ours against every other way there is in JavaScript. */
export const rows: Question = {
  name: 'rows',
  async *ask({ rowCount, path, only }) {
    for (const [set, share] of sets) {
      if (only !== undefined && only !== set.name) continue;
      const count = Math.round(rowCount * share);
      const data = set.rows(count);
      const contenders: (Contender | undefined)[] = [
        { name: 'edgemere', run: () => encode(set, gathered(set, data), path('ours')) },
        hyparquetAsDocumented(set, data, path('hyparquet')),
        set === nested ? undefined : await hyparquetTuned(set, data, path('tuned')),
        await duckdb(set, data, path('duckdb')),
        await parquetWasm(set, data, path('wasm')),
        await parquetjs(set, data, path('parquetjs')),
        onlyReading(set, data),
      ];
      yield {
        of: `${set.name}, ${count} rows × ${set.fields.length} columns`,
        contenders: contenders.filter((one) => one !== undefined),
      };
    }
  },
};
