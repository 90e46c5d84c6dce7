import type { CreateInlined, InsertInlined } from '../store.ts';
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

  create({ name, columns }: CreateInlined): void {
    if (!this.has(name)) this.#tables.set(name, { columns: columns.map((column) => column.name), rows: [] });
  }

  insert({ name, rows }: InsertInlined, beginSnapshot: number, rowIdStart: number): void {
    for (const [n, cells] of rows.entries())
      this.#tables.get(name)!.rows.push({ rowId: rowIdStart + n, beginSnapshot, endSnapshot: null, cells });
  }

  get(name: string): InlinedTable | undefined {
    return this.#tables.get(name);
  }
}
