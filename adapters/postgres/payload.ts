import type { ColumnStatsDelta, CommitBatch } from '../../src/catalog/store.ts';
import { changeText } from '../../src/spec/changes.ts';
import { foldName } from '../../src/spec/names.ts';
import { type CatalogTable, type Cell, cellsOf } from '../../src/spec/rows.ts';
import type { EncodedInlined } from './inlined.ts';

/** What the text of a commit's statement depends on. */
export interface BatchShape {
  readonly inserts: readonly CatalogTable[];
  readonly ends: readonly EndShape[];
  /** Whether the fence forbids changes by name. */
  readonly hasNames: boolean;
  /** Whether it wants tables to have their names. */
  readonly hasTables: boolean;
  readonly hasStats: boolean;
  readonly hasKeys: boolean;
  /** See `EncodedInlined.parts`. */
  readonly inlined: readonly string[];
}

export interface EndShape {
  readonly table: CatalogTable;
  /** Whether rows are removed instead of ended. */
  readonly isDelete: boolean;
  readonly columns: readonly string[];
  /** Columns that must be NULL. */
  readonly nulls: readonly string[];
}

/** A batch as a statement's text takes it: its shape, and everything else as one JSON value. */
export interface EncodedBatch {
  readonly shape: BatchShape;
  readonly payload: string;
}

/** Rows are objects under one-letter names: the specification's would make up most of a large batch. */
export function encodeBatch(batch: CommitBatch, inlined?: EncodedInlined): EncodedBatch {
  const inserts = new Map<CatalogTable, ShortRow[]>();
  const ends = new Map<string, { readonly shape: EndShape; readonly matches: ShortRow[] }>();
  const totals: ShortRow[] = [];
  const columns: ShortRow[] = [];
  const tables = new Set<Cell>();
  for (const op of batch.ops) {
    if (op.kind === 'insert') {
      const cells = cellsOf(op.table);
      const names = cells.map(([name]) => name);
      const rows = op.rows.map((row) => shortRow(names.map((name) => row[name])));
      inserts.set(op.table, [...(inserts.get(op.table) ?? []), ...rows]);
      if (cells.some(([, { counter }]) => counter === 'row'))
        for (const row of op.rows) tables.add(row['table_id'] ?? null);
    } else if (op.kind === 'end' || op.kind === 'delete') {
      const columns = Object.keys(op.match).filter((name) => op.match[name] !== null);
      const nulls = Object.keys(op.match).filter((name) => op.match[name] === null);
      const shape = { table: op.table, isDelete: op.kind === 'delete', columns, nulls };
      const key = JSON.stringify(shape);
      const end = ends.get(key) ?? { shape, matches: [] };
      end.matches.push(shortRow(columns.map((name) => op.match[name])));
      ends.set(key, end);
    } else if (op.kind === 'addStats') {
      const { tableId, recordCount, rowIdCount, byteLength } = op.stats;
      tables.add(tableId);
      totals.push(shortRow([tableId, recordCount, rowIdCount, byteLength]));
      for (const column of op.stats.columns) columns.push(columnStats(tableId, column));
    }
  }
  const keys = batch.keys ?? [];
  const { fence } = batch;
  const [forbidden, names] = [true, false].map((byId) =>
    (fence.kind === 'exact' ? [] : fence.changes)
      .filter((change) => 'id' in change === byId)
      .map((change) => foldName(changeText(change))),
  );
  const hasNames = names!.length > 0;
  const named = (fence.kind === 'unless' && fence.tables) || [];
  const hasTables = named.length > 0;
  const payload = {
    base: batch.base.id,
    // Of an exact fence NULL, which nothing is free of.
    forbidden: fence.kind === 'exact' ? null : forbidden,
    names: hasNames ? names : undefined,
    named: hasTables ? named.map(({ id, name }) => shortRow([id, name])) : undefined,
    schema: fence.kind === 'unless' && fence.sameSchema ? batch.base.schemaVersion : undefined,
    schemaVersions: batch.changesSchema ? 1 : 0,
    catalogIds: batch.catalogIdCount,
    fileIds: batch.fileIdCount,
    changes: batch.changes.map((change, n) =>
      shortRow('id' in change ? [`${change.kind}:`, change.id, n] : [changeText(change), null, n]),
    ),
    author: batch.author,
    message: batch.message,
    extraInfo: batch.extraInfo,
    rows: [...inserts.values()],
    ends: [...ends.values()].map(({ matches }) => matches),
    // Tables that the batch itself makes have no totals yet.
    tables: [...tables].filter((id) => typeof id === 'number' && id >= 0),
    totals,
    columns,
    inlined: inlined?.payload,
    flushed: inlined?.flushed,
    keys: keys.length > 0 ? keys.map(({ key, scope, result }) => shortRow([key, scope, result])) : undefined,
  };
  return {
    shape: {
      inserts: [...inserts.keys()],
      ends: [...ends.values()].map(({ shape }) => shape),
      hasNames,
      hasTables,
      hasStats: totals.length > 0,
      hasKeys: keys.length > 0,
      inlined: inlined?.parts ?? [],
    },
    payload: JSON.stringify(payload),
  };
}

/** `a` is the first cell of the row, `b` the second … NULLs are left out. */
type ShortRow = Record<string, Cell>;

/** The name of the n-th cell (from 0). No row has more than 26. */
export function shortName(n: number): string {
  return String.fromCharCode(97 + n);
}

function shortRow(cells: readonly (Cell | undefined)[]): ShortRow {
  const row: ShortRow = {};
  for (const [n, cell] of cells.entries()) if (cell !== null && cell !== undefined) row[shortName(n)] = cell;
  return row;
}

function columnStats(
  tableId: number,
  { columnId, containsNull, containsNan, bounds, order }: ColumnStatsDelta,
): ShortRow {
  const [kind, min, max] = typeof bounds === 'string' ? [bounds, null, null] : ['known', bounds.min, bounds.max];
  return shortRow([tableId, columnId, containsNull, containsNan, kind, min, max, order]);
}
