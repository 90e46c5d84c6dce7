import { afterAll, describe, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { s3Store } from '../../adapters/s3.ts';
import { equal } from '../../src/conformance/case.ts';
import { get, locations, put } from '../../src/conformance/storage/target.ts';
import { literal, openOracle } from '../support/oracle.ts';
import { S3_SERVERS, s3Env } from '../support/services.ts';

const folder = await mkdtemp(`${tmpdir()}/edgemere-s3-`);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Names that the two sides must spell alike. A `?` begins parameters in DuckDB's S3 paths, so that it reads no such key. */
const names = ['a+b', 'a%b', 'a%20b', 'a%2Fb', 'k=v', 'a&b', 'a#b', 'a b', 'é', 'a,b;c@d', '日本 🦩', "quote'"];

for (const server of S3_SERVERS) {
  describe(server, async () => {
    const service = await s3Env(server);
    const { endpoint, region, accessKeyId, secretAccessKey } = service;
    const store = s3Store({ config: { endpoint, region, credentials: { accessKeyId, secretAccessKey } } });

    test('DuckDB reads what s3Store wrote, in one request and in parts, under any name', async () => {
      await using duck = await openOracle();
      await duck.useS3(service);
      const prefix = `s3://${service.bucket}/${randomUUID()}/`;
      const small = `${folder}/${server}-small.parquet`;
      const large = `${folder}/${server}-large.parquet`;
      await duck.run(`COPY (SELECT 42 AS n, 'x' AS s) TO ${literal(small)} (FORMAT parquet)`);
      await duck.run(
        `COPY (SELECT range AS n, hash(range) AS h FROM range(1300000)) TO ${literal(large)} (FORMAT parquet, COMPRESSION uncompressed)`,
      );
      const bytes = await readFile(large);
      for (const name of names) {
        await put(store, `${prefix}${name}/${name}.parquet`, await readFile(small));
        equal(
          await duck.rows(`SELECT n, s FROM read_parquet(${literal(`${prefix}${name}/${name}.parquet`)})`),
          [{ n: '42', s: 'x' }],
          name,
        );
      }
      equal(bytes.length > 2 * 8 * 1024 * 1024, true, 'the large file has three parts');
      const chunks: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; at += 1_000_003) chunks.push(bytes.subarray(at, at + 1_000_003));
      await put(store, `${prefix}large.parquet`, ...chunks);
      equal(
        await duck.rows(
          `SELECT count(*) AS c, sum(n) AS n, bit_xor(h) AS h FROM read_parquet(${literal(`${prefix}large.parquet`)})`,
        ),
        await duck.rows(`SELECT count(*) AS c, sum(range) AS n, bit_xor(hash(range)) AS h FROM range(1300000)`),
      );
    }, 300_000);

    test('s3Store lists, reads and deletes what DuckDB wrote, under any name', async () => {
      await using duck = await openOracle();
      await duck.useS3(service);
      const prefix = `s3://${service.bucket}/${randomUUID()}/`;
      const written = names.map((name) => `${prefix}${name}/${name}.parquet`);
      for (const location of written) {
        await duck.run(`COPY (SELECT 42 AS n) TO ${literal(location)} (FORMAT parquet)`);
      }
      equal(await locations(store, prefix), [...written].sort());
      for (const location of written) {
        const bytes = await get(store, location);
        equal(
          [bytes.slice(0, 4), bytes.slice(-4)],
          [new TextEncoder().encode('PAR1'), new TextEncoder().encode('PAR1')],
        );
      }
      await store.delete(written);
      equal(await locations(store, prefix), []);
    }, 300_000);
  });
}
