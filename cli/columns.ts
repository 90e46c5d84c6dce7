import { type AsOf, type CatalogStore, type Column, type ColumnMap, t } from 'edgemere';
import type { ColumnSpec, TypeSpec } from './ddl.ts';
import { CommandError, UsageError } from './errors.ts';
import { CellError } from './input/cells.ts';
import { columnReaders } from './input/nested.ts';
import type { TargetColumn } from './input/reader.ts';
import { quoteName, showTableName, type TableName } from './names.ts';
import { showType } from './sql-types.ts';

/** Columns as the library makes tables of them. */
export function tableSchema(columns: readonly ColumnSpec[]): ColumnMap {
  return new Map(
    columns.map((spec) => {
      let column = newColumn(spec);
      if (spec.defaultText !== undefined) column = column.default(defaultValue(spec, spec.defaultText));
      return [spec.name, spec.nullable ? column : column.notNull()];
    }),
  );
}

function newColumn({ type, children }: TypeSpec): Column {
  const [first, second] = children;
  if (type === 'list') return t.list(newColumn(first!)) as Column;
  if (type === 'map') return t.map(newColumn(first!), newColumn(second!)) as Column;
  if (type === 'struct') return t.struct(new Map(children.map((member) => [member.name, newColumn(member)]))) as Column;
  const decimal = /^decimal\((\d+),(\d+)\)$/.exec(type);
  if (decimal) return t.decimal(Number(decimal[1]), Number(decimal[2])) as Column;
  const method = type.replace(/_(.)/, (_all, letter: string) => letter.toUpperCase());
  return (t as unknown as Record<string, () => Column>)[method]!();
}

function defaultValue(column: ColumnSpec, text: string): unknown {
  try {
    return columnReaders(column).fromText(text);
  } catch (error) {
    if (!(error instanceof CellError)) throw error;
    throw new UsageError(`column "${column.name}" (${showType(column)}): the default ${error.message}`);
  }
}

/** A table at one snapshot, at which it may have had other columns than now. */
export interface TableVersion {
  readonly snapshotId: number;
  readonly columns: readonly TargetColumn[];
}

/** Without `asOf` at the head. */
export async function tableAt(catalog: CatalogStore, table: TableName, asOf: AsOf | undefined): Promise<TableVersion> {
  const rows = await catalog.readCatalog(asOf);
  const same = (a: string | null, b: string): boolean => a?.toLowerCase() === b.toLowerCase();
  const schema = rows?.schemas.find(({ schema_name }) => same(schema_name, table.schema));
  const found = rows?.tables.find(
    ({ schema_id, table_name }) => schema_id === schema?.schema_id && same(table_name, table.name),
  );
  if (!rows || !schema || !found)
    throw new CommandError(
      asOf === undefined
        ? `there is no table ${showTableName(table)}: \`edgemere ls\` lists those that are there`
        : `there was no table ${showTableName(table)} at that snapshot: \`edgemere snapshots\` tells when it came`,
    );
  const own = rows.columns
    .filter(({ table_id }) => table_id === found.table_id)
    .sort((a, b) => (a.column_order ?? 0) - (b.column_order ?? 0));
  const below = (parent: number | null): TargetColumn[] =>
    own
      .filter(({ parent_column }) => parent_column === parent)
      .map(({ column_id, column_name, column_type }) => ({
        name: column_name ?? '',
        type: typeName(column_type ?? ''),
        children: below(column_id),
      }));
  return { snapshotId: rows.snapshot.id, columns: below(null) };
}

function typeName(text: string): string {
  const type = text.toLowerCase().replace(', ', ',');
  return type === 'timestamp_us' ? 'timestamp' : type;
}

/** A column by its name, in any case. `table` is for the error. */
export function findColumn(columns: readonly TargetColumn[], name: string, table: string): TargetColumn {
  const column =
    columns.find((candidate) => candidate.name === name) ??
    columns.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
  if (column !== undefined) return column;
  const all = columns.map((known) => quoteName(known.name)).join(', ');
  throw new CommandError(`${table} has no column ${quoteName(name)}: it has ${all}`);
}

/** What `--columns` says: names with commas between them, in double quotes where a name holds commas or quotes. */
export function parseColumnNames(text: string): string[] {
  const names: string[] = [];
  const pattern = /\s*("(?:[^"]|"")+"|[^",]+)\s*(,|$)/y;
  while (pattern.lastIndex < text.length) {
    const found = pattern.exec(text);
    if (!found)
      throw new UsageError(`--columns ${text}: write names with commas between them, odd names in double quotes`);
    const name = found[1]!.trim();
    names.push(name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name);
  }
  if (names.length === 0) throw new UsageError('--columns is empty: write names with commas between them');
  return names;
}
