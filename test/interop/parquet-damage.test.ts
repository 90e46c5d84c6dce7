import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLakeError, LakeError } from '../../src/errors.ts';
import type { BoundsOf } from '../../src/file/format.ts';
import { parquetFormat } from '../../src/file/parquet/index.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';
import { duckFileOf, field, objectOf, readFile } from '../support/parquet.ts';

const parquet = parquetFormat();

let duck: Oracle;
let dir: string;
beforeAll(async () => {
  duck = await openOracle();
  dir = await mkdtemp(join(tmpdir(), 'edgemere-parquet-damage-'));
});
afterAll(async () => {
  await duck.close();
  await rm(dir, { recursive: true, force: true });
});

const duckFile = (query: string, ids: Record<string, number | string>, options?: string): Promise<Uint8Array> =>
  duckFileOf(duck, dir, query, ids, options);

describe('damage', () => {
  const fields = [
    field(1, 'i', 'int64'),
    field(2, 's', 'varchar'),
    field(3, 'b', 'boolean'),
    field(4, 'd', 'decimal(38,2)'),
  ];
  const file = (): Promise<Uint8Array> =>
    duckFile(
      "SELECT range AS i, CASE WHEN range % 5 > 0 THEN 'text ' || (range % 7) END AS s, range % 2 = 0 AS b, range::DECIMAL(38,2) AS d FROM range(300)",
      { i: 1, s: 2, b: 3, d: 4 },
    );

  test('a file that was cut anywhere is CORRUPT', async () => {
    const bytes = await file();
    for (let length = 0; length < bytes.length; length += 7) {
      const error = await readFile(bytes.slice(0, length), { fields }).catch((reason) => reason);
      expect([length, (error as LakeError).code]).toEqual([length, 'CORRUPT']);
    }
  });

  test('bytes that were changed give an error of ours or rows, and end', async () => {
    const bytes = await file();
    let refused = 0;
    for (let at = 0; at < bytes.length; at += 3) {
      const damaged = bytes.slice();
      damaged[at]! ^= 1 << (at % 8);
      try {
        const columns = await readFile(damaged, { fields });
        for (const column of columns) expect(column.length).toBe(columns[0]!.length);
      } catch (error) {
        expect([at, error]).toEqual([at, expect.any(LakeError)]);
        expect(['CORRUPT', 'UNSUPPORTED']).toContain((error as LakeError).code);
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(100);
  });

  test('bytes of the footer that are others give an error of ours or rows, also where columns go by names', async () => {
    const bytes = await file();
    const start = bytes.length - 8 - new DataView(bytes.buffer).getUint32(bytes.length - 8, true);
    const names = fields.map(({ id, name }) => ({ fieldId: id, sourceName: name, children: [] }));
    const matters = (boundsOf: BoundsOf): boolean => fields.every((one) => boundsOf(one)?.mayContain?.(1n) !== false);
    let refused = 0;
    for (let at = start; at < bytes.length - 8; at++)
      for (const byte of [0x00, 0x15, 0x18, 0x26, 0x7f, 0xff]) {
        const damaged = bytes.slice();
        damaged[at] = byte;
        try {
          const columns = await readFile(damaged, { fields, binding: { kind: 'names', names }, matters });
          for (const column of columns) expect(column.length).toBe(columns[0]!.length);
        } catch (error) {
          expect([at, byte, error]).toEqual([at, byte, expect.any(LakeError)]);
          refused++;
        }
      }
    expect(refused).toBeGreaterThan(100);
  });

  test('text that is no UTF-8', async () => {
    const bytes = await duckFile("SELECT 'QQ' AS s", { s: 1 }, ", COMPRESSION 'uncompressed'");
    for (const [i, byte] of bytes.entries()) if (byte === 0x51) bytes[i] = 0xff;
    const error = await readFile(bytes, { fields: [field(1, 's', 'varchar')] }).catch((reason) => reason);
    expect(isLakeError(error, 'CORRUPT')).toBe(true);
  });

  test('a store that gives fewer bytes', async () => {
    const bytes = await file();
    const object = objectOf(bytes);
    const short = {
      byteLength: bytes.length,
      slice: async (start: number, end?: number) => (await object.slice(start, end)).slice(1),
    };
    expect(isLakeError(await parquet.openReader(short).catch((error) => error), 'CORRUPT')).toBe(true);
  });

  test("a store's own error passes through", async () => {
    const broken = new LakeError('STORE_UNAVAILABLE', 'away', { retryable: true });
    const away = { byteLength: 1000, slice: () => Promise.reject(broken) };
    expect(await parquet.openReader(away).catch((error) => error)).toBe(broken);
  });
});
