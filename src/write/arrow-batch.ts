/** The part of apache-arrow's `RecordBatch` that is read. */
export interface ArrowBatch {
  readonly schema: { readonly fields: readonly { readonly name: string }[] };
  readonly numRows: number;
  readonly data: { readonly children: readonly ArrowData[] };
}

/** The part of apache-arrow's `Table` that is read. */
export interface ArrowTable {
  readonly schema: ArrowBatch['schema'];
  readonly batches: readonly ArrowBatch[];
}

/** The part of apache-arrow's `Data` that is read: buffers in the layout of the Arrow columnar format. */
export interface ArrowData {
  readonly type: ArrowType;
  /** Of bitmaps: the bit of the first value. Other buffers begin with it. */
  readonly offset: number;
  readonly length: number;
  readonly nullCount: number;
  readonly values: ArrayLike<unknown> | undefined;
  readonly valueOffsets: ArrayLike<number | bigint> | undefined;
  readonly nullBitmap: Uint8Array | undefined;
  readonly children: readonly ArrowData[];
  readonly dictionary?: { readonly data: readonly ArrowData[] } | undefined;
}

interface ArrowType {
  readonly typeId: number;
  /** Of dates: 0 days, 1 milliseconds. Of times and timestamps: 0 seconds to 3 nanoseconds. */
  readonly unit?: number;
  readonly scale?: number;
  readonly bitWidth?: number;
  readonly byteWidth?: number;
  readonly listSize?: number;
  readonly children?: readonly { readonly name: string }[] | null;
}

/** Strict, since a row may have columns of the same names. */
export function isArrowBatch(value: unknown): value is ArrowBatch {
  if (typeof value !== 'object' || value === null || !('numRows' in value) || !('data' in value)) return false;
  const { schema, numRows, data } = value as Partial<ArrowBatch>;
  return Array.isArray(schema?.fields) && typeof numRows === 'number' && Array.isArray(data?.children);
}

export function isArrowTable(value: unknown): value is ArrowTable {
  if (typeof value !== 'object' || value === null || !('batches' in value)) return false;
  const { schema, batches } = value as Partial<ArrowTable>;
  return Array.isArray(schema?.fields) && Array.isArray(batches) && batches.every(isArrowBatch);
}
