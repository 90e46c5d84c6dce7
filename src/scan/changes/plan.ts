import type { HistoryRequest, TableHistory } from '../../catalog/table-history.ts';
import { nameOf, type TableInfo } from '../../catalog/view.ts';
import { checkOptions, LakeError, type OptionKinds, showValue } from '../../errors.ts';
import { type IdChange, parseChanges } from '../../spec/changes.ts';
import { type ScanColumn, scanColumns } from '../columns.ts';
import { checkLimit } from '../plan.ts';
import type { Expression } from '../where/expression.ts';
import { parseWhere } from '../where/parse.ts';
import type { ChangesRequest, ChangeType } from './request.ts';

/** A read of changes of which all is known but what the files hold. */
export interface PlannedChanges {
  readonly table: TableInfo;
  readonly history: TableHistory;
  readonly to: number;
  readonly columns: readonly ScanColumn[];
  readonly where: Expression | undefined;
  readonly types: ReadonlySet<ChangeType>;
  readonly limit: number;
  /** Snapshots of which nothing is wanted. */
  readonly skipped: ReadonlySet<number>;
}

/** What a change has beside the table's columns. */
export const changeColumns = ['snapshot_id', 'rowid', 'change_type'] as const;

const allTypes: readonly ChangeType[] = ['insert', 'delete', 'update_preimage', 'update_postimage'];

const changesOptions: OptionKinds<ChangesRequest['options']> = {
  from: 'any',
  to: 'any',
  columns: 'any',
  where: 'any',
  types: 'any',
  rewrites: 'any',
  limit: 'any',
  signal: 'any',
};

/** Looks up what a read of changes needs: two statements. */
export async function planChanges({ session, find, options }: ChangesRequest): Promise<PlannedChanges> {
  checkOptions(options, changesOptions);
  const signal = options.signal as AbortSignal | undefined;
  signal?.throwIfAborted();
  const from = boundOf('from', options.from);
  const types = typesOf(options.types);
  const limit = checkLimit(options.limit);
  const view = options.to === undefined ? await session.refresh() : await session.viewAt(boundOf('to', options.to));
  const to = view.snapshot.id;
  const table = find(view);
  const columns = scanColumns(table, options.columns);
  checkNames(table, columns);
  const { schema, name } = nameOf(table);
  const where =
    options.where === undefined ? undefined : parseWhere(options.where, { schema, table: name, fields: table.fields });
  const history = await session.catalog.readHistory({ tableId: table.id, from, to });
  signal?.throwIfAborted();
  const rewrites = [...history.changes].flatMap(([id]) => (changed(history, id, table, 'rewrite_delete') ? [id] : []));
  const skipped = new Set(options.rewrites === false ? rewrites : []);
  checkComplete(table, history, to, skipped);
  return { table, history, to, columns, where, types, limit, skipped };
}

function boundOf(name: string, value: unknown): HistoryRequest['from'] {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return { time: value };
  const id = typeof value === 'bigint' ? Number(value) : value;
  if (Number.isSafeInteger(id) && (id as number) >= 0) return { snapshot: id as number };
  throw new LakeError('INVALID_ARGUMENT', `${name} is ${showValue(value)}; expected a snapshot's id or a Date`, {
    context: { value: showValue(value) },
  });
}

function typesOf(types: unknown): ReadonlySet<ChangeType> {
  if (types === undefined) return new Set(allTypes);
  const isType = (type: unknown): type is ChangeType => (allTypes as readonly unknown[]).includes(type);
  if (Array.isArray(types) && types.every(isType)) return new Set(types);
  throw new LakeError('INVALID_ARGUMENT', `types is ${showValue(types)}; expected an array of ${allTypes.join(', ')}`, {
    context: { value: showValue(types) },
  });
}

function checkNames(table: TableInfo, columns: readonly ScanColumn[]): void {
  const clash = columns.find(({ name }) => (changeColumns as readonly string[]).includes(name));
  if (!clash) return;
  const { schema, name } = nameOf(table);
  const context = { schema, table: name, column: clash.name };
  if (clash.kind === 'virtual')
    throw new LakeError(
      'INVALID_ARGUMENT',
      `${clash.name} comes with every change: name the table's own columns alone`,
      {
        context,
      },
    );
  throw new LakeError(
    'UNSUPPORTED',
    `table "${name}" has a column "${clash.name}", as changes have: name those that you want in columns, without it`,
    { context },
  );
}

/** Whether a snapshot changed the table in one of these ways. */
function changed({ changes }: TableHistory, snapshotId: number, table: TableInfo, ...kinds: IdChange[]): boolean {
  return parseChanges(changes.get(snapshotId) ?? '').some(
    (change) => 'id' in change && change.id === table.id && kinds.includes(change.kind),
  );
}

/**
 * Data files that lived in expired snapshots alone are gone, and with them what was inserted in one of these and deleted in the
 * next. Better no changes than some.
 */
function checkComplete(table: TableInfo, history: TableHistory, to: number, skipped: ReadonlySet<number>): void {
  const { from, snapshotCount, hasBefore } = history;
  const { schema, name } = nameOf(table);
  const context = { schema, table: name };
  if (snapshotCount < to - from + 1)
    throw new LakeError(
      'NOT_FOUND',
      `changes of table "${name}" from ${from} to ${to} can't be told: of these ${to - from + 1} snapshots ` +
        `${to - from + 1 - snapshotCount} were expired; begin after the last of them`,
      { context: { ...context, snapshotId: from } },
    );
  if (hasBefore || from === 0 || skipped.has(from)) return;
  if (changed(history, from, table, 'deleted_from_table', 'rewrite_delete', 'compacted_table'))
    throw new LakeError(
      'NOT_FOUND',
      `what snapshot ${from} deleted from table "${name}" can't be told: snapshot ${from - 1} was expired; begin at ${from + 1}`,
      { context: { ...context, snapshotId: from - 1 } },
    );
}
