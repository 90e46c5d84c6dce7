import { LakeError } from '../errors.ts';
import { type Change, changeText, parseChanges } from '../spec/changes.ts';
import { inlinedTableName } from '../spec/inlining.ts';
import { foldName } from '../spec/names.ts';
import { type CatalogRow, type CatalogTable, type CellSpec, cellsOf, resolveId } from '../spec/rows.ts';
import type { CommitBatch, CreateInlined, InsertInlined, Snapshot } from './store.ts';

/** The snapshot that a batch makes on top of `head`. */
export function nextSnapshot(batch: CommitBatch, head: Snapshot, time: string): Snapshot {
  return {
    id: head.id + 1,
    time,
    schemaVersion: head.schemaVersion + (batch.changesSchema ? 1 : 0),
    nextCatalogId: head.nextCatalogId + batch.catalogIdCount,
    nextFileId: head.nextFileId + batch.fileIdCount,
  };
}

/** Whether a batch that is kept from its place by changes may follow on a snapshot with these. */
export function goesOnTop(forbidden: readonly Change[], changes: string): boolean {
  // What a snapshot doesn't tell may be anything.
  if (changes === '') return false;
  const key = (change: Change): string => foldName(changeText(change));
  const made = new Set(parseChanges(changes).map(key));
  return !forbidden.some((change) => made.has(key(change)));
}

/** Turns the relative ids of one batch into those that it gets on top of one head. */
export class Resolver {
  readonly #batch: CommitBatch;
  readonly #head: Snapshot;
  readonly #next: Snapshot;
  readonly #nextRowId: (tableId: number) => number;

  /** `nextRowId` tells a table's `next_row_id` at the head. */
  constructor(batch: CommitBatch, head: Snapshot, next: Snapshot, nextRowId: (tableId: number) => number) {
    this.#batch = batch;
    this.#head = head;
    this.#next = next;
    this.#nextRowId = nextRowId;
  }

  /** The row, or the cells that rows must match, with its relative ids resolved. */
  row(table: CatalogTable, row: CatalogRow): CatalogRow {
    const resolved: Record<string, CatalogRow[string]> = { ...row };
    for (const [name, { counter }] of cellsOf(table)) {
      const cell = row[name];
      if (counter !== undefined && counter !== 'row' && typeof cell === 'number')
        resolved[name] = this.#id(cell, counter);
    }
    // A file's row ids continue those of its table: they need the table's id resolved.
    for (const [name, { counter }] of cellsOf(table)) {
      const cell = row[name];
      if (counter === 'row' && typeof cell === 'number')
        resolved[name] = resolveId(cell, this.#nextRowId(Number(resolved['table_id'])));
    }
    return resolved;
  }

  /** The catalog table that inlined rows go to. */
  inlinedTable({ name, tableId }: Pick<InsertInlined, 'name' | 'tableId'>): string {
    return name ?? inlinedTableName(this.catalogId(tableId), this.#next.schemaVersion);
  }

  /** For `ducklake_inlined_data_tables`. */
  inlinedTableRow({ tableId }: CreateInlined): CatalogRow {
    return {
      table_id: this.catalogId(tableId),
      table_name: this.inlinedTable({ tableId }),
      schema_version: this.#next.schemaVersion,
    };
  }

  catalogId(cell: number): number {
    return this.#id(cell, 'catalog');
  }

  change(change: Change): string {
    return 'id' in change ? changeText(change, this.catalogId(change.id)) : changeText(change);
  }

  #id(cell: number, counter: Exclude<CellSpec['counter'], undefined | 'row'>): number {
    const [next, count] = {
      snapshot: [this.#next.id, 1],
      schemaVersion: [this.#next.schemaVersion, 1],
      catalog: [this.#head.nextCatalogId, this.#batch.catalogIdCount],
      file: [this.#head.nextFileId, this.#batch.fileIdCount],
    }[counter] as [number, number];
    if (cell < -count)
      throw new LakeError(
        'INVALID_ARGUMENT',
        `relative id ${cell} is beyond the ${count} that the batch takes (${counter})`,
      );
    return resolveId(cell, next);
  }
}
