import { sameName } from '../spec/names.ts';
import type { PendingChange } from './pending.ts';
import type { CatalogView, SchemaInfo, TableInfo } from './view.ts';

/** The schema as a transaction sees it: what it began with, without what it dropped, with what it made (under negative ids). */
export function uncommittedView(view: CatalogView, pending: readonly PendingChange[], dataPath: string): CatalogView {
  if (pending.every(({ kind }) => kind === 'append')) return view;
  const dropped = (kind: 'dropSchema' | 'dropTable'): ReadonlySet<number> =>
    new Set(pending.flatMap((change) => (change.kind === kind ? [change.id] : [])));
  const droppedSchemas = dropped('dropSchema');
  const droppedTables = dropped('dropTable');
  const schemas = pending.flatMap((change): SchemaInfo[] => {
    if (change.kind !== 'createSchema') return [];
    const { id, name, path } = change;
    return [{ id, name, path, location: dataPath + path }];
  });
  const findSchema = (name: string): SchemaInfo | undefined => {
    const own = schemas.find((schema) => sameName(schema.name, name));
    const other = own ? undefined : view.findSchema(name);
    return other && !droppedSchemas.has(other.id) ? other : own;
  };
  const tables = pending.flatMap((change): TableInfo[] => {
    if (change.kind !== 'createTable') return [];
    const { id, uuid, name, path, fields } = change;
    const schema = findSchema(change.schema.name)!;
    return [{ id, uuid, schema, name, path, location: schema.location + path, fields, isPartitioned: false }];
  });
  const isThere = (table: TableInfo | undefined): table is TableInfo =>
    table !== undefined && !droppedTables.has(table.id);
  let allTables: readonly TableInfo[] | undefined;
  return {
    ...view,
    schemas: [...view.schemas.filter(({ id }) => !droppedSchemas.has(id)), ...schemas],
    get tables() {
      // On demand: a lake may have thousands of them.
      allTables ??= [...view.tables.filter(isThere), ...tables];
      return allTables;
    },
    findSchema,
    findTable(ref) {
      const own = tables.find(({ schema, name }) => sameName(schema.name, ref.schema) && sameName(name, ref.name));
      const other = own ? undefined : view.findTable(ref);
      return isThere(other) ? other : own;
    },
    findTableById(id) {
      const table = id < 0 ? tables.find((one) => one.id === id) : view.findTableById(id);
      return isThere(table) ? table : undefined;
    },
  };
}
