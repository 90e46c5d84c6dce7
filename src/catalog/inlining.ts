import { LakeError } from '../errors.ts';
import type { Field } from '../schema/field.ts';
import { relativeId } from '../spec/rows.ts';
import type { PendingChange, StagedRows } from './pending.ts';
import type { CatalogOp } from './store.ts';

/** What a batch does with inlined rows. */
export class Inlining {
  readonly ops: CatalogOp[] = [];
  /** The tables that get a catalog table for inlined rows. They may be made in the same batch. */
  readonly created: Set<number> = new Set();

  create(tableId: number, fields: readonly Field[]): void {
    if (this.created.has(tableId)) return;
    this.created.add(tableId);
    this.ops.push({ kind: 'createInlined', tableId, columns: fields.map(({ name, type }) => ({ name, type })) });
  }

  /** Rows of several appends, in their order; returns how many. */
  insert(tableId: number, fields: readonly Field[], inlined: readonly StagedRows[], rowIdStart: number): number {
    let count = 0;
    // Those of one statement to one table make one operation.
    for (const { into, columns, rows } of merged(inlined)) {
      if (into === undefined) this.create(tableId, fields);
      const name = this.created.has(tableId) ? undefined : into;
      this.ops.push({
        kind: 'insertInlined',
        name,
        tableId,
        columns,
        rowIdStart: relativeId(rowIdStart + count),
        rows,
      });
      count += rows.length;
    }
    return count;
  }
}

function merged(inlined: readonly StagedRows[]): Pick<StagedRows, 'into' | 'columns' | 'rows'>[] {
  const groups: { into: string | undefined; columns: StagedRows['columns']; rows: StagedRows['rows'][number][] }[] = [];
  for (const { into, columns, rows } of inlined) {
    const last = groups.at(-1);
    if (last && last.into === into) last.rows.push(...rows);
    else groups.push({ into, columns, rows: [...rows] });
  }
  return groups;
}

/** Whether a commit of these changes makes a catalog table for rows of a table that exists. */
export function makesInlinedTable(change: PendingChange): boolean {
  return change.kind === 'append' && change.inlined !== undefined && change.inlined.into === undefined;
}

/** What the witness of a commit of inlined rows tells when a later snapshot has the same changes: others may have made that one. */
export function ambiguousCommit(changes: string): LakeError {
  return new LakeError(
    'COMMIT_UNKNOWN',
    `a later snapshot made the same changes (${changes}): whether it is this commit's only the rows can tell, or a key`,
  );
}

export const hasInlined = (change: PendingChange): boolean => change.kind === 'append' && change.inlined !== undefined;
