import { LakeError, showValue } from '../../errors.ts';
import {
  type CatalogRow,
  type CatalogTable,
  type Cell,
  type CellSpec,
  catalogTables,
  cellsOf,
  type RowOf,
} from '../../spec/rows.ts';
import type { UsedKey } from '../store.ts';
import { InlinedTables } from './inlined-tables.ts';

export type Where = (row: CatalogRow) => boolean;

/** The rows of every catalog table, whole ones, and the primary keys that are taken. */
export class Tables {
  /** See `CommitBatch.keys`. */
  readonly usedKeys: Map<string, UsedKey & { readonly micros: number }> = new Map();
  readonly inlined: InlinedTables = new InlinedTables();
  readonly #rows = new Map<CatalogTable, CatalogRow[]>();
  readonly #keys = new Map<CatalogTable, Set<Cell>>();

  constructor() {
    for (const table of Object.keys(catalogTables) as CatalogTable[]) {
      this.#rows.set(table, []);
      this.#keys.set(table, new Set());
    }
  }

  of(table: CatalogTable): readonly CatalogRow[] {
    return this.#rows.get(table)!;
  }

  hasKey(table: CatalogTable, key: Cell): boolean {
    return this.#keys.get(table)!.has(key);
  }

  remove(table: CatalogTable, isMeant: Where): void {
    const key = primaryKey(table);
    const [gone, kept] = [this.of(table).filter(isMeant), this.of(table).filter((row) => !isMeant(row))];
    this.#rows.set(table, kept);
    if (key !== undefined) for (const row of gone) this.#keys.get(table)!.delete(row[key]!);
  }

  /** Makes a stage's changes visible. Can't fail half-way: everything was checked when it was staged. */
  apply(table: CatalogTable, inserted: readonly CatalogRow[], replaced: ReadonlyMap<number, CatalogRow>): void {
    const rows = this.#rows.get(table)!;
    const keys = this.#keys.get(table)!;
    const key = primaryKey(table);
    for (const [index, row] of replaced) rows[index] = row;
    for (const row of inserted) {
      rows.push(row);
      if (key !== undefined) keys.add(row[key]!);
    }
  }
}

/** A table's rows, copied: callers may do with them what they like. */
export function copies<Table extends CatalogTable>(tables: Tables, table: Table, where: Where): RowOf<Table>[] {
  return tables
    .of(table)
    .filter(where)
    .map((row) => ({ ...row })) as RowOf<Table>[];
}

/** Changes that are not visible yet: `publish` makes them so, all at once. */
export class Stage {
  readonly #tables: Tables;
  readonly #inserted = new Map<CatalogTable, CatalogRow[]>();
  readonly #replaced = new Map<CatalogTable, Map<number, CatalogRow>>();
  readonly #removed: [CatalogTable, Where][] = [];

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** The rows as they were before the stage. */
  before(table: CatalogTable): readonly CatalogRow[] {
    return this.#tables.of(table);
  }

  insert(table: CatalogTable, row: CatalogRow): void {
    const whole = wholeRow(table, row);
    const inserted = entryOf(this.#inserted, table, () => []);
    const key = primaryKey(table);
    if (key !== undefined) {
      const taken = this.#tables.hasKey(table, whole[key]!) || inserted.some((other) => other[key] === whole[key]);
      if (taken) throw broken(table, key, whole[key]!, 'is there already');
    }
    inserted.push(whole);
  }

  /** Replaces cells of rows that were there before the stage; `change` gives none for a row that stays. */
  update(table: CatalogTable, change: (row: CatalogRow) => CatalogRow | undefined): void {
    const replaced = entryOf(this.#replaced, table, () => new Map());
    for (const [index, row] of this.#tables.of(table).entries()) {
      const cells = change(row);
      if (cells) replaced.set(index, wholeRow(table, { ...(replaced.get(index) ?? row), ...cells }));
    }
  }

  /** Removes rows that were there before the stage. */
  remove(table: CatalogTable, isMeant: Where): void {
    this.#removed.push([table, isMeant]);
  }

  publish(): void {
    const none = new Map<number, CatalogRow>();
    for (const [table, rows] of this.#replaced) this.#tables.apply(table, [], rows);
    for (const [table, isMeant] of this.#removed) this.#tables.remove(table, isMeant);
    for (const [table, rows] of this.#inserted) this.#tables.apply(table, rows, none);
  }
}

function entryOf<Value>(map: Map<CatalogTable, Value>, table: CatalogTable, make: () => Value): Value {
  const value = map.get(table) ?? make();
  map.set(table, value);
  return value;
}

function primaryKey(table: CatalogTable): string | undefined {
  return cellsOf(table).find(([, { key }]) => key === 'primary')?.[0];
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
