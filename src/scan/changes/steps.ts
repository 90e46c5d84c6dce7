import type { InlinedRow, InlinedRows, TableFiles } from '../../catalog/table-files.ts';
import { type OpenFile, type PartRead, type RowChoice, readRows } from '../data-file.ts';
import { inlinedBatch } from '../inlined-batch.ts';
import type { FilePart } from '../parts.ts';
import { inlinedPart } from '../table-parts.ts';
import type { VectorBatch } from '../vectors.ts';
import { RowGroups } from './groups.ts';
import type { PlannedChanges } from './plan.ts';
import { endedAt, type FileVersions, type Readers } from './versions.ts';

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
  const open = (part: FilePart): (() => Promise<OpenFile>) => {
    const place = order.push(part);
    return () => {
      const opened = readers.get(part);
      if (opensAhead) for (const next of order.slice(place, place + FILES_AHEAD)) readers.get(next).catch(() => {});
      return opened;
    };
  };
  const ended = (versions: FileVersions, snapshotId: number): Source[] => {
    const choice = endedAt(versions, snapshotId);
    return choice ? [chosenRows(open(versions.part), choice)] : [];
  };
  const groups = new RowGroups();
  const begun = (versions: FileVersions, snapshotId: number): Source[] => {
    if (!versions.begins.has(snapshotId)) return [];
    const opened = open(versions.part);
    if (versions.file.partial_max === null) return [chosenRows(opened, all)];
    return [groupRows(opened, groups, versions, snapshotId)];
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
        ...files.flatMap((versions) => ended(versions, snapshotId)),
        ...inlined(({ endSnapshot }) => endSnapshot === snapshotId),
      ],
      begun: [
        ...files.flatMap((versions) => begun(versions, snapshotId)),
        ...inlined(({ beginSnapshot }) => beginSnapshot === snapshotId),
      ],
    }));
}

const all: RowChoice = { needsSnapshots: false, select: () => undefined };

function chosenRows(open: () => Promise<OpenFile>, choice: RowChoice): Source {
  return async function* (read) {
    yield* readRows(read, await open(), choice);
  };
}

function groupRows(
  open: () => Promise<OpenFile>,
  kept: RowGroups,
  { groups }: FileVersions,
  snapshotId: number,
): Source {
  return async function* (read) {
    const opened = await open();
    for (const group of groups) {
      const selection = group.rows.get(snapshotId);
      const batch = selection && (await kept.rowsOf(read, opened, group, selection));
      if (batch) yield batch;
    }
  };
}

function inlinedSource({ table, history }: PlannedChanges, rows: InlinedRows, index: number): Source {
  const files: TableFiles = { ...history, files: [], partitionColumns: [] };
  return async function* (read) {
    const wanted = new Set(read.columns.flatMap((column) => (column.kind === 'field' ? [column.field.id] : [])));
    yield inlinedBatch(read, inlinedPart(table, files, rows, index, wanted));
  };
}
