import { LakeError, showValue } from '../../errors.ts';
import { type CatalogRow, type CatalogTable, type Cell, type CellSpec, cellsOf } from '../../spec/rows.ts';
import type { CommitBatch, CreateInlined, InsertInlined } from '../store.ts';

/**
 * Throws INVALID_ARGUMENT for cells that no catalog row can hold and for ids beyond those that the batch takes, INVALID_VALUE for
 * text that not every database can keep.
 */
export function checkBatch(batch: CommitBatch): void {
  for (const op of batch.ops) {
    if (op.kind === 'insert') for (const row of op.rows) checkRow(batch, op.table, row);
    else if (op.kind === 'end' || op.kind === 'delete') checkRow(batch, op.table, op.match);
    else if (op.kind === 'deleteInlined' || op.kind === 'dropInlined') continue;
    else if (op.kind === 'createInlined' || op.kind === 'insertInlined') checkInlined(batch, op);
    else {
      checkId(batch, 'ducklake_table_stats', 'table_id', op.stats.tableId, 'catalog');
      for (const { bounds, columnId } of op.stats.columns)
        if (typeof bounds === 'object')
          for (const bound of [bounds.min, bounds.max])
            checkText('ducklake_table_column_stats', `bounds of column ${columnId}`, bound);
    }
  }
  for (const change of batch.changes) {
    if ('id' in change) checkId(batch, 'ducklake_snapshot_changes', 'changes_made', change.id, 'catalog');
    else
      checkText(
        'ducklake_snapshot_changes',
        'changes_made',
        'schema' in change ? change.schema + change.name : change.name,
      );
  }
  const keys = batch.keys ?? [];
  for (const { key, scope, result } of keys) checkText('keys of the batch', 'key', key + scope + result);
  if (new Set(keys.map(({ key }) => key)).size < keys.length)
    throw new LakeError('INVALID_ARGUMENT', 'a batch has the same key twice');
  for (const said of ['author', 'message', 'extraInfo'] as const)
    if (batch[said] !== null) checkText('ducklake_snapshot_changes', said, batch[said]);
}

function checkInlined(batch: CommitBatch, op: CreateInlined | InsertInlined): void {
  const name = ('name' in op && op.name) || 'ducklake_inlined_data';
  checkText(name, 'its name and columns', [name, ...op.columns.map((column) => column.name)].join(''));
  checkId(batch, name, 'table_id', op.tableId, 'catalog');
  if (op.kind === 'insertInlined' && op.rows.some((row) => row.length !== op.columns.length))
    throw new LakeError('INVALID_ARGUMENT', `${name}: a row has not one cell for each column`);
}

const fits: Readonly<Record<CellSpec['type'], (cell: Cell) => boolean>> = {
  bigint: Number.isSafeInteger,
  varchar: (cell) => typeof cell === 'string',
  boolean: (cell) => typeof cell === 'boolean',
  uuid: (cell) => typeof cell === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(cell),
  timestamptz: (cell) => typeof cell === 'string',
};

function checkRow(batch: CommitBatch, table: CatalogTable, row: CatalogRow): void {
  const cells = new Map(cellsOf(table));
  for (const [name, cell] of Object.entries(row)) {
    const spec = cells.get(name);
    if (spec === undefined) throw broken(table, name, cell, 'has no such column');
    if (cell === null) continue;
    if (!fits[spec.type](cell)) throw broken(table, name, cell, `is no ${spec.type}`);
    if (spec.counter !== undefined) checkId(batch, table, name, cell as number, spec.counter);
    if (spec.type === 'varchar') checkText(table, name, cell as string);
  }
}

function checkId(
  batch: CommitBatch,
  table: string,
  column: string,
  id: number,
  counter: Exclude<CellSpec['counter'], undefined>,
): void {
  const count = {
    snapshot: 1,
    schemaVersion: 1,
    catalog: batch.catalogIdCount,
    file: batch.fileIdCount,
    row: Infinity,
  };
  if (id < -count[counter])
    throw broken(table, column, id, `is beyond the ${count[counter]} ids that the batch takes (${counter})`);
}

function checkText(table: string, column: string, text: string): void {
  if (text.includes('\0') || !text.isWellFormed())
    throw new LakeError(
      'INVALID_VALUE',
      `${table}.${column}: ${showValue(text)} holds a NUL character or a lone surrogate, which catalogs can not keep`,
    );
}

function broken(table: string, column: string, value: Cell, reason: string): LakeError {
  return new LakeError('INVALID_ARGUMENT', `${table}.${column}: ${showValue(value)} ${reason}`);
}
