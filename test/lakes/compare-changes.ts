import { isLakeError, type Lake } from '../../src/index.ts';
import { attempt, type Comparison, count, own, type Problem, plain, sameRows } from './compare.ts';
import type { ExpectedChanges, ExpectedLake } from './expected.ts';
import type { Random } from './random.ts';

/** A change as text, apart from when it was and what it did. */
interface Change {
  readonly snapshotId: number;
  readonly type: string;
  readonly rowId: string;
  readonly cells: string;
}

const text = ({ snapshotId, type, rowId, cells }: Change): string => `${snapshotId} | ${rowId} | ${type} | ${cells}`;

/** A table's change feed, several ways. */
export async function compareChanges(
  lake: Lake,
  all: ExpectedLake,
  expected: ExpectedChanges,
  random: Random,
  result: Comparison,
): Promise<void> {
  const { schema, name, from, to } = expected;
  const where = `changes of "${schema}"."${name}" from ${from} to ${to}`;
  if (expected.failure !== undefined) {
    count(result.theirFailures, `changes: ${plain(expected.failure)}`);
    return;
  }
  const table = lake.table({ schema, name });
  const read = async (more: object): Promise<Change[]> => {
    const rows = (await table.changes({ from, to, ...more }).toArray()) as Record<string, unknown>[];
    return rows.map((row) => ({
      snapshotId: Number(row['snapshot_id']),
      type: String(row['change_type']),
      rowId: String(row['rowid']),
      cells: expected.columns.map((column) => column.canonical.ours(own(row, column.name))).join(' | '),
    }));
  };
  await attempt(result, where, async () => {
    let ours: Change[];
    try {
      ours = await read({});
    } catch (error) {
      if (!isLakeError(error, 'NOT_FOUND') || !isExpired(all, from, to)) throw error;
      count(result.refused, 'changes of expired snapshots');
      return undefined;
    }
    const theirs = expected.rowIds.map(
      (rowId, i): Change => ({
        snapshotId: Number(expected.snapshotIds[i]),
        type: expected.kinds[i]!,
        rowId,
        cells: expected.cells.map((column) => column[i]).join(' | '),
      }),
    );
    const problem = sameRows('changes', joined(ours).map(text), theirs.map(text));
    if (problem && isDoubled(all, expected)) {
      count(result.theirFailures, 'changes: DuckDB shows rows twice');
      return undefined;
    }
    if (problem) {
      // What it reports of rows in merged or flushed files, and of files with inlined deletes, is not what its snapshots show.
      if (contradiction(all, expected, theirs) === undefined) return problem;
      const own = contradiction(all, expected, ours);
      if (own !== undefined) return { kind: `changes: ${own.kind}`, detail: `${own.detail}\n${problem.detail}` };
      count(result.theirFailures, 'changes: DuckDB contradicts its own snapshots');
    }
    return sameParts(ours, read, random);
  });
}

/** As DuckDB joins: a row that one transaction updated several times comes once for each version on the other side. */
function joined(changes: readonly Change[]): Change[] {
  const isOld = ({ type }: Change): boolean => type === 'delete' || type === 'update_preimage';
  const key = (change: Change, side: boolean): string => `${change.snapshotId} ${change.rowId} ${side}`;
  const counts = new Map<string, number>();
  for (const change of changes) count(counts, key(change, isOld(change)));
  return changes.flatMap((change) => new Array<Change>(counts.get(key(change, !isOld(change))) ?? 1).fill(change));
}

/** What options leave of the whole feed. */
async function sameParts(
  ours: readonly Change[],
  read: (more: object) => Promise<Change[]>,
  random: Random,
): Promise<Problem> {
  if (ours.some(({ snapshotId }, i) => i > 0 && snapshotId < ours[i - 1]!.snapshotId))
    return { kind: 'changes: order', detail: ours.map(text).join('\n') };
  const limit = random.pick([0, 1, 3, 12]);
  const first = sameRows('changes with a limit', (await read({ limit })).map(text), ours.slice(0, limit).map(text));
  if (first) return first;
  const types = random.pick([['insert'], ['delete', 'update_preimage'], ['insert', 'update_postimage']]);
  const some = ours.filter(({ type }) => types.includes(type));
  return sameRows('changes of some types', (await read({ types })).map(text), some.map(text));
}

/** Whether something that a range needs may be gone: a snapshot within, or the one before. */
function isExpired({ snapshots }: ExpectedLake, from: number, to: number): boolean {
  const ids = new Set(snapshots.map(({ id }) => id));
  for (let id = Math.max(0, from - 1); id <= to; id++) if (!ids.has(id)) return true;
  return false;
}

/** Whether DuckDB shows rows of files with two delete files at once somewhere in the range. */
function isDoubled({ snapshots }: ExpectedLake, { names, from, to }: ExpectedChanges): boolean {
  return snapshots.some(({ id, tables }) => {
    const place = id >= from - 1 && id <= to ? names.get(id) : undefined;
    return tables.some((table) => table.isDoubled && table.schema === place?.schema && table.name === place?.name);
  });
}

/** Where changes don't lead from one snapshot's rows to the next one's, both as DuckDB shows them. */
function contradiction(
  all: ExpectedLake,
  { names, from, to, columns }: ExpectedChanges,
  changes: readonly Change[],
): Problem {
  const outside = changes.find(({ snapshotId }) => snapshotId < from || snapshotId > to);
  if (outside) return { kind: 'of a snapshot outside of the range', detail: text(outside) };
  const halves = new Map<string, Set<string>>();
  for (const { snapshotId, rowId, type } of changes) {
    const key = `${snapshotId} ${rowId}`;
    halves.set(key, (halves.get(key) ?? new Set()).add(type));
  }
  for (const [key, types] of halves)
    if (types.has('update_preimage') !== types.has('update_postimage') || (types.has('insert') && types.has('delete')))
      return { kind: 'half an update', detail: `${key}: ${[...types].join(', ')}` };
  const shape = (of: ExpectedChanges['columns']): string => of.map(({ name, type }) => `${name} ${type}`).join(', ');
  const rowsAt = (id: number, byCells: boolean): string[] | undefined => {
    const snapshot = all.snapshots.find((one) => one.id === id);
    if (!snapshot) return id < 0 ? [] : undefined;
    const place = names.get(id);
    if (!place) return [];
    const found = snapshot.tables.find(({ schema, name }) => schema === place.schema && name === place.name);
    if (!found || found.failure !== undefined) return undefined;
    if (!byCells) return [...found.rowIds];
    if (shape(found.columns) !== shape(columns)) return undefined;
    return found.rowIds.map((rowId, i) => `${rowId} | ${found.cells.map((column) => column[i]).join(' | ')}`);
  };
  for (let id = from; id <= to; id++)
    for (const byCells of [false, true]) {
      const before = rowsAt(id - 1, byCells);
      const after = rowsAt(id, byCells);
      if (!before || !after) continue;
      const of = (types: readonly string[]): string[] =>
        changes
          .filter(({ snapshotId, type }) => snapshotId === id && types.includes(type))
          .map(({ rowId, cells }) => (byCells ? `${rowId} | ${cells}` : rowId));
      const was = [...before, ...of(['insert', 'update_postimage'])];
      const is = [...after, ...of(['delete', 'update_preimage'])];
      const problem = sameRows(`not what snapshot ${id} did`, was, is);
      if (problem) return { ...problem, kind: 'not what the snapshots show' };
    }
  return undefined;
}
