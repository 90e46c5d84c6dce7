import { LakeError } from '../../src/errors.ts';
import { untilAborted } from '../../src/storage/abort.ts';
import type { ListedObject } from '../../src/storage/object-store.ts';
import { tooShort } from '../../src/storage/range.ts';
import { s3Error } from './errors.ts';
import { decodeKey, parseLocation, parseObject } from './location.ts';
import type { S3Answers, S3ClientLike, S3Config, S3Sdk, UploadedPart } from './sdk.ts';

type Signal = AbortSignal | undefined;

/** The requests that a store makes, one method each. Failures are LakeErrors, an abort is the signal's reason. */
export class S3Requests {
  readonly #connect: () => Promise<{ readonly sdk: S3Sdk; readonly client: S3ClientLike }>;

  constructor(client: S3ClientLike | undefined, config: S3Config | undefined, sdk: S3Sdk | undefined) {
    let connected: Promise<{ readonly sdk: S3Sdk; readonly client: S3ClientLike }> | undefined;
    this.#connect = () => {
      connected ??= connect(client, config, sdk);
      return connected;
    };
  }

  async put(location: string, bytes: Uint8Array, signal: Signal): Promise<void> {
    const place = placeOf(location);
    await this.#send('write', location, signal, (sdk) => new sdk.PutObjectCommand({ ...place, Body: bytes }));
  }

  /** The object's length in bytes. */
  async head(location: string, signal: Signal): Promise<number> {
    const place = placeOf(location);
    const { ContentLength } = await this.#send<S3Answers['head']>(
      'read',
      location,
      signal,
      (sdk) => new sdk.HeadObjectCommand(place),
    );
    if (ContentLength !== undefined) return ContentLength;
    throw new LakeError('CORRUPT', `the service did not tell the length of ${location}`, { context: { location } });
  }

  /** Bytes `start` to `end`, which is greater. */
  async get(location: string, start: number, end: number, signal: Signal): Promise<ArrayBuffer> {
    const place = { ...placeOf(location), Range: `bytes=${start}-${end - 1}` };
    const { Body } = await this.#send<S3Answers['get']>(
      'read',
      location,
      signal,
      (sdk) => new sdk.GetObjectCommand(place),
    );
    const bytes = await attempt('read', location, signal, async () => await Body?.transformToByteArray());
    if (bytes === undefined || bytes.length < end - start) {
      throw tooShort(location, start, end, start + (bytes?.length ?? 0));
    }
    if (bytes.length > end - start) {
      throw new LakeError('UNSUPPORTED', `the service sent more of ${location} than bytes ${start} to ${end}`, {
        context: { location, start, end },
      });
    }
    const { buffer, byteOffset } = bytes;
    if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length) return buffer;
    // Not bytes.slice(): a Buffer's shares the pool that it came from.
    return buffer.slice(byteOffset, byteOffset + bytes.length) as ArrayBuffer;
  }

  async delete(location: string, signal: Signal): Promise<void> {
    const place = placeOf(location);
    try {
      await this.#send('delete', location, signal, (sdk) => new sdk.DeleteObjectCommand(place));
    } catch (error) {
      if (!(error instanceof LakeError && error.code === 'NOT_FOUND' && error.context['s3Code'] !== 'NoSuchBucket')) {
        throw error;
      }
    }
  }

  /** Deletes up to 1,000 objects of one bucket in one request. */
  async deleteBulk(locations: readonly string[], signal: Signal): Promise<void> {
    const places = locations.map(placeOf);
    const input = {
      Bucket: places[0]!.Bucket,
      Delete: { Objects: places.map(({ Key }) => ({ Key })), Quiet: true },
    };
    const { Errors } = await this.#send<S3Answers['deletes']>(
      'delete',
      locations[0]!,
      signal,
      (sdk) => new sdk.DeleteObjectsCommand(input),
    );
    const failed = Errors?.find(({ Code }) => Code !== 'NoSuchKey');
    if (!failed) return;
    const location = locations.find((_, i) => places[i]!.Key === failed.Key) ?? locations[0]!;
    throw s3Error({ name: failed.Code, message: failed.Message }, 'delete', location);
  }

  /** Objects whose location begins with `prefix`: one request for every page of (usually) 1,000. */
  async *list(prefix: string, signal: Signal): AsyncIterable<ListedObject> {
    const { root, bucket, key } = parseLocation(prefix);
    // Without url encoding a key with a control character makes the answer unreadable.
    const input = { Bucket: bucket, Prefix: key, EncodingType: 'url' as const };
    let page: S3Answers['list'] | undefined;
    do {
      const token = page?.NextContinuationToken;
      page = await this.#send<S3Answers['list']>(
        'list',
        prefix,
        signal,
        (sdk) => new sdk.ListObjectsV2Command(token === undefined ? input : { ...input, ContinuationToken: token }),
      );
      const decode = page.EncodingType === 'url' ? decodeKey : (text: string) => text;
      for (const { Key, Size, LastModified } of page.Contents ?? []) {
        signal?.throwIfAborted();
        const location = root + decode(Key ?? '');
        yield { location, byteLength: Size ?? 0, lastModified: LastModified?.getTime() ?? 0 };
      }
    } while (page.IsTruncated && page.NextContinuationToken !== undefined);
    signal?.throwIfAborted();
  }

  async createUpload(location: string, signal: Signal): Promise<string> {
    const place = placeOf(location);
    const { UploadId } = await this.#send<S3Answers['create']>(
      'write',
      location,
      signal,
      (sdk) => new sdk.CreateMultipartUploadCommand(place),
    );
    if (UploadId !== undefined) return UploadId;
    throw new LakeError('UNSUPPORTED', `the service began no multipart upload of ${location}`, {
      context: { location },
    });
  }

  async uploadPart(
    location: string,
    uploadId: string,
    partNumber: number,
    bytes: Uint8Array,
    signal: Signal,
  ): Promise<UploadedPart> {
    const input = { ...placeOf(location), UploadId: uploadId, PartNumber: partNumber, Body: bytes };
    const answer = await this.#send<S3Answers['part']>(
      'write',
      location,
      signal,
      (sdk) => new sdk.UploadPartCommand(input),
    );
    return {
      PartNumber: partNumber,
      ETag: answer.ETag,
      ChecksumCRC32: answer.ChecksumCRC32,
      ChecksumCRC32C: answer.ChecksumCRC32C,
      ChecksumCRC64NVME: answer.ChecksumCRC64NVME,
      ChecksumSHA1: answer.ChecksumSHA1,
      ChecksumSHA256: answer.ChecksumSHA256,
    };
  }

  async completeUpload(location: string, uploadId: string, parts: UploadedPart[], signal: Signal): Promise<void> {
    const input = { ...placeOf(location), UploadId: uploadId, MultipartUpload: { Parts: parts } };
    await this.#send('write', location, signal, (sdk) => new sdk.CompleteMultipartUploadCommand(input));
  }

  async abortUpload(location: string, uploadId: string): Promise<void> {
    const input = { ...placeOf(location), UploadId: uploadId };
    await this.#send('delete', location, undefined, (sdk) => new sdk.AbortMultipartUploadCommand(input));
  }

  async #send<Answer>(
    action: string,
    location: string,
    signal: Signal,
    command: (sdk: S3Sdk) => object,
  ): Promise<Answer> {
    signal?.throwIfAborted();
    return await attempt(action, location, signal, async () => {
      const { sdk, client } = await this.#connect();
      return (await client.send(command(sdk) as never, signal ? { abortSignal: signal } : {})) as Answer;
    });
  }
}

async function attempt<T>(action: string, location: string, signal: Signal, run: () => Promise<T>): Promise<T> {
  try {
    return await untilAborted(run(), signal);
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw s3Error(error, action, location);
  }
}

function placeOf(location: string): { Bucket: string; Key: string } {
  const { bucket, key } = parseObject(location);
  return { Bucket: bucket, Key: key };
}

async function connect(
  client: S3ClientLike | undefined,
  config: S3Config = {},
  given: S3Sdk | undefined,
): Promise<{ readonly sdk: S3Sdk; readonly client: S3ClientLike }> {
  const sdk = given ?? (await importSdk());
  if (client) return { sdk, client };
  return {
    sdk,
    client: new sdk.S3Client({
      // Services other than AWS refuse the checksums that the SDK adds by itself.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      forcePathStyle: config.endpoint !== undefined,
      ...config,
    } as never),
  };
}

async function importSdk(): Promise<S3Sdk> {
  try {
    return await import('@aws-sdk/client-s3');
  } catch (cause) {
    throw new LakeError('UNSUPPORTED', 'edgemere/s3 needs the package @aws-sdk/client-s3: npm install it', { cause });
  }
}
