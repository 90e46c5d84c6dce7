import type { Committed, Repeated } from '../catalog/commit.ts';
import { type CommitMessage, type PendingChange, requireMessage, type StagedFile } from '../catalog/pending.ts';
import type { CommitKey } from '../catalog/store.ts';
import { type CatalogView, nameOf, type TableInfo } from '../catalog/view.ts';
import { isLakeError } from '../errors.ts';
import type { Session } from '../session.ts';
import type { Staged } from './stage.ts';
import { removeFiles } from './table-writer.ts';

/** What one insert wrote. */
export interface InsertedRows {
  readonly rowCount: number;
  /** How many of them are in the catalog itself, because they were few: see `OpenOptions.dataInliningRowLimit`. */
  readonly inlinedRowCount: number;
  readonly files: readonly InsertedFile[];
}

/** A data file that an insert made. */
export interface InsertedFile {
  /** Absolute, in the store's terms. */
  readonly location: string;
  readonly rowCount: number;
  readonly byteLength: number;
}

/** The change that staged rows ask for; `undefined` when there are none. */
export function appendOf(table: TableInfo, { files, inlined }: Staged): PendingChange | undefined {
  if (files.length === 0 && inlined === undefined) return undefined;
  return { kind: 'append', tableId: table.id, name: nameOf(table), fields: table.fields, files, inlined };
}

export interface CommitFilesRequest {
  readonly pending: readonly PendingChange[];
  readonly view: CatalogView;
  readonly message: CommitMessage;
  readonly isolation: 'snapshot' | 'none';
  readonly retry?: boolean | undefined;
  readonly signal: AbortSignal | undefined;
  readonly keys?: readonly CommitKey[] | undefined;
}

/** Commits pending changes. When that certainly failed the files are removed; when it isn't certain they stay. */
export async function commitFiles(session: Session, request: CommitFilesRequest): Promise<Committed | Repeated> {
  const { pending, view, message, isolation, retry, signal, keys } = request;
  try {
    requireMessage(view.metadata, message.message);
    const base = view.snapshot;
    const end = await session.committer.commit({ pending, base, message, isolation, retry, signal, keys });
    // The commit may be one's own, whose answer was lost: its result names its files.
    if ('used' in end) {
      const isTheirs = ({ path }: StagedFile): boolean => end.used.some(({ result }) => result.includes(path));
      await removeFiles(
        session.store,
        filesOf(pending).filter((file) => !isTheirs(file)),
      );
    } else session.adopt(end);
    return end;
  } catch (error) {
    session.markStale();
    if (isLakeError(error, 'COMMIT_UNKNOWN')) {
      const { withFiles } = await import('./unknown.ts');
      throw withFiles(error, filesOf(pending));
    }
    await removeFiles(session.store, filesOf(pending));
    throw error;
  }
}

export function insertedRows({ files, inlined }: Staged): InsertedRows {
  const inlinedRowCount = inlined?.rows.length ?? 0;
  return {
    rowCount: files.reduce((sum, file) => sum + file.rowCount, inlinedRowCount),
    inlinedRowCount,
    files: files.map(({ location, rowCount, byteLength }) => ({ location, rowCount, byteLength })),
  };
}

export const filesOf = (pending: readonly PendingChange[]): StagedFile[] =>
  pending.flatMap((change) => (change.kind === 'append' ? change.files : []));
