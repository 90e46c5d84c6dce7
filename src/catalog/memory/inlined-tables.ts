import type { CreateInlined, DeleteInlined, InsertInlined } from '../store.ts';
import type { InlinedRow } from '../table-files.ts';

/** A catalog table of inlined rows. */
interface InlinedTable {
  readonly columns: readonly string[];
  readonly rows: InlinedRow[];
}

/** The catalog tables of inlined rows, by their names. */
export class InlinedTables {
  readonly #tables = new Map<string, InlinedTable>();

  has(name: string): boolean {
    return this.#tables.has(name);
  }

  create(name: string, { columns }: CreateInlined): void {
    if (!this.has(name)) this.#tables.set(name, { columns: columns.map((column) => column.name), rows: [] });
  }

  insert(name: string, { rows }: InsertInlined, beginSnapshot: number, rowIdStart: number): void {
    for (const [n, cells] of rows.entries())
      this.#tables.get(name)!.rows.push({ rowId: rowIdStart + n, beginSnapshot, endSnapshot: null, cells });
  }

  delete({ name, upTo }: DeleteInlined): void {
    const table = this.#tables.get(name);
    if (table) this.#tables.set(name, { ...table, rows: table.rows.filter((row) => row.beginSnapshot > upTo) });
  }

  /** Whether it was empty, and is gone. */
  drop(name: string): boolean {
    return this.#tables.get(name)?.rows.length === 0 && this.#tables.delete(name);
  }

  get(name: string): InlinedTable | undefined {
    return this.#tables.get(name);
  }
}
