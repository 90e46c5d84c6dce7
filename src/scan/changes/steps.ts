import type { InlinedRow, InlinedRows, TableFiles } from '../../catalog/table-files.ts';
import { type PartRead, type RowChoice, readRows } from '../data-file.ts';
import { inlinedBatch } from '../inlined-batch.ts';
import type { FilePart } from '../parts.ts';
import { inlinedPart } from '../table-parts.ts';
import type { VectorBatch } from '../vectors.ts';
import type { PlannedChanges } from './plan.ts';
import { begunAt, endedAt, type FileVersions, mayBeIn, type Readers } from './versions.ts';

/** Rows of one file, or of one table of inlined rows, read as often as they are asked for. */
export type Source = (read: PartRead) => AsyncGenerator<VectorBatch>;

/** What one snapshot did to the table. */
export interface Step {
  readonly snapshotId: number;
  readonly ended: readonly Source[];
  readonly begun: readonly Source[];
}

/** How many files are opened while another is read: their footers cost a round trip each. */
const FILES_AHEAD = 3;

/** The snapshots that changed the table, oldest first. */
export function stepsOf(
  planned: PlannedChanges,
  files: readonly FileVersions[],
  readers: Readers,
  opensAhead: boolean,
): Step[] {
  const { history, to, skipped } = planned;
  const isWanted = (id: number): boolean => history.from <= id && id <= to && !skipped.has(id);
  const rows = history.inlined.flatMap((table) => table.rows);
  const ids = new Set<number>([
    ...files.flatMap(({ file, begins, deleted }) => [...begins, ...deleted.keys(), file.end_snapshot ?? -1]),
    ...rows.flatMap(({ beginSnapshot, endSnapshot }) => [beginSnapshot, endSnapshot ?? -1]),
  ]);
  // In the order in which they are read.
  const order: FilePart[] = [];
  const fileSource = (part: FilePart, choice: RowChoice, narrow: (read: PartRead) => PartRead): Source => {
    const place = order.push(part);
    return async function* (read) {
      const opened = await readers.get(part);
      if (opensAhead) for (const next of order.slice(place, place + FILES_AHEAD)) readers.get(next).catch(() => {});
      yield* readRows(narrow(read), opened, choice);
    };
  };
  const inlined = (isMeant: (row: InlinedRow) => boolean): Source[] =>
    history.inlined.flatMap((table, index) => {
      const found = table.rows.filter(isMeant);
      return found.length === 0 ? [] : [inlinedSource(planned, { ...table, rows: found }, files.length + index)];
    });
  return [...ids]
    .filter(isWanted)
    .sort((a, b) => a - b)
    .map((snapshotId) => ({
      snapshotId,
      ended: [
        ...files.flatMap((versions) => {
          const choice = endedAt(versions, snapshotId);
          return choice ? [fileSource(versions.part, choice, (read) => read)] : [];
        }),
        ...inlined(({ endSnapshot }) => endSnapshot === snapshotId),
      ],
      begun: [
        ...files.flatMap((versions) => {
          if (!versions.begins.includes(snapshotId)) return [];
          const isOne = versions.file.partial_max === null;
          const narrow = (read: PartRead): PartRead => (isOne ? read : ofSnapshot(read, snapshotId));
          return [fileSource(versions.part, begunAt(versions, snapshotId), narrow)];
        }),
        ...inlined(({ beginSnapshot }) => beginSnapshot === snapshotId),
      ],
    }));
}

function ofSnapshot(read: PartRead, id: number): PartRead {
  const isOf = mayBeIn(id, id);
  return { ...read, matters: (boundsOf) => isOf(boundsOf) && (read.matters?.(boundsOf) ?? true) };
}

function inlinedSource({ table, history }: PlannedChanges, rows: InlinedRows, index: number): Source {
  const files: TableFiles = { ...history, files: [] };
  return async function* (read) {
    const wanted = new Set(read.columns.flatMap((column) => (column.kind === 'field' ? [column.field.id] : [])));
    yield inlinedBatch(read, inlinedPart(table, files, rows, index, wanted));
  };
}
