import type { ColumnMetaData, FileMetaData, Compressors as Inflated, RowGroup, SchemaTree } from 'hyparquet';
import { parquetSchema } from 'hyparquet/src/metadata.js';
import { LakeError } from '../../errors.ts';
import { oneAhead } from '../../storage/ahead.ts';
import { concatenate } from '../../storage/bytes.ts';
import type { ObjectReader } from '../../storage/object-store.ts';
import type { Compressors } from '../compressors.ts';
import type {
  ByteRange,
  ColumnVector,
  FetchedBatch,
  FileReader,
  ReadBatch,
  ReaderHint,
  ReadRequest,
  ReadSurvey,
} from '../format.ts';
import { Assembler } from './assemble.ts';
import { type BoundColumn, type BoundLeaf, bindColumns } from './bind.ts';
import { bloomLookup } from './bloom.ts';
import { columnsOf, groupBounds, leafElements } from './bounds.ts';
import { readFlat } from './decode/flat.ts';
import { dictionaryLookup } from './dictionary.ts';
import { corrupt, decoding, readFooter } from './footer.ts';
import { inflatedPages } from './inflate.ts';
import { type LeafEntries, readLeaf } from './leaf-stream.ts';
import { pageRuns, type RowRun } from './pages.ts';
import { type Probe, probeOf } from './probe.ts';
import { joinRanges, readRanges } from './ranges.ts';

/** Opens a Parquet file. CORRUPT when it isn't one, or is damaged; UNSUPPORTED for what this version can't read. */
export async function openReader(
  given: ObjectReader,
  hint: ReaderHint & { readonly compressors?: Compressors } = {},
): Promise<FileReader> {
  const object = given.byteLength <= smallLength ? await wholeOf(given) : given;
  const metadata = await readFooter(object, hint.footerLength);
  const root = decoding('schema', () => parquetSchema(metadata));
  const rowCount = Number(metadata.num_rows);
  const counted = metadata.row_groups.reduce((sum, group) => sum + Number(group.num_rows), 0);
  if (counted !== rowCount) throw corrupt(`its row groups hold ${counted} rows, its footer says ${rowCount}`);
  const file: ParquetFile = {
    object,
    metadata,
    root,
    compressors: hint.compressors ?? {},
    isLoaded: object !== given,
  };
  return {
    rowCount,
    fetch: (request) => fetchRows(file, request),
    read: (request) => readRows(file, request),
    survey: (request) => surveyRows(file, request),
  };
}

/** Files up to this length cost less to read whole, in one request, than in two. */
const smallLength = 1 << 18;

async function wholeOf(object: ObjectReader): Promise<ObjectReader> {
  const { byteLength } = object;
  const bytes = await object.slice(0, byteLength);
  return { byteLength, slice: async (start, end) => bytes.slice(start, end) };
}

/** A row group of which rows are wanted. */
interface WantedGroup {
  readonly group: RowGroup;
  readonly firstPosition: number;
  /** How many rows of it: the first ones. */
  readonly rowCount: number;
  /** Which of them: all by default. */
  readonly run: RowRun | undefined;
}

/** An open file. */
interface ParquetFile {
  readonly object: ObjectReader;
  readonly metadata: FileMetaData;
  readonly root: SchemaTree;
  readonly compressors: Compressors;
  /** Whether all of it was read when it was opened. */
  readonly isLoaded: boolean;
}

/** `probed` gets what is read to find out. */
async function* wantedGroups(
  { object, metadata, root, compressors, isLoaded }: ParquetFile,
  request: ReadRequest,
  columns: readonly BoundColumn[],
  probed: ByteRange[] = [],
): AsyncGenerator<WantedGroup> {
  const { binding, limit = Number.POSITIVE_INFINITY, range, matters, positions, signal } = request;
  const columnOf = columnsOf(root, binding);
  const boundsOf = groupBounds(metadata, columnOf);
  const elements = leafElements(metadata);
  const mayMatter = async (group: RowGroup, g: number): Promise<boolean> => {
    if (!matters) return true;
    const bounds = boundsOf(g);
    if (!matters(bounds)) return false;
    if (futile >= maxFutile) return true;
    const probe = probeOf(group, bounds, matters, (field) => {
      const column = columnOf(field);
      return bloomLookup(group, column, field) ?? dictionaryLookup(group, column, compressors, isLoaded);
    });
    if (!probe || (!isLoaded && !isWorthProbing(probe, columnChunks(group, columns)))) return true;
    if (!isLoaded) probed.push(...joinRanges(probe.ranges));
    const isPossible = await probe.matters(object);
    futile = isPossible && !isLoaded ? futile + 1 : 0;
    signal?.throwIfAborted();
    return isPossible;
  };
  let futile = 0;
  let left = limit;
  let firstPosition = 0;
  for (const [g, group] of metadata.row_groups.entries()) {
    if (left <= 0) return;
    const groupRowCount = Number(group.num_rows);
    const isElsewhere = (range && !beginsIn(range, group)) || (positions && !positions(firstPosition, groupRowCount));
    if (groupRowCount > 0 && !isElsewhere && (await mayMatter(group, g))) {
      const rowCount = Math.min(groupRowCount, left);
      left -= rowCount;
      const question = matters && { group, columns, elements, columnOf, boundsOf: boundsOf(g), matters, isLoaded };
      const runs = question && rowCount === groupRowCount && (await pageRuns(object, question, probed));
      signal?.throwIfAborted();
      if (!runs) yield { group, firstPosition, rowCount, run: undefined };
      else
        for (const run of runs)
          yield { group, firstPosition: firstPosition + run.start, rowCount: run.end - run.start, run };
    }
    firstPosition += groupRowCount;
  }
}

/** One more request has to save many bytes. */
function isWorthProbing({ ranges }: Probe, chunks: readonly ColumnMetaData[]): boolean {
  const length = (all: readonly ByteRange[]): number => all.reduce((sum, { start, end }) => sum + end - start, 0);
  return length(ranges) * 4 + minSaved < length(chunks.map(chunkRange));
}

const minSaved = 1 << 17;
/** After so many in a row that ruled nothing out, the next ones won't either. */
const maxFutile = 4;

async function* fetchRows(file: ParquetFile, request: ReadRequest): AsyncGenerator<FetchedBatch> {
  const { fields, binding, signal } = request;
  signal?.throwIfAborted();
  const columns = bindColumns(file.root, fields, binding);
  for await (const wanted of wantedGroups(file, request, columns)) {
    const { rowCount, firstPosition } = wanted;
    let fetched: FetchedGroup | undefined = await fetchGroup(file, wanted, columns);
    signal?.throwIfAborted();
    yield {
      rowCount,
      byteLength: fetched.parts.reduce((sum, { length }) => sum + length, 0),
      async decode() {
        const group = fetched!;
        fetched = undefined;
        const vectors = await decodeGroup(file, group, columns, rowCount, signal);
        return { rowCount, firstPosition, columns: vectors };
      },
    };
    signal?.throwIfAborted();
  }
}

async function* readRows(file: ParquetFile, request: ReadRequest): AsyncGenerator<ReadBatch> {
  for await (const fetched of oneAhead(fetchRows(file, request))) {
    yield await fetched.decode();
    request.signal?.throwIfAborted();
  }
}

async function surveyRows(file: ParquetFile, request: ReadRequest): Promise<ReadSurvey> {
  const columns = bindColumns(file.root, request.fields, request.binding);
  const ranges: ByteRange[] = [];
  const wanted = await Array.fromAsync(wantedGroups(file, request, columns, ranges));
  if (!file.isLoaded)
    ranges.push(...wanted.flatMap((one) => joinRanges(chunkSlices(one, columns).flatMap((slice) => slice.ranges))));
  return {
    rowGroupCount: file.metadata.row_groups.length,
    readRowGroupCount: new Set(wanted.map(({ group }) => group)).size,
    readRowCount: wanted.reduce((sum, { rowCount }) => sum + rowCount, 0),
    requestCount: ranges.length,
    byteLength: ranges.reduce((sum, { start, end }) => sum + end - start, 0),
  };
}

/** Of all row groups of a file each begins in one of the ranges that it is cut into. */
function beginsIn({ start, end }: ByteRange, { columns }: RowGroup): boolean {
  const chunk = columns[0]?.meta_data;
  const begin = chunk ? chunkRange(chunk).start : 0;
  return start <= begin && begin < end;
}

/** What is read of a row group. */
interface FetchedGroup {
  readonly slices: readonly ChunkSlice[];
  /** The bytes of the slices' ranges. */
  readonly parts: readonly Uint8Array[];
}

async function fetchGroup(
  { object }: ParquetFile,
  wanted: WantedGroup,
  columns: readonly BoundColumn[],
): Promise<FetchedGroup> {
  const slices = chunkSlices(wanted, columns);
  const ranges = slices.flatMap((slice) => slice.ranges);
  return { slices, parts: await readRanges(object, ranges) };
}

async function decodeGroup(
  { compressors }: ParquetFile,
  group: FetchedGroup,
  columns: readonly BoundColumn[],
  rowCount: number,
  signal: AbortSignal | undefined,
): Promise<ColumnVector[]> {
  const parts = group.parts.values();
  const loaded: LoadedChunk[] = [];
  for (const slice of group.slices) {
    const found = slice.ranges.map(() => parts.next().value!);
    const bytes = found.length === 1 ? found[0]! : concatenate(found);
    loaded.push({ ...slice, bytes, compressors: await inflatedPages(slice.chunk, bytes, compressors) });
  }
  signal?.throwIfAborted();
  const next = loaded.values();
  const nextChunk = (): LoadedChunk => next.next().value!;
  return columns.map((column) => decodeColumn(column, nextChunk, rowCount));
}

/** What is read of a column chunk. */
interface ChunkSlice {
  readonly chunk: ColumnMetaData;
  readonly ranges: readonly ByteRange[];
  /** Rows before those that are wanted. */
  readonly skipped: number;
}

function chunkSlices({ group, run }: WantedGroup, columns: readonly BoundColumn[]): ChunkSlice[] {
  return columns.flatMap(leavesOf).map(({ leaf }) => {
    const chunk = chunkOf(group, leaf);
    const slice = run?.slices.get(leaf);
    if (!run || !slice) return { chunk, ranges: [chunkRange(chunk)], skipped: 0 };
    return { chunk, ranges: slice.ranges, skipped: run.start - slice.firstRow };
  });
}

function decodeColumn(column: BoundColumn, nextChunk: () => LoadedChunk, rowCount: number): ColumnVector {
  switch (column.kind) {
    case 'missing':
      return { values: new Array<unknown>(rowCount).fill(column.value), decode: column.decode };
    case 'flat':
      return { values: decodeFlat(nextChunk(), column, rowCount), decode: column.decode, mayRefuse: column.isCast };
    case 'nested':
      return { values: decodeNested(column, column.leaves.map(nextChunk), rowCount), decode: undefined };
  }
}

/** A column chunk, or pages of it, and its bytes. */
interface LoadedChunk extends ChunkSlice {
  readonly bytes: Uint8Array;
  /** Gives the pages that were decompressed ahead. */
  readonly compressors: Inflated;
}

function leavesOf(column: BoundColumn): readonly BoundLeaf[] {
  return column.kind === 'missing' ? [] : column.kind === 'flat' ? [column] : column.leaves;
}

function columnChunks(group: RowGroup, columns: readonly BoundColumn[]): ColumnMetaData[] {
  return columns.flatMap(leavesOf).map(({ leaf }) => chunkOf(group, leaf));
}

function chunkOf(group: RowGroup, leaf: number): ColumnMetaData {
  const chunk = group.columns[leaf];
  if (!chunk?.meta_data) throw corrupt('a row group lacks a column');
  if (chunk.file_path)
    throw new LakeError('UNSUPPORTED', 'Parquet files whose columns lie in other files cannot be read');
  return chunk.meta_data;
}

function chunkRange(chunk: ColumnMetaData): ByteRange {
  // DuckDB writes an offset of 0 for "no dictionary".
  const start = Number(chunk.dictionary_page_offset || chunk.data_page_offset);
  return { start, end: start + Number(chunk.total_compressed_size) };
}

function decodeFlat(
  { chunk, bytes, compressors, skipped }: LoadedChunk,
  { schemaPath, isText, load }: BoundColumn & { kind: 'flat' },
  rowCount: number,
): ArrayLike<unknown> {
  const { element } = schemaPath.at(-1)!;
  const values = decodingChunk(chunk, schemaPath, () =>
    readFlat({ chunk, bytes, element, isText, load, compressors }, skipped + rowCount),
  ) as Float64Array;
  if (skipped === 0) return values;
  return ArrayBuffer.isView(values) ? values.subarray(skipped) : (values as number[]).slice(skipped);
}

function decodeNested(
  { assembly, leaves }: BoundColumn & { kind: 'nested' },
  chunks: readonly LoadedChunk[],
  rowCount: number,
): ArrayLike<unknown> {
  const entries = leaves.map(({ leaf, schemaPath, isText }, i) => {
    const { chunk, bytes, compressors } = chunks[i]!;
    const decode = (): LeafEntries => readLeaf({ bytes, chunk, schemaPath, isText, compressors });
    return [leaf, decodingChunk(chunk, schemaPath, decode)] as const;
  });
  const assembler = new Assembler(new Map(entries));
  return decoding('levels', () => Array.from({ length: rowCount }, () => assembler.next(assembly)));
}

function decodingChunk<T>(chunk: ColumnMetaData, schemaPath: SchemaTree[], decode: () => T): T {
  const name = chunk.path_in_schema.join('.');
  return decoding(`column "${name}"`, () => {
    const { element } = schemaPath.at(-1)!;
    const isInt96 = chunk.type === 'INT96' && element.type_length === 12;
    if (element.type !== chunk.type && !isInt96)
      throw corrupt(`column "${name}" is ${chunk.type} in a row group, not ${element.type}`);
    return decode();
  });
}
