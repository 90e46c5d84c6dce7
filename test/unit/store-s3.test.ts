import { describe, expect, test } from 'bun:test';
import { inspect } from 'node:util';
import { s3Store } from '../../adapters/s3.ts';
import { collect, equal, rejects, rejectsWith } from '../../src/conformance/case.ts';
import { get, locations, MEBIBYTE, pattern, put } from '../../src/conformance/storage/target.ts';
import { isLakeError } from '../../src/errors.ts';
import { FakeS3, networkFailure, s3Failure } from '../support/fake-s3.ts';

const PART = 5 * MEBIBYTE;

function fresh(options: { partConcurrency?: number; bulkDelete?: boolean } = {}) {
  const s3 = new FakeS3();
  const store = s3Store({ client: s3.client, sdk: s3.sdk, partByteLength: PART, ...options });
  return { s3, store };
}

describe('requests', () => {
  test('a small object is one PutObject, an empty one and one of exactly a part too', async () => {
    for (const byteLength of [0, 1, 1_000, PART - 1, PART]) {
      const { s3, store } = fresh();
      await put(store, 's3://b/k', pattern(byteLength));
      equal(s3.requests, ['PutObject'], `requests for ${byteLength} bytes`);
      equal(s3.objects.get('b/k'), pattern(byteLength));
    }
  });

  test('a larger one is a multipart upload of equal parts, whatever it is written in', async () => {
    const bytes = pattern(2 * PART + 17);
    for (const size of [777_777, PART, PART + 1, bytes.length]) {
      const { s3, store } = fresh();
      const parts: number[] = [];
      s3.before = ({ name, input }) => {
        if (name === 'UploadPart') parts[input.PartNumber - 1] = input.Body.length;
      };
      const writer = await store.create('s3://b/k');
      for (let at = 0; at < bytes.length; at += size) await writer.write(bytes.subarray(at, at + size));
      await writer.close();
      equal(parts, [PART, PART, 17], `the parts, written in chunks of ${size}`);
      equal(s3.count('CreateMultipartUpload'), 1, 'uploads begun');
      equal(s3.requests.length, 5, 'requests');
      equal(s3.objects.get('b/k'), bytes);
      equal(s3.uploads.size, 0, 'uploads left');
    }
    const { s3, store } = fresh();
    await put(store, 's3://b/k', pattern(2 * PART));
    equal(s3.count('UploadPart'), 2, 'a round length has no empty part at its end');
  });

  test('open asks for the length only when it is not known, a slice is one ranged GetObject, an empty one nothing', async () => {
    const { s3, store } = fresh();
    s3.objects.set('b/k', pattern(100));
    await store.open('s3://b/k');
    const reader = await store.open('s3://b/k', { byteLength: 100 });
    equal(await reader.slice(7, 7), new ArrayBuffer(0));
    equal(s3.requests, ['HeadObject']);
    equal(new Uint8Array(await reader.slice(10, 20)), pattern(100).slice(10, 20));
    equal(s3.requests, ['HeadObject', 'GetObject']);
  });

  test('the part checksums that a service gives are handed back to it', async () => {
    const { s3, store } = fresh();
    s3.after = ({ name, input }, answer) =>
      name === 'UploadPart' ? { ...(answer as object), ChecksumCRC32: `crc-${input.PartNumber}` } : answer;
    let completed: unknown;
    s3.before = ({ name, input }) => {
      if (name === 'CompleteMultipartUpload') completed = input.MultipartUpload.Parts;
    };
    await put(store, 's3://b/k', pattern(PART + 1));
    expect(completed).toMatchObject([
      { PartNumber: 1, ETag: 'etag-1', ChecksumCRC32: 'crc-1' },
      { PartNumber: 2, ETag: 'etag-2', ChecksumCRC32: 'crc-2' },
    ]);
  });

  test('deletes are single unless bulk is known to work', async () => {
    const names = Array.from({ length: 1_003 }, (_, i) => `s3://b/${i}`);
    const single = fresh();
    await single.store.delete(names.slice(0, 40));
    equal(single.s3.requests, Array(40).fill('DeleteObject'));

    const bulk = fresh({ bulkDelete: true });
    for (const name of [...names, 's3://other/x']) bulk.s3.objects.set(name.slice(5), pattern(1));
    await bulk.store.delete([...names, 's3://other/x']);
    equal(bulk.s3.requests, Array(3).fill('DeleteObjects'), '1,000 of one bucket, 3 of it, and one of another');
    equal(bulk.s3.objects.size, 0);
    bulk.s3.after = () => ({
      Errors: [
        { Key: '7', Code: 'NoSuchKey' },
        { Key: '9', Code: 'AccessDenied', Message: 'no' },
      ],
    });
    const error = await rejects(() => bulk.store.delete(names), 'ACCESS_DENIED');
    equal(error.context.location, 's3://b/9');
  });

  test('list goes on until the last page, and decodes keys if they were encoded', async () => {
    for (const encodes of [true, false]) {
      const { s3, store } = fresh();
      s3.pageSize = 3;
      s3.encodesKeys = encodes;
      const keys = ['a', 'b c', 'b+c', 'b%20c', 'é/&<>#?', 'x/y//z', '\u0001'];
      for (const key of keys) s3.objects.set(`b/${key}`, pattern(key.length));
      s3.objects.set('other/a', pattern(1));
      equal(await locations(store, 's3://b/'), keys.map((key) => `s3://b/${key}`).sort());
      equal(s3.requests, Array(3).fill('ListObjectsV2'));
      equal((await collect(store.list('s3://b/b+')))[0], {
        location: 's3://b/b+c',
        byteLength: 3,
        lastModified: 1_700_000_000_000,
      });
    }
  });

  test('a listed key that is no UTF-8 does not stop the list', async () => {
    const { s3, store } = fresh();
    s3.after = () => ({ EncodingType: 'url', Contents: [{ Key: 'caf%E9+%C3%A9', Size: 1 }] });
    equal(await locations(store, 's3://b/'), ['s3://b/caf\ufffd é']);
  });
});

describe('locations', () => {
  test('the key is everything after the bucket’s slash', async () => {
    const { s3, store } = fresh();
    for (const key of ['a', '/a', 'a//b', 'a/', '%41', 'a b+c=d?e&f#g', '../a', 's3://x/y']) {
      await put(store, `s3://b/${key}`, pattern(3));
      expect(s3.objects.has(`b/${key}`)).toBe(true);
    }
  });

  test('the schemes that DuckDB knows for S3, each kept as it is', async () => {
    const { store } = fresh();
    for (const scheme of ['s3', 's3a', 's3n', 'r2', 'gs', 'gcs']) {
      await put(store, `${scheme}://b/${scheme}/x`, pattern(3));
      equal(await locations(store, `${scheme}://b/${scheme}/`), [`${scheme}://b/${scheme}/x`]);
    }
  });

  test('everything else is INVALID_ARGUMENT before any request', async () => {
    const { s3, store } = fresh();
    for (const location of ['', 'k', '/b/k', 's3:/b/k', 's3://', 's3://b', 's3:///k', 'https://b/k', 'S3://b/k']) {
      for (const call of [store.open(location), store.open(location, { byteLength: 1 }), store.create(location)]) {
        await rejects(call, 'INVALID_ARGUMENT', location);
      }
      await rejects(() => store.delete(['s3://b/k', location]), 'INVALID_ARGUMENT', location);
      await rejects(() => locations(store, location), 'INVALID_ARGUMENT', location);
    }
    await rejects(() => store.open('s3://b/'), 'INVALID_ARGUMENT', 'a bucket is no object');
    await rejects(() => store.create('s3://b/'), 'INVALID_ARGUMENT', 'a bucket is no object');
    equal(s3.requests, []);
  });

  test('options out of range are refused', () => {
    for (const options of [{ partByteLength: 1_000 }, { partByteLength: Number.NaN }, { partConcurrency: 0 }]) {
      expect(() => s3Store(options)).toThrow(/s3Store is/);
    }
  });
});

describe('back-pressure', () => {
  test('no more parts are under way than allowed, and write waits for a place', async () => {
    const { s3, store } = fresh({ partConcurrency: 2 });
    const answers: (() => void)[] = [];
    s3.before = ({ name }) =>
      name === 'UploadPart' ? new Promise<void>((resolve) => void answers.push(resolve)) : undefined;
    const part = pattern(PART);
    const writer = await store.create('s3://b/k');
    await writer.write(part);
    await writer.write(part);
    await writer.write(part);
    // Two parts are under way and the third is in the buffer; the fourth has no place.
    let isThrough = false;
    const fourth = writer.write(part).then(() => {
      isThrough = true;
    });
    await Bun.sleep(20);
    equal([isThrough, answers.length, s3.mostPartsAtOnce], [false, 2, 2]);
    answers.shift()!();
    await fourth;
    equal([isThrough, s3.mostPartsAtOnce], [true, 2]);
    const closing = writer.close();
    const release = setInterval(() => answers.shift()?.(), 1);
    await closing;
    clearInterval(release);
    equal(s3.objects.get('b/k')?.length, 4 * PART);
    equal(s3.mostPartsAtOnce, 2);
  });

  test('a source of any length goes through a bounded number of bytes', async () => {
    const { s3, store } = fresh();
    let written = 0;
    let sent = 0;
    let most = 0;
    s3.before = async ({ name, input }) => {
      if (name !== 'UploadPart') return;
      await Bun.sleep(1);
      sent += input.Body.length;
      s3.uploads.get(input.UploadId)!.parts.set(input.PartNumber, new Uint8Array(0));
    };
    const chunk = pattern(MEBIBYTE);
    const writer = await store.create('s3://b/k');
    for (let i = 0; i < 400; i++) {
      await writer.write(chunk);
      written += chunk.length;
      most = Math.max(most, written - sent);
    }
    await writer.abort();
    // Four parts under way and one that fills.
    expect(most).toBeLessThanOrEqual(5 * PART + chunk.length);
  });

  test('more than 10,000 parts: an error that says what to do', async () => {
    const { s3, store } = fresh();
    const part = pattern(PART);
    const writer = await store.create('s3://b/k');
    const error = await rejects(async () => {
      for (let i = 0; i < 10_003; i++) await writer.write(part);
    }, 'UNSUPPORTED');
    expect(error.message).toContain('raise partByteLength');
    equal(s3.count('UploadPart'), 10_000);
    await writer.abort();
    equal([s3.uploads.size, s3.objects.size], [0, 0]);
  });
});

describe('errors', () => {
  const cases: readonly [name: string, status: number | undefined, code: string, retryable: boolean][] = [
    ['NoSuchKey', 404, 'NOT_FOUND', false],
    ['NotFound', 404, 'NOT_FOUND', false],
    ['NoSuchBucket', 404, 'NOT_FOUND', false],
    ['AccessDenied', 403, 'ACCESS_DENIED', false],
    ['Unknown', 403, 'ACCESS_DENIED', false],
    ['Unknown', 401, 'ACCESS_DENIED', false],
    ['SignatureDoesNotMatch', 403, 'ACCESS_DENIED', false],
    ['InvalidAccessKeyId', 403, 'ACCESS_DENIED', false],
    ['RequestTimeTooSkewed', 403, 'ACCESS_DENIED', false],
    ['ExpiredToken', 400, 'ACCESS_DENIED', false],
    ['CredentialsProviderError', undefined, 'ACCESS_DENIED', false],
    ['InvalidRange', 416, 'CORRUPT', false],
    ['KeyTooLongError', 400, 'INVALID_ARGUMENT', false],
    ['PermanentRedirect', 301, 'INVALID_ARGUMENT', false],
    ['InvalidBucketName', 400, 'INVALID_ARGUMENT', false],
    ['NotImplemented', 501, 'UNSUPPORTED', false],
    ['InternalError', 500, 'STORE_UNAVAILABLE', true],
    ['InternalError', 200, 'STORE_UNAVAILABLE', true],
    ['SlowDown', 503, 'STORE_UNAVAILABLE', true],
    ['TooManyRequests', 429, 'STORE_UNAVAILABLE', true],
    ['RequestTimeout', 400, 'STORE_UNAVAILABLE', true],
    ['TimeoutError', undefined, 'STORE_UNAVAILABLE', true],
    ['toString', 500, 'STORE_UNAVAILABLE', true],
  ];
  for (const [name, status, code, retryable] of cases) {
    test(`${name} ${status ?? 'without an answer'} is ${code}`, async () => {
      const { s3, store } = fresh();
      s3.before = () => {
        throw s3Failure(name, status as number);
      };
      const error = await store.open('s3://b/k').catch((thrown: unknown) => thrown);
      expect(isLakeError(error)).toBe(true);
      expect(error).toMatchObject({ code, retryable, context: { location: 's3://b/k' } });
      expect(await put(store, 's3://b/k', pattern(1)).catch((thrown: unknown) => thrown)).toMatchObject({ code });
      if (code !== 'NOT_FOUND' || name === 'NoSuchBucket') {
        expect(await store.delete(['s3://b/k']).catch((thrown: unknown) => thrown)).toMatchObject({ code });
      }
    });
  }

  test('the network’s failures are retryable, a wrong setting is not', async () => {
    const { s3, store } = fresh();
    for (const [failure, retryable] of [
      [networkFailure(), true],
      [networkFailure('ENOTFOUND'), true],
      [new TypeError('fetch failed'), true],
      [new Error('Region is missing'), false],
      ['a string', false],
    ] as const) {
      s3.before = () => {
        throw failure;
      };
      expect(await store.open('s3://b/k').catch((thrown: unknown) => thrown)).toMatchObject({
        code: 'STORE_UNAVAILABLE',
        retryable,
      });
    }
  });

  test('no secret is in an error, its cause or its context', async () => {
    const { s3, store } = fresh();
    s3.before = () => {
      throw s3Failure('SignatureDoesNotMatch', 403, {
        message: 'https://user:hunter2@host/k?X-Amz-Signature=hunter2&X-Amz-Security-Token=hunter2&x=1 is wrong',
        CanonicalRequest: 'x-amz-security-token:hunter2',
        StringToSign: 'hunter2',
        $response: { headers: { authorization: 'hunter2' } },
      });
    };
    const error = await rejects(() => store.open('s3://b/k'), 'ACCESS_DENIED');
    const shown = `${inspect(error, { depth: 9, showHidden: true })} ${error.stack} ${JSON.stringify(error.context)}`;
    expect(shown).not.toContain('hunter2');
    expect(error.message).toContain('x=1 is wrong');
    expect(error.context).toMatchObject({ status: 403, s3Code: 'SignatureDoesNotMatch' });
  });

  test('an answer with fewer bytes than asked for is CORRUPT, with more UNSUPPORTED', async () => {
    const { s3, store } = fresh();
    s3.objects.set('b/k', pattern(100));
    const reader = await store.open('s3://b/k');
    const answer = (body: unknown) => {
      s3.after = ({ name }, given) => (name === 'GetObject' ? { Body: body } : given);
    };
    answer({ transformToByteArray: async () => pattern(9) });
    await rejects(() => reader.slice(0, 10), 'CORRUPT');
    answer(undefined);
    await rejects(() => reader.slice(0, 10), 'CORRUPT');
    answer({ transformToByteArray: async () => pattern(100) });
    await rejects(() => reader.slice(0, 10), 'UNSUPPORTED', 'a service that ignores ranges');
    answer({ transformToByteArray: () => Promise.reject(networkFailure()) });
    equal((await rejects(() => reader.slice(0, 10), 'STORE_UNAVAILABLE')).retryable, true);
    answer({ transformToByteArray: async () => Buffer.from('pooled bytes').subarray(0, 10) });
    equal((await reader.slice(0, 10)).byteLength, 10, 'a view into a larger buffer');
  });

  test('a service that hangs does not hold up an abort', async () => {
    const { s3, store } = fresh();
    s3.before = ({ name }) => (name.startsWith('Delete') ? undefined : new Promise<void>(() => {}));
    const begin = performance.now();
    for (const byteLength of [10, PART + 1]) {
      const reason = { byteLength };
      const controller = new AbortController();
      const { signal } = controller;
      const writer = await store.create('s3://b/k', { signal });
      const closing = writer.write(pattern(byteLength)).then(() => writer.close());
      setTimeout(() => controller.abort(reason), 10);
      await rejectsWith(closing, reason, 'close');
      await rejectsWith(() => store.open('s3://b/k', { signal: AbortSignal.any([signal]) }), reason, 'open');
    }
    // The multipart upload's id never came: its removal is waited for, but only so long.
    expect(performance.now() - begin).toBeLessThan(120_000);
  });
});

test('an object that is there is still read after another was written beside it', async () => {
  const { store } = fresh();
  await put(store, 's3://b/a', pattern(10));
  const reader = await store.open('s3://b/a');
  await put(store, 's3://b/a2', pattern(20));
  equal(new Uint8Array(await reader.slice(0)), pattern(10));
  equal(await get(store, 's3://b/a2'), pattern(20));
});
