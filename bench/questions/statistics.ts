import { events, numbers, strings } from '../lib/data.ts';
import type { Question } from '../lib/question.ts';
import { encode, gathered } from '../lib/writers.ts';

/**
 * What statistics cost: the same writer without the bounds of text and floats. Those of integers serve the range check and the choice of
 * encodings, and are taken anyway.
 */
export const statistics: Question = {
  name: 'statistics',
  async *ask({ rowCount }) {
    for (const set of [events, numbers, strings]) {
      const count = Math.round(rowCount * 0.3);
      const data = set.rows(count);
      const run = (withStatistics: boolean) => {
        // Fields of its own: files of the same share their encoders.
        const own = { ...set, fields: [...set.fields] };
        return () => encode(own, gathered(own, data), undefined, { statistics: withStatistics });
      };
      yield {
        of: `${set.name}, ${count} rows`,
        contenders: [
          { name: 'without statistics', run: run(false) },
          { name: 'with', run: run(true) },
        ],
      };
    }
  },
};
