import type { PartRead } from '../data-file.ts';
import type { Source, Step } from './steps.ts';

/** Which of the rows that one snapshot ended and began are the two images of an update: those with one row id. */
export interface Images {
  readonly isUpdated: (rowId: bigint) => boolean;
}

const none: Images = { isUpdated: () => false };

/** Reads row ids, where a snapshot both ended and began rows. Holds a number for each row that it ended. */
export async function imagesOf({ ended, begun }: Step, read: PartRead): Promise<Images> {
  if (ended.length === 0 || begun.length === 0) return none;
  // DuckDB leaves ids above what doubles tell apart where one transaction updated what it inserted.
  const ids: bigint[] = [];
  for await (const id of rowIdsOf(ended, read)) ids.push(id);
  const sorted = BigInt64Array.from(ids).sort();
  const isUpdated = new Uint8Array(sorted.length);
  for await (const id of rowIdsOf(begun, read)) {
    const at = placeOf(sorted, id);
    if (at >= 0) isUpdated[at] = 1;
  }
  return {
    isUpdated(rowId) {
      const at = placeOf(sorted, rowId);
      return at >= 0 && isUpdated[at] === 1;
    },
  };
}

async function* rowIdsOf(sources: readonly Source[], read: PartRead): AsyncGenerator<bigint> {
  const ids: PartRead = { ...read, columns: [{ kind: 'virtual', name: 'rowid' }], matters: undefined };
  for (const source of sources)
    for await (const { rowCount, columns } of source(ids)) {
      const { values } = columns[0]!;
      for (let row = 0; row < rowCount; row++) yield values[row] as bigint;
    }
}

/** The first place of a value in ascending ones, or -1. */
function placeOf(sorted: BigInt64Array, value: bigint): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === value ? low : -1;
}
