import type { CatalogStore } from 'edgemere';

/**
 * The same catalog, in which json columns are ones of text: a scan then gives their text, where parsed values would have lost
 * digits of numbers, the order of keys, and the difference between NULL and JSON's null. For reading only.
 */
export function withJsonAsText(catalog: CatalogStore): CatalogStore {
  return {
    name: catalog.name,
    inlining: catalog.inlining,
    initialize: (init) => catalog.initialize(init),
    async readCatalog(asOf) {
      const rows = await catalog.readCatalog(asOf);
      return (
        rows && {
          ...rows,
          columns: rows.columns.map((column) =>
            column.column_type === 'json' ? { ...column, column_type: 'varchar' } : column,
          ),
        }
      );
    },
    readHead: (since) => catalog.readHead(since),
    readSnapshots: (range) => catalog.readSnapshots(range),
    readFiles: (request) => catalog.readFiles(request),
    readHistory: (request) => catalog.readHistory(request),
    readTableStats: (tableId) => catalog.readTableStats(tableId),
    commit: (batch) => catalog.commit(batch),
    findCommit: (batch) => catalog.findCommit(batch),
    findKeys: (keys) => catalog.findKeys(keys),
    forgetKeys: (request) => catalog.forgetKeys(request),
    [Symbol.asyncDispose]: () => catalog[Symbol.asyncDispose](),
  };
}
