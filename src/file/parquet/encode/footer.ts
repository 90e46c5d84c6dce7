import type { LogicalType, SchemaElement } from 'hyparquet';
import { ByteBuffer } from './byte-buffer.ts';
import type { EncodingCount, Leaf } from './column.ts';
import type { PageIndex } from './page-index.ts';
import { ThriftWriter } from './thrift.ts';

/** A column chunk as the footer tells of it. */
export interface ChunkEntry {
  readonly leaf: Leaf;
  readonly encodings: readonly EncodingCount[];
  readonly codec: number;
  readonly slots: number;
  readonly nullCount: number;
  readonly uncompressedLength: number;
  readonly byteLength: number;
  /** In the file: of the dictionary page where there is one, and of the first data page. */
  readonly dictionaryOffset: number | undefined;
  readonly dataOffset: number;
  /** In PLAIN encoding, exact. */
  readonly bounds: readonly [min: Uint8Array, max: Uint8Array] | undefined;
  readonly pageIndex: PageIndex;
  /** Where the page index was written, if it was. */
  offsetIndex?: IndexPlace;
  columnIndex?: IndexPlace;
}

/** Part of the file. */
export interface IndexPlace {
  readonly offset: number;
  readonly byteLength: number;
}

export interface RowGroupEntry {
  readonly rowCount: number;
  readonly chunks: readonly ChunkEntry[];
}

/** What footers of files with the same columns have in common. */
export interface FooterFrame {
  /** The fields before the number of rows: the version and the schema. */
  readonly head: Uint8Array;
  /** Those after the row groups. */
  readonly tail: Uint8Array;
}

export function footerFrame(schema: readonly SchemaElement[], createdBy: string): FooterFrame {
  const head = new ByteBuffer();
  const first = new ThriftWriter(head);
  first.int32(1, 1);
  first.structs(2, schema, (element) => writeElement(first, element));
  const tail = new ByteBuffer();
  const last = new ThriftWriter(tail);
  last.fields(new Uint8Array(0), 4);
  last.string(6, createdBy);
  // Bounds are in the order of the type, for every column.
  const leaves = schema.filter(({ type }) => type !== undefined);
  last.structs(7, leaves, () => last.struct(1));
  return { head: head.copy(), tail: tail.copy() };
}

/** Appends FileMetaData in Thrift's compact protocol. */
export function writeFooter(out: ByteBuffer, { head, tail }: FooterFrame, rowGroups: readonly RowGroupEntry[]): void {
  const thrift = new ThriftWriter(out);
  thrift.element(() => {
    thrift.fields(head, 2);
    thrift.int64(
      3,
      rowGroups.reduce((sum, { rowCount }) => sum + rowCount, 0),
    );
    thrift.structs(4, rowGroups, (rowGroup) => writeRowGroup(thrift, rowGroup));
    thrift.fields(tail, 7);
  });
}

const physicalTypes = ['BOOLEAN', 'INT32', 'INT64', 'INT96', 'FLOAT', 'DOUBLE', 'BYTE_ARRAY', 'FIXED_LEN_BYTE_ARRAY'];
const repetitions = ['REQUIRED', 'OPTIONAL', 'REPEATED'];
const convertedTypes = [
  'UTF8',
  'MAP',
  'MAP_KEY_VALUE',
  'LIST',
  'ENUM',
  'DECIMAL',
  'DATE',
  'TIME_MILLIS',
  'TIME_MICROS',
  'TIMESTAMP_MILLIS',
  'TIMESTAMP_MICROS',
  'UINT_8',
  'UINT_16',
  'UINT_32',
  'UINT_64',
  'INT_8',
  'INT_16',
  'INT_32',
  'INT_64',
  'JSON',
  'BSON',
  'INTERVAL',
];

function writeElement(thrift: ThriftWriter, element: SchemaElement): void {
  const { type, type_length, repetition_type, name, num_children, converted_type, scale, precision } = element;
  if (type !== undefined) thrift.int32(1, physicalTypes.indexOf(type));
  if (type_length !== undefined) thrift.int32(2, type_length);
  if (repetition_type !== undefined) thrift.int32(3, repetitions.indexOf(repetition_type));
  thrift.string(4, name);
  if (num_children !== undefined) thrift.int32(5, num_children);
  if (converted_type !== undefined) thrift.int32(6, convertedTypes.indexOf(converted_type));
  if (scale !== undefined) thrift.int32(7, scale);
  if (precision !== undefined) thrift.int32(8, precision);
  if (element.field_id !== undefined) thrift.int32(9, element.field_id);
  const { logical_type } = element;
  if (logical_type !== undefined) thrift.struct(10, () => writeLogicalType(thrift, logical_type));
}

const units = { MILLIS: 1, MICROS: 2, NANOS: 3 } as const;

/** Those that the schema uses. */
function writeLogicalType(thrift: ThriftWriter, type: LogicalType): void {
  switch (type.type) {
    case 'DECIMAL':
      thrift.struct(5, () => {
        thrift.int32(1, type.scale);
        thrift.int32(2, type.precision);
      });
      break;
    case 'TIME':
    case 'TIMESTAMP':
      thrift.struct(type.type === 'TIME' ? 7 : 8, () => {
        thrift.bool(1, type.isAdjustedToUTC);
        thrift.struct(2, () => thrift.struct(units[type.unit]));
      });
      break;
    case 'JSON':
      thrift.struct(12);
      break;
    case 'UUID':
      thrift.struct(14);
      break;
    default:
      throw new TypeError(`no way to write the logical type ${type.type}`);
  }
}

function writeRowGroup(thrift: ThriftWriter, { rowCount, chunks }: RowGroupEntry): void {
  thrift.structs(1, chunks, (chunk) => writeChunk(thrift, chunk));
  thrift.int64(
    2,
    chunks.reduce((sum, { uncompressedLength }) => sum + uncompressedLength, 0),
  );
  thrift.int64(3, rowCount);
  const first = chunks[0];
  if (first !== undefined) thrift.int64(5, first.dictionaryOffset ?? first.dataOffset);
  thrift.int64(
    6,
    chunks.reduce((sum, { byteLength }) => sum + byteLength, 0),
  );
}

function writeChunk(thrift: ThriftWriter, chunk: ChunkEntry): void {
  const { leaf, dictionaryOffset, dataOffset, nullCount, bounds } = chunk;
  // The offset of a second copy of the metadata, which nobody writes.
  thrift.int64(2, 0);
  thrift.struct(3, () => {
    thrift.int32(1, physicalTypes.indexOf(leaf.element.type!));
    thrift.int32s(2, [...new Set(chunk.encodings.map(({ encoding }) => encoding))]);
    thrift.strings(3, leaf.path);
    thrift.int32(4, chunk.codec);
    thrift.int64(5, chunk.slots);
    thrift.int64(6, chunk.uncompressedLength);
    thrift.int64(7, chunk.byteLength);
    thrift.int64(9, dataOffset);
    if (dictionaryOffset !== undefined) thrift.int64(11, dictionaryOffset);
    thrift.struct(12, () => {
      thrift.int64(3, nullCount);
      if (bounds === undefined) return;
      const [min, max] = bounds;
      thrift.binary(5, max);
      thrift.binary(6, min);
      thrift.bool(7, true);
      thrift.bool(8, true);
    });
    // Without them readers can't tell whether all values are in the dictionary.
    thrift.structs(13, chunk.encodings, ({ type, encoding, count }) => {
      thrift.int32(1, type);
      thrift.int32(2, encoding);
      thrift.int32(3, count);
    });
  });
  if (chunk.offsetIndex !== undefined) {
    thrift.int64(4, chunk.offsetIndex.offset);
    thrift.int32(5, chunk.offsetIndex.byteLength);
  }
  if (chunk.columnIndex !== undefined) {
    thrift.int64(6, chunk.columnIndex.offset);
    thrift.int32(7, chunk.columnIndex.byteLength);
  }
}
