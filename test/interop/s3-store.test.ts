import { describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import * as sdk from '@aws-sdk/client-s3';
import { type S3ClientLike, s3Store } from '../../adapters/s3.ts';
import { equal, rejects } from '../../src/conformance/case.ts';
import { get, locations, MEBIBYTE, pattern, put } from '../../src/conformance/storage/target.ts';
import { storageCases } from '../../src/conformance/storage.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { S3_SERVERS, type S3Service, s3Env } from '../support/services.ts';

const PART = 5 * MEBIBYTE;

for (const server of S3_SERVERS) {
  describe(server, async () => {
    const service = await s3Env(server);
    const store = s3Store({ config: configOf(service) });
    const fresh = (): string => `s3://${service.bucket}/${randomUUID()}/`;

    const capabilities = { exactKeys: server === 'swift' };
    for (const { name, requires, run } of storageCases) {
      if (requires === 'exactKeys' && !capabilities.exactKeys) continue;
      test(name, () => run({ store, prefix: fresh(), capabilities }), 300_000);
    }

    test('on the wire, a small object is one PUT, and reading it is one GET', async () => {
      const { client, sent } = wiretapped(new sdk.S3Client(configOf(service)));
      const counted = s3Store({ client });
      const location = `${fresh()}a b+c.parquet`;
      await put(counted, location, pattern(1_000));
      equal(sent.splice(0), ['PUT']);
      const reader = await counted.open(location, { byteLength: 1_000 });
      equal(sent.splice(0), []);
      equal(new Uint8Array(await reader.slice(10, 20)), pattern(1_000).slice(10, 20));
      equal(sent.splice(0), ['GET']);
      await counted.open(location);
      equal(sent.splice(0), ['HEAD']);
      await counted.delete([location]);
      equal(sent, ['DELETE']);
    });

    test('a caller’s client with the SDK’s own checksums works, in parts too', async () => {
      const client = new sdk.S3Client({
        ...configOf(service),
        requestChecksumCalculation: 'WHEN_SUPPORTED',
        responseChecksumValidation: 'WHEN_SUPPORTED',
      });
      const checked = s3Store({ client, sdk, partByteLength: PART });
      const prefix = fresh();
      for (const byteLength of [0, 1_000, 2 * PART + 1]) {
        await put(checked, `${prefix}${byteLength}`, pattern(byteLength));
        equal(await get(checked, `${prefix}${byteLength}`), pattern(byteLength), `${byteLength} bytes`);
      }
    }, 300_000);

    test('no upload is left over: not of an abort, not of a failed part, not of a failed completion', async () => {
      const client = new sdk.S3Client(configOf(service));
      const prefix = fresh();
      const key = prefix.slice(`s3://${service.bucket}/`.length);
      const uploads = async (): Promise<number> => {
        const { Uploads = [] } = await client.send(
          new sdk.ListMultipartUploadsCommand({ Bucket: service.bucket, Prefix: key }),
        );
        return Uploads.length;
      };
      const plain = s3Store({ client, partByteLength: PART });
      const aborted = await plain.create(`${prefix}aborted`);
      await aborted.write(pattern(2 * PART + 1));
      while ((await uploads()) === 0) await Bun.sleep(20);
      await aborted.abort();
      equal(await uploads(), 0, 'after an abort');

      for (const failing of ['UploadPartCommand', 'CompleteMultipartUploadCommand']) {
        const broken: S3ClientLike = {
          send: (command: object, options) =>
            command.constructor.name === failing
              ? Promise.reject(Object.assign(new Error('cut'), { code: 'ECONNRESET' }))
              : client.send(command as never, options),
        };
        const failingStore = s3Store({ client: broken, partByteLength: PART });
        await rejects(() => put(failingStore, `${prefix}failed`, pattern(2 * PART + 1)), 'STORE_UNAVAILABLE', failing);
        equal(await uploads(), 0, `after a failed ${failing}`);
      }
      equal(await locations(plain, prefix), [], 'objects');
    }, 300_000);

    test('a list goes on over pages', async () => {
      const prefix = fresh();
      const names = Array.from({ length: 7 }, (_, i) => `${prefix}${i % 2 ? 'deep/er/' : ''}a+b ${i}`);
      await Promise.all(names.map((name) => put(store, name, pattern(1))));
      const client = new sdk.S3Client(configOf(service));
      let pages = 0;
      client.middlewareStack.add(
        (next) => (args) => {
          pages += 1;
          return next({ ...args, input: { ...args.input, MaxKeys: 2 } });
        },
        { step: 'initialize' },
      );
      equal(await locations(s3Store({ client }), prefix), names.sort());
      expect(pages).toBeGreaterThanOrEqual(4);
    }, 300_000);

    test('bulk deletion takes awkward keys, and keys that are gone', async () => {
      const bulk = s3Store({ config: configOf(service), bulkDelete: true });
      const prefix = fresh();
      const names = ['a b', 'a+b', 'a%20b', 'é&<>"', 'x=y?z#'].map((name) => prefix + name);
      for (const name of names) await put(bulk, name, pattern(1));
      await bulk.delete([`${prefix}gone`, ...names.slice(1)]);
      equal(await locations(bulk, prefix), names.slice(0, 1));
      await bulk.delete([]);
    }, 300_000);

    test('errors have codes, and no secret', async () => {
      const { accessKeyId, secretAccessKey } = service;
      const location = `${fresh()}x`;
      const wrong = 'a-secret-that-is-wrong';
      const secretless = s3Store({
        config: { ...configOf(service), credentials: { accessKeyId, secretAccessKey: wrong } },
      });
      for (const call of everyCall(secretless, location)) {
        const error = await rejects(call, 'ACCESS_DENIED');
        equal(error.retryable, false);
        const shown = Bun.inspect(error, { depth: 9 });
        expect(shown).not.toContain(wrong);
        expect(shown).not.toContain(secretAccessKey);
      }
      const stranger = s3Store({
        config: { ...configOf(service), credentials: { accessKeyId: 'stranger', secretAccessKey } },
      });
      await rejects(() => put(stranger, location, pattern(1)), 'ACCESS_DENIED', 'an unknown key id');

      const nowhere = 's3://edgemere-no-such-bucket/x';
      for (const call of everyCall(store, nowhere)) {
        await rejects(call, 'NOT_FOUND', 'a bucket that is not there');
      }
      await rejects(() => put(store, `${location}${'k'.repeat(1_100)}`, pattern(1)), 'INVALID_ARGUMENT', 'a long key');
    }, 300_000);
  });
}

test('a service that nobody runs is STORE_UNAVAILABLE and retryable', async () => {
  const store = s3Store({
    config: {
      endpoint: 'http://127.0.0.1:9',
      region: 'us-east-1',
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
      maxAttempts: 1,
    },
  });
  const error = await rejects(() => store.open('s3://b/k'), 'STORE_UNAVAILABLE');
  equal(error.retryable, true);
  equal(error.context.location, 's3://b/k');
});

function configOf({ endpoint, region, accessKeyId, secretAccessKey }: S3Service) {
  // A server that shares its cores with others may take some attempts.
  return { endpoint, region, forcePathStyle: true, credentials: { accessKeyId, secretAccessKey }, maxAttempts: 10 };
}

function everyCall(store: ObjectStore, location: string): (() => Promise<unknown>)[] {
  return [() => put(store, location, pattern(1)), () => store.open(location), () => locations(store, location)];
}

/** A client that notes the method of each request as it is sent. */
function wiretapped(client: sdk.S3Client): { readonly client: sdk.S3Client; readonly sent: string[] } {
  const sent: string[] = [];
  client.middlewareStack.add(
    (next) => (args) => {
      sent.push((args.request as { method: string }).method);
      return next(args);
    },
    { step: 'finalizeRequest', priority: 'low' },
  );
  return { client, sent };
}
