import { LakeError } from '../errors.ts';
import { parseChanges } from '../spec/changes.ts';
import type { CatalogStore } from './store.ts';
import type { FilesRequest, LiveFile, SeenSnapshot, TableFiles } from './table-files.ts';

const MAX_BYTES = 32 * 2 ** 20;
/** Beyond so many snapshots it is as quick to read all files again as to read what was committed since. */
const MAX_SNAPSHOTS = 1000;

/** What files refer to. */
type Shared = Pick<TableFiles, 'mappings' | 'nameMappings' | 'partitionColumns'>;

/** The files that a request found at a snapshot. */
interface Known extends Shared {
  readonly snapshot: SeenSnapshot;
  readonly files: readonly LiveFile[];
  readonly byteLength: number;
}

/**
 * Reads tables' files, and of those that it has read before only what is newer: as long as all snapshots since did no more than insert
 * into the table, older files are what they were. Inlined rows are read each time. What is kept is bounded; the longest unused goes first.
 */
export class KnownFiles {
  readonly #catalog: Pick<CatalogStore, 'readFiles'>;
  readonly #maxBytes: number;
  /** The most recently used last. */
  readonly #known = new Map<string, Known>();
  #byteLength = 0;

  constructor(catalog: Pick<CatalogStore, 'readFiles'>, maxBytes: number = MAX_BYTES) {
    this.#catalog = catalog;
    this.#maxBytes = maxBytes;
  }

  /** As of {@link CatalogStore.readFiles}. NOT_FOUND (retryable) when the snapshot has been expired meanwhile. */
  async readFiles(request: FilesRequest): Promise<TableFiles> {
    const { snapshotId } = request;
    const key = JSON.stringify([request.tableId, request.stats, request.within]);
    const known = this.#known.get(key);
    const age = known && snapshotId - known.snapshot.id;
    if (known && age! >= 0 && age! <= MAX_SNAPSHOTS) {
      const found = await this.#newer(request, known);
      if (found) {
        this.#keep(key, found.known);
        return found.files;
      }
      if (this.#known.get(key) === known) this.#forget(key);
    }
    const { since, ...files } = await this.#catalog.readFiles({ ...request, since: snapshotId });
    if (since === undefined) return files;
    const [snapshot] = since;
    if (snapshot?.id !== snapshotId)
      throw new LakeError('NOT_FOUND', `snapshot ${snapshotId} was expired while it was being read; read a newer one`, {
        retryable: true,
        context: { snapshotId },
      });
    this.#keep(key, { ...files, snapshot, byteLength: bytesOf(files.files, files) });
    return files;
  }

  /** `undefined` when something else was done than to insert. */
  async #newer(request: FilesRequest, known: Known): Promise<{ known: Known; files: TableFiles } | undefined> {
    const { snapshot: from } = known;
    const { since, ...newer } = await this.#catalog.readFiles({
      ...request,
      fromFileId: from.nextFileId,
      since: from.id,
    });
    const snapshot = since?.find(({ id }) => id === request.snapshotId);
    // What is committed after the snapshot matters too: files that take the place of others show in earlier snapshots.
    if (!since || !snapshot || !onlyInserts(since, from, request.tableId)) return undefined;
    const mappingIds = new Set(known.mappings.map((mapping) => mapping.mapping_id));
    const isNew = ({ mapping_id: id }: { readonly mapping_id: number | null }): boolean => !mappingIds.has(id ?? -1);
    const partitionIds = new Set(known.partitionColumns.map((column) => column.partition_id));
    const mappings = newer.mappings.filter(isNew);
    const nameMappings = newer.nameMappings.filter(isNew);
    const partitionColumns = newer.partitionColumns.filter(({ partition_id: id }) => !partitionIds.has(id));
    const all = {
      files: newer.files.length === 0 ? known.files : known.files.concat(newer.files),
      mappings: known.mappings.concat(mappings),
      nameMappings: known.nameMappings.concat(nameMappings),
      partitionColumns: known.partitionColumns.concat(partitionColumns),
    };
    const byteLength = known.byteLength + bytesOf(newer.files, { mappings, nameMappings, partitionColumns });
    return { known: { ...all, snapshot, byteLength }, files: { ...newer, ...all } };
  }

  #keep(key: string, { snapshot, files, mappings, nameMappings, partitionColumns, byteLength }: Known): void {
    const known = this.#known.get(key);
    if (known && known.snapshot.id > snapshot.id) return;
    this.#forget(key);
    if (byteLength > this.#maxBytes) return;
    this.#known.set(key, { snapshot, files, mappings, nameMappings, partitionColumns, byteLength });
    this.#byteLength += byteLength;
    for (const oldest of this.#known.keys()) {
      if (this.#byteLength <= this.#maxBytes) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    const known = this.#known.get(key);
    if (!known) return;
    this.#known.delete(key);
    this.#byteLength -= known.byteLength;
  }
}

/** Whether all snapshots from one on are there, and did nothing to the table's files but add some. */
function onlyInserts(since: readonly SeenSnapshot[], from: SeenSnapshot, tableId: number): boolean {
  const [first, ...later] = since;
  // Another lake in the same place has other times.
  if (first?.id !== from.id || first.time !== from.time || first.nextFileId !== from.nextFileId) return false;
  return later.every(({ id, changes }, i) => id === from.id + 1 + i && isInsert(changes, tableId));
}

function isInsert(changes: string | undefined, tableId: number): boolean {
  if (changes === undefined) return false;
  try {
    return parseChanges(changes).every(
      (change) =>
        !('id' in change) ||
        change.id !== tableId ||
        change.kind === 'inserted_into_table' ||
        change.kind === 'inlined_insert',
    );
  } catch {
    // Something that this version doesn't know.
    return false;
  }
}

/** About what they take in memory. */
function bytesOf(files: readonly LiveFile[], { mappings, nameMappings, partitionColumns }: Shared): number {
  let byteLength = 200 * (mappings.length + nameMappings.length + partitionColumns.length) + 500;
  for (const { file, deletes, inlinedDeletes, partitionValues, stats } of files) {
    byteLength += 500 + (file.path?.length ?? 0) + 400 * deletes.length + 8 * inlinedDeletes.length;
    for (const { partition_value } of partitionValues) byteLength += 150 + (partition_value?.length ?? 0);
    for (const { min_value, max_value } of stats)
      byteLength += 250 + (min_value?.length ?? 0) + (max_value?.length ?? 0);
  }
  return byteLength;
}
