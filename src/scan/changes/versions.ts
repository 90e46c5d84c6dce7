import type { HistoryFile } from '../../catalog/table-history.ts';
import { snapshotIdField } from '../../file/internal-fields.ts';
import { concurrently } from '../../storage/concurrently.ts';
import { type OpenFile, openFile, type PartRead, type RowChoice } from '../data-file.ts';
import { DeletedPositions } from '../deleted-positions.ts';
import { type DeleteTimes, loadDeleteTimes } from '../deletes.ts';
import type { FilePart } from '../parts.ts';
import { filePart } from '../table-parts.ts';
import type { Selection } from '../vectors.ts';
import { type RowGroupVersions, rowGroupsOf } from './groups.ts';
import type { PlannedChanges } from './plan.ts';

/** A data file, with what is known of when its rows began and ended. */
export interface FileVersions {
  readonly part: FilePart;
  readonly file: HistoryFile['file'];
  /** In the range: the snapshots in which some of its rows began. */
  readonly begins: ReadonlySet<number>;
  /** Of files with rows of several snapshots. */
  readonly groups: readonly RowGroupVersions[];
  readonly ends: DeleteTimes;
  /** In the range: the positions of rows that were deleted one by one, by snapshot. */
  readonly deleted: ReadonlyMap<number, DeletedPositions>;
}

/** How many files are looked into at once. */
const FILES_AT_ONCE = 8;

const never: DeleteTimes = { positions: new Uint32Array(0), snapshots: new Float64Array(0) };

/** Opens readers and keeps a few: a file may be read for one snapshot after the other. */
export class Readers {
  readonly #read: PartRead;
  readonly #open = new Map<FilePart, Promise<OpenFile>>();

  constructor(read: PartRead) {
    this.#read = read;
  }

  get(part: FilePart): Promise<OpenFile> {
    const known = this.#open.get(part);
    this.#open.delete(part);
    const opened = known ?? openFile(this.#read, part);
    this.#open.set(part, opened);
    if (this.#open.size > 2 * FILES_AT_ONCE) this.#open.delete(this.#open.keys().next().value!);
    return opened;
  }
}

/** What each data file of a table's history has to do with the range, in the order of the files. */
export async function fileVersions(
  { table, history, to }: PlannedChanges,
  read: PartRead,
  readers: Readers,
): Promise<FileVersions[]> {
  const { from } = history;
  const isWithin = (id: number | null): id is number => id !== null && from <= id && id <= to;
  const found: FileVersions[] = [];
  await concurrently(
    history.files.keys(),
    FILES_AT_ONCE,
    async (index) => {
      const { file, deletes, inlinedDeletes } = history.files[index]!;
      const live = { file, deletes: [], inlinedDeletes: [], partitionValues: [], stats: [] };
      const part = filePart(table, { ...history, files: [], partitionColumns: [] }, live, {
        snapshotId: to,
        fileIndex: index,
      });
      const isDeletedFrom = deletes.length + inlinedDeletes.length > 0;
      const ends = isDeletedFrom
        ? await loadDeleteTimes({ session: read, table, signal: read.signal, deletes, inlined: inlinedDeletes })
        : never;
      const groups =
        file.partial_max === null
          ? []
          : await rowGroupsOf({ ...read, matters: mayBeIn(from, to) }, await readers.get(part), isWithin);
      const begins =
        file.partial_max === null
          ? [file.begin_snapshot].filter(isWithin)
          : groups.flatMap(({ rows }) => [...rows.keys()]);
      const isOneByOne = (id: number): boolean =>
        isWithin(id) && (file.end_snapshot === null || id < file.end_snapshot);
      found[index] = { part, file, begins: new Set(begins), groups, ends, deleted: bySnapshot(ends, isOneByOne) };
    },
    read.signal,
  );
  return found;
}

function bySnapshot(
  { positions, snapshots }: DeleteTimes,
  isWanted: (id: number) => boolean,
): Map<number, DeletedPositions> {
  const found = new Map<number, number[]>();
  for (let i = 0; i < positions.length; i++) {
    const id = snapshots[i]!;
    if (!isWanted(id)) continue;
    const known = found.get(id);
    if (known) known.push(positions[i]!);
    else found.set(id, [positions[i]!]);
  }
  return new Map([...found].map(([id, list]) => [id, new DeletedPositions(Uint32Array.from(list))]));
}

/** The rows of a file that ended at a snapshot: those that were deleted then, or all that were left when the file ended. */
export function endedAt({ file, ends, deleted }: FileVersions, id: number): RowChoice | undefined {
  if (file.end_snapshot === id) {
    const before = new DeletedPositions(ends.positions.filter((_, i) => ends.snapshots[i]! < id));
    return {
      needsSnapshots: false,
      select: ({ firstPosition, rowCount }) => before.keptRows(firstPosition, rowCount),
      positions: (first, rowCount) => before.countIn(first, rowCount) < rowCount,
    };
  }
  const positions = deleted.get(id);
  return (
    positions && {
      needsSnapshots: false,
      select: ({ firstPosition, rowCount }) => selected(positions, firstPosition, rowCount),
      positions: (first, rowCount) => positions.countIn(first, rowCount) > 0,
    }
  );
}

function selected(positions: DeletedPositions, firstPosition: number, rowCount: number): Selection {
  const from = positions.countBefore(firstPosition);
  return positions.positions
    .slice(from, from + positions.countIn(firstPosition, rowCount))
    .map((at) => at - firstPosition);
}

/** Whether a row group may hold rows of snapshots of a range, by what is known of it. */
function mayBeIn(from: number, to: number): NonNullable<PartRead['matters']> {
  return (boundsOf) => {
    const { min, max } = boundsOf(snapshotIdField) ?? {};
    return (min === undefined || Number(min) <= to) && (max === undefined || Number(max) >= from);
  };
}
