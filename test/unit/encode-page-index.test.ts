import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type ColumnChunk, parquetMetadata } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { deserializeTCompactProtocol } from 'hyparquet/src/thrift.js';
import { plainValue } from '../../src/file/parquet/encode/plain-value.ts';
import { leafElement } from '../../src/file/parquet/schema.ts';
import { storedForm } from '../../src/file/parquet/stored.ts';
import type { Field } from '../../src/schema/field.ts';
import { codecFor, type Physical } from '../../src/spec/values/codec.ts';
import { encodeFile, fieldsOf, filePlans, valuesOf } from '../support/encode-cases.ts';
import { field } from '../support/parquet.ts';

interface Index {
  readonly offsets: readonly number[];
  readonly byteLengths: readonly number[];
  readonly firstRows: readonly number[];
  readonly bounds: ColumnIndex | undefined;
}

interface ColumnIndex {
  readonly allNull: readonly boolean[];
  readonly min: readonly Uint8Array[];
  readonly max: readonly Uint8Array[];
  readonly order: number;
  readonly nullCounts: readonly number[];
}

// biome-ignore lint/suspicious/noExplicitAny: thrift without a schema.
function thrift(bytes: Uint8Array<ArrayBuffer>, offset: bigint, byteLength: number): any {
  const reader = { view: new DataView(bytes.buffer, Number(offset), byteLength), offset: 0 };
  const message = deserializeTCompactProtocol(reader);
  expect(reader.offset).toBe(byteLength);
  return message;
}

function indexOf(bytes: Uint8Array<ArrayBuffer>, chunk: ColumnChunk): Index | undefined {
  if (chunk.offset_index_offset === undefined) {
    expect(chunk.column_index_offset).toBeUndefined();
    return undefined;
  }
  const places = thrift(bytes, chunk.offset_index_offset, chunk.offset_index_length!).field_1 as {
    field_1: bigint;
    field_2: number;
    field_3: bigint;
  }[];
  const index = {
    offsets: places.map((place) => Number(place.field_1)),
    byteLengths: places.map((place) => place.field_2),
    firstRows: places.map((place) => Number(place.field_3)),
  };
  if (chunk.column_index_offset === undefined) return { ...index, bounds: undefined };
  const { field_1, field_2, field_3, field_4, field_5 } = thrift(
    bytes,
    chunk.column_index_offset,
    chunk.column_index_length!,
  );
  const bounds = { allNull: field_1, min: field_2, max: field_3, order: field_4, nullCounts: field_5.map(Number) };
  for (const list of Object.values(bounds).filter(Array.isArray)) expect(list.length).toBe(places.length);
  return { ...index, bounds };
}

function plain(field: Field, value: Physical): Uint8Array {
  const toStored = storedForm(field.type) ?? ((same: Physical) => same as never);
  return plainValue(leafElement(field.name, field.type, field.id), toStored(value));
}

const withoutBounds = new Set(['int128', 'uint128', 'interval', 'json', 'boolean', 'blob', 'uuid']);

type Seen = Record<'pages' | 'bounds' | 'ascending' | 'descending' | 'allNull' | 'text', number>;

const nothingSeen = (): Seen => ({ pages: 0, bounds: 0, ascending: 0, descending: 0, allNull: 0, text: 0 });

/** Compares what the file's page indexes tell with the pages that are there and the values that went in. */
function check(
  bytes: Uint8Array<ArrayBuffer>,
  fields: readonly Field[],
  columns: readonly unknown[][],
  seen: Seen,
): void {
  let groupStart = 0;
  for (const group of parquetMetadata(bytes.buffer).row_groups) {
    const groupRows = Number(group.num_rows);
    const indexes = group.columns.map((chunk) => indexOf(bytes, chunk));
    // All of them or none, and only where it tells more than the footer does.
    expect(new Set(indexes.map((index) => index === undefined)).size).toBe(1);
    if (indexes[0]) expect(indexes.some((index) => index!.offsets.length > 1)).toBe(true);
    for (const [c, index] of indexes.entries()) {
      if (!index) continue;
      const { data_page_offset, dictionary_page_offset, total_compressed_size } = group.columns[c]!.meta_data!;
      expect(index.offsets[0]).toBe(Number(data_page_offset));
      const end = Number(dictionary_page_offset ?? data_page_offset) + Number(total_compressed_size);
      const leaf = fields[c]!;
      const codec = codecFor(leaf.type);
      expect(index.bounds !== undefined && withoutBounds.has(leaf.type.name)).toBe(
        index.bounds !== undefined && withoutBounds.has(leaf.type.name) && index.bounds.allNull.every(Boolean),
      );
      const isFloat = leaf.type.name.startsWith('float');
      let previous: readonly [Physical, Physical] | undefined;
      for (const [p, offset] of index.offsets.entries()) {
        seen.pages++;
        expect(offset + index.byteLengths[p]!).toBe(index.offsets[p + 1] ?? end);
        const header = parquetHeader({ view: new DataView(bytes.buffer), offset });
        const from = index.firstRows[p]!;
        const to = index.firstRows[p + 1] ?? groupRows;
        expect(header.data_page_header_v2?.num_rows ?? header.data_page_header?.num_values).toBe(to - from);
        if (!index.bounds) continue;
        const values = columns[c]!.slice(groupStart + from, groupStart + to);
        const present = values.filter((value) => value != null).map((value) => codec.encode(value));
        expect(index.bounds.nullCounts[p]!).toBe(values.length - present.length);
        expect(index.bounds.allNull[p]!).toBe(present.length === 0);
        if (present.length === 0) {
          seen.allNull++;
          continue;
        }
        if (isFloat) expect(present.some((value) => Number.isNaN(value))).toBe(false);
        const min = present.reduce((a, b) => (codec.compare(b, a) < 0 ? b : a));
        const max = present.reduce((a, b) => (codec.compare(b, a) > 0 ? b : a));
        const zero = (value: Physical, sign: number): Physical => (isFloat && value === 0 ? sign * 0 : value);
        expect(index.bounds.min[p]!).toEqual(plain(leaf, zero(min, -1)));
        expect(index.bounds.max[p]!).toEqual(plain(leaf, zero(max, 1)));
        seen.bounds++;
        if (leaf.type.name === 'varchar') seen.text++;
        if (previous && index.bounds.order === 1) {
          seen.ascending++;
          expect(codec.compare(previous[0], min) <= 0 && codec.compare(previous[1], max) <= 0).toBe(true);
        }
        if (previous && index.bounds.order === 2) {
          seen.descending++;
          expect(codec.compare(previous[0], min) >= 0 && codec.compare(previous[1], max) >= 0).toBe(true);
        }
        previous = [min, max];
      }
    }
    groupStart += groupRows;
  }
}

test(
  'pages lie where the index says, and hold values between the bounds that it tells, which are exact',
  async () => {
    const seen = nothingSeen();
    await fc.assert(
      fc.asyncProperty(filePlans, fc.boolean(), async (plan, reverse) => {
        const fields = fieldsOf(plan);
        const columns = valuesOf(plan);
        if (reverse) for (const column of columns) column.reverse();
        const { bytes } = await encodeFile(fields, columns, plan.options, plan, plan.batchRowCount);
        check(bytes, fields, columns, seen);
      }),
      { numRuns: Number(process.env['ENCODE_RUNS'] ?? 120) },
    );
    const { text: _, ...often } = seen;
    expect(Object.entries(often).filter(([, count]) => count === 0)).toEqual([]);
  },
  30_000 + Number(process.env['ENCODE_RUNS'] ?? 0) * 1000,
);

test('text that hardly repeats, rising and falling', async () => {
  const fields = [field(1, 'up', 'varchar'), field(2, 'down', 'varchar')];
  const up = Array.from({ length: 20_000 }, (_, i) => (i % 7 === 0 ? null : `日本 ${String(i).padStart(6, '0')} é`));
  const columns = [up, up.toReversed()];
  const { bytes } = await encodeFile(fields, columns, {}, { pageSlots: 3000 });
  const seen = nothingSeen();
  check(bytes, fields, columns, seen);
  expect(seen).toMatchObject({ text: seen.pages, ascending: seen.pages / 2 - 1, descending: seen.pages / 2 - 1 });
  expect(seen.pages).toBeGreaterThan(10);
});

test('files of a page a column have none', async () => {
  const { bytes } = await encodeFile([field(1, 'a', 'int32')], [[1, 2, 3]]);
  expect(parquetMetadata(bytes.buffer).row_groups[0]!.columns[0]!.offset_index_offset).toBeUndefined();
});
