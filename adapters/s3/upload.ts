import { LakeError } from '../../src/errors.ts';
import { untilAborted } from '../../src/storage/abort.ts';
import { PartBuffer } from '../../src/storage/bytes.ts';
import type { ObjectSink } from '../../src/storage/sink.ts';
import type { S3Requests } from './requests.ts';
import type { UploadedPart } from './sdk.ts';

export interface UploadOptions {
  readonly partByteLength: number;
  readonly partConcurrency: number;
}

/** S3's limit. */
const MAXIMUM_PARTS = 10_000;

/**
 * One object on its way: a single request while it fits into one part, else a multipart upload of equal parts. Holds at
 * most one part more than are under way.
 */
export class S3Upload implements ObjectSink {
  readonly #requests: S3Requests;
  readonly #location: string;
  readonly #options: UploadOptions;
  readonly #signal: AbortSignal;
  readonly #buffer: PartBuffer;
  readonly #parts: UploadedPart[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #partCount = 0;
  #byteLength = 0;
  #uploadId: Promise<string> | undefined;
  #failure: { readonly error: unknown } | undefined;
  /** Whether a request was sent that may have made the object visible, without an answer that says so. */
  #maybeVisible = false;

  constructor(requests: S3Requests, location: string, options: UploadOptions, signal: AbortSignal) {
    this.#requests = requests;
    this.#location = location;
    this.#options = options;
    this.#signal = signal;
    this.#buffer = new PartBuffer(options.partByteLength);
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#byteLength += bytes.length;
    this.#buffer.push(bytes);
    for (let part = this.#buffer.takePart(); part; part = this.#buffer.takePart()) await this.#beginPart(part);
  }

  async finish(): Promise<void> {
    if (!this.#uploadId) {
      const bytes = this.#buffer.takeRest();
      await this.#reveal(() => this.#requests.put(this.#location, bytes, this.#signal));
      return;
    }
    await this.#beginPart(this.#buffer.takeRest());
    await Promise.all(this.#underWay);
    if (this.#failure) throw this.#failure.error;
    const uploadId = await this.#uploadId;
    await this.#reveal(() => this.#complete(uploadId));
  }

  async discard(): Promise<void> {
    await Promise.all(this.#underWay);
    const uploadId = await this.#uploadId?.catch(() => undefined);
    if (uploadId !== undefined) await this.#requests.abortUpload(this.#location, uploadId).catch(() => {});
    if (this.#maybeVisible) await this.#requests.delete(this.#location, undefined);
  }

  /** Sends a part once fewer than `partConcurrency` are under way. */
  async #beginPart(bytes: Uint8Array): Promise<void> {
    while (this.#underWay.size >= this.#options.partConcurrency && !this.#failure) {
      await Promise.race(this.#underWay);
    }
    if (this.#failure) throw this.#failure.error;
    this.#signal.throwIfAborted();
    this.#partCount += 1;
    if (this.#partCount > MAXIMUM_PARTS) {
      const { partByteLength } = this.#options;
      throw new LakeError(
        'UNSUPPORTED',
        `${this.#location} has more than ${MAXIMUM_PARTS} parts of ${partByteLength} bytes: raise partByteLength`,
        { context: { location: this.#location, partByteLength } },
      );
    }
    // Never cancelled: an upload whose id nobody learnt could not be aborted.
    this.#uploadId ??= this.#requests.createUpload(this.#location, undefined);
    const task = this.#sendPart(this.#uploadId, this.#partCount, bytes)
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#underWay.delete(task));
    this.#underWay.add(task);
  }

  async #sendPart(uploadId: Promise<string>, partNumber: number, bytes: Uint8Array): Promise<void> {
    const id = await untilAborted(uploadId, this.#signal);
    this.#parts[partNumber - 1] = await this.#requests.uploadPart(this.#location, id, partNumber, bytes, this.#signal);
  }

  async #complete(uploadId: string): Promise<void> {
    try {
      await this.#requests.completeUpload(this.#location, uploadId, this.#parts, this.#signal);
    } catch (error) {
      // The SDK repeats a completion whose answer was lost; the second one then finds no upload any more.
      const gone = error instanceof LakeError && error.context['s3Code'] === 'NoSuchUpload';
      const found = gone ? await this.#requests.head(this.#location, this.#signal).catch(() => undefined) : undefined;
      if (found !== this.#byteLength) throw error;
    }
  }

  async #reveal(send: () => Promise<void>): Promise<void> {
    try {
      await send();
    } catch (error) {
      this.#maybeVisible = !(error instanceof LakeError) || error.code === 'STORE_UNAVAILABLE';
      throw error;
    }
  }
}
