import type { ColumnMetaData, RowGroup, SchemaElement } from 'hyparquet';
import { readBloomFilter, sbbfContains } from 'hyparquet/src/bloom.js';
import { xxhash64 } from 'hyparquet/src/xxhash.js';
import type { Field } from '../../schema/field.ts';
import type { Physical } from '../../spec/values/value-codec.ts';
import type { BoundColumn } from './bind.ts';
import { decoding } from './footer.ts';
import type { Lookup } from './probe.ts';

/** The Bloom filter of a column; `undefined` where there is none, or it isn't known how it was made. */
export function bloomLookup({ columns }: RowGroup, column: BoundColumn | undefined, field: Field): Lookup | undefined {
  // What is stored must be what values are, for its bytes to be known.
  if (column?.kind !== 'flat' || column.load) return undefined;
  const { bloom_filter_offset: offset, bloom_filter_length: length }: Partial<ColumnMetaData> =
    columns[column.leaf]?.meta_data ?? {};
  if (!offset || !length) return undefined;
  const start = Number(offset);
  const { element } = column.schemaPath.at(-1)!;
  return {
    range: { start, end: start + Number(length) },
    knows: (value) => hashOf(element, field, value) !== undefined,
    async load(bytes) {
      const blocks = decoding('Bloom filter', () => blocksOf(bytes));
      return blocks && ((value) => sbbfContains(blocks, hashOf(element, field, value)!));
    },
  };
}

/** `undefined` for a filter of a kind that isn't known. */
function blocksOf(bytes: Uint8Array): Uint32Array | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return readBloomFilter({ view, offset: 0 })?.blocks;
}

/** Of the value as Parquet stores it. `undefined` where values that are equal may be stored in several ways, or it isn't known how. */
function hashOf({ type }: SchemaElement, field: Field, value: Physical): bigint | undefined {
  const view = new DataView(new ArrayBuffer(type === 'INT32' ? 4 : 8));
  if (type === 'BYTE_ARRAY' && field.type.name === 'varchar' && typeof value === 'string')
    return value.isWellFormed() ? xxhash64(new TextEncoder().encode(value)) : undefined;
  if (!/^(int(8|16|32|64)|date|timestamp.*)$/.test(field.type.name)) return undefined;
  if (type === 'INT32' && typeof value === 'number') view.setInt32(0, value, true);
  else if (type === 'INT64' && typeof value === 'bigint') view.setBigInt64(0, value, true);
  else return undefined;
  return xxhash64(new Uint8Array(view.buffer));
}
