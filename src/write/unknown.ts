import { type CommitEvidence, settle } from '../catalog/settle.ts';
import { LakeError, showValue } from '../errors.ts';
import type { Session } from '../session.ts';
import { type CatalogTable, catalogTables, cellsOf } from '../spec/rows.ts';

/** How a commit of unknown outcome ended. */
export type ResolvedCommit =
  /** Its snapshot, which may have been expired since. */
  | { readonly status: 'committed'; readonly snapshotId: number }
  /** Nothing was committed, and nothing will be. */
  | { readonly status: 'notCommitted' };

export interface ResolveOptions {
  /** Leaves the files of a commit that did not happen. By default they are removed. */
  readonly keepFiles?: boolean | undefined;
}

/** What `error.context.token` holds, as JSON. */
type Token = CommitEvidence & { readonly files?: readonly string[] };

/** The error, as the caller gets it whose files were in the commit: its token names them. */
export function withFiles(error: LakeError, files: readonly { readonly location: string }[]): LakeError {
  const { token, ...context } = error.context;
  if (token === undefined) return error;
  const mine: Token = { ...(JSON.parse(token) as Token), files: files.map(({ location }) => location) };
  return new LakeError(error.code, error.message, {
    retryable: error.retryable,
    context: { ...context, token: JSON.stringify(mine) },
    cause: error.cause,
  });
}

/** See `Lake.resolve`. */
export async function resolveToken(session: Session, token: string, options: ResolveOptions): Promise<ResolvedCommit> {
  const { files = [], ...evidence } = parseToken(token);
  const settled = await settle(session.catalog, evidence);
  session.markStale();
  if (settled.status === 'committed') return { status: 'committed', snapshotId: settled.snapshotId };
  if (!options.keepFiles && files.length > 0) await session.store.delete(files);
  return { status: 'notCommitted' };
}

/** INVALID_ARGUMENT for anything but what `evidenceOf` and `withFiles` make: parts of it go into SQL, and files are removed by it. */
function parseToken(text: string): Token {
  let token: Partial<Token> | null | undefined;
  try {
    token = JSON.parse(text);
  } catch {
    token = undefined;
  }
  const { witness, base, fence, changes, keys, files = [] } = token ?? {};
  const isWhole =
    isText(witness?.table) &&
    Object.hasOwn(catalogTables, witness.table) &&
    cellsOf(witness.table as CatalogTable).some(([name]) => name === witness.column) &&
    isText(witness.value) &&
    Number.isSafeInteger(base?.id) &&
    isText(base?.time) &&
    (fence === 'exact' || fence === 'unless') &&
    isTexts(changes) &&
    isTexts(keys) &&
    isTexts(files) &&
    files.every((location) => /(^|\/)ducklake-[0-9a-f-]{36}\.parquet$/.test(location));
  if (isWhole) return token as Token;
  throw new LakeError(
    'INVALID_ARGUMENT',
    `${showValue(text)} is no token; it is the context.token of a COMMIT_UNKNOWN error`,
  );
}

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.isWellFormed() && !value.includes('\0');

const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);
