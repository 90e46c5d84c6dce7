import type { Committed, Repeated } from '../catalog/commit.ts';
import {
  type CommitMessage,
  checkMessage,
  messageOptions,
  type PendingChange,
  requireMessage,
} from '../catalog/pending.ts';
import type { CommitBatch, CommitKey, UsedKey } from '../catalog/store.ts';
import { type CatalogView, nameOf, type TableInfo, type TableName } from '../catalog/view.ts';
import { isLakeError, LakeError } from '../errors.ts';
import type { Session } from '../session.ts';
import { concurrently } from '../storage/concurrently.ts';
import { batchesOf, type RowsInput } from './input.ts';
import { checkReceipt, type FileReceipt, misfit, receiptOf } from './receipt.ts';
import { abortable, type WriteOptions, writeRows } from './table-writer.ts';
import { targetOf, writeSettings } from './target.ts';

export interface RegisterOptions extends CommitMessage {
  /**
   * What is asked of each file before it is registered. `size`, the default, asks the store for its length: one request. `footer`
   * reads its footer too, and compares the number of rows. `none` trusts the receipts.
   */
  readonly check?: 'none' | 'size' | 'footer' | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What became of receipts. */
export interface RegisterResult {
  /** The snapshot that this call made; `undefined` when all was registered before, or there were no rows. */
  readonly snapshotId: number | undefined;
  /** Rows in that snapshot's new files. */
  readonly rowCount: number;
  /** One for each receipt, in the order of the call. */
  readonly receipts: readonly RegisteredReceipt[];
}

export interface RegisteredReceipt {
  readonly id: string;
  /** The snapshot that added its rows, which may have been expired since; `undefined` when it has none. */
  readonly snapshotId: number | undefined;
  /** It was registered before this call. */
  readonly isRepeat?: true | undefined;
}

/** Receipts that are looked at, and files that are checked, at a time. */
const PARALLEL = 16;

const REGISTERED = 'a receipt';
const DISCARDED = 'a discarded receipt';
/** Whose keys have to be kept: a file must not be registered again after it was compacted away. */
export const RECEIPT_SCOPES: readonly string[] = [REGISTERED, DISCARDED];
const keyOf = ({ id }: FileReceipt): string => `edgemere receipt ${id}`;

/** See `Table.writeFiles`. */
export async function writeFiles(
  session: Session,
  name: TableName,
  rows: RowsInput<unknown>,
  options: WriteOptions,
): Promise<FileReceipt> {
  options.signal?.throwIfAborted();
  const view = await session.refresh();
  const table = view.findTable(name);
  if (!table)
    throw new LakeError('NOT_FOUND', `table "${name.schema}"."${name.name}" does not exist`, {
      context: { schema: name.schema, table: name.name },
    });
  const target = targetOf(table);
  const batches = abortable(batchesOf(rows, target), options.signal);
  const { store, format } = session;
  const files = await writeRows(batches, { ...options, ...writeSettings(view, table), table, target, store, format });
  return receiptOf(table, files);
}

/** See `Lake.register`. */
export async function register(
  session: Session,
  values: readonly unknown[],
  options: RegisterOptions,
): Promise<RegisterResult> {
  checkMessage(options, { ...messageOptions, check: 'any', signal: 'any' });
  const { check = 'size', signal } = options;
  if (!['none', 'size', 'footer'].includes(check))
    throw new LakeError('INVALID_ARGUMENT', `check is ${JSON.stringify(check)}; it is none, size or footer`);
  signal?.throwIfAborted();
  const receipts = await checkAll(values);
  const byId = new Map(receipts.map((receipt) => [receipt.id, receipt]));
  for (let attempt = 0; ; attempt++) {
    const [view, used] = await Promise.all([session.refresh(), usedBy(session, byId.values())]);
    for (const [id, { scope }] of used)
      if (scope === DISCARDED)
        throw new LakeError('INVALID_ARGUMENT', `receipt ${id} was discarded: its files are gone`, {
          context: { receipt: receipts.findIndex((receipt) => receipt.id === id) },
        });
    const open = [...byId.values()].filter(({ id, files }) => files.length > 0 && !used.has(id));
    const appends = open.map((receipt) => appendOf(receipt, view));
    if (check !== 'none') await checkFiles(session, appends, check, signal);
    let end: Committed | Repeated | undefined;
    try {
      if (appends.length > 0) end = await commit(session, view, appends, open, options);
    } catch (error) {
      session.markStale();
      // Somebody altered a table: whether the files fit it still is looked at again.
      if (attempt === 0 && isLakeError(error, 'CONFLICT')) continue;
      throw error;
    }
    // Somebody else registered some of them meanwhile.
    if (end && 'used' in end) continue;
    if (end) session.adopt(end);
    const snapshotId = end?.snapshot.id;
    return {
      snapshotId,
      rowCount: open.reduce((sum, receipt) => sum + receipt.rowCount, 0),
      receipts: receipts.map(({ id, files }) => {
        const before = used.get(id);
        if (before) return { id, snapshotId: before.snapshotId, isRepeat: true };
        return { id, snapshotId: files.length > 0 ? snapshotId : undefined };
      }),
    };
  }
}

/** See `Lake.discard`. */
export async function discard(session: Session, values: readonly unknown[]): Promise<void> {
  const receipts = await checkAll(values);
  const byId = new Map(receipts.map((receipt) => [receipt.id, receipt]));
  for (;;) {
    const [view, used] = await Promise.all([session.refresh(), usedBy(session, byId.values())]);
    for (const [id, { scope, snapshotId }] of used)
      if (scope === REGISTERED)
        throw new LakeError('INVALID_ARGUMENT', `receipt ${id} was registered, in snapshot ${snapshotId}`, {
          context: { receipt: receipts.findIndex((receipt) => receipt.id === id), snapshotId },
        });
    const open = [...byId.values()].filter(({ id }) => !used.has(id));
    // Before the files go nobody may be able to register them any more.
    const outcome = open.length > 0 ? await session.catalog.commit(discarding(view, open)) : undefined;
    if (outcome && outcome.status !== 'committed') continue;
    const locations = [...byId.values()].flatMap((receipt) => {
      const table = view.tables.find(({ uuid }) => uuid === receipt.table.uuid);
      return table ? receipt.files.map(({ path }) => table.location + path) : [];
    });
    if (locations.length > 0) await session.store.delete(locations);
    return;
  }
}

async function checkAll(values: readonly unknown[]): Promise<FileReceipt[]> {
  if (!Array.isArray(values)) throw new LakeError('INVALID_ARGUMENT', 'receipts come as an array');
  const receipts: FileReceipt[] = new Array(values.length);
  await concurrently(values.entries(), PARALLEL, async ([index, value]) => {
    receipts[index] = await checkReceipt(value, index);
  });
  return receipts;
}

/** Those that were registered or discarded, by their ids. */
async function usedBy(session: Session, receipts: Iterable<FileReceipt>): Promise<Map<string, UsedKey>> {
  const ids = new Map(Array.from(receipts, (receipt) => [keyOf(receipt), receipt.id]));
  const used = ids.size > 0 ? await session.catalog.findKeys([...ids.keys()]) : [];
  return new Map(used.map((key) => [ids.get(key.key)!, key]));
}

type Append = Extract<PendingChange, { kind: 'append' }>;

function appendOf(receipt: FileReceipt, view: CatalogView): Append {
  const { schema, name, uuid } = receipt.table;
  const table = view.tables.find((one) => one.uuid === uuid);
  const context = { schema, table: name };
  if (!table)
    throw new LakeError(
      'NOT_FOUND',
      `the table "${schema}"."${name}" that receipt ${receipt.id} is for is not in this lake: it was dropped, or the lake is another`,
      { context },
    );
  const reason = misfit(receipt, table);
  if (reason !== undefined)
    throw new LakeError(
      'CONFLICT',
      `the files of receipt ${receipt.id} don't fit table "${schema}"."${name}": ${reason}; discard it and write the rows again`,
      { context },
    );
  return {
    kind: 'append',
    tableId: table.id,
    name: nameOf(table),
    fields: table.fields,
    files: receipt.files.map((file) => stagedFile(file, table)),
  };
}

/** With what JSON leaves out. */
function stagedFile(file: FileReceipt['files'][number], table: TableInfo): Append['files'][number] {
  const columns = file.columns.map((column) => ({
    ...column,
    min: column.min,
    max: column.max,
    containsNan: column.containsNan,
  }));
  return { ...file, columns, location: table.location + file.path };
}

async function checkFiles(
  { store, format }: Session,
  appends: readonly Append[],
  check: 'size' | 'footer',
  signal: AbortSignal | undefined,
): Promise<void> {
  const files = appends.flatMap((append) => append.files);
  await concurrently(
    files,
    PARALLEL,
    async ({ location, byteLength, footerLength, rowCount }) => {
      const object = await store.open(location, { signal });
      const fail = (what: string): LakeError =>
        new LakeError('CORRUPT', `${location} ${what}: it is not the file that the receipt is about`, {
          context: { location },
        });
      if (object.byteLength !== byteLength) throw fail(`has ${object.byteLength} bytes instead of ${byteLength}`);
      if (check === 'size') return;
      const reader = await format.openReader(object, { footerLength }).catch((error) => {
        throw isLakeError(error, 'CORRUPT') ? fail(`can't be read (${error.message})`) : error;
      });
      if (reader.rowCount !== rowCount) throw fail(`has ${reader.rowCount} rows instead of ${rowCount}`);
    },
    signal,
  );
}

function commit(
  session: Session,
  view: CatalogView,
  pending: readonly Append[],
  receipts: readonly FileReceipt[],
  { author, message, extraInfo, signal }: RegisterOptions,
): Promise<Committed | Repeated> {
  requireMessage(view.metadata, message);
  const keys = receipts.map((receipt): CommitKey => ({ key: keyOf(receipt), scope: REGISTERED, result: '{}' }));
  const said = { author, message, extraInfo };
  return session.committer.commit({ pending, base: view.snapshot, message: said, isolation: 'none', signal, keys });
}

function discarding({ snapshot }: CatalogView, receipts: readonly FileReceipt[]): CommitBatch {
  return {
    base: snapshot,
    fence: { kind: 'unless', changes: [], sameSchema: false },
    changesSchema: false,
    catalogIdCount: 0,
    fileIdCount: 0,
    changes: [],
    author: 'edgemere',
    message: `changes nothing: ${receipts.length} receipts were discarded`,
    extraInfo: null,
    ops: [],
    witness: { table: 'ducklake_snapshot_changes', column: 'changes_made', value: '' },
    keys: receipts.map((receipt) => ({ key: keyOf(receipt), scope: DISCARDED, result: '{}' })),
  };
}
