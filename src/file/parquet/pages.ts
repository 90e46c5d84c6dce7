import type { ColumnChunk, RowGroup, SchemaElement, Statistics } from 'hyparquet';
import { readColumnIndex, readOffsetIndex } from 'hyparquet/src/indexes.js';
import { convertMetadata } from 'hyparquet/src/metadata.js';
import type { Field } from '../../schema/field.ts';
import type { ObjectReader } from '../../storage/object-store.ts';
import type { BoundsOf, ByteRange, ReadRequest } from '../format.ts';
import type { BoundColumn } from './bind.ts';
import { type ColumnOf, valueBounds } from './bounds.ts';
import { asStored, decoding } from './footer.ts';
import { joinRanges, readRanges } from './ranges.ts';

/** Rows of a row group, by their places in it, and where the pages of each leaf are that hold them. */
export interface RowRun {
  readonly start: number;
  readonly end: number;
  readonly slices: ReadonlyMap<number, PageSlice>;
}

/** Some pages of a column chunk. */
export interface PageSlice {
  /** The dictionary's, where there is one, and the pages'. */
  readonly ranges: readonly ByteRange[];
  /** Of the first page, by its place in the row group. */
  readonly firstRow: number;
}

export interface PageQuestion {
  readonly group: RowGroup;
  /** What is read. */
  readonly columns: readonly BoundColumn[];
  /** Of the file's leaves. */
  readonly elements: readonly SchemaElement[];
  readonly columnOf: ColumnOf;
  /** Of the row group. */
  readonly boundsOf: BoundsOf;
  readonly matters: NonNullable<ReadRequest['matters']>;
  /** Whether the file's bytes are there, so that to look costs no request. */
  readonly isLoaded: boolean;
}

/** To look into the indexes of less than this costs more than it saves. */
const minByteLength = 1 << 18;
/** Rows between two runs that are read with them. */
const minGap = 2048;
const maxRuns = 8;

/**
 * The runs of rows that may matter, by what the page indexes say of each page's values; `undefined` when the row group is better read whole.
 * `probed` gets what was read to find out.
 */
export async function pageRuns(
  object: ObjectReader,
  question: PageQuestion,
  probed: ByteRange[],
): Promise<readonly RowRun[] | undefined> {
  const { group, columns, elements, isLoaded } = question;
  const read = flatLeaves(columns);
  const asked = askedColumns(question);
  if (!read || asked.size === 0) return undefined;
  const byteLength = read.reduce((sum, leaf) => sum + Number(group.columns[leaf]?.meta_data?.total_compressed_size), 0);
  if (!isLoaded && byteLength < minByteLength) return undefined;
  const leaves = [...new Set([...read, ...[...asked.values()].map(({ leaf }) => leaf)])];
  const offsetRanges = leaves.map((leaf) => indexRange(group.columns[leaf], 'offset_index'));
  const columnRanges = [...asked.values()].map(({ leaf }) => indexRange(group.columns[leaf], 'column_index'));
  const ranges = [...offsetRanges, ...columnRanges].filter((range) => range !== undefined);
  if (ranges.length < offsetRanges.length + columnRanges.length) return undefined;
  if (!isLoaded) probed.push(...joinRanges(ranges));
  const bytes = await readRanges(object, ranges);
  const rowCount = Number(group.num_rows);
  return decoding('page index', () => {
    const pages = new Map(leaves.map((leaf, i) => [leaf, pagesOf(group.columns[leaf]!, bytes[i]!, rowCount)]));
    const indexes = new Map(
      [...asked].map(([field, column], i) => [
        field,
        boundsOfPages(field, column, elements[column.leaf]!, bytes[leaves.length + i]!),
      ]),
    );
    const wanted = wantedRuns(question, (field) => {
      const column = asked.get(field);
      const found = column && pages.get(column.leaf);
      return found && { pages: found, bounds: indexes.get(field)! };
    });
    if (!wanted || [...pages.values()].includes(undefined)) return undefined;
    return wanted.map(({ start, end }) => ({
      start,
      end,
      slices: new Map(read.map((leaf) => [leaf, sliceOf(group.columns[leaf]!, pages.get(leaf)!, start, end)])),
    }));
  });
}

/** `undefined` where one is nested: its pages don't begin with rows. */
function flatLeaves(columns: readonly BoundColumn[]): number[] | undefined {
  const leaves: number[] = [];
  for (const column of columns) {
    if (column.kind === 'nested') return undefined;
    if (column.kind === 'flat') leaves.push(column.leaf);
  }
  return leaves;
}

type Flat = BoundColumn & { readonly kind: 'flat' };

/** Columns that the filter looks at and that have an index. */
function askedColumns({ group, columnOf, boundsOf, matters }: PageQuestion): ReadonlyMap<Field, Flat> {
  const asked = new Map<Field, Flat>();
  matters((field) => {
    const column = columnOf(field);
    if (column?.kind === 'flat' && indexRange(group.columns[column.leaf], 'column_index')) asked.set(field, column);
    return boundsOf(field);
  });
  return asked;
}

function indexRange(chunk: ColumnChunk | undefined, kind: 'column_index' | 'offset_index'): ByteRange | undefined {
  const offset = chunk?.[`${kind}_offset`];
  const length = chunk?.[`${kind}_length`];
  if (!offset || !length) return undefined;
  return { start: Number(offset), end: Number(offset) + length };
}

interface Page {
  readonly firstRow: number;
  readonly endRow: number;
  readonly range: ByteRange;
}

/** `undefined` when they are not what pages can be. */
function pagesOf(chunk: ColumnChunk, bytes: Uint8Array, rowCount: number): readonly Page[] | undefined {
  const { page_locations: locations } = readOffsetIndex(readerOf(bytes));
  const pages = locations.map(({ offset, compressed_page_size, first_row_index }, i) => ({
    firstRow: Number(first_row_index),
    endRow: Number(locations[i + 1]?.first_row_index ?? rowCount),
    range: { start: Number(offset), end: Number(offset) + compressed_page_size },
  }));
  const start = Number(chunk.meta_data?.dictionary_page_offset || chunk.meta_data?.data_page_offset);
  const end = start + Number(chunk.meta_data?.total_compressed_size);
  const isWhole = pages.every(
    ({ firstRow, endRow, range }, i) =>
      firstRow < endRow &&
      range.start >= (pages[i - 1]?.range.end ?? start) &&
      range.start < range.end &&
      range.end <= end,
  );
  return pages[0]?.firstRow === 0 && isWhole ? pages : undefined;
}

/** What the column index says of each page; `undefined` where it doesn't fit the pages. */
type PageBounds = (page: Page, index: number) => ReturnType<BoundsOf>;

function boundsOfPages(field: Field, column: Flat, element: SchemaElement, bytes: Uint8Array): PageBounds {
  const index = readColumnIndex(readerOf(bytes), { name: element.name, type: 'FIXED_LEN_BYTE_ARRAY' }, asStored);
  // Pages of NULLs alone have bounds of no bytes, which are no values of most types.
  const bound = (found: unknown): unknown => {
    const isValue = (found as Uint8Array).length > 0 || element.type === 'BYTE_ARRAY';
    return isValue ? convertMetadata(found as Uint8Array, element, asStored) : undefined;
  };
  return ({ firstRow, endRow }, i) => {
    const rowCount = endRow - firstRow;
    const count = index.null_counts?.[i];
    const nullCount = count === undefined ? undefined : Number(count);
    if (index.null_pages[i] !== false) {
      const isNull = index.null_pages[i] === true && (nullCount ?? rowCount) === rowCount;
      return isNull ? { min: undefined, max: undefined, nullCount: rowCount, rowCount } : undefined;
    }
    const statistics = { min_value: bound(index.min_values[i]), max_value: bound(index.max_values[i]) } as Statistics;
    return { ...valueBounds(column, element, field, statistics), nullCount, rowCount };
  };
}

function readerOf(bytes: Uint8Array): { view: DataView; offset: number } {
  return { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
}

interface IndexedPages {
  readonly pages: readonly Page[];
  readonly bounds: PageBounds;
}

/** `undefined` when so much is wanted that the whole is as well. */
function wantedRuns(
  { group, boundsOf, matters }: PageQuestion,
  indexed: (field: Field) => IndexedPages | undefined,
): { start: number; end: number }[] | undefined {
  const rowCount = Number(group.num_rows);
  const starts = new Set<number>([0]);
  matters((field) => {
    for (const { firstRow } of indexed(field)?.pages ?? []) starts.add(firstRow);
    return boundsOf(field);
  });
  const sorted = [...starts].sort((a, b) => a - b);
  const runs: { start: number; end: number }[] = [];
  for (const [i, start] of sorted.entries()) {
    const isWanted = matters((field) => {
      const found = indexed(field);
      const at = found ? found.pages.findLastIndex(({ firstRow }) => firstRow <= start) : -1;
      return found && at >= 0 ? (found.bounds(found.pages[at]!, at) ?? boundsOf(field)) : boundsOf(field);
    });
    if (!isWanted) continue;
    const end = sorted[i + 1] ?? rowCount;
    const last = runs.at(-1);
    if (last && start - last.end < minGap) last.end = end;
    else runs.push({ start, end });
  }
  const wanted = runs.reduce((sum, { start, end }) => sum + end - start, 0);
  return wanted > rowCount * 0.75 || runs.length > maxRuns ? undefined : runs;
}

function sliceOf({ meta_data: chunk }: ColumnChunk, pages: readonly Page[], start: number, end: number): PageSlice {
  const held = pages.filter(({ firstRow, endRow }) => firstRow < end && endRow > start);
  const [first, last] = [held[0]!, held.at(-1)!];
  const begin = Number(chunk!.dictionary_page_offset || chunk!.data_page_offset);
  const dictionary = { start: begin, end: pages[0]!.range.start };
  const range = { start: first.range.start, end: last.range.end };
  return {
    ranges: dictionary.end > dictionary.start ? [dictionary, range] : [range],
    firstRow: first.firstRow,
  };
}
