import { describe, expect, test } from 'bun:test';
import { crc32 } from 'node:zlib';
import { readDeletionVector } from '../../src/file/deletion-vector.ts';
import { DeletedPositions, mergeAscending } from '../../src/scan/deleted-positions.ts';

const u16 = (...values: number[]): number[] => values.flatMap((value) => [value & 0xff, value >> 8]);
const u32 = (value: number): number[] => [...u16(value & 0xffff), ...u16(value >>> 16)];
const bigEndian = (value: number): number[] => u32(value).reverse();

/** A blob of bitmaps under their keys. */
function blob(...bitmaps: readonly (readonly [key: number, bytes: readonly number[]])[]): Uint8Array {
  const body = [
    ...[0xd1, 0xd3, 0x39, 0x64, ...u32(bitmaps.length), ...u32(0)],
    ...bitmaps.flatMap(([key, bytes]) => [...u32(key), ...bytes]),
  ];
  return Uint8Array.from([...bigEndian(body.length), ...body, ...bigEndian(crc32(Uint8Array.from(body)))]);
}

const runCookie = (containers: number): number[] => u32(12347 | ((containers - 1) << 16));

describe('deletion vectors', () => {
  test('runs, which DuckDB reads and does not write', () => {
    // Container 0: runs 3…5 and 65534…65535; container 2: the list 1, 9.
    const bitmap = [
      ...[...runCookie(2), 0b01],
      ...[...u16(0, 4), ...u16(2, 1)],
      ...[...u16(2), ...u16(3, 2), ...u16(65_534, 1)],
      ...u16(1, 9),
    ];
    expect([...readDeletionVector(blob([0, bitmap]))]).toEqual([3, 4, 5, 65_534, 65_535, 131_073, 131_081]);
  });

  test('from four containers on, runs have a table of offsets', () => {
    const containers = [0, 1, 2, 3];
    const bitmap = [
      ...[...runCookie(4), 0b1111],
      ...containers.flatMap((key) => u16(key, 0)),
      ...containers.flatMap(() => u32(0)),
      ...containers.flatMap((key) => [...u16(1), ...u16(key, 0)]),
    ];
    expect([...readDeletionVector(blob([0, bitmap]))]).toEqual([0, 65_537, 131_074, 196_611]);
  });

  test('none, and no bitmap at all', () => {
    expect([...readDeletionVector(blob([0, [...u32(12346), ...u32(0)]]))]).toEqual([]);
    expect([...readDeletionVector(blob([5, [...u32(12346), ...u32(0)]]))]).toEqual([]);
  });

  test('rows beyond what a position can be', () => {
    const one = [...u32(12346), ...u32(1), ...u16(0, 0), ...u32(0), ...u16(7)];
    expect(() => readDeletionVector(blob([1, one]))).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
  });

  test.each([
    ['a run past its container', [...runCookie(1), 1, ...u16(0, 1), ...u16(1), ...u16(65_535, 1)]],
    ['fewer than counted', [...runCookie(1), 1, ...u16(0, 5), ...u16(1), ...u16(0, 1)]],
    ['more than counted', [...runCookie(1), 1, ...u16(0, 1), ...u16(1), ...u16(0, 3)]],
    ['positions that do not ascend', [...u32(12346), ...u32(1), ...u16(0, 1), ...u32(0), ...u16(7, 7)]],
    ['another cookie', [...u32(1), ...u32(0)]],
    ['a bitmap that is cut', [...u32(12346), ...u32(9)]],
    ['bytes after it', [...u32(12346), ...u32(0), 0]],
  ])('%s', (_, bitmap) => {
    expect(() => readDeletionVector(blob([0, bitmap]))).toThrow(expect.objectContaining({ code: 'CORRUPT' }));
  });
});

describe('deleted positions', () => {
  const deleted = new DeletedPositions(
    mergeAscending([Uint32Array.of(1, 5, 6), Uint32Array.of(), Uint32Array.of(5, 9)]),
  );

  test('are a union', () => {
    expect([...deleted.positions]).toEqual([1, 5, 6, 9]);
    expect([...mergeAscending([Uint32Array.of(2, 2, 3)])]).toEqual([2, 3]);
    expect([0, 1, 5, 7, 9, 10].map((position) => deleted.has(position))).toEqual([
      false,
      true,
      true,
      false,
      true,
      false,
    ]);
    expect([0, 1, 2, 6, 10].map((position) => deleted.countBefore(position))).toEqual([0, 0, 1, 2, 4]);
  });

  test('what is left of a batch', () => {
    expect(deleted.keptRows(2, 3)).toBeUndefined();
    expect([...deleted.keptRows(0, 10)!]).toEqual([0, 2, 3, 4, 7, 8]);
    expect([...deleted.keptRows(5, 2)!]).toEqual([]);
    expect([...deleted.keptRows(4, 3)!]).toEqual([0]);
    expect(deleted.keptRows(10, 5)).toBeUndefined();
  });
});
