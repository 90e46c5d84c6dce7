import { LakeError, showValue } from '../../errors.ts';
import type { InliningLimits } from '../../spec/inlining.ts';
import { ambiguousCommit } from '../inlining.ts';
import type {
  AsOf,
  CatalogRows,
  CatalogStore,
  CommitBatch,
  CommitOutcome,
  CommitTrace,
  ForgetKeysRequest,
  Head,
  LakeInit,
  Snapshot,
  SnapshotRecord,
  TableStats,
  UsedKey,
} from '../store.ts';
import type { FilesRequest, TableFiles } from '../table-files.ts';
import type { HistoryRequest, TableHistory } from '../table-history.ts';
import { snapshotOf } from './decode.ts';
import { MissingTables, type SqlDialect, type SqlExecutor } from './dialect.ts';
import type { FilesReader } from './files.ts';
import { Result } from './result.ts';
import { type ReadStatements, readStatements } from './statements.ts';

const PAGE = 1000;

/** The half of a SQL catalog that reads, each method one statement; adapters add the half that writes. */
export abstract class SqlCatalog implements CatalogStore {
  abstract readonly name: string;
  abstract readonly inlining: InliningLimits;
  readonly #statements: ReadStatements;
  readonly #executor: SqlExecutor;
  readonly #dialect: SqlDialect;
  #files: Promise<FilesReader> | undefined;
  #closed = false;

  constructor(executor: SqlExecutor, dialect: SqlDialect) {
    this.#executor = executor;
    this.#statements = readStatements(dialect);
    this.#dialect = dialect;
  }

  abstract initialize(init: LakeInit): Promise<boolean>;
  abstract commit(batch: CommitBatch, roomMs?: number): Promise<CommitOutcome>;
  /** Gives back what the adapter holds. Called once. */
  protected abstract close(): Promise<void>;

  async readCatalog(asOf?: AsOf): Promise<CatalogRows | undefined> {
    const result = await this.#queryLake(this.#statements.catalog(asOf));
    if (result === undefined) return undefined;
    const snapshots = result.of('ducklake_snapshot');
    if (snapshots[0] === undefined) throw noSnapshot(asOf);
    return {
      snapshot: snapshotOf(snapshots[0]),
      metadata: result.of('ducklake_metadata'),
      schemas: result.of('ducklake_schema'),
      tables: result.of('ducklake_table'),
      views: result.of('ducklake_view'),
      columns: result.of('ducklake_column'),
      inlinedTables: result.of('ducklake_inlined_data_tables'),
      partitions: result.of('ducklake_partition_info'),
      macros: result.of('ducklake_macro'),
    };
  }

  async readHead(since?: number): Promise<Head> {
    const result = await this.#query(this.#statements.head(since));
    const records = recordsOf(result.rows);
    const head = records.at(-1);
    if (head === undefined) throw noLake();
    const { id, time, schemaVersion, nextCatalogId, nextFileId } = head;
    return {
      snapshot: { id, time, schemaVersion, nextCatalogId, nextFileId },
      since: since === undefined ? [] : records.filter((record) => record.id > since),
    };
  }

  async *readSnapshots(range: { readonly from?: number; readonly to?: number } = {}): AsyncGenerator<SnapshotRecord> {
    for (let from = range.from ?? 0; ; ) {
      const page = recordsOf((await this.#query(this.#statements.snapshots(from, range.to, PAGE))).rows);
      yield* page;
      if (page.length < PAGE) return;
      from = page.at(-1)!.id + 1;
    }
  }

  readFiles(request: FilesRequest): Promise<TableFiles> {
    return this.#withFiles((files) => files.read(request));
  }

  readHistory(request: HistoryRequest): Promise<TableHistory> {
    return this.#withFiles((files) => files.readHistory(request));
  }

  async #withFiles<T>(read: (files: FilesReader) => Promise<T>): Promise<T> {
    try {
      this.#files ??= this.#filesReader();
      return await read(await this.#files);
    } catch (error) {
      throw error instanceof MissingTables ? await this.missingLake(error) : error;
    }
  }

  /** Loaded when it is needed: an append does without. */
  async #filesReader(): Promise<FilesReader> {
    const { FilesReader } = await import('./files.ts');
    return new FilesReader(this.#dialect, (text) => this.#run(text));
  }

  async readTableStats(tableId: number): Promise<TableStats> {
    const result = await this.#query(this.#statements.tableStats(tableId));
    return { table: result.of('ducklake_table_stats')[0], columns: result.of('ducklake_table_column_stats') };
  }

  async findCommit({ witness, base }: CommitTrace): Promise<Snapshot | undefined> {
    const result = await this.#query(this.#statements.witness(witness, base.id), [witness.value]);
    const [id] = result.json('id');
    if (id === undefined) return undefined;
    if ('isShared' in witness && witness.isShared) throw ambiguousCommit(witness.value);
    const [snapshot] = result.of('ducklake_snapshot');
    if (snapshot === undefined)
      throw new LakeError('COMMIT_UNKNOWN', `the batch was committed as snapshot ${id}, which has been expired since`, {
        context: { snapshotId: Number(id) },
      });
    return snapshotOf(snapshot);
  }

  async findKeys(keys: readonly string[]): Promise<readonly UsedKey[]> {
    this.checkOpen();
    return (await import('./keys.ts')).findKeys(this.#executor, this.#dialect, keys);
  }

  async forgetKeys(request: ForgetKeysRequest): Promise<number> {
    this.checkOpen();
    return (await import('./keys.ts')).forgetKeys(this.#executor, this.#dialect, request);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.close();
  }

  protected checkOpen(): void {
    if (this.#closed) throw new LakeError('CLOSED', 'the catalog was closed: open another one');
  }

  /** The error for a catalog without the tables of this version: it is of another version, or there is none. */
  protected async missingLake(cause: unknown): Promise<LakeError> {
    return (await this.#otherVersion(cause)) ?? noLake();
  }

  async #run(text: string, parameters?: readonly string[]): Promise<Result> {
    this.checkOpen();
    return new Result(await this.#executor.query(text, parameters));
  }

  async #query(text: string, parameters?: readonly string[]): Promise<Result> {
    try {
      return await this.#run(text, parameters);
    } catch (error) {
      throw error instanceof MissingTables ? await this.missingLake(error) : error;
    }
  }

  async #queryLake(text: string, isSecond = false): Promise<Result | undefined> {
    try {
      return await this.#run(text);
    } catch (error) {
      if (!(error instanceof MissingTables)) throw error;
      const other = await this.#otherVersion(error);
      // Somebody may have made the lake between the two questions.
      if (other?.code === 'CORRUPT' && !isSecond) return this.#queryLake(text, true);
      if (other) throw other;
      return undefined;
    }
  }

  async #otherVersion(cause: unknown): Promise<LakeError | undefined> {
    try {
      const version = (await this.#run(this.#statements.version())).rows[0]?.[1];
      if (version === '1.0')
        return new LakeError('CORRUPT', 'the catalog lacks a table or a column that DuckLake 1.0 has', { cause });
      return new LakeError(
        'VERSION',
        `the catalog's tables are of DuckLake version ${showValue(version)}; migrate it to 1.0 with DuckDB first`,
        { cause },
      );
    } catch (error) {
      if (error instanceof MissingTables) return undefined;
      throw error;
    }
  }
}

/** Oldest first. */
export function recordsOf(rows: readonly (readonly string[])[]): SnapshotRecord[] {
  const result = new Result(rows);
  const changes = new Map(result.of('ducklake_snapshot_changes').map((row) => [row.snapshot_id, row]));
  return result
    .of('ducklake_snapshot')
    .map((row) => {
      const said = changes.get(row.snapshot_id);
      return {
        ...snapshotOf(row),
        changes: said?.changes_made ?? '',
        author: said?.author ?? null,
        message: said?.commit_message ?? null,
        extraInfo: said?.commit_extra_info ?? null,
      };
    })
    .sort((a, b) => a.id - b.id);
}

function noLake(): LakeError {
  return new LakeError('NOT_FOUND', 'there is no lake in this catalog: create it first');
}

function noSnapshot(asOf: AsOf | undefined): LakeError {
  if (asOf === undefined) return new LakeError('CORRUPT', 'the catalog has the tables of a lake but no snapshot');
  if ('snapshot' in asOf)
    return new LakeError('NOT_FOUND', `the lake has no snapshot ${asOf.snapshot}`, {
      context: { snapshotId: Number(asOf.snapshot) },
    });
  return new LakeError('NOT_FOUND', `the lake has no snapshot as old as ${showValue(asOf.time)}`);
}
