import { describe, expect, test } from 'bun:test';
import { codecFor } from '../../src/spec/values/codec.ts';
import { FarDate } from '../../src/spec/values/date.ts';
import { dateFromMicros, microsFromDate, Timestamp } from '../../src/spec/values/timestamp.ts';

const infinity = 2n ** 63n - 1n;

describe('Timestamp', () => {
  test('carries every unit, rounded down where a Date is coarser', () => {
    const at = new Timestamp(1_705_321_800_123_456_789n, 'ns');
    expect([at.getTime(), at.micros, at.nanos]).toEqual([
      1_705_321_800_123,
      1_705_321_800_123_456n,
      1_705_321_800_123_456_789n,
    ]);
    const before = new Timestamp(-1n);
    expect([before.getTime(), before.micros, before.nanos]).toEqual([-1, -1n, -1000n]);
    const nano = new Timestamp(-1n, 'ns');
    expect([nano.getTime(), nano.micros, nano.nanos]).toEqual([-1, -1n, -1n]);
    expect(new Timestamp(-5n, 's').micros).toBe(-5_000_000n);
    expect(new Timestamp(-5n, 'ms').nanos).toBe(-5_000_000n);
  });

  test('its milliseconds are exact near the ends of a Date and of doubles', () => {
    for (const millis of [
      8_640_000_000_000_000n,
      -8_640_000_000_000_000n,
      9_007_199_254_740n,
      -9_007_199_254_741n,
      9_007_199_254_741n,
    ])
      for (const below of [0n, 1n, 999n]) expect(BigInt(new Timestamp(millis * 1000n + below).getTime())).toBe(millis);
  });

  test('is a Date', () => {
    const at = new Timestamp(1_000n);
    expect(at).toBeInstanceOf(Date);
    expect(at.getTime()).toBe(1);
    expect(new Date(at).getTime()).toBe(1);
    expect(at > new Date(0)).toBe(true);
    expect(structuredClone(at).getTime()).toBe(1);
  });

  test('as text it keeps what a Date would drop', () => {
    expect(new Timestamp(1_705_321_800_123_456n).toISOString()).toBe('2024-01-15T12:30:00.123456Z');
    expect(new Timestamp(1_705_321_800_123_456_789n, 'ns').toISOString()).toBe('2024-01-15T12:30:00.123456789Z');
    expect(new Timestamp(1_705_321_800_123n, 'ms').toISOString()).toBe('2024-01-15T12:30:00.123Z');
    expect(new Timestamp(-1n).toISOString()).toBe('1969-12-31T23:59:59.999999Z');
    expect(JSON.stringify([new Timestamp(1n), new Timestamp(infinity), new Timestamp(-infinity)])).toBe(
      '["1970-01-01T00:00:00.000001Z","infinity","-infinity"]',
    );
    expect(new Timestamp(-9_223_372_022_400_000_000n).toJSON()).toBe('290309-12-22 (BC) 00:00:00');
    expect(() => new Timestamp(infinity).toISOString()).toThrow(RangeError);
  });

  test('goes from one unit to another when nothing is lost', () => {
    const micros = codecFor({ name: 'timestamp' });
    const nanos = codecFor({ name: 'timestamp_ns' });
    expect(nanos.encode(new Timestamp(5n))).toBe(5000n);
    expect(micros.encode(new Timestamp(5000n, 'ns'))).toBe(5n);
    expect(codecFor({ name: 'timestamp_s' }).encode(new Timestamp(5_000_000n))).toBe(5n);
    expect(nanos.encode(new Timestamp(-infinity))).toBe(-infinity);
    expect(micros.encode(new Timestamp(infinity, 'ms'))).toBe(infinity);
  });
});

test('text of instants: every offset, and none for wall-clock times', () => {
  const zoned = codecFor({ name: 'timestamptz' });
  for (const text of [
    '2024-01-15T12:30:00Z',
    '2024-01-15 12:30:00+00',
    '2024-01-15 18:00:00+05:30',
    '2024-01-15T07:30-05',
    '2024-01-15 12:29:45-00:00:15',
    '2024-01-15 18:00+0530',
  ])
    expect([text, zoned.encode(text)]).toEqual([text, 1_705_321_800_000_000n]);
  const plain = codecFor({ name: 'timestamp' });
  for (const text of [
    '2024-01-15 12:30',
    '2024-01-15T12:30:00.000',
    '2024-01-15 12:30:00Z',
    '+002024-01-15T12:30:00,0',
    '2024-01-15 12:30:00.000000000',
  ])
    expect([text, plain.encode(text)]).toEqual([text, 1_705_321_800_000_000n]);
  expect(plain.encode('2024-01-15')).toBe(1_705_276_800_000_000n);
  expect(plain.encode('2024-01-14 24:00:00')).toBe(1_705_276_800_000_000n);
});

test('dates beyond those of JavaScript keep their day', () => {
  const date = codecFor({ name: 'date' });
  for (const days of [100_000_001, -100_000_001, 2 ** 31 - 1, -(2 ** 31 - 1)]) {
    const far = date.decode(days) as FarDate;
    expect(far).toBeInstanceOf(FarDate);
    expect(far.getTime()).toBeNaN();
    expect(date.encode(far)).toBe(days);
  }
  expect(JSON.stringify(date.decode(2 ** 31 - 1))).toBe('"infinity"');
  expect(date.decode(-1)).toEqual(new Date('1969-12-31'));
  expect(date.encode(new Date(-86_400_000))).toBe(-1);
});

test('Dates and microseconds', () => {
  expect(microsFromDate(new Date(8_640_000_000_000_000))).toBe(8_640_000_000_000_000_000n);
  expect(microsFromDate(new Date(-1))).toBe(-1000n);
  expect(dateFromMicros(-1n)).toEqual(new Date(-1));
  expect(dateFromMicros(8_640_000_000_000_000_000n)).toEqual(new Date(8_640_000_000_000_000));
});

test('the text of a default blob', () => {
  const blob = codecFor({ name: 'blob' });
  expect(blob.fromText('\\x01ab\\xFF')).toEqual(new Uint8Array([1, 97, 98, 255]));
  expect(blob.fromText('')).toEqual(new Uint8Array());
  for (const text of ['é', 'a\\b', '\\x1', '\\xGG']) expect(() => blob.fromText(text)).toThrow();
});
