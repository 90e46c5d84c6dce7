import { LakeError } from '../errors.ts';
import type { Field } from '../schema/field.ts';
import { inlinedTableName } from '../spec/inlining.ts';
import { type CatalogRow, NEXT, relativeId, resolveId } from '../spec/rows.ts';
import type { PendingChange, StagedRows } from './pending.ts';
import type { CatalogOp, Snapshot } from './store.ts';

/** What a batch does with inlined rows. Catalog tables that it makes have names with ids, which are the base's as long as its schema is. */
export class Inlining {
  readonly ops: CatalogOp[] = [];
  /** For `ducklake_inlined_data_tables`. */
  readonly rows: CatalogRow[] = [];
  readonly #base: Snapshot;
  readonly #created = new Map<number, string>();

  constructor(base: Snapshot) {
    this.#base = base;
  }

  /** The name of the catalog table for rows of a table, which may be one that the batch makes. */
  create(tableId: number, fields: readonly Field[]): string {
    const { nextCatalogId, schemaVersion } = this.#base;
    const name = inlinedTableName(resolveId(tableId, nextCatalogId), schemaVersion + 1);
    if (this.#created.has(tableId)) return name;
    this.#created.set(tableId, name);
    this.rows.push({ table_id: tableId, table_name: name, schema_version: NEXT });
    this.ops.push({ kind: 'createInlined', name, columns: fields.map(({ name, type }) => ({ name, type })) });
    return name;
  }

  /** Rows of several appends, in their order; returns how many. */
  insert(tableId: number, fields: readonly Field[], inlined: readonly StagedRows[], rowIdStart: number): number {
    let count = 0;
    // Those of one statement to one table make one operation.
    for (const { into, columns, rows } of merged(inlined)) {
      const created = this.#created.get(tableId);
      const name = created ?? into ?? this.create(tableId, fields);
      const isNew = name !== into;
      const start = relativeId(rowIdStart + count);
      this.ops.push({ kind: 'insertInlined', name, isNew, tableId, columns, rowIdStart: start, rows });
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
