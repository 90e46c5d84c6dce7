import { expect, test } from 'bun:test';
import { s3Store } from '../../adapters/s3.ts';
import { MEBIBYTE, pattern, put } from '../../src/conformance/storage/target.ts';
import { isLakeError } from '../../src/errors.ts';
import { FakeS3, networkFailure, s3Failure } from '../support/fake-s3.ts';

const PART = 5 * MEBIBYTE;
const failures = {
  'the network breaks': { error: () => networkFailure(), code: 'STORE_UNAVAILABLE' },
  'the service answers 503': { error: () => s3Failure('SlowDown', 503), code: 'STORE_UNAVAILABLE' },
  'the service answers 403': { error: () => s3Failure('AccessDenied', 403), code: 'ACCESS_DENIED' },
} as const;

/** A store whose `failing`-th request fails. The removals that follow succeed. */
function faulty(failing: number, moment: 'before' | 'after', error: () => Error) {
  const s3 = new FakeS3();
  const state = { failed: '' };
  const fail = (name: string): void => {
    state.failed = name;
    throw error();
  };
  s3.before = ({ name, index }) => {
    if (moment === 'before' && index === failing) fail(name);
  };
  s3.after = ({ name, index }, answer) => {
    if (moment === 'after' && index === failing) fail(name);
    return answer;
  };
  return { s3, state, store: s3Store({ client: s3.client, sdk: s3.sdk, partByteLength: PART, partConcurrency: 2 }) };
}

for (const [what, { error, code }] of Object.entries(failures)) {
  for (const moment of ['before', 'after'] as const) {
    // A definite no is never given after the effect.
    if (code === 'ACCESS_DENIED' && moment === 'after') continue;
    for (const byteLength of [10, 3 * PART + 10]) {
      test(`S3 store: ${what} ${moment} each request of writing ${byteLength} bytes`, async () => {
        const seen = new Set<string>();
        for (let failing = 1; ; failing++) {
          const { s3, state, store } = faulty(failing, moment, error);
          const thrown = await put(store, 's3://b/k', pattern(byteLength)).catch((reason: unknown) => reason);
          if (state.failed === '') {
            expect(thrown).toBeUndefined();
            break;
          }
          seen.add(state.failed);
          expect(isLakeError(thrown, code), `${thrown}`).toBe(true);
          expect([...s3.objects.keys()], `after a failed ${state.failed}`).toEqual([]);
          // A begun upload whose id was lost can't be aborted by anybody but the bucket's owner.
          const excused = state.failed === 'CreateMultipartUpload' && moment === 'after' ? 1 : 0;
          expect(s3.uploads.size, `uploads left after a failed ${state.failed}`).toBe(excused);
        }
        const multipart = ['CompleteMultipartUpload', 'CreateMultipartUpload', 'UploadPart'];
        expect([...seen].sort()).toEqual(byteLength > PART ? multipart : ['PutObject']);
      });
    }
  }
}

test('S3 store: a removal that fails does not hide why the write failed', async () => {
  const { s3, store } = faulty(0, 'before', networkFailure);
  s3.before = ({ name }) => {
    if (name === 'CompleteMultipartUpload') throw s3Failure('SlowDown', 503);
    if (name === 'AbortMultipartUpload' || name === 'DeleteObject') throw s3Failure('AccessDenied', 403);
  };
  await expect(put(store, 's3://b/k', pattern(PART + 1))).rejects.toThrow('SlowDown');
});

test('S3 store: a completion that the SDK had to repeat is believed when the object is there', async () => {
  const { s3, store } = faulty(0, 'before', networkFailure);
  s3.after = ({ name }, answer) => {
    if (name === 'CompleteMultipartUpload') throw s3Failure('NoSuchUpload', 404);
    return answer;
  };
  await put(store, 's3://b/k', pattern(PART + 1));
  expect(s3.objects.get('b/k')).toEqual(pattern(PART + 1));

  s3.before = ({ name }) => {
    if (name === 'CompleteMultipartUpload') throw s3Failure('NoSuchUpload', 404);
  };
  const error = await put(store, 's3://b/other', pattern(PART + 1)).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
  expect(s3.objects.has('b/other')).toBe(false);
});

test('S3 store: an aborted writer cancels its parts, and aborts the upload after them', async () => {
  const { s3, store } = faulty(0, 'before', networkFailure);
  s3.before = ({ name, signal }) => {
    if (name !== 'UploadPart') return;
    return new Promise<void>((_resolve, reject) => {
      signal!.addEventListener('abort', () => reject(new Error('cancelled')));
    });
  };
  const writer = await store.create('s3://b/k');
  await writer.write(pattern(2 * PART + 1));
  await writer.abort();
  expect(s3.requests.at(-1)).toBe('AbortMultipartUpload');
  expect(s3.requests).not.toContain('DeleteObject');
  expect([s3.uploads.size, s3.objects.size]).toEqual([0, 0]);
});

test('S3 store: a failed part stops the writer at once', async () => {
  const { s3, store } = faulty(0, 'before', networkFailure);
  s3.before = ({ name, input }) => {
    if (name === 'UploadPart' && input.PartNumber === 2) throw s3Failure('SlowDown', 503);
  };
  const writer = await store.create('s3://b/k');
  let written = 0;
  const endless = async (): Promise<void> => {
    for (; written < 50; written++) await writer.write(pattern(PART));
  };
  await expect(endless()).rejects.toThrow('SlowDown');
  expect(written).toBeLessThan(10);
  await expect(writer.close()).rejects.toThrow('SlowDown');
  expect([s3.uploads.size, s3.objects.size]).toEqual([0, 0]);
});
