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
} from '../../src/catalog/store.ts';
import type { FilesRequest, TableFiles } from '../../src/catalog/table-files.ts';
import type { HistoryRequest, TableHistory } from '../../src/catalog/table-history.ts';
import type { Faults } from './faults.ts';

/** The catalog, with its calls counted and made to fail by `faults` under the names `catalog.commit` and so on. */
export function faultyCatalog(catalog: CatalogStore, faults: Faults): CatalogStore {
  return new FaultyCatalog(catalog, faults);
}

class FaultyCatalog implements CatalogStore {
  readonly #catalog: CatalogStore;
  readonly #faults: Faults;

  constructor(catalog: CatalogStore, faults: Faults) {
    this.#catalog = catalog;
    this.#faults = faults;
  }

  get name(): string {
    return this.#catalog.name;
  }

  get inlining(): CatalogStore['inlining'] {
    return this.#catalog.inlining;
  }

  initialize(init: LakeInit): Promise<boolean> {
    return this.#faults.run('catalog.initialize', () => this.#catalog.initialize(init));
  }

  readCatalog(asOf?: AsOf): Promise<CatalogRows | undefined> {
    return this.#faults.run('catalog.readCatalog', () => this.#catalog.readCatalog(asOf));
  }

  readHead(since?: number): Promise<Head> {
    return this.#faults.run('catalog.readHead', () => this.#catalog.readHead(since));
  }

  async *readSnapshots(range?: { readonly from?: number; readonly to?: number }): AsyncGenerator<SnapshotRecord> {
    const name = 'catalog.readSnapshots';
    const moment = this.#faults.next(name);
    if (moment === 'before') throw this.#faults.error(name, moment);
    for await (const snapshot of this.#catalog.readSnapshots(range)) {
      yield snapshot;
      if (moment === 'during') throw this.#faults.error(name, moment);
    }
    if (moment !== undefined) throw this.#faults.error(name, moment);
  }

  readFiles(request: FilesRequest): Promise<TableFiles> {
    return this.#faults.run('catalog.readFiles', () => this.#catalog.readFiles(request));
  }

  readHistory(request: HistoryRequest): Promise<TableHistory> {
    return this.#faults.run('catalog.readHistory', () => this.#catalog.readHistory(request));
  }

  readTableStats(tableId: number): Promise<TableStats> {
    return this.#faults.run('catalog.readTableStats', () => this.#catalog.readTableStats(tableId));
  }

  commit(batch: CommitBatch): Promise<CommitOutcome> {
    return this.#faults.run('catalog.commit', () => this.#catalog.commit(batch));
  }

  findCommit(batch: CommitTrace): Promise<Snapshot | undefined> {
    return this.#faults.run('catalog.findCommit', () => this.#catalog.findCommit(batch));
  }

  findKeys(keys: readonly string[]): Promise<readonly UsedKey[]> {
    return this.#faults.run('catalog.findKeys', () => this.#catalog.findKeys(keys));
  }

  forgetKeys(request: ForgetKeysRequest): Promise<number> {
    return this.#faults.run('catalog.forgetKeys', () => this.#catalog.forgetKeys(request));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#catalog[Symbol.asyncDispose]();
  }
}
