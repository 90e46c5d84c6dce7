import type { InlinedRows, LiveFile, TableFiles } from '../catalog/table-files.ts';
import { nameOf, type TableInfo, type TableName } from '../catalog/view.ts';
import { LakeError } from '../errors.ts';
import type { Field } from '../schema/field.ts';
import { fieldsOf, withParts } from '../schema/tree.ts';
import { sameName } from '../spec/names.ts';
import { resolvePath } from '../spec/paths.ts';
import type { RowOf } from '../spec/rows.ts';
import { unsupported } from './columns.ts';
import { bindingOf } from './mapping.ts';
import type { DeleteFile, FilePart, InlinedPart } from './parts.ts';

/** A table's data file as a part. UNSUPPORTED for one that can't be read. */
export function filePart(
  table: TableInfo,
  files: TableFiles,
  live: LiveFile,
  at: { readonly snapshotId: number; readonly fileIndex: number },
): FilePart {
  const { file, deletes, inlinedDeletes } = live;
  const location = resolvePath(table.location, file.path ?? '', file.path_is_relative);
  const name = nameOf(table);
  if (file.encryption_key !== null) throw unsupported(name, `data file ${location} is encrypted`, { location });
  if (file.file_format !== null && file.file_format.toLowerCase() !== 'parquet')
    throw unsupported(name, `data file ${location} is of format ${file.file_format}`, { location });
  return {
    kind: 'file',
    fileIndex: at.fileIndex,
    location,
    byteLength: file.file_size_bytes,
    footerLength: file.footer_size,
    rowCount: file.record_count,
    rowIdStart: file.row_id_start,
    beginSnapshot: file.begin_snapshot,
    isPartial: file.partial_max !== null && file.partial_max > at.snapshotId,
    binding: bindingOf(table, files, live, location),
    deletes: { files: deletes.map((row) => deleteFileOf(name, table.location, row)), positions: inlinedDeletes },
    range: null,
  };
}

/** UNSUPPORTED for what can't be read. `base` is the table's location. */
export function deleteFileOf(
  table: TableName,
  base: string,
  row: Pick<
    RowOf<'ducklake_delete_file'>,
    'path' | 'path_is_relative' | 'format' | 'encryption_key' | 'file_size_bytes' | 'footer_size'
  >,
): DeleteFile {
  const location = resolvePath(base, row.path ?? '', row.path_is_relative);
  const refused = (reason: string): LakeError =>
    new LakeError('UNSUPPORTED', `table "${table.name}": delete file ${location} is ${reason}`, {
      context: { schema: table.schema, table: table.name, location },
    });
  const format = row.format?.toLowerCase() ?? 'parquet';
  if (format !== 'parquet' && format !== 'puffin') throw refused(`of format ${row.format}`);
  // DuckDB encrypts no deletion vectors, whatever the catalog has as their keys.
  if (row.encryption_key !== null && format === 'parquet') throw refused('encrypted');
  return { location, format, byteLength: row.file_size_bytes, footerLength: row.footer_size };
}

/** What makes a column the same to DuckDB. */
const shapeOf = (field: Field): string =>
  JSON.stringify(withParts([field]).map(({ id, name, type }) => [id, name, type]));

/** Rows of one table of inlined rows as a part, with the cells of the wanted fields alone. */
export function inlinedPart(
  table: TableInfo,
  files: TableFiles,
  inlined: InlinedRows,
  fileIndex: number,
  wanted: ReadonlySet<number>,
): InlinedPart {
  const stored = fieldsOf(files.inlinedFields.get(inlined.schemaVersion) ?? [], table.name);
  // By the ids that the names had when the rows were inserted.
  const all = inlined.columns.map((name) => {
    const field = stored.find((one) => one.name === name) ?? stored.find((one) => sameName(one.name, name));
    if (field) return field;
    throw new LakeError(
      'CORRUPT',
      `column "${name}" of ${inlined.tableName} is not one of the table's at schema version ${inlined.schemaVersion}`,
      { context: { schema: table.schema.name, table: table.name, column: name } },
    );
  });
  const kept = all.flatMap(({ id }, i) => (wanted.has(id) ? [i] : []));
  const mistakenFor = inlined.mistakenFor && fieldsOf(inlined.mistakenFor, table.name);
  for (const field of kept.map((i) => all[i]!))
    if (mistakenFor?.every((one) => shapeOf(one) !== shapeOf(field)))
      throw unsupported(
        nameOf(table),
        `rows in ${inlined.tableName} are of a schema version that the catalog has lost: DuckDB reads their column "${field.name}" in one way or another`,
        { column: field.name },
      );
  return {
    kind: 'inlined',
    fileIndex,
    tableName: inlined.tableName,
    fields: kept.map((i) => all[i]!),
    rows: inlined.rows.map(({ rowId, beginSnapshot, cells }) => ({
      rowId,
      beginSnapshot,
      cells: kept.map((i) => cells[i] ?? null),
    })),
  };
}
