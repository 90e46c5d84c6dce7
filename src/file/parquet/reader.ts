import type { ColumnMetaData, FileMetaData, RowGroup, SchemaElement, SchemaTree } from 'hyparquet';
import { readColumn } from 'hyparquet/src/column.js';
import { DEFAULT_PARSERS } from 'hyparquet/src/convert.js';
import { parquetSchema } from 'hyparquet/src/metadata.js';
import { LakeError } from '../../errors.ts';
import type { Field } from '../../schema/field.ts';
import { codecFor } from '../../spec/values/codec.ts';
import type { ObjectReader } from '../../storage/object-store.ts';
import type { FileReader, ReadBatch, ReadRequest } from '../format.ts';
import { corrupt, decoding, readFooter } from './footer.ts';
import { decodeText, isStoredAsText, loadedForm, type Raw } from './loaded.ts';
import { type ByteRange, readRanges } from './ranges.ts';

/** Opens a Parquet file. CORRUPT when it isn't one, or is damaged; UNSUPPORTED for what this version can't read. */
export async function openReader(
  object: ObjectReader,
  hint: { readonly footerLength?: number | undefined } = {},
): Promise<FileReader> {
  const metadata = await readFooter(object, hint.footerLength);
  const root = decoding('schema', () => parquetSchema(metadata));
  const rowCount = Number(metadata.num_rows);
  const counted = metadata.row_groups.reduce((sum, group) => sum + Number(group.num_rows), 0);
  if (counted !== rowCount) throw corrupt(`its row groups hold ${counted} rows, its footer says ${rowCount}`);
  return {
    rowCount,
    read: (request) => readRows(object, metadata, root, request),
  };
}

const parsers = { ...DEFAULT_PARSERS, stringFromBytes: decodeText };

/** How one requested column is got from this file. */
interface BoundColumn {
  /** Index of the column among the file's leaves; `undefined` when the file was written before the column was added. */
  readonly leaf: number | undefined;
  /** The value in such a file. */
  readonly missing: unknown;
  readonly schemaPath: SchemaTree[];
  /** Whether the decoder is to make strings of bytes. */
  readonly isText: boolean;
  /** From raw Parquet values to what callers get; `undefined` where they are the same. */
  readonly convert: ((raw: Raw) => unknown) | undefined;
}

async function* readRows(
  object: ObjectReader,
  metadata: FileMetaData,
  root: SchemaTree,
  { fields, signal, limit = Number.POSITIVE_INFINITY }: ReadRequest,
): AsyncGenerator<ReadBatch> {
  signal?.throwIfAborted();
  const columns = bindColumns(root, fields);
  let left = limit;
  for (const group of metadata.row_groups) {
    if (left <= 0) return;
    const rowCount = Math.min(Number(group.num_rows), left);
    if (rowCount === 0) continue;
    left -= rowCount;
    const batch = await readGroup(object, group, columns, rowCount, signal);
    signal?.throwIfAborted();
    yield batch;
    signal?.throwIfAborted();
  }
}

/** Columns are bound by field id and by nothing else: names change, and are given to other columns later. */
function bindColumns(root: SchemaTree, fields: readonly Field[]): BoundColumn[] {
  const leaves = leavesOf(root);
  const top = new Map<number, SchemaTree>();
  for (const child of root.children) if (child.element.field_id !== undefined) top.set(child.element.field_id, child);
  if (top.size === 0 && root.children.length > 0)
    throw new LakeError('UNSUPPORTED', 'a data file without field ids cannot be read yet');
  return fields.map((field) => {
    const codec = codecFor(field.type);
    const node = top.get(field.id);
    if (!node) {
      const { initialDefault } = field;
      const missing = initialDefault === null ? null : codec.decode(codec.fromText(initialDefault));
      return { leaf: undefined, missing, schemaPath: [], isText: false, convert: undefined };
    }
    if (node.children.length > 0 || node.element.repetition_type === 'REPEATED')
      throw new LakeError('UNSUPPORTED', `column "${field.name}" is nested in a data file: that cannot be read yet`);
    const load = loadedForm(node.element, field.type);
    const convert = isDecodedAsLoaded(field)
      ? load
      : load
        ? (raw: Raw): unknown => codec.decode(load(raw))
        : (raw: Raw): unknown => codec.decode(raw);
    // With annotations the decoder would make lossy values: Dates, doubles of decimals.
    const element = physicalElement(node.element);
    const schemaPath = [root, { ...node, element }];
    return { leaf: leaves.indexOf(node), missing: null, schemaPath, isText: isStoredAsText(field.type), convert };
  });
}

/** Types whose physical values are what callers get. */
function isDecodedAsLoaded({ type }: Field): boolean {
  return /^(boolean|u?int\d+|float\d+|varchar|blob|uuid|interval)$/.test(type.name);
}

function physicalElement({ converted_type: _, logical_type: __, ...element }: SchemaElement): SchemaElement {
  return element;
}

function leavesOf(node: SchemaTree): SchemaTree[] {
  return node.children.flatMap((child) => (child.children.length === 0 ? [child] : leavesOf(child)));
}

async function readGroup(
  object: ObjectReader,
  group: RowGroup,
  columns: readonly BoundColumn[],
  rowCount: number,
  signal: AbortSignal | undefined,
): Promise<ReadBatch> {
  const chunks = columns.map(({ leaf }) => (leaf === undefined ? undefined : chunkOf(group, leaf)));
  const present = chunks.filter((chunk) => chunk !== undefined);
  const bytes = await readRanges(object, present.map(chunkRange));
  signal?.throwIfAborted();
  let next = 0;
  const decoded = columns.map((column, i) => {
    const chunk = chunks[i];
    if (!chunk) return new Array<unknown>(rowCount).fill(column.missing);
    return decodeChunk(bytes[next++]!, chunk, column, Number(group.num_rows), rowCount);
  });
  return { rowCount, columns: decoded };
}

function chunkOf(group: RowGroup, leaf: number): ColumnMetaData {
  const chunk = group.columns[leaf];
  if (!chunk?.meta_data) throw corrupt('a row group lacks a column');
  if (chunk.file_path)
    throw new LakeError('UNSUPPORTED', 'Parquet files whose columns lie in other files cannot be read');
  const { codec } = chunk.meta_data;
  if (codec !== 'SNAPPY' && codec !== 'UNCOMPRESSED')
    throw new LakeError('UNSUPPORTED', `a data file is compressed with ${codec}, which cannot be read yet`);
  return chunk.meta_data;
}

function chunkRange(chunk: ColumnMetaData): ByteRange {
  // DuckDB writes an offset of 0 for "no dictionary".
  const start = Number(chunk.dictionary_page_offset || chunk.data_page_offset);
  return { start, end: start + Number(chunk.total_compressed_size) };
}

function decodeChunk(
  bytes: Uint8Array,
  chunk: ColumnMetaData,
  { schemaPath, isText, convert }: BoundColumn,
  groupRows: number,
  rowCount: number,
): ArrayLike<unknown> {
  const name = chunk.path_in_schema.join('.');
  return decoding(`column "${name}"`, () => {
    const element = schemaPath.at(-1)!.element;
    if (element.type !== chunk.type)
      throw corrupt(`column "${name}" is ${chunk.type} in a row group, not ${element.type}`);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const decoder = {
      pathInSchema: chunk.path_in_schema,
      type: chunk.type,
      element,
      schemaPath,
      codec: chunk.codec,
      parsers,
      utf8: isText,
    };
    const selection = { groupStart: 0, selectStart: 0, selectEnd: rowCount, groupRows };
    const { data: pages } = readColumn({ view, offset: 0 }, selection, decoder);
    return join(pages as readonly ArrayLike<Raw | null | undefined>[], convert, rowCount);
  });
}

/** The pages' values as one array, converted. */
function join(
  pages: readonly ArrayLike<Raw | null | undefined>[],
  convert: ((raw: Raw) => unknown) | undefined,
  rowCount: number,
): ArrayLike<unknown> {
  const values = new Array<unknown>(rowCount);
  let row = 0;
  for (const page of pages)
    for (let i = 0; i < page.length && row < rowCount; i++) {
      const raw = page[i];
      values[row++] = raw === null || raw === undefined ? null : convert ? convert(raw) : raw;
    }
  if (row < rowCount) throw corrupt(`${row} rows were found, ${rowCount} expected`);
  return values;
}
