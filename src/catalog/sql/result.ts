import type { CatalogTable, RowOf } from '../../spec/rows.ts';
import { decodeRows } from './decode.ts';

/** Rows by their tags: the catalog table that they are of, or what else the statement says. */
export class Result {
  readonly rows: readonly (readonly string[])[];
  readonly #byTag: Map<string, string[]> = new Map();

  constructor(rows: readonly (readonly string[])[]) {
    this.rows = rows;
    for (const [tag, json] of rows as readonly (readonly [string, string])[]) {
      const found = this.#byTag.get(tag);
      if (found) found.push(json);
      else this.#byTag.set(tag, [json]);
    }
  }

  json(tag: string): readonly string[] {
    return this.#byTag.get(tag) ?? [];
  }

  parsed(tag: string): unknown[][] {
    return JSON.parse(`[${this.json(tag).join(',')}]`) as unknown[][];
  }

  of<Table extends CatalogTable>(table: Table, tag: string = table): RowOf<Table>[] {
    return decodeRows(table, this.json(tag));
  }
}
