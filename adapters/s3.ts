import { checkOptions, LakeError } from '../src/errors.ts';
import { concurrently } from '../src/storage/concurrently.ts';
import type { ObjectStore } from '../src/storage/object-store.ts';
import { checkRange } from '../src/storage/range.ts';
import { sinkWriter } from '../src/storage/sink.ts';
import { parseLocation, parseObject } from './s3/location.ts';
import { S3Requests } from './s3/requests.ts';
import type { S3ClientLike, S3Config, S3Sdk } from './s3/sdk.ts';
import { S3Upload } from './s3/upload.ts';

export type { S3ClientLike, S3Config, S3Sdk } from './s3/sdk.ts';

/** Options for {@link s3Store}. */
export interface S3StoreOptions {
  /** An `S3Client` of yours, used as it is configured. It stays yours: the store never destroys it. */
  readonly client?: S3ClientLike | undefined;
  /** Of what the store makes a client when there is no `client`. The environment's settings by default. */
  readonly config?: S3Config | undefined;
  /** The module `@aws-sdk/client-s3`, where it should not be imported on first use: `import * as sdk from …`. */
  readonly sdk?: S3Sdk | undefined;
  /**
   * Bytes of one part, and up to which an object is one request. 5 MiB by default, which is S3's least; 5 GiB at most; an object has at
   * most 10,000 parts.
   */
  readonly partByteLength?: number | undefined;
  /** Parts of one object under way at once. 2 by default: a writer holds as many and one more in memory. */
  readonly partConcurrency?: number | undefined;
  /** Whether the service deletes in bulk (`DeleteObjects`, 1,000 at once). Not all do: false by default. */
  readonly bulkDelete?: boolean | undefined;
}

const MEBIBYTE = 1024 * 1024;
const DELETES_AT_ONCE = 16;
const BULK_SIZE = 1_000;

/**
 * Objects in S3 or a service that speaks its protocol (R2, MinIO, Ceph, …), by means of `@aws-sdk/client-s3`, which is
 * imported on first use. Locations are `s3://bucket/key`, the key byte for byte; any bucket that the credentials reach.
 *
 * Writing an object of up to one part is exactly one `PutObject`; more becomes a multipart upload, aborted on failure. `open`
 * sends one `HeadObject`, and nothing when the length is known; a slice is one ranged `GetObject`. Retries are the SDK's.
 * A `close` that fails without a definite answer deletes the location, in case the object was made after all.
 *
 * @example
 * ```ts
 * import { s3Store } from 'edgemere/s3';
 *
 * const store = s3Store({
 *   config: {
 *     endpoint: 'https://ACCOUNT.r2.cloudflarestorage.com',
 *     region: 'auto',
 *     credentials: { accessKeyId: '…', secretAccessKey: '…' },
 *   },
 * });
 * const writer = await store.create('s3://lake/main/events/a.parquet');
 * await writer.write(new TextEncoder().encode('PAR1'));
 * await writer.close();
 * console.log((await store.open('s3://lake/main/events/a.parquet')).byteLength); // 4
 * ```
 */
export function s3Store(options: S3StoreOptions = {}): ObjectStore {
  checkOptions<S3StoreOptions>(options, {
    client: 'any',
    config: 'any',
    sdk: 'any',
    partByteLength: 'any',
    partConcurrency: 'any',
    bulkDelete: 'boolean',
  });
  const partByteLength = whole('partByteLength', options.partByteLength ?? 5 * MEBIBYTE, 5 * MEBIBYTE, 5120 * MEBIBYTE);
  const partConcurrency = whole('partConcurrency', options.partConcurrency ?? 2, 1, 1_000);
  const requests = new S3Requests(options.client, options.config, options.sdk);

  return {
    name: 's3',
    async open(location, { signal, byteLength: known } = {}) {
      signal?.throwIfAborted();
      parseObject(location);
      const byteLength = known ?? (await requests.head(location, signal));
      return {
        byteLength,
        async slice(start, end) {
          signal?.throwIfAborted();
          const stop = checkRange(location, byteLength, start, end);
          return stop === start ? new ArrayBuffer(0) : await requests.get(location, start, stop, signal);
        },
      };
    },
    async create(location, { signal } = {}) {
      signal?.throwIfAborted();
      parseObject(location);
      const upload = { partByteLength, partConcurrency };
      return sinkWriter(location, signal, (ended) => new S3Upload(requests, location, upload, ended));
    },
    async delete(locations, { signal } = {}) {
      signal?.throwIfAborted();
      for (const location of locations) parseObject(location);
      if (options.bulkDelete) {
        await concurrently(bulks(locations), 4, (bulk) => requests.deleteBulk(bulk, signal), signal);
      } else {
        await concurrently(locations, DELETES_AT_ONCE, (location) => requests.delete(location, signal), signal);
      }
    },
    list(prefix, { signal } = {}) {
      return requests.list(prefix, signal);
    },
  };
}

/** Locations in groups that one bulk deletion takes: of one bucket, not too many. */
function* bulks(locations: readonly string[]): Iterable<readonly string[]> {
  const byBucket = Map.groupBy(locations, (location) => parseLocation(location).bucket);
  for (const group of byBucket.values()) {
    for (let at = 0; at < group.length; at += BULK_SIZE) yield group.slice(at, at + BULK_SIZE);
  }
}

function whole(name: string, value: number, minimum: number, maximum: number): number {
  if (Number.isSafeInteger(value) && value >= minimum && value <= maximum) return value;
  throw new LakeError('INVALID_ARGUMENT', `${name} of s3Store is ${value}: from ${minimum} to ${maximum} are allowed`);
}
