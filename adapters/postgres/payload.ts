import type { CommitBatch, TableStatsDelta } from '../../src/catalog/store.ts';
import { changeText } from '../../src/spec/changes.ts';
import { type CatalogTable, type Cell, cellsOf } from '../../src/spec/rows.ts';

/** What the text of a commit's statement depends on. */
export interface BatchShape {
  readonly inserts: readonly CatalogTable[];
  readonly ends: readonly EndShape[];
  readonly hasStats: boolean;
}

export interface EndShape {
  readonly table: CatalogTable;
  readonly columns: readonly string[];
  /** Columns that must be NULL. */
  readonly nulls: readonly string[];
}

/** A batch as a statement's text takes it: its shape, and everything else as one JSON value. */
export interface EncodedBatch {
  readonly shape: BatchShape;
  readonly payload: string;
}

/** Rows go as arrays of all the table's columns: names would make up most of a large batch. */
export function encodeBatch(batch: CommitBatch): EncodedBatch {
  const inserts = new Map<CatalogTable, Cell[][]>();
  const ends = new Map<string, { readonly shape: EndShape; readonly matches: Cell[][] }>();
  const stats: unknown[] = [];
  for (const op of batch.ops) {
    if (op.kind === 'insert') {
      const names = cellsOf(op.table).map(([name]) => name);
      const rows = op.rows.map((row) => names.map((name) => row[name] ?? null));
      inserts.set(op.table, [...(inserts.get(op.table) ?? []), ...rows]);
    } else if (op.kind === 'end') {
      const columns = Object.keys(op.match).filter((name) => op.match[name] !== null);
      const nulls = Object.keys(op.match).filter((name) => op.match[name] === null);
      const shape = { table: op.table, columns, nulls };
      const key = JSON.stringify(shape);
      const end = ends.get(key) ?? { shape, matches: [] };
      end.matches.push(columns.map((name) => op.match[name]!));
      ends.set(key, end);
    } else stats.push(encodeStats(op.stats));
  }
  const payload = {
    base: batch.base.id,
    // Of an exact fence NULL, which nothing is free of.
    forbidden: batch.fence.kind === 'exact' ? null : batch.fence.changes.map((change) => changeText(change)),
    schemaVersions: batch.changesSchema ? 1 : 0,
    catalogIds: batch.catalogIdCount,
    fileIds: batch.fileIdCount,
    changes: batch.changes.map((change) =>
      'id' in change ? [`${change.kind}:`, change.id] : [changeText(change), null],
    ),
    author: batch.author,
    message: batch.message,
    extraInfo: batch.extraInfo,
    rows: [...inserts.values()],
    ends: [...ends.values()].map(({ matches }) => matches),
    stats,
  };
  return {
    shape: {
      inserts: [...inserts.keys()],
      ends: [...ends.values()].map(({ shape }) => shape),
      hasStats: stats.length > 0,
    },
    payload: JSON.stringify(payload),
  };
}

function encodeStats({ tableId, recordCount, rowIdCount, byteLength, columns }: TableStatsDelta): unknown {
  return [
    tableId,
    recordCount,
    rowIdCount,
    byteLength,
    columns.map(({ columnId, containsNull, containsNan, bounds, order }) => {
      const [kind, min, max] = typeof bounds === 'string' ? [bounds, null, null] : ['known', bounds.min, bounds.max];
      return [columnId, containsNull, containsNan, kind, min, max, order];
    }),
  ];
}
