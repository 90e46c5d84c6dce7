import type { ColumnMetaData, Compressors, SchemaTree } from 'hyparquet';
import { parquetHeader, readPage } from 'hyparquet/src/column.js';
import { convert, convertWithDictionary, DEFAULT_PARSERS } from 'hyparquet/src/convert.js';
import { decompressPage, readDataPage, readDataPageV2 } from 'hyparquet/src/datapage.js';
import { getMaxDefinitionLevel } from 'hyparquet/src/schema.js';
import { decodeText } from '../../spec/values/text.ts';
import { checkSnappyLength, inflateSnappy } from './decode/snappy.ts';
import { corrupt } from './footer.ts';
import type { Raw } from './source.ts';

/** The entries of one leaf column of one row group: values where the definition level is the highest, levels everywhere. */
export interface LeafEntries {
  readonly values: readonly Raw[];
  readonly definitions: readonly number[];
  readonly repetitions: readonly number[];
}

export interface LeafSource {
  readonly bytes: Uint8Array;
  readonly chunk: ColumnMetaData;
  /** From the file's root to the leaf, whose element has no annotations. */
  readonly schemaPath: SchemaTree[];
  readonly isText: boolean;
  readonly compressors: Compressors;
}

const parsers = { ...DEFAULT_PARSERS, stringFromBytes: decodeText };

/** What hyparquet needs to know to decode a leaf's pages. */
function decoderOf({
  chunk,
  schemaPath,
  isText,
  compressors,
}: Omit<LeafSource, 'bytes'>): Parameters<typeof readPage>[2] {
  const { element } = schemaPath.at(-1)!;
  return {
    pathInSchema: chunk.path_in_schema,
    type: element.type ?? chunk.type,
    element,
    schemaPath,
    codec: chunk.codec,
    compressors: { SNAPPY: inflatedSnappy, ...compressors },
    parsers,
    utf8: isText,
  };
}

function inflatedSnappy(bytes: Uint8Array, byteLength: number): Uint8Array {
  checkSnappyLength(bytes, byteLength);
  const page = new Uint8Array(byteLength);
  inflateSnappy(bytes, page);
  return page;
}

/** Decodes a leaf's pages, levels included: what putting nested values together needs. */
export function readLeaf(source: LeafSource): LeafEntries {
  const { bytes, chunk } = source;
  const decoder = decoderOf(source);
  const { compressors } = decoder;
  const maxDefinition = getMaxDefinitionLevel(source.schemaPath);
  const entries = { values: [] as Raw[], definitions: [] as number[], repetitions: [] as number[] };
  const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
  const entryCount = Number(chunk.num_values);
  let dictionary: ReturnType<typeof convert> | undefined;
  while (entries.definitions.length < entryCount) {
    const header = parquetHeader(reader);
    if (header.type === 'DICTIONARY_PAGE') {
      const { data } = readPage(reader, header, decoder, undefined, undefined, 0);
      dictionary = data && convert(data, decoder);
      continue;
    }
    const start = reader.view.byteOffset + reader.offset;
    const body = new Uint8Array(reader.view.buffer, start, header.compressed_page_size);
    reader.offset += header.compressed_page_size;
    const v1 = header.data_page_header;
    const { encoding, num_values: count } = v1 ?? header.data_page_header_v2 ?? unknownPage(header.type);
    const page = v1
      ? readDataPage(decompressPage(body, header.uncompressed_page_size, chunk.codec, compressors), v1, decoder)
      : readDataPageV2(body, header, decoder);
    append(entries.values, convertWithDictionary(page.dataPage, dictionary, encoding, decoder) as ArrayLike<Raw>);
    // The decoder leaves levels out where all of them are the same.
    appendLevels(entries.definitions, page.definitionLevels, count, maxDefinition);
    appendLevels(entries.repetitions, page.repetitionLevels, count, 0);
  }
  return entries;
}

function unknownPage(type: string): never {
  throw corrupt(`it has a page of type ${type} among its data`);
}

function append<T>(target: T[], values: ArrayLike<T>): void {
  for (let i = 0; i < values.length; i++) target.push(values[i]!);
}

function appendLevels(target: number[], levels: readonly number[] | undefined, count: number, same: number): void {
  if (levels?.length) append(target, levels);
  else for (let i = 0; i < count; i++) target.push(same);
}
