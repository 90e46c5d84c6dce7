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
  // 64-bit: DuckDB leaves ids above what doubles tell apart where one transaction updated what it inserted.
  const lists: BigInt64Array[] = [];
  for await (const ids of rowIdsOf(ended, read)) lists.push(ids);
  const sorted = together(lists).sort();
  const isUpdated = new Uint8Array(sorted.length);
  for await (const ids of rowIdsOf(begun, read))
    for (const id of ids) {
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

async function* rowIdsOf(sources: readonly Source[], read: PartRead): AsyncGenerator<BigInt64Array> {
  const ids: PartRead = { ...read, columns: [{ kind: 'virtual', name: 'rowid' }], matters: undefined };
  for (const source of sources) for await (const { columns } of source(ids)) yield columns[0]!.values as BigInt64Array;
}

function together(lists: readonly BigInt64Array[]): BigInt64Array {
  const all = new BigInt64Array(lists.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const list of lists) {
    all.set(list, at);
    at += list.length;
  }
  return all;
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
