import type { Committed, RetryPolicy } from './catalog/commit.ts';
import { Committer } from './catalog/committer.ts';
import type { AsOf, CatalogRows, CatalogStore, Snapshot } from './catalog/store.ts';
import type { FilesRequest, TableFiles } from './catalog/table-files.ts';
import { advanceView, type CatalogView, viewOf } from './catalog/view.ts';
import { LakeError, showValue } from './errors.ts';
import type { FileFormat } from './file/format.ts';
import type { ObjectStore } from './storage/object-store.ts';

export interface SessionParts {
  readonly catalog: CatalogStore;
  readonly store: ObjectStore;
  readonly format: FileFormat;
  readonly dataPath: string;
  readonly retry: RetryPolicy;
  readonly commitGapMs: number;
  /** See `OpenOptions.dataInliningRowLimit`. */
  readonly inliningRowLimit: number;
  readonly rows: CatalogRows;
}

/** What reading needs of a session. A transaction's own has what it changed in it. */
export interface ReadSession {
  readonly store: ObjectStore;
  readonly format: FileFormat;
  /** As of {@link CatalogStore.readFiles}. */
  readFiles(request: FilesRequest): Promise<TableFiles>;
  refresh(): Promise<CatalogView>;
  viewAt(asOf: AsOf): Promise<CatalogView>;
}

/** What a lake's handles share: the two stores and the newest schema that was seen. */
export class Session implements ReadSession {
  readonly catalog: CatalogStore;
  readonly store: ObjectStore;
  readonly format: FileFormat;
  readonly dataPath: string;
  readonly retry: RetryPolicy;
  readonly inliningRowLimit: number;
  readonly committer: Committer;
  #view: CatalogView;
  #files: Promise<Pick<CatalogStore, 'readFiles'>> | undefined;
  #isStale = false;
  #isClosed = false;

  constructor(parts: SessionParts) {
    this.catalog = parts.catalog;
    this.store = parts.store;
    this.format = parts.format;
    this.dataPath = parts.dataPath;
    this.retry = parts.retry;
    this.inliningRowLimit = parts.inliningRowLimit;
    const { catalog: store, retry, commitGapMs } = parts;
    this.committer = new Committer({ store, retry, commitGapMs });
    this.#view = viewOf(parts.rows, parts.dataPath);
  }

  async readFiles(request: FilesRequest): Promise<TableFiles> {
    this.assertOpen();
    // Loaded when it is needed: an append does without.
    this.#files ??= import('./catalog/known-files.ts').then(({ KnownFiles }) => new KnownFiles(this.catalog));
    return (await this.#files).readFiles(request);
  }

  /** The schema as last seen, without a round trip unless it is known to be out of date. */
  async view(): Promise<CatalogView> {
    this.assertOpen();
    return this.#isStale ? this.reload() : this.#view;
  }

  /** The schema at the head: one round trip, two when it changed. */
  async refresh(): Promise<CatalogView> {
    this.assertOpen();
    if (this.#isStale) return this.reload();
    const { snapshot } = await this.catalog.readHead();
    if (snapshot.schemaVersion !== this.#view.snapshot.schemaVersion) return this.reload();
    this.#advance(snapshot);
    return this.#view;
  }

  async reload(): Promise<CatalogView> {
    this.assertOpen();
    const rows = await this.catalog.readCatalog();
    if (!rows)
      throw new LakeError('NOT_FOUND', `the lake is no longer in catalog ${this.catalog.name}`, {
        context: { location: this.catalog.name },
      });
    const view = viewOf(rows, this.dataPath);
    if (view.snapshot.id >= this.#view.snapshot.id) {
      this.#view = view;
      this.#isStale = false;
    }
    return view;
  }

  /** The schema at an earlier version. */
  async viewAt(asOf: AsOf): Promise<CatalogView> {
    this.assertOpen();
    checkAsOf(asOf);
    const rows = await this.catalog.readCatalog(asOf);
    if (!rows) throw new LakeError('NOT_FOUND', `the lake is no longer in catalog ${this.catalog.name}`);
    return viewOf(rows, this.dataPath);
  }

  /** Takes note of a commit of our own: the head is known then without asking for it. */
  adopt({ snapshot, batch }: Committed): void {
    if (batch.changesSchema || snapshot.schemaVersion !== this.#view.snapshot.schemaVersion) this.#isStale = true;
    else this.#advance(snapshot);
  }

  markStale(): void {
    this.#isStale = true;
  }

  assertOpen(): void {
    if (this.#isClosed) throw new LakeError('CLOSED', 'the lake was closed; open it again');
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.catalog[Symbol.asyncDispose]();
  }

  #advance(snapshot: Snapshot): void {
    if (snapshot.id > this.#view.snapshot.id) this.#view = advanceView(this.#view, snapshot);
  }
}

function checkAsOf(asOf: AsOf): void {
  const { snapshot, time } = (asOf ?? {}) as { readonly snapshot?: unknown; readonly time?: unknown };
  const id = typeof snapshot === 'bigint' ? Number(snapshot) : snapshot;
  if (time === undefined ? Number.isSafeInteger(id) : time instanceof Date && !Number.isNaN(time.getTime())) return;
  throw new LakeError('INVALID_ARGUMENT', `asOf is ${showValue(asOf)}; expected { snapshot: id } or { time: Date }`, {
    context: { value: showValue(asOf) },
  });
}
