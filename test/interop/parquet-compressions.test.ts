import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { isLakeError } from '../../src/errors.ts';
import { inflateLz4 } from '../../src/file/parquet/lz4.ts';
import { testLake } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';

setDefaultTimeout(300_000);

describe('compressions that DuckDB writes and edgemere does not', () => {
  test.each(['lz4_raw', 'lz4', 'brotli'])('%s: the values that DuckDB shows', async (compression) => {
    await using place = await testLake('sqlite');
    await using duck = await openOracle();
    await place.attach(duck);
    await duck.run(`
      CALL lake.set_option('parquet_compression', '${compression}');
      CREATE TABLE lake.t (id BIGINT, same VARCHAR, near VARCHAR, far VARCHAR, x DOUBLE, tags VARCHAR[]);
      INSERT INTO lake.t SELECT i, repeat('ab', 40000 + i % 3), concat('prefix/', i // 7, repeat('xyz', i % 30)), md5(i::VARCHAR),
        CASE WHEN i % 5 = 0 THEN NULL ELSE i / 8 END, CASE WHEN i % 4 = 0 THEN [] ELSE [md5((i % 9)::VARCHAR), NULL] END FROM range(3000) r(i)`);
    const theirs = await duck.rows(
      'SELECT id, md5(same) AS same, near, far, x, tags::VARCHAR AS tags FROM lake.t ORDER BY id',
    );
    const codecs = await duck.rows(
      `SELECT DISTINCT compression FROM parquet_metadata('${place.dataPath}main/t/*.parquet')`,
    );
    expect(codecs).toEqual([{ compression: compression === 'brotli' ? 'BROTLI' : 'LZ4_RAW' }]);
    const [some] = await duck.rows('SELECT count(*) AS n FROM lake.t WHERE x >= 100.5 AND x < 200');
    await duck.detach();
    await using lake = await place.open();
    const rows = (await lake.table('t').scan().toArray()) as {
      id: bigint;
      same: string;
      near: string;
      far: string;
      x: number | null;
      tags: (string | null)[];
    }[];
    const ours = rows.map(({ id, same, near, far, x, tags }) => ({
      id: String(id),
      same: new Bun.CryptoHasher('md5').update(same).digest('hex'),
      near,
      far,
      x: x === null ? null : x % 1 === 0 ? `${x}.0` : String(x),
      tags: `[${tags.map((tag) => tag ?? 'NULL').join(', ')}]`,
    }));
    expect(ours).toEqual(theirs as never);
    expect(await lake.table('t').count({ near: 'prefix/3xyz' })).toBe(0);
    expect(await lake.table('t').count({ x: { gte: 100.5, lt: 200 } })).toBe(Number(some!['n']));
  });
});

describe('LZ4 blocks', () => {
  const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'));

  test.each([
    ['literals', '50 68656c6c6f', 'hello'],
    ['no bytes at all', '00', ''],
    ['a match that lies before', '44 61626364 0400 10 65', 'abcdabcdabcde'],
    ['a match within itself', '1f 61 0100 05 10 62', `${'a'.repeat(25)}b`],
    ['more than 15 literals', `f0 03 ${'6162'.repeat(9)}`, 'ab'.repeat(9)],
    ['more than 270 literals', `f0 ff 00 ${'61'.repeat(270)}`, 'a'.repeat(270)],
  ])('%s', (_, block, text) => {
    expect(new TextDecoder().decode(inflateLz4(hex(block), text.length))).toBe(text);
  });

  test.each([
    ['cut amid literals', '50 6865', 5],
    ['cut amid a length', 'f0', 20],
    ['cut amid a distance', '10 61 01', 6],
    ['a distance of nothing', '10 61 0000 10 62', 6],
    ['before the beginning', '10 61 0200 10 62', 6],
    ['more than the header says', '1f 61 0100 05 10 62', 25],
    ['less than the header says', '1f 61 0100 05 10 62', 27],
    ['more literals than the header says', '50 68656c6c6f', 4],
    ['gigabytes of a few bytes', '50 68656c6c6f', 2 ** 31],
    ['nothing, where something is due', '', 1],
  ])('%s: CORRUPT', (_, block, byteLength) => {
    let error: unknown;
    try {
      inflateLz4(hex(block), byteLength);
    } catch (thrown) {
      error = thrown;
    }
    expect(isLakeError(error, 'CORRUPT')).toBe(true);
  });
});
