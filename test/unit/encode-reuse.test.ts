import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createEncodedWriter } from '../../src/file/parquet/encode/file-writer.ts';
import { columnPlans, encodeFile, fieldsOf, filePlans, valuesOf } from '../support/encode-cases.ts';
import { field, memorySink, target } from '../support/parquet.ts';

test('a file is the same whatever was written before by the encoders that it gets', async () => {
  const before = fc.array(
    fc.array(fc.record({ seed: fc.integer(), like: columnPlans }), { minLength: 5, maxLength: 5 }),
    {
      minLength: 1,
      maxLength: 3,
    },
  );
  await fc.assert(
    fc.asyncProperty(before, fc.nat(600), filePlans, async (others, otherRows, plan) => {
      const fields = fieldsOf(plan);
      const columns = valuesOf({ ...plan, rowCount: Math.min(plan.rowCount, 3000) });
      const expected = await encodeFile(fieldsOf(plan), columns, plan.options, plan);
      for (const other of others) {
        const earlier = plan.columns.map(({ type }, c) => ({ ...other[c]!.like, type }));
        const values = valuesOf({ ...plan, seed: other[0]!.seed, rowCount: otherRows, columns: earlier });
        await encodeFile(fields, values, plan.options, plan);
      }
      const actual = await encodeFile(fields, columns, plan.options, plan);
      expect(Buffer.compare(actual.bytes, expected.bytes)).toBe(0);
      expect(actual.file).toEqual(expected.file);
    }),
    { numRuns: 250 },
  );
}, 300_000);

test('files that are written at the same time are as each would be alone', async () => {
  await fc.assert(
    fc.asyncProperty(filePlans, fc.array(fc.integer(), { minLength: 1, maxLength: 4 }), async (plan, seeds) => {
      const fields = fieldsOf(plan);
      const inputs = seeds.map((seed, k) =>
        valuesOf({ ...plan, seed, rowCount: Math.min(plan.rowCount, 300 * (k + 1)) }),
      );
      const expected = [];
      for (const columns of inputs) expected.push(await encodeFile(fieldsOf(plan), columns, plan.options, plan));
      for (let round = 0; round < 2; round++) {
        const actual = await Promise.all(inputs.map((columns) => encodeFile(fields, columns, plan.options, plan, 100)));
        const once = await Promise.all(inputs.map((columns) => encodeFile(fields, columns, plan.options, plan)));
        for (const [k, { bytes, file }] of expected.entries()) {
          expect(once[k]!.file).toEqual(file);
          expect(Buffer.compare(once[k]!.bytes, bytes)).toBe(0);
          expect(actual[k]!.file.columns.map(({ min, max }) => [min, max])).toEqual(
            file.columns.map(({ min, max }) => [min, max]),
          );
        }
      }
    }),
    { numRuns: 60 },
  );
}, 300_000);

test('a file whose store is not done yet has handed on its encoders, and keeps what it is', async () => {
  const fields = [field(1, 'text', 'varchar'), field(2, 'id', 'int64')];
  const rowsOf = (word: string) => ({
    rowCount: 50,
    firstRow: 0,
    columns: [new Array(50).fill(word), new Array(50).fill(7n)],
  });
  const done = Promise.withResolvers<void>();
  const sink = memorySink();
  const open = async () => ({ ...(await sink.open()), close: () => done.promise });
  const slow = createEncodedWriter({ ...target(fields, sink), open });
  await slow.write(rowsOf('slow'));
  const closing = slow.close();
  while (!sink.calls.includes('write')) await Promise.resolve();
  const { byteLength } = slow;
  const writeOther = async (word: string): Promise<Uint8Array> => {
    const other = memorySink();
    const writer = createEncodedWriter(target(fields, other));
    await writer.write(rowsOf(word));
    expect(slow.byteLength).toBe(byteLength);
    await writer.close();
    return other.bytes();
  };
  const others = [await writeOther('other'), await writeOther('slow')];
  done.resolve();
  const file = await closing;
  expect(file.byteLength).toBe(byteLength);
  expect(sink.bytes()).toEqual(others[1]!);
  expect(others[0]).not.toEqual(others[1]!);
  expect(file.columns[0]).toMatchObject({ min: 'slow', max: 'slow', valueCount: 50 });
});
