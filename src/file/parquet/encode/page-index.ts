import type { ByteBuffer } from './byte-buffer.ts';
import { ThriftWriter } from './thrift.ts';

/** What a page index tells of a data page. */
export interface PageEntry {
  /** Of header and body, as stored. */
  readonly byteLength: number;
  readonly rowCount: number;
  readonly nullCount: number;
  /** In PLAIN encoding; `undefined` when all is NULL, or nothing is known. */
  readonly bounds: readonly [min: Uint8Array, max: Uint8Array] | undefined;
}

/** The data pages of one column chunk. */
export interface PageIndex {
  readonly pages: readonly PageEntry[];
  /** Whether the bounds of all pages are known that aren't NULL throughout. */
  readonly hasBounds: boolean;
  /** Of the bounds, from page to page. */
  readonly order: BoundaryOrder;
}

export type BoundaryOrder = (typeof orders)[keyof typeof orders];

export const orders: { readonly unordered: 0; readonly ascending: 1; readonly descending: 2 } = {
  unordered: 0,
  ascending: 1,
  descending: 2,
};

const nothing = new Uint8Array(0);

/** Appends ColumnIndex in Thrift's compact protocol: what values which page has. */
export function writeColumnIndex(out: ByteBuffer, { pages, order }: PageIndex): void {
  const thrift = new ThriftWriter(out);
  thrift.element(() => {
    thrift.bools(
      1,
      pages.map(({ bounds }) => bounds === undefined),
    );
    thrift.binaries(
      2,
      pages.map(({ bounds }) => bounds?.[0] ?? nothing),
    );
    thrift.binaries(
      3,
      pages.map(({ bounds }) => bounds?.[1] ?? nothing),
    );
    thrift.int32(4, order);
    thrift.int64s(
      5,
      pages.map(({ nullCount }) => nullCount),
    );
  });
}

/** Appends OffsetIndex: where which page is, whose first is at `offset` in the file. */
export function writeOffsetIndex(out: ByteBuffer, { pages }: PageIndex, offset: number): void {
  const thrift = new ThriftWriter(out);
  let at = offset;
  let row = 0;
  thrift.element(() => {
    thrift.structs(1, pages, ({ byteLength, rowCount }) => {
      thrift.int64(1, at);
      thrift.int32(2, byteLength);
      thrift.int64(3, row);
      at += byteLength;
      row += rowCount;
    });
  });
}
