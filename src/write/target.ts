import type { CatalogView, TableInfo } from '../catalog/view.ts';
import { LakeError } from '../errors.ts';
import type { FileOptions } from '../file/format.ts';
import { defaultOf } from '../schema/define.ts';
import { withParts } from '../schema/tree.ts';
import type { Session } from '../session.ts';
import { canInline } from '../spec/inlining.ts';
import { countSetting, setting } from '../spec/settings.ts';
import { isSupported } from '../spec/types.ts';
import type { TargetTable } from './gather.ts';

/** DuckLake's defaults: `target_file_size`, and the row groups of DuckDB's Parquet writer. */
const defaultTargetFileSize = 512 * 1000 * 1000;
const defaultRowGroupRowCount = 122_880;
/** A row group is held in memory while it is encoded. */
const defaultRowGroupByteLength = 64 * 2 ** 20;

const compressions: Readonly<Record<string, FileOptions['compression']>> = {
  snappy: 'snappy',
  uncompressed: 'uncompressed',
  gzip: 'gzip',
  zstd: 'zstd',
};

/** The columns of a table and what rows that leave them out get. */
export function targetOf(table: TableInfo): TargetTable {
  return {
    schema: table.schema.name,
    table: table.name,
    columns: table.fields.map((field) => {
      const isComputed = field.defaultValueType === 'expression';
      return { field, isComputed, defaultValue: isComputed ? undefined : defaultOf(field) };
    }),
  };
}

/** Up to how many rows of one insert into a table go into the catalog itself: the narrowest scope's option, as in DuckDB. */
export function inliningLimit(
  view: CatalogView,
  table: Pick<TableInfo, 'id' | 'schema' | 'fields'>,
  { catalog, inliningRowLimit }: Pick<Session, 'catalog' | 'inliningRowLimit'>,
): number {
  const scope = { schemaId: table.schema.id, tableId: table.id };
  const limit = countSetting(view.metadata, 'data_inlining_row_limit', scope, inliningRowLimit, 0);
  if (limit === 0 || !canInline(table.fields, catalog.inlining)) return 0;
  const parts = table.fields.flatMap(({ children }) => withParts(children));
  // DuckDB can't read inlined JSON within other values, its own included.
  const isFit =
    [...table.fields, ...parts].every(({ type }) => isSupported(type)) &&
    parts.every(({ type }) => type.name !== 'json');
  return isFit ? limit : 0;
}

/** How a table's files are to be written, by the lake's options. Throws UNSUPPORTED for what can't be written yet. */
export function writeSettings(
  view: CatalogView,
  table: TableInfo,
): { readonly fileOptions: FileOptions; readonly targetFileSize: number } {
  const context = { schema: table.schema.name, table: table.name };
  if (setting(view.metadata, 'encrypted') === 'true')
    throw new LakeError('UNSUPPORTED', 'the lake is encrypted: writing encrypted files is not there yet', { context });
  if (table.isPartitioned)
    throw new LakeError('UNSUPPORTED', `table "${table.name}" is partitioned: writing partitions is not there yet`, {
      context,
    });
  for (const field of withParts(table.fields))
    if (!isSupported(field.type))
      throw new LakeError(
        'UNSUPPORTED',
        `column "${field.name}" of table "${table.name}" is of type ${field.type.name}: writing it is not there yet`,
        { context: { ...context, column: field.name } },
      );
  const scope = { schemaId: table.schema.id, tableId: table.id };
  const name = setting(view.metadata, 'parquet_compression', scope) ?? 'snappy';
  const compression = compressions[name];
  if (compression === undefined)
    throw new LakeError(
      'UNSUPPORTED',
      `the lake's option parquet_compression is "${name}", which can't be written here`,
      {
        context,
      },
    );
  const level = setting(view.metadata, 'parquet_compression_level', scope);
  const count = (key: string, byDefault: number): number => countSetting(view.metadata, key, scope, byDefault);
  return {
    targetFileSize: count('target_file_size', defaultTargetFileSize),
    fileOptions: {
      compression,
      compressionLevel: level === undefined ? undefined : Number(level),
      version: setting(view.metadata, 'parquet_version', scope) === 'V1' ? 1 : 2,
      rowGroupRowCount: count('parquet_row_group_size', defaultRowGroupRowCount),
      rowGroupByteLength: count('parquet_row_group_size_bytes', defaultRowGroupByteLength),
    },
  };
}
