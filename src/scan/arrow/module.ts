/** A class of a library that is handed in: what its constructor takes is known where it is called. */
type Class = abstract new (...args: never[]) => unknown;

/** The part of `apache-arrow` that makes Arrow data of what a scan reads. */
export interface ArrowModule {
  readonly RecordBatch: Class;
  readonly Table: Class;
  readonly Schema: Class;
  readonly Field: Class;
  readonly makeData: (props: never) => unknown;
  readonly Bool: Class;
  readonly Int8: Class;
  readonly Int16: Class;
  readonly Int32: Class;
  readonly Int64: Class;
  readonly Uint8: Class;
  readonly Uint16: Class;
  readonly Uint32: Class;
  readonly Uint64: Class;
  readonly Float32: Class;
  readonly Float64: Class;
  readonly Decimal: Class;
  readonly Utf8: Class;
  readonly Binary: Class;
  readonly FixedSizeBinary: Class;
  readonly DateDay: Class;
  readonly TimeMicrosecond: Class;
  readonly TimestampSecond: Class;
  readonly TimestampMillisecond: Class;
  readonly TimestampMicrosecond: Class;
  readonly TimestampNanosecond: Class;
  readonly IntervalMonthDayNano: Class;
  readonly List: Class;
  readonly Struct: Class;
  readonly Map_: Class;
}

/** The record batches of an Arrow library. */
export type RecordBatchOf<Arrow extends ArrowModule> = InstanceOf<Arrow['RecordBatch']>;
/** The tables of an Arrow library. */
export type TableOf<Arrow extends ArrowModule> = InstanceOf<Arrow['Table']>;

type InstanceOf<C extends Class> = C extends abstract new (...args: never[]) => infer Instance ? Instance : never;

/** An Arrow type of the library; opaque here. */
export interface LibraryType {
  readonly typeId: number;
}
export interface LibraryField {
  readonly name: string;
  readonly type: LibraryType;
}
export interface LibrarySchema {
  readonly fields: readonly LibraryField[];
}
/** Buffers with a type. */
export interface LibraryData {
  readonly length: number;
}

type Nullary = new () => LibraryType;

/** The same, as it is called here. */
export interface ArrowLibrary
  extends Readonly<
    Record<
      | 'Bool'
      | 'Int8'
      | 'Int16'
      | 'Int32'
      | 'Int64'
      | 'Uint8'
      | 'Uint16'
      | 'Uint32'
      | 'Uint64'
      | 'Float32'
      | 'Float64'
      | 'Utf8'
      | 'Binary'
      | 'DateDay'
      | 'TimeMicrosecond'
      | 'IntervalMonthDayNano',
      Nullary
    >
  > {
  readonly Decimal: new (scale: number, precision: number, bitWidth: number) => LibraryType;
  readonly FixedSizeBinary: new (byteWidth: number) => LibraryType;
  readonly TimestampSecond: new (timezone?: string) => LibraryType;
  readonly TimestampMillisecond: new (timezone?: string) => LibraryType;
  readonly TimestampMicrosecond: new (timezone?: string) => LibraryType;
  readonly TimestampNanosecond: new (timezone?: string) => LibraryType;
  readonly List: new (element: LibraryField) => LibraryType;
  readonly Struct: new (members: readonly LibraryField[]) => LibraryType;
  readonly Map_: new (entries: LibraryField) => LibraryType;
  readonly Field: new (
    name: string,
    type: LibraryType,
    nullable: boolean,
    metadata?: ReadonlyMap<string, string>,
  ) => LibraryField;
  readonly Schema: new (fields: readonly LibraryField[]) => LibrarySchema;
  readonly RecordBatch: new (schema: LibrarySchema, data: LibraryData) => unknown;
  readonly Table: new (schema: LibrarySchema, batches: readonly unknown[]) => unknown;
  readonly makeData: (props: {
    readonly type: LibraryType;
    readonly length: number;
    readonly nullCount: number;
    readonly nullBitmap?: Uint8Array | undefined;
    readonly data?: ArrayBufferView | undefined;
    readonly valueOffsets?: Int32Array | undefined;
    readonly child?: LibraryData | undefined;
    readonly children?: readonly LibraryData[] | undefined;
  }) => LibraryData;
}
