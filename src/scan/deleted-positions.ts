/** Which rows of one data file are deleted: built once, asked for batch by batch. */
export class DeletedPositions {
  /** Ascending, each once. */
  readonly positions: Uint32Array;

  /** `positions` ascend and hold none twice. */
  constructor(positions: Uint32Array) {
    this.positions = positions;
  }

  get count(): number {
    return this.positions.length;
  }

  has(position: number): boolean {
    return this.positions[this.countBefore(position)] === position;
  }

  /** How many rows before `position` are deleted. */
  countBefore(position: number): number {
    let [low, high] = [0, this.positions.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.positions[middle]! < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** How many rows from `firstPosition` on, of `rowCount`, are deleted. */
  countIn(firstPosition: number, rowCount: number): number {
    return this.countBefore(firstPosition + rowCount) - this.countBefore(firstPosition);
  }

  /**
   * Indexes of the rows that are left of a batch, from 0, ascending; `undefined` when all are. Takes time in proportion to the
   * batch, however many rows of the file are deleted.
   */
  keptRows(firstPosition: number, rowCount: number): Uint32Array | undefined {
    let next = this.countBefore(firstPosition);
    const end = this.countBefore(firstPosition + rowCount);
    if (next === end) return undefined;
    const kept = new Uint32Array(rowCount - (end - next));
    let at = 0;
    for (let row = 0; row < rowCount; row++) {
      if (next < end && this.positions[next]! - firstPosition === row) next++;
      else kept[at++] = row;
    }
    return kept;
  }
}

/** The union of ascending lists, each value once. */
export function mergeAscending(lists: readonly Uint32Array[]): Uint32Array {
  const filled = lists.filter((list) => list.length > 0);
  if (filled.length <= 1) return withoutRepeats(filled[0] ?? new Uint32Array(0));
  const all = new Uint32Array(filled.reduce((sum, list) => sum + list.length, 0));
  let at = 0;
  for (const list of filled) {
    all.set(list, at);
    at += list.length;
  }
  return withoutRepeats(all.sort());
}

function withoutRepeats(sorted: Uint32Array): Uint32Array {
  let count = 0;
  for (let i = 0; i < sorted.length; i++) if (i === 0 || sorted[i] !== sorted[i - 1]) count++;
  if (count === sorted.length) return sorted;
  return sorted.filter((value, i) => i === 0 || value !== sorted[i - 1]);
}
