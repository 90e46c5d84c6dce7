import { type OpenFile, type PartRead, readRows, snapshotsOf } from '../data-file.ts';
import type { FilePart } from '../parts.ts';
import { gather, type Selection, type VectorBatch } from '../vectors.ts';

/** A row group of a file that holds rows of several snapshots. */
export interface RowGroupVersions {
  readonly firstPosition: number;
  readonly rowCount: number;
  /** The group's rows by the snapshot that they are of. */
  readonly rows: ReadonlyMap<number, Selection>;
}

/** The row groups of a file with rows of snapshots that are wanted. */
export async function rowGroupsOf(
  read: PartRead,
  opened: OpenFile,
  isWanted: (id: number) => boolean,
): Promise<RowGroupVersions[]> {
  const groups: RowGroupVersions[] = [];
  const batches = readRows({ ...read, columns: [] }, opened, {
    needsSnapshots: true,
    select({ firstPosition, rowCount }, snapshots) {
      const snapshotOf = snapshotsOf(snapshots, opened.part.location);
      const lists = new Map<number, number[]>();
      for (let row = 0; row < rowCount; row++) {
        const id = snapshotOf(row);
        if (!isWanted(id)) continue;
        const list = lists.get(id);
        if (list) list.push(row);
        else lists.set(id, [row]);
      }
      const rows = new Map([...lists].map(([id, list]) => [id, Uint32Array.from(list)]));
      if (rows.size > 0) groups.push({ firstPosition, rowCount, rows });
      return undefined;
    },
  });
  for await (const _ of batches);
  return groups;
}

/** Rows of row groups that are kept, in all. */
const maxKept = 500_000;

/** Row groups as they were last read: each has rows of many snapshots, which are asked for one after the other. */
export class RowGroups {
  readonly #kept = new Map<string, { readonly rowCount: number; readonly batch: Promise<VectorBatch | undefined> }>();
  #count = 0;

  /** The rows of one snapshot. `undefined` when the group can't matter. */
  async rowsOf(
    read: PartRead,
    opened: OpenFile,
    { firstPosition, rowCount }: RowGroupVersions,
    selection: Selection,
  ): Promise<VectorBatch | undefined> {
    const key = `${opened.part.fileIndex} ${firstPosition} ${read.columns.length}`;
    const found = this.#kept.get(key) ?? { rowCount, batch: wholeGroup(read, opened, firstPosition) };
    if (!this.#kept.delete(key)) this.#count += rowCount;
    this.#kept.set(key, found);
    for (const [oldest, { rowCount: count }] of this.#kept) {
      if (this.#count <= maxKept || oldest === key) break;
      this.#kept.delete(oldest);
      this.#count -= count;
    }
    const batch = await found.batch;
    if (!batch || selection.length === batch.rowCount) return batch;
    return { rowCount: selection.length, columns: batch.columns.map((vector) => gather(vector, selection)) };
  }
}

async function wholeGroup(
  read: PartRead,
  opened: Pick<OpenFile, 'reader'> & { readonly part: FilePart },
  firstPosition: number,
): Promise<VectorBatch | undefined> {
  const batches = readRows(read, opened, {
    needsSnapshots: false,
    select: () => undefined,
    positions: (first) => first === firstPosition,
  });
  for await (const batch of batches) return batch;
  return undefined;
}
