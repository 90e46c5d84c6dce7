import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { columnPlans, encodeFile, fieldsOf, filePlans, valuesOf } from '../support/encode-cases.ts';

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
