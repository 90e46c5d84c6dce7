import type { S3ClientLike, S3Sdk } from '../../adapters/s3.ts';
import { concatenate } from '../../src/storage/bytes.ts';

/** The parameters of all requests together: each has those that it needs. */
export interface S3Input {
  readonly Bucket: string;
  readonly Key: string;
  readonly Body: Uint8Array;
  readonly Range: string;
  readonly UploadId: string;
  readonly PartNumber: number;
  readonly Prefix: string;
  readonly ContinuationToken?: string;
  readonly EncodingType?: string;
  readonly MultipartUpload: { readonly Parts: readonly { readonly PartNumber: number; readonly ETag: string }[] };
  readonly Delete: { readonly Objects: readonly { readonly Key: string }[] };
}

/** A request as the fake sees it. */
export interface S3Request {
  /** `PutObject`, `UploadPart`, … */
  readonly name: string;
  readonly input: S3Input;
  readonly signal: AbortSignal | undefined;
  /** Which request it is, from 1. */
  readonly index: number;
}

interface Upload {
  readonly key: string;
  readonly parts: Map<number, Uint8Array>;
}

/**
 * S3 in memory, behind the SDK's shape: for what real servers can't be made to do on demand. It is no judge of what S3
 * does; the interop tests ask real servers.
 */
export class FakeS3 {
  readonly objects: Map<string, Uint8Array> = new Map();
  readonly uploads: Map<string, Upload> = new Map();
  /** Names of all requests, in order. */
  readonly requests: string[] = [];
  /** Parts under way at the most, at one time. */
  mostPartsAtOnce = 0;
  /** Objects per page of a list. */
  pageSize = 1_000;
  /** Whether keys are listed in url encoding when that is asked for. */
  encodesKeys = true;
  /** Runs before a request's effect; a throw makes it fail. */
  before: (request: S3Request) => Promise<void> | void = () => {};
  /** Runs after a request's effect; a throw loses the answer, a value replaces it. */
  after: (request: S3Request, answer: unknown) => unknown = (_request, answer) => answer;
  #partsUnderWay = 0;

  readonly client: S3ClientLike = {
    send: async (command: { readonly name: string; readonly input: S3Input }, options) => {
      const index = this.requests.push(command.name);
      const request: S3Request = { ...command, signal: options?.abortSignal, index };
      const isPart = request.name === 'UploadPart';
      if (isPart) this.mostPartsAtOnce = Math.max(this.mostPartsAtOnce, ++this.#partsUnderWay);
      try {
        await this.before(request);
        if (request.signal?.aborted) throw Object.assign(new Error('Request aborted'), { name: 'AbortError' });
        const answer = this.#answer(request);
        return (await this.after(request, answer)) ?? answer;
      } finally {
        if (isPart) this.#partsUnderWay -= 1;
      }
    },
  };

  readonly sdk: S3Sdk = new Proxy({} as S3Sdk, {
    get: (_target, property) => {
      const name = String(property);
      if (name === 'S3Client') return class {};
      return class {
        readonly name = name.replace(/Command$/, '');
        readonly input: unknown;
        constructor(input: unknown) {
          this.input = input;
        }
      };
    },
  });

  count(name: string): number {
    return this.requests.filter((request) => request === name).length;
  }

  #answer({ name, input }: S3Request): unknown {
    const place = `${input.Bucket}/${input.Key}`;
    switch (name) {
      case 'PutObject':
        this.objects.set(place, input.Body);
        return {};
      case 'HeadObject':
        return { ContentLength: this.#object(place).length };
      case 'GetObject': {
        const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(input.Range)!;
        const bytes = this.#object(place);
        if (Number(start) >= bytes.length) throw s3Failure('InvalidRange', 416);
        const part = bytes.slice(Number(start), Number(end) + 1);
        return { Body: { transformToByteArray: async () => part } };
      }
      case 'DeleteObject':
        this.objects.delete(place);
        return {};
      case 'DeleteObjects':
        for (const { Key } of input.Delete.Objects) this.objects.delete(`${input.Bucket}/${Key}`);
        return {};
      case 'ListObjectsV2':
        return this.#list(`${input.Bucket}/`, input.Prefix, input.ContinuationToken, input.EncodingType);
      case 'CreateMultipartUpload': {
        const id = `upload-${this.requests.length}`;
        this.uploads.set(id, { key: place, parts: new Map() });
        return { UploadId: id };
      }
      case 'UploadPart':
        this.#upload(input.UploadId).parts.set(input.PartNumber, input.Body);
        return { ETag: `etag-${input.PartNumber}` };
      case 'CompleteMultipartUpload': {
        const { key, parts } = this.#upload(input.UploadId);
        const listed = input.MultipartUpload.Parts;
        const numbers = listed.map(({ PartNumber }) => PartNumber);
        if (listed.some(({ PartNumber, ETag }) => ETag !== `etag-${PartNumber}`)) throw s3Failure('InvalidPart', 400);
        if (numbers.some((number, i) => number !== i + 1)) throw s3Failure('InvalidPartOrder', 400);
        this.objects.set(key, concatenate(numbers.map((number) => parts.get(number)!)));
        this.uploads.delete(input.UploadId);
        return {};
      }
      case 'AbortMultipartUpload':
        this.#upload(input.UploadId);
        this.uploads.delete(input.UploadId);
        return {};
      default:
        throw new Error(`the fake knows no ${name}`);
    }
  }

  #object(place: string): Uint8Array {
    const bytes = this.objects.get(place);
    if (bytes) return bytes;
    throw s3Failure('NoSuchKey', 404);
  }

  #upload(id: string): Upload {
    const upload = this.uploads.get(id);
    if (upload) return upload;
    throw s3Failure('NoSuchUpload', 404);
  }

  #list(bucket: string, prefix: string, token: string | undefined, encoding: string | undefined): unknown {
    const found = [...this.objects].filter(([place]) => place.startsWith(bucket + prefix)).sort();
    const start = Number(token ?? 0);
    const page = found.slice(start, start + this.pageSize);
    const encodes = encoding === 'url' && this.encodesKeys;
    const encode = (key: string): string => (encodes ? encodeURIComponent(key).replaceAll('%20', '+') : key);
    const isTruncated = start + this.pageSize < found.length;
    return {
      Contents: page.map(([place, bytes]) => ({
        Key: encode(place.slice(bucket.length)),
        Size: bytes.length,
        LastModified: new Date(1_700_000_000_000),
      })),
      ...(encodes ? { EncodingType: 'url' } : {}),
      IsTruncated: isTruncated,
      ...(isTruncated ? { NextContinuationToken: String(start + this.pageSize) } : {}),
    };
  }
}

/** An error as the SDK makes it of a service's answer. */
export function s3Failure(name: string, status: number, more: Record<string, unknown> = {}): Error {
  const error = new Error(`the service says ${name}`);
  return Object.assign(error, { name, $fault: 'client', $metadata: { httpStatusCode: status }, ...more });
}

/** An error as the SDK passes it on when there was no answer. */
export function networkFailure(code: string = 'ECONNRESET'): Error {
  return Object.assign(new Error(`connect ${code} 127.0.0.1:9`), { code, $metadata: { attempts: 3 } });
}
