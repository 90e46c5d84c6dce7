import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { deltaBinaryUnpack } from 'hyparquet/src/delta.js';
import { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js';
import { snappyUncompress } from 'hyparquet/src/snappy.js';
import { deserializeTCompactProtocol } from 'hyparquet/src/thrift.js';
import { ByteBounds } from '../../src/file/parquet/encode/byte-bounds.ts';
import { ByteBuffer } from '../../src/file/parquet/encode/byte-buffer.ts';
import { DeltaPlanner } from '../../src/file/parquet/encode/delta.ts';
import { bitWidth, encodeHybrid } from '../../src/file/parquet/encode/hybrid.ts';
import { compressSnappy, maxSnappyLength } from '../../src/file/parquet/encode/snappy.ts';
import { ThriftWriter } from '../../src/file/parquet/encode/thrift.ts';

/** A buffer with rubbish before `bytes`, so that a kernel that forgets its start is found out. */
function bufferOf(bytes: Uint8Array, prefix: number): ByteBuffer {
  const buffer = new ByteBuffer(0);
  buffer.append(new Uint8Array(prefix).fill(0xab));
  buffer.append(bytes);
  return buffer;
}

function readerOf(buffer: ByteBuffer, offset: number): { view: DataView; offset: number } {
  const bytes = buffer.copy();
  return { view: new DataView(bytes.buffer), offset };
}

/** Bytes with repetitions near and far, and stretches without any. */
const repetitive: fc.Arbitrary<Uint8Array> = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 80 }),
      fc.tuple(fc.nat(255), fc.nat(3000)).map(([byte, length]) => new Uint8Array(length).fill(byte)),
      fc.nat(0xffff).map((seed) => noise(seed, 5000)),
      fc.constantFrom('https://example.com/', 'products', '?ref=', 'a').map((text) => new TextEncoder().encode(text)),
    ),
    { maxLength: 40 },
  )
  .map((parts) => {
    const buffer = new ByteBuffer();
    for (const part of parts) buffer.append(part);
    return buffer.copy();
  });

function noise(seed: number, length: number): Uint8Array {
  let state = seed | 1;
  return Uint8Array.from({ length }, () => {
    state = Math.imul(state, 1664525) + 1013904223;
    return state >>> 24;
  });
}

describe('snappy', () => {
  const roundTrip = (bytes: Uint8Array, prefix: number): void => {
    const out = bufferOf(new Uint8Array(0), 3);
    const worthwhile = compressSnappy(bufferOf(bytes, prefix), prefix, prefix + bytes.length, out);
    if (!worthwhile) {
      expect(out.length).toBe(3);
      return;
    }
    const decoded = new Uint8Array(bytes.length);
    snappyUncompress(out.copy().subarray(3), decoded);
    expect(Buffer.compare(decoded, bytes)).toBe(0);
  };

  test('what it makes is what hyparquet reads', () => {
    fc.assert(fc.property(repetitive, fc.nat(20), roundTrip), { numRuns: 300 });
  });

  test('several blocks, and block edges', () => {
    const line = new TextEncoder().encode('the quick brown fox jumps over the lazy dog. ');
    for (const length of [1, 14, 15, 16, 65535, 65536, 65537, 65551, 131072, 200_000]) {
      roundTrip(
        Uint8Array.from({ length }, (_, i) => line[i % line.length]!),
        5,
      );
      roundTrip(
        Uint8Array.from({ length }, (_, i) => (i % 5000 < 4000 ? 7 : i * i)),
        0,
      );
    }
  });

  test('repetitions shrink, noise is left alone', () => {
    const out = new ByteBuffer();
    expect(compressSnappy(bufferOf(new Uint8Array(100_000), 0), 0, 100_000, out)).toBe(true);
    expect(out.length).toBeLessThan(5000);
    out.length = 0;
    expect(compressSnappy(bufferOf(noise(42, 100_000), 0), 0, 100_000, out)).toBe(false);
    expect(maxSnappyLength(100_000)).toBeGreaterThan(100_000);
  });
});

describe('the hybrid of runs and bit packing', () => {
  const runs = (max: number): fc.Arbitrary<number[]> =>
    fc
      .array(fc.tuple(fc.nat(max), fc.oneof(fc.nat(3), fc.nat(40), fc.nat(3000))), { maxLength: 60 })
      .map((pairs) => pairs.flatMap(([value, count]) => new Array<number>(count).fill(value)));

  test('what it makes is what hyparquet reads, at every width', () => {
    // hyparquet's decoder holds 32 bits at a time, which is short of 32-bit values that start within a byte.
    const cases = fc.nat(24).chain((width) => fc.tuple(fc.constant(width), runs(2 ** width - 1), fc.nat(9)));
    fc.assert(
      fc.property(cases, ([width, values, skip]) => {
        const from = Math.min(skip, values.length);
        const expected = values.slice(from);
        for (const typed of [Int32Array.from(values), ...(width <= 8 ? [Uint8Array.from(values)] : [])]) {
          const out = bufferOf(new Uint8Array(0), 2);
          encodeHybrid(out, typed, from, values.length, width);
          const output = new Array<number>(expected.length).fill(-1);
          if (expected.length > 0) readRleBitPackedHybrid(readerOf(out, 2), width, output, out.length - 2);
          expect(output).toEqual(expected);
        }
      }),
      { numRuns: 400 },
    );
  });

  test('runs cost a few bytes, packed values their width', () => {
    const out = new ByteBuffer();
    encodeHybrid(out, new Int32Array(100_000).fill(1), 0, 100_000, 1);
    expect(out.length).toBeLessThan(6);
    out.length = 0;
    encodeHybrid(
      out,
      Int32Array.from({ length: 8000 }, (_, i) => i % 7),
      0,
      8000,
      3,
    );
    expect(out.length).toBe(3000 + 2);
  });

  test('widths of the largest integers', () => {
    expect([0, 1, 2, 3, 4, 255, 256, 2 ** 31 - 1].map(bitWidth)).toEqual([0, 1, 2, 2, 3, 8, 9, 31]);
  });
});

describe('DELTA_BINARY_PACKED', () => {
  const planner = new DeltaPlanner();
  const encode = (plan: number | undefined): ByteBuffer | undefined => {
    if (plan === undefined) return undefined;
    const out = bufferOf(new Uint8Array(0), 1);
    planner.write(out);
    expect(out.length - 1).toBe(plan);
    return out;
  };
  const lengths = fc.oneof(
    fc.integer({ min: 1, max: 5 }),
    fc.integer({ min: 120, max: 140 }),
    fc.nat(600).map((n) => n + 1),
  );

  test('32-bit integers', () => {
    const step = fc.oneof(
      fc.constant(0),
      fc.integer({ min: -3, max: 3 }),
      fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    );
    fc.assert(
      fc.property(lengths, fc.boolean(), fc.array(step, { minLength: 1, maxLength: 40 }), (length, walk, steps) => {
        let at = 0;
        const values = Int32Array.from({ length }, (_, i) => {
          at = walk ? (at + steps[i % steps.length]!) | 0 : steps[i % steps.length]!;
          return at;
        });
        const out = encode(planner.plan32(values, length));
        if (out === undefined) {
          expect(Math.max(...values) - Math.min(...values)).toBeGreaterThan(2 ** 31 - 1);
          return;
        }
        const output = new Int32Array(length);
        deltaBinaryUnpack(readerOf(out, 1), length, output);
        expect(output).toEqual(values);
      }),
      { numRuns: 300 },
    );
  });

  test('64-bit integers', () => {
    const big = fc.oneof(
      fc.bigInt({ min: -3n, max: 3n }),
      fc.bigInt({ min: -(2n ** 33n), max: 2n ** 33n }),
      fc.bigInt({ min: 0n, max: 2n ** 51n }),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    );
    fc.assert(
      fc.property(lengths, big, fc.array(big, { minLength: 1, maxLength: 40 }), (length, start, steps) => {
        let at = start;
        const values = BigInt64Array.from({ length }, (_, i) => {
          at += steps[i % steps.length]!;
          return at;
        });
        const words = [new Uint32Array(values.buffer), new Int32Array(values.buffer)] as const;
        const out = encode(planner.plan64(...words, length));
        const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
        const span = sorted.at(-1)! - sorted[0]!;
        if (out === undefined) {
          expect(span).toBeGreaterThan(2n ** 52n);
          return;
        }
        const output = new BigInt64Array(length);
        deltaBinaryUnpack(readerOf(out, 1), length, output);
        expect(output).toEqual(values);
      }),
      { numRuns: 300 },
    );
  });

  test('equal steps cost next to nothing', () => {
    const values = BigInt64Array.from({ length: 10_000 }, (_, i) => 1_700_000_000_000_000n + BigInt(i) * 37_000n);
    const plan = planner.plan64(new Uint32Array(values.buffer), new Int32Array(values.buffer), values.length);
    expect(plan).toBeLessThan(10_000 / 10);
  });
});

test('thrift: what it makes is what hyparquet reads', () => {
  const out = new ByteBuffer(0);
  const thrift = new ThriftWriter(out);
  const many = Array.from({ length: 20 }, (_, i) => i * 1000 - 5000);
  thrift.element(() => {
    thrift.int32(1, -5);
    thrift.bool(2, true);
    thrift.struct(4, () => {
      thrift.bool(1, false);
      thrift.int64(3, 2 ** 51 + 1);
    });
    thrift.string(5, 'naïve 🦆');
    thrift.structs(6, ['a', 'b'], (text) => thrift.string(1, text));
    thrift.int32s(7, many);
    thrift.strings(8, ['x', 'yz']);
    thrift.struct(9);
    thrift.int64s(10, [0, -1]);
    thrift.bools(11, [true, false]);
    thrift.binaries(12, [Uint8Array.of(1, 2)]);
  });
  const reader = readerOf(out, 0);
  const text = (bytes: unknown): string => new TextDecoder().decode(bytes as Uint8Array);
  const read = deserializeTCompactProtocol(reader) as Record<string, unknown>;
  expect(reader.offset).toBe(out.length);
  expect(read['field_1']).toBe(-5);
  expect(read['field_2']).toBe(true);
  expect(read['field_4']).toEqual({ field_1: false, field_3: BigInt(2 ** 51 + 1) });
  expect(text(read['field_5'])).toBe('naïve 🦆');
  expect((read['field_6'] as { field_1: unknown }[]).map((item) => text(item.field_1))).toEqual(['a', 'b']);
  expect(read['field_7']).toEqual(many);
  expect((read['field_8'] as unknown[]).map(text)).toEqual(['x', 'yz']);
  expect(read['field_9']).toEqual({});
  expect(read['field_10']).toEqual([0n, -1n]);
  expect(read['field_11']).toEqual([true, false]);
  expect([...(read['field_12'] as Uint8Array[])[0]!]).toEqual([1, 2]);
});

test('bounds of byte strings are the first and the last in their order, however these come', () => {
  const few = fc.uint8Array({ maxLength: 14, min: 0, max: 3 });
  const alike = fc
    .tuple(fc.constantFrom('', 'aaaa', 'aaaabbbb', 'aaaabbbbc'), fc.oneof(few, fc.uint8Array({ maxLength: 20 })))
    .map(([prefix, rest]) => new Uint8Array([...new TextEncoder().encode(prefix), ...rest]));
  const lists = fc.array(fc.oneof(few, alike), { minLength: 1, maxLength: 60 });
  const orders = fc.constantFrom('any', 'rising', 'falling');
  fc.assert(
    fc.property(lists, orders, fc.nat(8), fc.constantFrom(0, 4), (list, order, prefix, gap) => {
      const sorted = list.toSorted((a, b) => Buffer.compare(a, b));
      const strings = { any: list, rising: sorted, falling: sorted.toReversed() }[order];
      const buffer = bufferOf(new Uint8Array(), prefix);
      for (const bytes of strings) {
        buffer.append(new Uint8Array(gap).fill(0xff));
        buffer.append(bytes);
      }
      const bounds = new ByteBounds(true);
      const lengths = Int32Array.from(strings, ({ length }) => length);
      bounds.observe(buffer, prefix, gap, lengths, strings.length);
      const [min, max] = bounds.take()!;
      expect([...min]).toEqual([...sorted[0]!]);
      expect([...max]).toEqual([...sorted.at(-1)!]);
    }),
    { numRuns: 3000 },
  );
});
