import { LakeError, showValue } from '../../errors.ts';
import {
  type CatalogRow,
  type CatalogTable,
  type Cell,
  type CellSpec,
  catalogTables,
  cellsOf,
} from '../../spec/rows.ts';

/** The rows of every catalog table. Rows are replaced, never changed: what was read stays as it was. */
export type Tables = Map<CatalogTable, readonly CatalogRow[]>;

export function emptyTables(): Tables {
  return new Map((Object.keys(catalogTables) as CatalogTable[]).map((table) => [table, []]));
}

/** The catalog after some changes that are not visible yet: `publish` makes them so, all at once. */
export class Stage {
  readonly #tables: Tables;
  readonly #changed = new Map<CatalogTable, CatalogRow[]>();

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  rows(table: CatalogTable): readonly CatalogRow[] {
    return this.#changed.get(table) ?? this.#tables.get(table)!;
  }

  before(table: CatalogTable): readonly CatalogRow[] {
    return this.#tables.get(table)!;
  }

  insert(table: CatalogTable, row: CatalogRow): void {
    const whole = wholeRow(table, row);
    const rows = this.#writable(table);
    for (const [name, spec] of cellsOf(table)) {
      if (spec.key === 'primary' && rows.some((other) => other[name] === whole[name]))
        throw broken(table, name, whole[name]!, 'is there already');
    }
    rows.push(whole);
  }

  replace(table: CatalogTable, where: (row: CatalogRow) => boolean, change: (row: CatalogRow) => CatalogRow): void {
    const rows = this.#writable(table);
    for (const [index, row] of rows.entries()) {
      if (where(row)) rows[index] = wholeRow(table, { ...row, ...change(row) });
    }
  }

  publish(): void {
    for (const [table, rows] of this.#changed) this.#tables.set(table, rows);
  }

  #writable(table: CatalogTable): CatalogRow[] {
    let rows = this.#changed.get(table);
    if (rows === undefined) {
      rows = [...this.#tables.get(table)!];
      this.#changed.set(table, rows);
    }
    return rows;
  }
}

const fits: Readonly<Record<CellSpec['type'], (cell: Cell) => boolean>> = {
  bigint: Number.isSafeInteger,
  varchar: (cell) => typeof cell === 'string',
  boolean: (cell) => typeof cell === 'boolean',
  uuid: (cell) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(String(cell)),
  timestamptz: (cell) => typeof cell === 'string',
};

/** The row with all its columns, as strict about them as a database with types is. */
function wholeRow(table: CatalogTable, row: CatalogRow): CatalogRow {
  const cells = cellsOf(table);
  for (const name of Object.keys(row)) {
    if (!cells.some(([known]) => known === name)) throw broken(table, name, row[name]!, 'has no such column');
  }
  return Object.fromEntries(
    cells.map(([name, { type, key }]) => {
      const cell = row[name] ?? null;
      if (cell === null ? key !== undefined : !fits[type](cell)) throw broken(table, name, cell, `is no ${type}`);
      return [name, cell];
    }),
  );
}

function broken(table: string, column: string, value: Cell, reason: string): LakeError {
  return new LakeError('INVALID_ARGUMENT', `${table}.${column}: ${showValue(value)} ${reason}`);
}
