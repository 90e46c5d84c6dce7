import { defaultRetryPolicy, type RetryPolicy } from './catalog/commit.ts';
import type { CatalogRows, CatalogStore } from './catalog/store.ts';
import { LakeError, type OptionKinds, showValue } from './errors.ts';
import type { Compressors } from './file/compressors.ts';
import { parquetFormat } from './file/parquet/index.ts';
import { Session } from './session.ts';
import { directory } from './spec/paths.ts';
import { setting } from './spec/settings.ts';
import { checkVersion } from './spec/version.ts';
import type { ObjectStore } from './storage/object-store.ts';
import { uuidv7 } from './util/uuid.ts';

export interface OpenOptions extends Partial<RetryPolicy> {
  /** The database that holds the metadata. Closed with the lake, and when it can't be opened. */
  readonly catalog: CatalogStore;
  /** Where the data files lie. */
  readonly store: ObjectStore;
  /** Where a new lake keeps its data files, in the store's terms. Needed only to create one. */
  readonly dataPath?: string | undefined;
  /** Whether to make the lake when the catalog holds none. Defaults to true; needs `dataPath`. */
  readonly create?: boolean | undefined;
  /** Uses `dataPath` although the catalog names another, for a lake that was moved. The catalog keeps its own. */
  readonly overrideDataPath?: boolean | undefined;
  /**
   * Room for other writers, in milliseconds: one that needs several round trips from reading the head to its snapshot, as DuckDB
   * does, never gets in between commits that follow each other. On Postgres commits in a row look out for transactions that
   * are open on the catalog and hold back for them, a few times this long at most; without any they lose nothing. Elsewhere,
   * while many callers of this handle commit at once, it commits back to back for that long, then pauses as long. A lone commit is
   * never delayed. Defaults to 100; 0 where no DuckDB writes.
   */
  readonly commitGapMs?: number | undefined;
  /**
   * Up to how many rows an insert puts into the catalog itself instead of a file, where no option `data_inlining_row_limit` of the
   * lake, a schema or a table says it: DuckDB's ATTACH option of that name. Defaults to 10, as DuckDB's; 0 for none. Options of a lake are
   * read when it is opened and whenever its schema has changed, DuckDB's when it attaches.
   */
  readonly dataInliningRowLimit?: number | undefined;
  /** Compressions beyond Snappy that the runtime lacks, or faster ones. */
  readonly compressors?: Compressors | undefined;
}

export const openOptions: OptionKinds<OpenOptions> = {
  catalog: 'any',
  store: 'any',
  dataPath: 'any',
  create: 'boolean',
  overrideDataPath: 'boolean',
  commitGapMs: 'any',
  dataInliningRowLimit: 'any',
  compressors: 'any',
  maxRetries: 'any',
  retryWaitMs: 'any',
  retryBackoff: 'any',
  commitTimeoutMs: 'any',
  onRetry: 'function',
};

/** Opens a lake, or makes it. See `openLake`. */
export async function openSession(options: OpenOptions): Promise<Session> {
  const { catalog, store, create = true } = options;
  checkDataPath(options.dataPath);
  const retry = retryPolicy(options);
  const commitGapMs = checkNumber('commitGapMs', options.commitGapMs ?? 100);
  const inliningRowLimit = checkNumber('dataInliningRowLimit', options.dataInliningRowLimit ?? defaultInliningRowLimit);
  const rows = (await catalog.readCatalog()) ?? (create ? await createLake(options) : undefined);
  if (!rows)
    throw new LakeError('NOT_FOUND', `catalog ${catalog.name} holds no lake; open it with create: true to make one`, {
      context: { location: catalog.name },
    });
  checkVersion(rows.metadata, catalog.name);
  const format = parquetFormat(options.compressors);
  return new Session({
    catalog,
    store,
    format,
    dataPath: dataPathOf(rows, options),
    retry,
    commitGapMs,
    inliningRowLimit,
    rows,
  });
}

/** DuckLake's. */
const defaultInliningRowLimit = 10;

function checkDataPath(dataPath: unknown): void {
  if (dataPath === undefined) return;
  if (typeof dataPath === 'string' && dataPath !== '' && dataPath.isWellFormed() && !dataPath.includes('\0')) return;
  throw new LakeError(
    'INVALID_ARGUMENT',
    `dataPath is ${showValue(dataPath)}; expected a folder or prefix for the data files`,
    { context: { value: showValue(dataPath) } },
  );
}

function retryPolicy(options: OpenOptions): RetryPolicy {
  const { maxRetries, retryWaitMs, retryBackoff } = defaultRetryPolicy;
  const policy = {
    maxRetries: options.maxRetries ?? maxRetries,
    retryWaitMs: options.retryWaitMs ?? retryWaitMs,
    retryBackoff: options.retryBackoff ?? retryBackoff,
  };
  for (const [name, value] of Object.entries(policy)) checkNumber(name, value);
  const { commitTimeoutMs, onRetry } = options;
  if (commitTimeoutMs !== undefined) checkNumber('commitTimeoutMs', commitTimeoutMs);
  return { ...policy, commitTimeoutMs, onRetry };
}

function checkNumber(name: string, value: number): number {
  if (Number.isFinite(value) && value >= 0 && (name !== 'maxRetries' || Number.isInteger(value))) return value;
  throw new LakeError('INVALID_ARGUMENT', `${name} is ${showValue(value)}; expected a number from 0`, {
    context: { value: showValue(value) },
  });
}

async function createLake({ catalog, dataPath }: OpenOptions): Promise<CatalogRows | undefined> {
  if (dataPath === undefined)
    throw new LakeError(
      'INVALID_ARGUMENT',
      `catalog ${catalog.name} holds no lake, and making one needs dataPath: the folder or prefix for its data files`,
      { context: { location: catalog.name } },
    );
  await catalog.initialize({ dataPath: directory(dataPath), createdBy: 'edgemere', schemaUuid: uuidv7() });
  return catalog.readCatalog();
}

function dataPathOf(rows: CatalogRows, { dataPath, overrideDataPath, catalog }: OpenOptions): string {
  const stored = setting(rows.metadata, 'data_path');
  if (stored === undefined)
    throw new LakeError('CORRUPT', `catalog ${catalog.name} has no data_path in ducklake_metadata`);
  if (dataPath === undefined) return directory(stored);
  const wanted = directory(dataPath);
  if (wanted !== directory(stored) && !overrideDataPath)
    throw new LakeError(
      'INVALID_ARGUMENT',
      `the lake's data path is ${stored}, not ${dataPath}: leave dataPath out, or say overrideDataPath: true if it was moved`,
      { context: { location: stored } },
    );
  return wanted;
}
