import { events, wide } from '../lib/data.ts';
import { onlyReading } from '../lib/peers.ts';
import type { Question } from '../lib/question.ts';
import { encode, gathered } from '../lib/writers.ts';

/**
 * Whether many columns cost more for each value: all contenders write as many values. What engines take to read objects of many
 * properties is shown apart: JavaScriptCore keeps those of more than 128 as hash tables, and walks them ten times as slowly.
 */
export const wideTables: Question = {
  name: 'wide',
  async *ask({ rowCount, path }) {
    for (const [columnCount, share] of [
      [100, 0.05],
      [300, 0.001],
    ] as const) {
      const set = wide(columnCount);
      const count = Math.max(100, Math.round(rowCount * share));
      const data = set.rows(count);
      const narrowCount = Math.round((count * columnCount) / events.fields.length);
      const narrow = events.rows(narrowCount);
      yield {
        of: `${columnCount} columns × ${count} rows`,
        contenders: [
          { name: `edgemere, ${columnCount} columns`, run: () => encode(set, gathered(set, data), path('wide')) },
          {
            name: 'edgemere, 8 columns, as many values',
            run: () => encode(events, gathered(events, narrow), path('narrow')),
          },
          { ...onlyReading(set, data), name: `only reading ${columnCount} properties` },
          { ...onlyReading(events, narrow), name: 'only reading 8 properties, as many values' },
        ],
      };
    }
  },
};
