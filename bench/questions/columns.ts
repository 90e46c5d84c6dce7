import { columnsOf, numbers } from '../lib/data.ts';
import { duckdb } from '../lib/peers.ts';
import type { Question } from '../lib/question.ts';
import { encode } from '../lib/writers.ts';

/** How fast typed arrays become a file. */
export const columns: Question = {
  name: 'columns',
  async *ask({ rowCount, path }) {
    const [a, b, c, d] = columnsOf(numbers, numbers.rows(rowCount));
    const typed = [
      BigInt64Array.from(a as bigint[]),
      BigInt64Array.from(b as bigint[]),
      Float64Array.from(c as number[]),
      Float64Array.from(d as number[]),
    ];
    const slices = function* (): Generator<{ rowCount: number; columns: ArrayLike<unknown>[] }> {
      for (let start = 0; start < rowCount; start += 8192) {
        const end = Math.min(rowCount, start + 8192);
        yield { rowCount: end - start, columns: typed.map((column) => column.subarray(start, end)) };
      }
    };
    yield {
      of: `numbers, ${rowCount} rows × ${typed.length} typed arrays`,
      contenders: [
        { name: 'edgemere', run: () => encode(numbers, slices(), path('ours')) },
        await duckdb(numbers, typed, path('duckdb'), true),
      ],
    };
  },
};
