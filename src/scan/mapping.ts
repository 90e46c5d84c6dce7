import type { LiveFile, TableFiles } from '../catalog/table-files.ts';
import { nameOf, type TableInfo } from '../catalog/view.ts';
import { LakeError } from '../errors.ts';
import type { FileBinding, MappedName } from '../file/format.ts';
import type { RowOf } from '../spec/rows.ts';
import { unsupported } from './columns.ts';

/** How a data file's columns are found: by what the catalog maps their names to, else by field ids where it has them. */
export function bindingOf(table: TableInfo, files: TableFiles, { file }: LiveFile, location: string): FileBinding {
  if (file.mapping_id === null) return { kind: 'positions', fieldIds: table.fields.map(({ id }) => id) };
  const mapping = files.mappings.find((row) => row.mapping_id === file.mapping_id);
  if (!mapping)
    throw new LakeError('CORRUPT', `data file ${location} is mapped by ${file.mapping_id}, which the catalog lacks`, {
      context: { schema: table.schema.name, table: table.name, location },
    });
  if (mapping.type !== 'map_by_name')
    throw unsupported(nameOf(table), `data file ${location} has a mapping of type ${mapping.type}`, { location });
  const rows = files.nameMappings.filter((row) => row.mapping_id === file.mapping_id);
  const byParent = Map.groupBy(rows, (row) => row.parent_column);
  const inPath = hiveValues(location);
  const named = (parent: number | null): MappedName[] =>
    (byParent.get(parent) ?? []).map((row) => mappedName(row, named(row.column_id), inPath, location));
  return { kind: 'names', names: named(null) };
}

function mappedName(
  row: RowOf<'ducklake_name_mapping'>,
  children: MappedName[],
  inPath: ReadonlyMap<string, string | null>,
  location: string,
): MappedName {
  const { source_name: sourceName, target_field_id: fieldId } = row;
  if (sourceName === null || fieldId === null)
    throw new LakeError('CORRUPT', `mapping ${row.mapping_id} of data file ${location} lacks a name or a field id`, {
      context: { location },
    });
  if (!row.is_partition) return { sourceName, fieldId, children };
  const value = inPath.get(sourceName);
  if (value === undefined)
    throw new LakeError('CORRUPT', `column "${sourceName}" is to be in the path of data file ${location}, and isn't`, {
      context: { column: sourceName, location },
    });
  return { sourceName, fieldId, children, partition: { value } };
}

/** As DuckDB reads paths: the word NULL, in whatever case, is no text there. */
const isNull = (value: string): boolean => value === '__HIVE_DEFAULT_PARTITION__' || /^null$/i.test(value);

/** `name=value` of the folders in a path. */
function hiveValues(location: string): Map<string, string | null> {
  const values = new Map<string, string | null>();
  for (const folder of location.split(/[/\\]/).slice(0, -1)) {
    const [name, value, more] = folder.split('=');
    if (value !== undefined && more === undefined)
      values.set(unescaped(name!), isNull(value) ? null : unescaped(value));
  }
  return values;
}

/** A path may hold a percent sign that escapes nothing. */
function unescaped(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}
