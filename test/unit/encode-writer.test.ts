import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { parquetMetadata } from 'hyparquet';
import { codecFor } from '../../src/spec/values/codec.ts';
import { ColumnCollector } from '../support/collector.ts';
import { encodeFile, fieldsOf, filePlans, valuesOf } from '../support/encode-cases.ts';
import { readFile } from '../support/parquet.ts';

/** Invalid dates, which infinities are, are never equal. */
function comparable(value: unknown): unknown {
  return value instanceof Date ? value.toJSON() : value;
}

/** `ENCODE_RUNS=2000` looks longer. */
const runs = Number(process.env['ENCODE_RUNS'] ?? 60);

test(
  'random schemas, random data: read back equal, statistics as a plain collector has them',
  async () => {
    await fc.assert(
      fc.asyncProperty(filePlans, async (plan) => {
        const fields = fieldsOf(plan);
        const columns = valuesOf(plan);
        const { bytes, file } = await encodeFile(fields, columns, plan.options, plan, plan.batchRowCount);
        expect(file.byteLength).toBe(bytes.length);
        expect(file.rowCount).toBe(columns[0]!.length);
        const read = await readFile(bytes, { fields });
        for (const [c, field] of fields.entries()) {
          const codec = codecFor(field.type);
          const physical = columns[c]!.map((value) => (value == null ? null : codec.encode(value)));
          expect(read[c]!.map(comparable)).toEqual(
            physical.map((value) => (value === null ? null : comparable(codec.decode(value)))),
          );
          const collector = new ColumnCollector(field.id, field.type, codec);
          for (const value of physical) value === null ? collector.addNull() : collector.add(value);
          expect(file.columns[c]!).toEqual(collector.finish(file.columns[c]!.byteLength));
        }
        const metadata = parquetMetadata(bytes.buffer);
        for (const [c] of fields.entries())
          expect(
            metadata.row_groups.reduce(
              (sum, group) => sum + Number(group.columns[c]!.meta_data!.total_compressed_size),
              0,
            ),
          ).toBe(file.columns[c]!.byteLength);
        expect(metadata.metadata_length).toBe(file.footerLength);
      }),
      { numRuns: runs },
    );
  },
  30_000 + runs * 1000,
);
