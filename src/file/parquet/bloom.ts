import type { ColumnMetaData, RowGroup, SchemaElement } from 'hyparquet';
import { readBloomFilter, sbbfContains } from 'hyparquet/src/bloom.js';
import { xxhash64 } from 'hyparquet/src/xxhash.js';
import type { Field } from '../../schema/field.ts';
import type { Physical } from '../../spec/values/value-codec.ts';
import type { ObjectReader } from '../../storage/object-store.ts';
import type { BoundsOf, ByteRange, ReadRequest } from '../format.ts';
import type { ColumnOf } from './bounds.ts';
import { decoding } from './footer.ts';
import { readRanges } from './ranges.ts';

/** The Bloom filters of a row group that can tell whether it matters. */
export interface BloomProbe {
  readonly ranges: readonly ByteRange[];
  /** Reads them. `false`: no row of the group matters. */
  readonly matters: (object: ObjectReader) => Promise<boolean>;
}

/** `undefined` when no value that the filter looks for has a Bloom filter to be looked up in. */
export function bloomProbe(
  group: RowGroup,
  columnOf: ColumnOf,
  boundsOf: BoundsOf,
  matters: NonNullable<ReadRequest['matters']>,
): BloomProbe | undefined {
  const asked = new Map<Field, Bloom>();
  const boundsWith = (mayContain: (field: Field, value: Physical) => boolean): BoundsOf => {
    return (field) => {
      const bounds = boundsOf(field) ?? { ...unknown, rowCount: Number(group.num_rows) };
      return { ...bounds, mayContain: (value) => mayContain(field, value) };
    };
  };
  matters(
    boundsWith((field, value) => {
      const bloom = asked.get(field) ?? bloomOf(group, columnOf, field);
      if (bloom && hashOf(bloom.element, field, value) !== undefined) asked.set(field, bloom);
      return true;
    }),
  );
  if (asked.size === 0) return undefined;
  const blooms = [...asked];
  const ranges = blooms.map(([, { range }]) => range);
  return {
    ranges,
    async matters(object) {
      const bytes = await readRanges(object, ranges);
      const blocks = new Map(blooms.map(([field], i) => [field, decoding('Bloom filter', () => blocksOf(bytes[i]!))]));
      return matters(
        boundsWith((field, value) => {
          const found = blocks.get(field);
          const hash = found && hashOf(asked.get(field)!.element, field, value);
          return found === undefined || hash === undefined || sbbfContains(found, hash);
        }),
      );
    },
  };
}

const unknown = { min: undefined, max: undefined, nullCount: undefined };

interface Bloom {
  readonly range: ByteRange;
  readonly element: SchemaElement;
}

function bloomOf({ columns }: RowGroup, columnOf: ColumnOf, field: Field): Bloom | undefined {
  const column = columnOf(field);
  // What is stored must be what values are, for its bytes to be known.
  if (column?.kind !== 'flat' || column.load) return undefined;
  const { bloom_filter_offset: offset, bloom_filter_length: length }: Partial<ColumnMetaData> =
    columns[column.leaf]?.meta_data ?? {};
  if (!offset || !length) return undefined;
  const start = Number(offset);
  return { range: { start, end: start + Number(length) }, element: column.schemaPath.at(-1)!.element };
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
